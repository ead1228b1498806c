//! Did the answer come whole?

use inferometer_wire::Outcome;

use crate::Case;
use crate::verdict::Finding;

/// An answer that is not complete is worth nothing; one that we cut ourselves cannot be judged.
pub(crate) fn outcome(case: &Case<'_>) -> Option<Finding> {
    match &case.answer.outcome {
        Outcome::Complete => None,
        Outcome::HttpError { .. } => Some(Finding::invalid("http_error")),
        Outcome::StreamError { .. } => Some(Finding::invalid("stream_error")),
        Outcome::Truncated => Some(Finding::invalid("truncated")),
        Outcome::Protocol { .. } => Some(Finding::invalid("protocol")),
        Outcome::Broken => Some(Finding::invalid("broken")),
        Outcome::Cut => Some(Finding::unverifiable("cut")),
    }
}
