//! The conditions that fail a run, and how they came out.

use inferometer_metrics::{CellSummary, GateOutcome, GateResult};

use crate::number::count;
use crate::page::{Fact, Text};

use super::joined;

/// A line per gate: the result first, since a gate that is met is a condition that did not come true.
pub(super) fn fact(cell: &CellSummary) -> Fact {
    Fact { label: "gates", lines: lines(&cell.gates) }
}

/// A line each.
pub(super) fn lines(outcomes: &[GateOutcome]) -> Vec<Text> {
    outcomes.iter().map(line).collect()
}

fn line(outcome: &GateOutcome) -> Text {
    let detail = (!outcome.detail.is_empty()).then(|| outcome.detail.clone());
    let said = |word: &str, needed: Option<String>| {
        let fails = format!("fails if {}", outcome.gate);
        joined([Some(word.to_owned()), Some(fails), needed, detail.clone()]).unwrap_or_default()
    };
    match outcome.result {
        GateResult::Met => said("met", None).into(),
        GateResult::Missed => Text::bad(said("MISSED", None)),
        GateResult::Unproven => Text::warn(said("unproven", Some(needed(outcome)))),
    }
}

/// What would prove it.
fn needed(outcome: &GateOutcome) -> String {
    let n = count(outcome.n);
    match outcome.needed_n {
        Some(needed) if needed > outcome.n => format!("n\u{a0}=\u{a0}{n} of the {} it needs", count(needed)),
        _ => format!("n\u{a0}=\u{a0}{n} cannot tell"),
    }
}
