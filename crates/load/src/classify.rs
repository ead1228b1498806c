//! From what was seen to how it ended.

use inferometer_record::Status;
use inferometer_transport::Kind;
use inferometer_wire::Outcome;

use crate::attempt::{Ended, Seen};
use crate::guard::Limit;

/// How an attempt ended, for the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) status: Status,
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
}

/// The status of an attempt. What the answer itself says goes before how its connection ended.
pub(crate) fn classify(seen: &Seen) -> Class {
    let outcome = seen.answer.as_ref().map(|answer| &answer.outcome);
    match outcome {
        Some(Outcome::Complete) => Class { status: Status::Ok, code: None, message: None },
        Some(Outcome::HttpError { code, message }) => {
            class(Status::HttpError, code.as_deref(), message.as_deref())
        }
        Some(Outcome::StreamError { code, message }) => {
            class(Status::StreamError, code.as_deref(), message.as_deref())
        }
        Some(Outcome::Truncated) => class(
            Status::Truncated,
            Some("truncated"),
            Some("the body ended with nothing that says the answer is complete"),
        ),
        Some(Outcome::Protocol { code, message }) => class(Status::Protocol, Some(code), Some(message)),
        Some(Outcome::Broken | Outcome::Cut) | None => without_outcome(&seen.ended),
    }
}

fn without_outcome(ended: &Ended) -> Class {
    match ended {
        Ended::Failed(error) => {
            let status = match error.kind() {
                Kind::ClientLimit => Status::ClientLimit,
                Kind::Protocol => Status::Protocol,
                _ => Status::Transport,
            };
            class(status, Some(error.kind().code()), Some(&error.to_string()))
        }
        Ended::Limited(limit) => limited(*limit),
        // The decoder calls every whole body something; should it not, nothing was read.
        Ended::Whole => class(Status::Truncated, Some("truncated"), None),
    }
}

fn limited(limit: Limit) -> Class {
    let (status, code, message) = match limit {
        Limit::Connect => (Status::Timeout, "connect_timeout", "no connection within --connect-timeout"),
        Limit::FirstToken => {
            (Status::Timeout, "first_token_timeout", "no output within --first-token-timeout")
        }
        Limit::Idle => (Status::Timeout, "idle_timeout", "no byte within --idle-timeout"),
        Limit::Total => (Status::Timeout, "total_timeout", "not complete within --timeout"),
        Limit::Cut | Limit::Drained => (Status::Cancelled, "cut", "cut by the end of the run"),
    };
    class(status, Some(code), Some(message))
}

fn class(status: Status, code: Option<&str>, message: Option<&str>) -> Class {
    Class { status, code: code.map(str::to_string), message: message.map(str::to_string) }
}
