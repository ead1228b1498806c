//! Did the answer come whole?

use inferometer_wire::{Answer, Outcome};

use crate::{Expect, Finding};

/// An answer that is not complete is worth nothing; one that we cut ourselves cannot be judged.
pub(crate) fn outcome(answer: &Answer, _: &Expect) -> Option<Finding> {
    match &answer.outcome {
        Outcome::Complete => None,
        Outcome::HttpError { .. } => Some(Finding::invalid("http_error")),
        Outcome::StreamError { .. } => Some(Finding::invalid("stream_error")),
        Outcome::Truncated => Some(Finding::invalid("truncated")),
        Outcome::Protocol { .. } => Some(Finding::invalid("protocol")),
        Outcome::Broken => Some(Finding::invalid("broken")),
        Outcome::Cut => Some(Finding::unverifiable("cut")),
    }
}
