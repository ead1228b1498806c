//! The limits of an attempt, on one timer.

use std::task::{Context, Poll};

use inferometer_clock::{Deadline, Mono};
use inferometer_transport::Trace;

use crate::rules::Rules;

/// Which limit ended an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Connect,
    FirstToken,
    Idle,
    Total,
    /// The run's own end, or an interrupt.
    Cut,
    /// Enough: the answer was complete and only the connection's end was still awaited.
    Drained,
}

/// What has been read of the answer, as far as limits care.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Nothing of the body.
    Nothing,
    /// Up to this read; whether there was output in it.
    Body { last_read: Mono, output: bool },
    /// The answer is complete, and nothing is awaited beyond this instant.
    Complete { until: Mono },
}

/// The nearest limit of an attempt, on one timer.
pub(crate) struct Guard<'a> {
    rules: &'a Rules<'a>,
    start: Mono,
    at: Mono,
    limit: Limit,
    timer: Deadline,
    /// Output flows and no limit is counted from the last read: further reads move nothing.
    is_settled: bool,
}

impl<'a> Guard<'a> {
    pub(crate) fn new(rules: &'a Rules<'a>, start: Mono) -> Self {
        Self {
            rules,
            start,
            at: Mono::default(),
            limit: Limit::Total,
            timer: Deadline::new(rules.clock),
            is_settled: false,
        }
    }

    /// Sets the timer to the nearest limit that now holds.
    pub(crate) fn rearm(&mut self, trace: &Trace, reading: Reading) {
        let is_flowing = matches!(reading, Reading::Body { output: true, .. });
        if is_flowing && self.is_settled {
            return;
        }
        let timeouts = &self.rules.shard.timeouts;
        self.is_settled = is_flowing && timeouts.idle.is_none();
        let mut nearest = (self.start + timeouts.total, Limit::Total);
        let mut consider = |at: Mono, limit: Limit| {
            if at < nearest.0 {
                nearest = (at, limit);
            }
        };
        if let Some(cut_at) = self.rules.cut_at {
            consider(cut_at, Limit::Cut);
        }
        match reading {
            Reading::Nothing if trace.sent().is_none() && !is_connected(trace) => {
                consider(self.start + timeouts.connect, Limit::Connect);
            }
            Reading::Body { last_read, .. } => {
                if let Some(idle) = timeouts.idle {
                    consider(last_read + idle, Limit::Idle);
                }
            }
            Reading::Complete { .. } | Reading::Nothing => {}
        }
        // A whole answer has no first token: it is awaited as long as it may take.
        let awaits_output = self.rules.shard.streaming
            && matches!(reading, Reading::Nothing | Reading::Body { output: false, .. });
        if let Some(first) = timeouts.first_token.filter(|_| awaits_output) {
            consider(self.start + first, Limit::FirstToken);
        }
        (self.at, self.limit) = nearest;
        self.timer.set(Some(self.at));
    }

    /// Waits for the limit while nothing has come back; the connect limit falls away once there is a connection.
    pub(crate) async fn connecting(&mut self, trace: &Trace) -> Limit {
        loop {
            self.timer.expired().await;
            let expired = self.at;
            self.rearm(trace, Reading::Nothing);
            if self.at <= expired {
                return self.limit;
            }
        }
    }

    /// Ready once the limit is reached that was nearest when the timer was last set.
    pub(crate) fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<Limit> {
        self.timer.poll_expired(cx).map(|()| self.limit)
    }
}

/// Whether the request has a connection to go out on.
fn is_connected(trace: &Trace) -> bool {
    trace.reused() || trace.version().is_some()
}
