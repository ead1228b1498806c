//! v.replay: an answer that was given before, as a cache of whole responses gives it.

use std::collections::{HashMap, HashSet};

use super::seen::Answered;
use super::{Outcome, View};

/// Tokens from which an answer that was free in its words does not come twice by chance.
const TOKENS_MIN: u64 = 64;

/// Two proofs. The same id with the same text: none where the ids of the cell do not tell answers apart, since one id for
/// all, or for two different texts, is only a poor id. And the same long text to the same prompt at a temperature: none
/// where the workload knows the right answer, which may well come twice. At temperature 0 the same text is as it should
/// be, and a cache of prompts leaves answers new.
pub(super) fn replayed(view: View<'_>) -> Outcome {
    let answers = &view.cell.seen.answers;
    let (by_id, by_text) = (same_ids(answers), same_texts(answers));
    let parts = [
        by_id.as_ref().filter(|(found, _)| *found > 0).map(|(found, n)| {
            format!("{found} of {n} answers bear the id of an earlier one, and its text")
        }),
        by_text.as_ref().filter(|(found, _)| *found > 0).map(|(found, n)| {
            format!("{found} of {n} answers are byte for byte an earlier one to the same prompt, at a temperature at which they should differ")
        }),
    ];
    let why = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let each = || by_id.into_iter().chain(by_text);
    let (found, n) = (each().map(|(found, _)| found).max(), each().map(|(_, n)| n).max());
    match (found, n) {
        (Some(0), Some(n)) => Outcome::passed(n),
        (Some(found), Some(n)) => Outcome::found(found, n, why),
        _ => Outcome::unavailable(
            "it takes answers with ids of their own, or a prompt without a known answer asked twice at a temperature of .5 or more",
        ),
    }
}

/// Answers with the id and the text of an earlier one, of those with an id; `None` where ids prove nothing.
fn same_ids(answers: &[Answered]) -> Option<(u64, u64)> {
    let mut texts = HashMap::new();
    let (mut found, mut n) = (0, 0);
    for (id, text) in answers.iter().filter_map(|answer| answer.id.zip(answer.text)) {
        n += 1;
        match texts.insert(id, text) {
            Some(before) if before != text => return None,
            Some(_) => found += 1,
            None => {}
        }
    }
    (texts.len() > 1).then_some((found, n))
}

/// Answers with the text of an earlier one to the same prompt, of those to a prompt that was answered before.
fn same_texts(answers: &[Answered]) -> Option<(u64, u64)> {
    let is_free = |answer: &&Answered| {
        answer.repeatable == Some(false) && answer.grade.is_none() && answer.tokens >= TOKENS_MIN
    };
    let mut texts: HashMap<u64, HashSet<_>> = HashMap::new();
    let (mut found, mut n) = (0, 0);
    for answer in answers.iter().filter(is_free) {
        let Some(text) = answer.text else { continue };
        let known = texts.entry(answer.prompt).or_default();
        n += u64::from(!known.is_empty());
        found += u64::from(!known.insert(text));
    }
    (n > 0).then_some((found, n))
}
