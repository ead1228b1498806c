//! Does the answer go round in circles?

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::Case;
use crate::evidence::{Head, Tail};
use crate::verdict::Finding;

/// Only the end of a text is looked at, in characters: a loop has no other end than the limit.
const TAIL_CHARS: usize = 4_096;

/// So often a piece stands at the end, one behind the other.
const TIMES_MIN: usize = 5;

/// The longest piece of a loop, in characters: longer ones are refrains and forms as often as loops.
const PIECE_CHARS_MAX: usize = 100;

/// Shortest loop in all, in characters; a row of one character is none (`degenerate` looks for those).
const LOOP_CHARS_MIN: usize = 200;

/// Longest white space that may follow a text, in characters: models in JSON mode end in such loops.
const WHITE_SPACE_MAX: usize = 512;

/// Shortest text that is degenerate, in characters or words.
const DEGENERATE_MIN: usize = 64;

/// Windows of the end that are compared, in characters.
const WINDOW: usize = 16;

/// Shortest end whose windows are compared.
const WINDOWS_MIN: usize = 1_000;

/// So many different windows has a loop at most whose pieces differ here and there.
const DISTINCT_MAX: usize = 120;

/// v.repeat.loop: the end of the text, or of reasoning without a text, repeats one piece, or holds next to nothing new.
pub(crate) fn looped(case: &Case<'_>) -> Option<Finding> {
    let text = judged_text(case);
    let tail = tail(text);
    let white_space = tail.iter().rev().take_while(|c| c.is_whitespace()).count();
    if white_space > WHITE_SPACE_MAX {
        return Some(
            Finding::invalid("loop").because(format_args!("ends with {white_space} blanks or more")),
        );
    }
    let tail = tail.get(..tail.len() - white_space).unwrap_or_default();
    if let Some(piece) = repeated_piece(tail) {
        let is_wanted = is_asked_for(case.expect.prompt, piece.trim());
        return (!is_wanted).then(|| {
            Finding::invalid("loop").because(format_args!("ends with {} over and over", Head(&piece)))
        });
    }
    (is_stale(tail) && !asks_for_repetition(case.expect.prompt)).then(|| {
        Finding::invalid("loop").because(format_args!("nothing new before {}", Tail(text.trim_end())))
    })
}

/// v.repeat.degenerate: one character or one word is four fifths of the end.
pub(crate) fn degenerate(case: &Case<'_>) -> Option<Finding> {
    let tail: String = tail(judged_text(case)).into_iter().collect();
    let character = most_common(tail.chars().filter(|c| !c.is_whitespace())).map(String::from);
    let unit = character.or_else(|| most_common(tail.split_whitespace()).map(str::to_owned))?;
    (!is_asked_for(case.expect.prompt, &unit))
        .then(|| Finding::invalid("degenerate").because(format_args!("mostly {}", Head(&unit))))
}

/// The visible text; where there is none, the reasoning that took its place.
fn judged_text<'a>(case: &Case<'a>) -> &'a str {
    match (case.visible.trim().is_empty(), case.said.reasoning.is_empty()) {
        (false, _) => case.visible,
        (true, false) => &case.said.reasoning,
        (true, true) => &case.said.content,
    }
}

fn tail(text: &str) -> Vec<char> {
    let mut tail: Vec<char> = text.chars().rev().take(TAIL_CHARS).collect();
    tail.reverse();
    tail
}

/// The piece of at least two different characters that fills the end of `text` often enough.
///
/// The failure function of Knuth, Morris and Pratt over the reversed text gives for each length the shortest period of
/// the end of that length, all in one pass.
fn repeated_piece(text: &[char]) -> Option<String> {
    let reversed: Vec<char> = text.iter().rev().copied().collect();
    let mut failure = vec![0_usize; reversed.len()];
    let mut best = None;
    for at in 1..reversed.len() {
        let mut matched = failure[at - 1];
        while matched > 0 && reversed[at] != reversed[matched] {
            matched = failure[matched - 1];
        }
        failure[at] = matched + usize::from(reversed[at] == reversed[matched]);
        let (length, period) = (at + 1, at + 1 - failure[at]);
        let is_piece = (2..=PIECE_CHARS_MAX).contains(&period);
        if is_piece && length >= LOOP_CHARS_MIN && length / period >= TIMES_MIN {
            best = Some(period);
        }
    }
    let piece = text.get(text.len() - best?..)?;
    // A rule, a row of dots: no loop of words.
    piece.iter().any(|c| c.is_alphanumeric()).then(|| piece.iter().collect())
}

/// Whether a long end is made of few windows: pieces that differ by a number, over and over.
fn is_stale(text: &[char]) -> bool {
    if text.len() < WINDOWS_MIN || !text.iter().any(|c| c.is_alphabetic()) {
        return false;
    }
    text.windows(WINDOW).collect::<HashSet<_>>().len() <= DISTINCT_MAX
}

/// The unit that is more than four fifths of all, of which there are enough.
fn most_common<T: Hash + Eq>(units: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: HashMap<T, usize> = HashMap::new();
    let mut all = 0;
    for unit in units {
        *counts.entry(unit).or_default() += 1;
        all += 1;
    }
    let (unit, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (all >= DEGENERATE_MIN && 5 * count > 4 * all).then_some(unit)
}

/// Whether the prompt asks for repetition and names what is to be repeated.
fn is_asked_for(prompt: &str, piece: &str) -> bool {
    asks_for_repetition(prompt) && prompt.contains(piece)
}

fn asks_for_repetition(prompt: &str) -> bool {
    let prompt = prompt.to_lowercase();
    ["repeat", "times", "again and again", "wiederhol", "répét", "repit", "重复", "繰り返"]
        .iter()
        .any(|word| prompt.contains(word))
}
