//! How requests ended, and what their answers were worth.

use inferometer_metrics::CellSummary;

use crate::number::{count, counted, of, proportion};
use crate::page::{Fact, Text};

use super::joined;

/// Requests, answers and attempts.
pub(super) fn fact(cell: &CellSummary) -> Fact {
    let lines = [ended(cell), answers(cell), attempts(cell), flags(cell)];
    Fact { label: "requests", lines: lines.into_iter().flatten().map(Text::from).collect() }
}

fn some(value: u64, one: &str, many: &str) -> Option<String> {
    (value > 0).then(|| counted(value, one, many))
}

fn ended(cell: &CellSummary) -> Option<String> {
    let counts = &cell.counts;
    joined([
        Some(format!("{} issued", count(counts.issued))),
        Some(format!("{} ok", count(counts.ok))),
        some(counts.failed, "failed", "failed"),
        some(counts.cancelled, "cancelled by the run", "cancelled by the run"),
        some(counts.client_limit, "of them for lack of our own", "of them for lack of our own"),
        some(counts.warmup, "warm-up dropped", "warm-ups dropped"),
    ])
}

fn answers(cell: &CellSummary) -> Option<String> {
    let (counts, useful) = (&cell.counts, &cell.validity.useful);
    let is_plain = useful.count == useful.n && counts.empty == 0 && counts.capped == 0;
    if is_plain && cell.validity.degraded == 0 && cell.validity.unverifiable == 0 {
        return None;
    }
    joined([
        proportion(useful).map(|share| format!("useful {share} ({})", of(useful))),
        some(counts.empty, "empty", "empty"),
        some(counts.capped, "cut by the token limit", "cut by the token limit"),
        some(cell.validity.degraded, "degraded", "degraded"),
        some(cell.validity.unverifiable, "not verifiable", "not verifiable"),
    ])
}

fn attempts(cell: &CellSummary) -> Option<String> {
    let counts = &cell.counts;
    let retried = (counts.retries > 0).then(|| {
        format!(
            "{} in {}",
            counted(counts.retries, "retry", "retries"),
            counted(counts.attempts, "attempt", "attempts")
        )
    });
    joined([
        retried,
        some(counts.rate_limited, "attempt answered 429", "attempts answered 429"),
        some(
            counts.stale_reconnects,
            "kept connection found closed and opened again",
            "kept connections found closed and opened again",
        ),
    ])
}

fn flags(cell: &CellSummary) -> Option<String> {
    let flags =
        joined(cell.validity.flags.iter().map(|(flag, n)| Some(format!("{flag}\u{a0}{}", count(*n)))))?;
    Some(format!("flags: {flags}"))
}
