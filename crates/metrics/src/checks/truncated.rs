//! v.input.truncated: the server took only a part of the longer prompts, and did not say so.

use super::{Outcome, View};

/// Prompt tokens below which no server cuts.
const CUT_AT_LEAST: u32 = 256;

/// Answers whose prompts must have been cut: fewer may be chance.
const ANSWERS_MIN: usize = 3;

/// How much longer than its shortest prompt the longest must be, by our count, for a plateau to be seen.
const GROWTH: f64 = 2.0;

/// How far apart, as a share, counts of the server may be that stand still.
const STILL: f64 = 0.02;

/// How many times more than the server states a prompt must hold to be cut. Its tokenizer is taken from the prompts below
/// the plateau.
const CUT_FACTOR: f64 = 1.5;

/// Tokenizers differ by this factor at most, over languages and code: what is taken where no prompt is below the plateau.
const TOKENIZERS_DIFFER: f64 = 3.0;

/// A prompt's tokens.
#[derive(Clone, Copy)]
struct Tokens {
    /// By the server.
    stated: f64,
    /// By us.
    counted: f64,
    grade: Option<bool>,
}

/// A plateau: the server's counts end at one number, whatever the prompts' length by our count, and that length is far
/// beyond what its tokenizer makes of shorter ones. Answers that forgot the beginning are no proof without it, but are told
/// beside it.
pub(super) fn truncated(view: View<'_>) -> Outcome {
    let answers = view.of_target().flat_map(|cell| &cell.seen.answers);
    let prompts: Vec<Tokens> = answers
        .filter_map(|answer| {
            let (stated, counted) = answer.input?;
            Some(Tokens { stated: stated.into(), counted: counted.into(), grade: answer.grade })
        })
        .collect();
    let (shortest, longest) = bounds(prompts.iter().map(|prompt| prompt.counted));
    if prompts.len() < 2 * ANSWERS_MIN || longest < GROWTH * shortest || longest < f64::from(CUT_AT_LEAST) {
        return Outcome::unavailable(
            "it takes the server's count of some prompts, the longest of 256 tokens or more and twice the shortest",
        );
    }
    let n = prompts.len() as u64;
    let cut = cut(&prompts);
    if cut.is_empty() {
        return Outcome::passed(n);
    }
    Outcome::found(cut.len() as u64, n, words(&cut))
}

/// The prompts on the plateau that are too long for it; none where there is no plateau.
fn cut(prompts: &[Tokens]) -> Vec<Tokens> {
    let (_, plateau) = bounds(prompts.iter().map(|prompt| prompt.stated));
    let is_on = |prompt: &&Tokens| prompt.stated >= plateau * (1.0 - STILL);
    let below = prompts.iter().filter(|prompt| !is_on(prompt));
    let ratio = below.map(|prompt| prompt.stated / prompt.counted).reduce(f64::min);
    let ratio = ratio.unwrap_or(1.0 / TOKENIZERS_DIFFER);
    let is_cut = |prompt: &&Tokens| prompt.counted * ratio > CUT_FACTOR * prompt.stated;
    let on: Vec<&Tokens> = prompts.iter().filter(is_on).collect();
    let cut: Vec<Tokens> = on.iter().copied().filter(is_cut).copied().collect();
    let (shortest, _) = bounds(on.iter().map(|prompt| prompt.counted));
    let (_, longest) = bounds(cut.iter().map(|prompt| prompt.counted));
    let stands_still = cut.len() >= ANSWERS_MIN && longest >= CUT_FACTOR * shortest;
    if stands_still && plateau >= f64::from(CUT_AT_LEAST) { cut } else { Vec::new() }
}

/// The least and the largest; 0 of none.
fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let widened = |(lo, hi): (f64, f64), value: f64| (lo.min(value), hi.max(value));
    values.map(|value| (value, value)).reduce(|so_far, (value, _)| widened(so_far, value)).unwrap_or_default()
}

fn words(cut: &[Tokens]) -> String {
    let (_, stated) = bounds(cut.iter().map(|prompt| prompt.stated));
    let (shortest, longest) = bounds(cut.iter().map(|prompt| prompt.counted));
    let graded: Vec<bool> = cut.iter().filter_map(|prompt| prompt.grade).collect();
    let wrong = graded.iter().filter(|passed| !**passed).count();
    let recalled = match graded.len() {
        0 => String::new(),
        n => format!("; {wrong} of {n} of their answers are wrong"),
    };
    format!(
        "{} prompts of {shortest} to {longest} tokens by our count are at most {stated} by the server's, which no longer grows{recalled}",
        cut.len()
    )
}
