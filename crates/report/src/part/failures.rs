//! What failed, and why.

use inferometer_metrics::{Cause, CellSummary, name};
use inferometer_record::Status;

use crate::number::{count, counted, share};
use crate::page::{Fact, Text};

use super::joined;

/// So many distinct causes are shown.
const MAX_CAUSES: usize = 5;

/// So many distinct causes of all cells together are shown.
const MAX_TOGETHER: usize = 10;

/// So many of the cells that had a cause are named.
const MAX_CELLS: usize = 4;

/// So many characters of a server's message are shown.
const MAX_MESSAGE: usize = 300;

/// The error rate with its interval, then the errors by class.
pub(super) fn errors(cell: &CellSummary) -> Fact {
    let counts = &cell.counts;
    let rate = cell.metrics.get(name::ERROR_RATE).and_then(|rate| {
        let share = share(rate.value, rate.lo, rate.hi)?;
        Some(format!("{share} ({} of {})", count(counts.failed), count(rate.n)))
    });
    let failures = Status::ALL.into_iter().filter(|status| status.is_failure() && counts.of(*status) > 0);
    let classes =
        joined(failures.map(|status| Some(format!("{}\u{a0}{}", status.name(), count(counts.of(status))))));
    let said = [rate, classes].into_iter().flatten().collect::<Vec<_>>().join(": ");
    let lines = if said.is_empty() { Vec::new() } else { vec![Text::bad_if(counts.failed > 0, said)] };
    Fact { label: "errors", lines }
}

/// Each cause once with its count, the first seen first.
pub(super) fn causes(cell: &CellSummary) -> Fact {
    let mut lines: Vec<Text> =
        cell.failures.iter().take(MAX_CAUSES).map(|seen| Text::bad(cause(seen))).collect();
    let more = cell.failures.len().saturating_sub(MAX_CAUSES);
    if more > 0 {
        lines.push(format!("{} in samples.jsonl", counted(more as u64, "more cause", "more causes")).into());
    }
    Fact { label: "failures", lines }
}

fn cause(cause: &Cause) -> String {
    format!("{}\u{a0}× {} (first: request {})", count(cause.count), what(cause), cause.first_request)
}

/// The status, what the server said, and its code where it is not that of HTTP once more.
fn what(cause: &Cause) -> String {
    let http = cause.http_status.map(|status| format!(" HTTP\u{a0}{status}"));
    let is_http = |code: &&String| cause.http_status.is_some_and(|status| **code == status.to_string());
    let code = cause.code.as_ref().filter(|code| !is_http(code)).map(|code| format!(" {}", cut(code)));
    let message = cause.message.as_ref().map(|message| format!(": {}", cut(message)));
    let parts = [http, code, message].map(Option::unwrap_or_default);
    format!("{}{}", cause.status.name(), parts.concat())
}

/// A cause with the cells that had it, and how often each.
struct Shared<'a> {
    what: String,
    first: &'a Cause,
    cells: Vec<(&'a str, u64)>,
}

/// The causes of all cells, each once with the cells that had it; one cell's own behind its name.
pub(super) fn all(named: &[(&str, &CellSummary)]) -> Fact {
    let mut causes: Vec<Shared<'_>> = Vec::new();
    for (name, seen) in
        named.iter().flat_map(|(name, cell)| cell.failures.iter().map(move |seen| (*name, seen)))
    {
        let what = what(seen);
        match causes.iter_mut().find(|shared| shared.what == what) {
            Some(shared) => shared.cells.push((name, seen.count)),
            None => causes.push(Shared { what, first: seen, cells: vec![(name, seen.count)] }),
        }
    }
    let more = causes.len().saturating_sub(MAX_TOGETHER);
    let mut lines: Vec<Text> =
        causes.iter().take(MAX_TOGETHER).map(|shared| Text::bad(told(shared))).collect();
    if more > 0 {
        lines.push(format!("{} in samples.jsonl", counted(more as u64, "more cause", "more causes")).into());
    }
    Fact { label: "failures", lines }
}

fn told(shared: &Shared<'_>) -> String {
    if let [(name, _)] = shared.cells.as_slice() {
        return format!("{name}: {}", cause(shared.first));
    }
    let all: u64 = shared.cells.iter().map(|(_, n)| n).sum();
    let named = shared.cells.iter().take(MAX_CELLS).map(|(name, n)| format!("{name}\u{a0}{}", count(*n)));
    let left = shared.cells.len().saturating_sub(MAX_CELLS);
    let more = (left > 0).then(|| format!("{left} more"));
    let named: Vec<String> = named.chain(more).collect();
    format!("{}\u{a0}× {} ({})", count(all), shared.what, named.join(", "))
}

/// The beginning of a long message; all of it is in the samples.
fn cut(message: &str) -> String {
    let message = message.trim();
    match message.char_indices().nth(MAX_MESSAGE) {
        None => message.to_owned(),
        Some((at, _)) => {
            let kept = message.get(..at).unwrap_or_default();
            let kept = kept.rsplit_once(' ').map_or(kept, |(whole_words, _)| whole_words);
            format!("{kept} …")
        }
    }
}
