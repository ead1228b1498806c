//! The only crate that reads a clock.
//!
//! [`Mono`] is an instant on `CLOCK_MONOTONIC` in nanoseconds, so that two processes of one machine can compare
//! theirs. [`Clock`] says what time it is and sleeps; [`Pacer`] wakes within tens of microseconds of a planned
//! instant, where tokio's timer wheel is a millisecond late, and [`Timers`] do so for many tasks at once; [`Deadline`] is
//! a timeout that costs nothing per event; [`Wall`] labels a run and measures nothing.
//!
//! Invariant: no other crate of the workspace calls `Instant::now`, `SystemTime::now` or `tokio::time::sleep`
//! (`clippy.toml` disallows them).
#![expect(clippy::disallowed_methods, reason = "this crate is where the clock lives")]

mod deadline;
mod mono;
mod pacer;
mod timers;
mod usage;
mod wall;

use std::time::Duration;

pub use deadline::Deadline;
pub use mono::Mono;
pub use pacer::Pacer;
pub use timers::Timers;
pub use usage::{process_cpu, thread_cpu};
pub use wall::Wall;

/// Virtual nanoseconds in one nanosecond of tokio's paused time. Tokio's timer counts whole milliseconds; slowed down
/// a thousandfold, virtual time resolves a microsecond.
const VIRTUAL_SLOWDOWN: u32 = 1_000;

/// Says what time it is and sleeps: real time, or virtual time under tokio's paused clock. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Clock {
    virtual_origin: Option<tokio::time::Instant>,
    /// What [`Deadline`]s wait on, where it is not tokio's wheel.
    timers: Option<Timers>,
}

impl Clock {
    /// The machine's `CLOCK_MONOTONIC`.
    pub fn monotonic() -> Self {
        Self { virtual_origin: None, timers: None }
    }

    /// Virtual time from 0, which jumps to the next timer whenever every task waits.
    ///
    /// Needs a current-thread tokio runtime whose clock is paused; without the pause, time passes a thousand times
    /// too slowly.
    pub fn virtual_time() -> Self {
        Self { virtual_origin: Some(tokio::time::Instant::now()), timers: None }
    }

    /// The same clock with its [`Deadline`]s on timers apart from tokio's wheel: cheaper for every event that is read
    /// meanwhile. Somebody has to [`Timers::run`] them on the runtime whose tasks wait.
    pub fn with_timers(self) -> (Self, Timers) {
        let timers = Timers::new(&self);
        (timers.clock(), timers)
    }

    /// Whether this clock is virtual.
    pub fn is_virtual(&self) -> bool {
        self.virtual_origin.is_some()
    }

    /// The present instant.
    pub fn now(&self) -> Mono {
        match self.virtual_origin {
            None => mono::now(),
            Some(origin) => Mono::from_nanos((origin.elapsed() / VIRTUAL_SLOWDOWN).as_nanos() as u64),
        }
    }

    /// Sleeps until `at` on tokio's timer: about a millisecond late in real time. For timeouts and housekeeping;
    /// a planned send waits on a [`Pacer`].
    pub async fn sleep_until(&self, at: Mono) {
        tokio::time::sleep_until(self.timer_instant(at)).await;
    }

    /// Sleeps for `span`, as [`Clock::sleep_until`].
    pub async fn sleep(&self, span: Duration) {
        self.sleep_until(self.now() + span).await;
    }

    /// The instant of tokio's timer that corresponds to `at`.
    fn timer_instant(&self, at: Mono) -> tokio::time::Instant {
        let span = at.saturating_since(self.now());
        match self.virtual_origin {
            None => tokio::time::Instant::now() + span.min(FAR),
            Some(origin) => origin + at.saturating_since(Mono::from_nanos(0)).min(FAR) * VIRTUAL_SLOWDOWN,
        }
    }
}

/// The longest wait the timers are asked for: a day, far beyond any timeout.
const FAR: Duration = Duration::from_secs(86_400);

/// Blocks this thread until `at` in real time; within tens of microseconds of it.
pub fn block_until(at: Mono) {
    let span = at.saturating_since(mono::now());
    if !span.is_zero() {
        std::thread::sleep(span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn virtual_time_jumps_to_the_microsecond() {
        let clock = Clock::virtual_time();
        let started = clock.now();
        clock.sleep(Duration::from_secs(3_600)).await;
        assert_eq!(clock.now() - started, Duration::from_secs(3_600));
        clock.sleep(Duration::from_micros(7)).await;
        assert_eq!(clock.now() - started, Duration::from_secs(3_600) + Duration::from_micros(7));
    }

    #[tokio::test]
    async fn real_time_never_wakes_early() {
        let clock = Clock::monotonic();
        let mut pacer = Pacer::new(&clock).unwrap();
        for step in 1..20 {
            let at = clock.now() + Duration::from_micros(step * 137);
            pacer.wait_until(at).await.unwrap();
            assert!(clock.now() >= at);
            let at = clock.now() + Duration::from_micros(step * 37);
            clock.sleep_until(at).await;
            assert!(clock.now() >= at);
        }
    }
}
