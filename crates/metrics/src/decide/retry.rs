//! What to do about each class of error that was seen.

use inferometer_record::Status;

use crate::CellSummary;
use crate::kept::Kept;

use super::RetryAdvice;

/// A class: its name, how often a cell saw it, and what to do.
type Class = (&'static str, fn(&CellSummary) -> u64, &'static str);

/// In the order of the report.
const CLASSES: [Class; 7] = [
    (
        "429",
        |cell| cell.counts.rate_limited,
        "wait as long as Retry-After says, else back off from 1 s, twice as long each time, with jitter; ask less at \
         once, or raise the limit with the provider",
    ),
    (
        "5xx",
        |cell| http(cell, |status| status >= 500),
        "try again once after a second with jitter, then ask the fallback",
    ),
    (
        "4xx",
        |cell| http(cell, |status| (400..500).contains(&status) && status != 429),
        "do not try again: the same request fails again; see the message",
    ),
    (
        "timeout",
        |cell| cell.counts.timeout,
        "give up by the timeouts above and ask the fallback; trying the same target again doubles the wait",
    ),
    (
        "transport",
        |cell| cell.counts.transport,
        "try again at once on a new connection, then ask the fallback",
    ),
    (
        "truncated",
        |cell| cell.counts.truncated + cell.counts.stream_error,
        "try again once: what came is not an answer, and is paid for",
    ),
    (
        "invalid answer",
        |cell| cell.validity.invalid,
        "the same prompt mostly gives the same again: raise the token limit where it was cut, else take another model",
    ),
];

fn http(cell: &CellSummary, is_of_class: impl Fn(u16) -> bool) -> u64 {
    let causes = cell.failures.iter().filter(|cause| cause.status == Status::HttpError);
    causes.filter(|cause| cause.http_status.is_some_and(&is_of_class)).map(|cause| cause.count).sum()
}

/// Advice on every class that any of `cells` saw.
pub(super) fn advice(cells: &[Kept<'_>]) -> Vec<RetryAdvice> {
    let of = |(class, seen, advice): Class| {
        let seen = cells.iter().map(|cell| seen(cell.summary)).fold(0, u64::saturating_add);
        let found = RetryAdvice { class: class.to_owned(), seen, advice: advice.to_owned() };
        (seen > 0).then_some(found)
    };
    CLASSES.into_iter().filter_map(of).collect()
}
