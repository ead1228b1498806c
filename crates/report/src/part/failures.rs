//! What failed, and why.

use inferometer_metrics::{Cause, CellSummary, name};
use inferometer_record::Status;

use crate::number::{count, counted, share};
use crate::page::{Fact, Text};

use super::joined;

/// So many distinct causes are shown.
const MAX_CAUSES: usize = 5;

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
    let http = cause.http_status.map(|status| format!(" HTTP\u{a0}{status}"));
    let code = cause.code.as_ref().map(|code| format!(" {}", cut(code)));
    let message = cause.message.as_ref().map(|message| format!(": {}", cut(message)));
    format!(
        "{}\u{a0}× {}{}{}{} (first: request {})",
        count(cause.count),
        cause.status.name(),
        http.unwrap_or_default(),
        code.unwrap_or_default(),
        message.unwrap_or_default(),
        cause.first_request
    )
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
