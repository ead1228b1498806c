//! The conditions that fail a run, and how they came out.

use inferometer_metrics::{CellSummary, GateOutcome, GateResult};

use crate::number::count;
use crate::page::{Fact, Text};

/// A line per gate.
pub(super) fn fact(cell: &CellSummary) -> Fact {
    Fact { label: "fail if", lines: cell.gates.iter().map(line).collect() }
}

fn line(outcome: &GateOutcome) -> Text {
    let detail = if outcome.detail.is_empty() { String::new() } else { format!(" ({})", outcome.detail) };
    let said = |word: &str| format!("{}: {word}{detail}", outcome.gate);
    match outcome.result {
        GateResult::Met => said("met, the run passes").into(),
        GateResult::Missed => Text::bad(said("MISSED")),
        GateResult::Unproven => Text::warn(said(&format!("unproven, {}", needed(outcome)))),
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
