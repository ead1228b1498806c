//! v.model.echo, over a run: the model that is said to answer changes.

use std::fmt::Write as _;

use inferometer_judge::is_same_model;

use super::{Outcome, View};

/// Names that are told apart in words.
const NAMES_SHOWN: usize = 4;

/// The names that the target's answers bear, dates and variants aside as in the check of one answer: more than one is a
/// change within the run.
pub(super) fn changed(view: View<'_>) -> Outcome {
    let mut models: Vec<(&str, u64)> = Vec::new();
    for (name, n) in view.of_target().flat_map(|cell| &cell.seen.models) {
        match models.iter_mut().find(|(known, _)| is_same_model(known, name)) {
            Some((_, count)) => *count += n,
            None => models.push((name, *n)),
        }
    }
    let n: u64 = models.iter().map(|(_, n)| n).sum();
    if n < 2 {
        return Outcome::unavailable("it takes two answers that name their model");
    }
    models.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let Some(((_, most), [_, ..])) = models.split_first() else { return Outcome::passed(n) };
    let mut why = "the answers name different models:".to_owned();
    for (at, (name, count)) in models.iter().take(NAMES_SHOWN).enumerate() {
        let comma = if at > 0 { "," } else { "" };
        // Writing to a text cannot fail.
        let _ = write!(why, "{comma} {name} ({count} of {n})");
    }
    Outcome::found(n - most, n, why)
}
