//! Whether and when a failed attempt is followed by another.

use std::time::Duration;

use inferometer_record::Status;

use crate::attempt::Received;
use crate::classify::classify;
use crate::finished::Finished;

/// The first wait of our own; doubled with each attempt.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// No wait is longer, whoever asks for it.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// How long to wait before the next attempt, or `None` where another would not help.
pub(crate) fn wait(finished: &Finished, attempt: u32) -> Option<Duration> {
    let received = finished.seen.received.as_ref();
    let http_status = received.map(|received| received.status);
    let may_help = match classify(&finished.seen).status {
        Status::HttpError => matches!(http_status, Some(408 | 409 | 425 | 429 | 500..)),
        Status::StreamError | Status::Timeout | Status::Transport | Status::Truncated => true,
        Status::Ok | Status::Protocol | Status::Cancelled | Status::ClientLimit => false,
    };
    may_help.then(|| received.and_then(retry_after).unwrap_or_else(|| own_wait(attempt)).min(MAX_WAIT))
}

fn retry_after(received: &Received) -> Option<Duration> {
    received.told().retry_after
}

fn own_wait(attempt: u32) -> Duration {
    FIRST_WAIT.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)))
}
