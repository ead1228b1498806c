//! Loads made of episodes: each is a script of a few steps.

use std::time::Duration;

use inferometer_metrics::role;
use inferometer_plan::Arrival;
use inferometer_transport::Connections;

/// Requests alone before the first burst: what is usual, with an interval.
pub(crate) const RESTS: u32 = 5;
/// After a burst, requests go out one at a time for no longer than this.
pub(crate) const RECOVERY: Duration = Duration::from_secs(30);
/// And no more of them than this.
pub(crate) const MAX_RECOVERY: u32 = 1_000;
/// So many in a row inside the usual interval end the recovery.
pub(crate) const RECOVERED: u32 = 2;

/// One step of an episode. What a step asks has ended before the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Leaves the target alone until nothing has been asked for so long.
    Idle(Duration),
    /// Closes idle connections.
    Forget,
    /// Opens so many connections.
    Open(u32),
    /// Asks once, on a connection so chosen.
    Ask { role: &'static str, connections: Connections },
    /// Asks alone, and notes what is usual: [`RESTS`] times where nothing is known yet, else once.
    Rest,
    /// Asks so many times at once.
    Burst(u32),
    /// Asks one at a time, until the time to first token is what is usual again.
    Recover,
}

/// The script of each episode of `arrival`; nothing for loads that have none.
///
/// *Cold start.* The fresh connection of the first request is closed behind it; that of its control is kept, idles
/// through the second gap, and carries the two requests after it.
///
/// *Burst.* What is usual is asked for before the gap, so that the burst itself comes from rest. Its connections are opened right
/// before it: the promise is that all requests are sent within 5 ms, and handshakes of many at once would break it.
pub(crate) fn script(arrival: &Arrival) -> Vec<Step> {
    use Connections::{Fresh, Reuse};
    let ask = |role, connections| Step::Ask { role, connections };
    match *arrival {
        Arrival::ColdStart { gap } => vec![
            Step::Idle(gap),
            ask(role::COLD_FRESH, Fresh),
            Step::Forget,
            ask(role::WARM_FRESH, Reuse),
            Step::Idle(gap),
            ask(role::COLD_KEPT, Reuse),
            ask(role::WARM_KEPT, Reuse),
        ],
        Arrival::Burst { size, rest } => {
            vec![
                Step::Rest,
                Step::Idle(rest),
                Step::Forget,
                Step::Open(size),
                Step::Burst(size),
                Step::Recover,
            ]
        }
        Arrival::Closed { .. } | Arrival::Open { .. } => Vec::new(),
    }
}

/// Positions that an episode may use up: where the next one's begin.
pub(crate) fn stride(arrival: &Arrival) -> u64 {
    match *arrival {
        Arrival::ColdStart { .. } => 4,
        Arrival::Burst { size, .. } => u64::from(RESTS) + u64::from(size) + u64::from(MAX_RECOVERY),
        Arrival::Closed { .. } | Arrival::Open { .. } => 1,
    }
}

/// Samples by which an episode is known to be whole: those of its last step that is always there.
pub(crate) fn closing(arrival: &Arrival) -> Option<(&'static str, u64)> {
    match *arrival {
        Arrival::ColdStart { .. } => Some((role::WARM_KEPT, 1)),
        Arrival::Burst { size, .. } => Some((role::BURST, u64::from(size))),
        Arrival::Closed { .. } | Arrival::Open { .. } => None,
    }
}

/// What a time to first token usually is, alone.
#[derive(Debug, Default)]
pub(crate) struct Usual {
    n: u32,
    most: Duration,
}

impl Usual {
    /// Whether it is known well enough.
    pub(crate) fn is_known(&self) -> bool {
        self.n >= RESTS
    }

    pub(crate) fn note(&mut self, ttft: Duration) {
        self.n = self.n.saturating_add(1);
        self.most = self.most.max(ttft);
    }

    /// Whether `ttft` is inside.
    pub(crate) fn holds(&self, ttft: Duration) -> bool {
        ttft <= self.most
    }
}
