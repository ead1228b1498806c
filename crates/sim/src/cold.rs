//! Cold starts: a model that has rested has to be started again before it works.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use inferometer_clock::{Clock, Mono};
use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
use crate::random::{Purpose, random};
use crate::units;

/// What a rest costs.
///
/// A model that nobody has asked yet has rested for ever. Requests that come while it starts wait for the same start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cold {
    /// How long no request was at work before the model is cold.
    #[serde(with = "units::text")]
    pub after: Duration,
    /// How long a start takes; it comes before the time to the first token.
    pub law: Distribution,
}

/// Whether a model is warm.
#[derive(Debug)]
pub(crate) struct Warmth {
    cold: Cold,
    seed: u64,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    at_work: u32,
    /// The end of the last work; none before there was any.
    rested_since: Option<Mono>,
    /// When the last start is over.
    warm_at: Option<Mono>,
}

/// A request at work; its end begins the rest, where no other is at work.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    warmth: &'a Warmth,
    /// When the model is warm.
    pub(crate) warm_at: Mono,
}

impl Warmth {
    pub(crate) fn new(cold: Cold, seed: u64) -> Self {
        Self { cold, seed, clock: Clock::monotonic(), state: Mutex::default() }
    }

    /// The `nth` request of the model arrives at `now`.
    pub(crate) fn begin(&self, nth: u64, now: Mono) -> Work<'_> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let has_rested = state.rested_since.is_none_or(|since| now >= since + self.cold.after);
        if state.at_work == 0 && has_rested {
            state.warm_at = Some(now + self.cold.law.draw(&mut random(self.seed, nth, Purpose::Cold)));
        }
        state.at_work += 1;
        Work { warmth: self, warm_at: state.warm_at.unwrap_or(now) }
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        let mut state = self.warmth.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.at_work -= 1;
        state.rested_since = Some(self.warmth.clock.now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_makes_cold_and_a_start_serves_all_who_wait() {
        let after = Duration::from_secs(4);
        let law = Distribution::constant(Duration::from_secs(1));
        let warmth = Warmth::new(Cold { after, law }, 0);
        let second = Duration::from_secs(1);
        let start = warmth.clock.now();
        let first = warmth.begin(1, start);
        let meanwhile = warmth.begin(2, start + second / 2);
        assert_eq!((first.warm_at, meanwhile.warm_at), (start + second, start + second));
        drop(first);
        // One is still at work: there is no rest.
        assert_eq!(warmth.begin(3, start + after * 2).warm_at, start + second);
        drop(meanwhile);
        let end = warmth.clock.now();
        assert_eq!(warmth.begin(4, end + after / 2).warm_at, start + second);
        let late = warmth.clock.now() + after;
        assert_eq!(warmth.begin(5, late).warm_at, late + second);
    }
}
