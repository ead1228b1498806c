//! How requests ended, and what their answers were worth.

use inferometer_metrics::CellSummary;

use crate::number::{count, counted, of, proportion};
use crate::page::{Fact, Text};

use super::joined;

/// Requests, answers and attempts.
pub(super) fn fact(cell: &CellSummary) -> Fact {
    let lines = [ended(cell), answers(cell), vectors(cell), attempts(cell), flags(cell)];
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
    let (counts, validity) = (&cell.counts, &cell.validity);
    // What was asked for is no fault: it is counted, and not called degraded.
    let (cap, degraded) = if validity.degraded_is_useful {
        (" (asked for)", validity.degraded.saturating_sub(counts.capped))
    } else {
        ("", validity.degraded)
    };
    let cut = (counts.capped > 0).then(|| format!("{} cut by the token limit{cap}", count(counts.capped)));
    let others = [
        some(counts.empty, "empty", "empty"),
        some(degraded, "degraded", "degraded"),
        some(validity.unverifiable, "not verifiable", "not verifiable"),
    ];
    let useful = &validity.useful;
    let is_plain = useful.count == useful.n && others.iter().all(Option::is_none);
    let share = proportion(useful).filter(|_| !is_plain || (counts.capped > 0 && cap.is_empty()));
    let share = share.map(|share| format!("useful {share} ({})", of(useful)));
    joined([share, cut].into_iter().chain(others))
}

fn vectors(cell: &CellSummary) -> Option<String> {
    let lengths: Vec<String> = cell.dimensions.iter().map(|dimensions| count(*dimensions)).collect();
    let no_tokens = "no tokens come out of them, hence no TTFT and no TPOT";
    (!lengths.is_empty())
        .then(|| format!("vectors of {}\u{a0}dimensions: {no_tokens}", lengths.join(" and ")))
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
        // Where both say the same, once is enough.
        some(counts.throttled, "attempt throttled", "attempts throttled")
            .filter(|_| counts.throttled != counts.rate_limited),
        some(
            counts.stale_reconnects,
            "kept connection found closed and opened again",
            "kept connections found closed and opened again",
        ),
    ])
}

/// Flags that are the rule, and those that another line counts: `summary.json` has them all.
const NO_NEWS: [&str; 7] = [
    "first_chunk_estimated",
    "zero_gap",
    "capped",
    "empty",
    "logprobs",
    inferometer_metrics::THROTTLED,
    inferometer_metrics::VECTORS,
];

fn flags(cell: &CellSummary) -> Option<String> {
    let seen = &cell.validity.flags;
    // Vectors always come whole.
    let is_known = |flag: &str| {
        NO_NEWS.contains(&flag) || (flag == "not_streamed" && seen.contains_key(inferometer_metrics::VECTORS))
    };
    let news = seen.iter().filter(|(flag, _)| !is_known(flag));
    let flags = joined(news.map(|(flag, n)| Some(format!("{flag}\u{a0}{}", count(*n)))))?;
    Some(format!("flags: {flags}"))
}
