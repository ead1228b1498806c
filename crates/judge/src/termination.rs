//! Did the answer end as an answer should?

use inferometer_wire::{Answer, Finish};

use crate::{Expect, Finding};

/// Stopped by a limit or a filter, or for no reason that we know: there may have been more to say.
pub(crate) fn finish(answer: &Answer, expect: &Expect) -> Option<Finding> {
    match answer.finish {
        // An error is a failed answer, which the check of transport has seen.
        Some(Finish::Stop | Finish::ToolCalls | Finish::Error) => None,
        Some(Finish::Length) => Some(Finding::degraded("capped")),
        Some(Finish::ContentFilter) => Some(Finding::degraded("content_filtered")),
        Some(Finish::Unknown) | None if at_limit(answer, expect) => Some(Finding::degraded("capped")),
        Some(Finish::Unknown) => Some(Finding::degraded("finish_unknown")),
        None => Some(Finding::degraded("no_finish_reason")),
    }
}

/// Where the server gives no reason that we know, its count may show that the limit was the reason.
fn at_limit(answer: &Answer, expect: &Expect) -> bool {
    let output = answer.usage.as_ref().and_then(|usage| usage.output);
    expect.max_tokens.zip(output).is_some_and(|(limit, output)| output >= u64::from(limit))
}
