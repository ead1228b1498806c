//! v.stream_diff: a streamed answer is of another kind than the whole one.

use std::collections::HashMap;

use super::seen::Kind;
use super::{Outcome, View};
use crate::kept::Finished;

/// Pairs this cell with the one that asked the same model at the same address for the same prompts the other way: streams
/// against whole answers. Kinds are compared, how they ended and what was wrong with them; the text may differ, even at
/// temperature 0. A prompt whose answers are of several kinds in one way alone says nothing of the two ways.
pub(super) fn differs(view: View<'_>) -> Outcome {
    let unavailable =
        "it takes two targets of one address and model, one with `stream = false`, at temperature 0";
    let Some(other) = view.cells.iter().find(|other| is_other_way(view, other)) else {
        return Outcome::unavailable(unavailable);
    };
    let (mine, others) = (kinds(view.cell), kinds(other));
    let pairs = mine.iter().filter_map(|(prompt, kind)| (*kind).zip(*others.get(prompt)?));
    let (mut n, mut found, mut example) = (0, 0, None);
    for (mine, theirs) in pairs {
        n += 1;
        if mine != theirs {
            found += 1;
            // The same one in every report, in whatever order the map gives them.
            let words = (mine.words(), theirs.words());
            example = Some(example.map_or(words.clone(), |known: (String, String)| known.min(words)));
        }
    }
    match example {
        Some((mine, theirs)) => {
            let [here, there] =
                if streams(view.cell) == Some(true) { ["streamed", "whole"] } else { ["whole", "streamed"] };
            let why = format!(
                "{found} of {n} prompts got another kind of answer {here} than {there} ({}): {mine} here, {theirs} there",
                other.context.target
            );
            Outcome::found(found, n, why)
        }
        None if n == 0 => Outcome::unavailable(unavailable),
        None => Outcome::passed(n),
    }
}

/// Whether `other` asked the same for the same, and the one of the two streams while the other does not.
fn is_other_way(view: View<'_>, other: &Finished) -> bool {
    let at = |cell: &Finished| {
        let info = view.study.targets.iter().find(|info| info.name == cell.context.target)?;
        Some((info.url.as_deref()?, info.model.as_str()))
    };
    let asked = |cell: &Finished| (cell.context.workload.clone(), cell.context.load.clone());
    let is_same_place = at(view.cell).is_some_and(|place| at(other) == Some(place));
    let ways = streams(view.cell).zip(streams(other));
    is_same_place && asked(view.cell) == asked(other) && ways.is_some_and(|(mine, theirs)| mine != theirs)
}

/// Whether all answers of the cell came as streams; `None` where they came both ways, or not at all.
fn streams(cell: &Finished) -> Option<bool> {
    let mut ways = cell.seen.answers.iter().map(|answer| answer.was_streamed);
    let first = ways.next()?;
    ways.all(|way| way == first).then_some(first)
}

/// The kind of answer that each prompt got; `None` where it got several.
fn kinds(cell: &Finished) -> HashMap<u64, Option<Kind>> {
    let mut kinds = HashMap::new();
    for answer in cell.seen.answers.iter().filter(|answer| answer.repeatable == Some(true)) {
        let known = kinds.entry(answer.prompt).or_insert(Some(answer.kind));
        if *known != Some(answer.kind) {
            *known = None;
        }
    }
    kinds
}
