//! Many waits on one fine timer.
//!
//! A timer wheel wakes whatever is due in the same millisecond together; what is paced by it leaves in bunches that no
//! real server sends. Here each wait ends at its own instant, tens of microseconds late, on one [`Pacer`]. And while a
//! wheel holds any timer, every wait for the network is given an end of its own, which the kernel has to arm and to
//! cancel each time: half a microsecond an event. A timer that is a file descriptor is armed once.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tokio::sync::Notify;

use crate::{Clock, Deadline, Mono, Pacer};

/// Beyond so many waits at once, their ends are rounded up to [`COARSE_NS`]: each wake-up of its own would then cost a
/// core.
const FINE_WAITS: usize = 512;
/// A millisecond, as a timer wheel has it.
const COARSE_NS: u64 = 1_000_000;

/// Waits of many tasks of one runtime. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Timers(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Clock,
    waits: Mutex<Waits>,
    /// Whatever was to end by this instant has been woken; nanoseconds.
    woken: AtomicU64,
    sooner: Notify,
}

#[derive(Debug, Default)]
struct Waits {
    ends: BTreeMap<(Mono, u64), Waker>,
    entered: u64,
}

impl Waits {
    fn first(&self) -> Option<Mono> {
        self.ends.first_key_value().map(|(&(at, _), _)| at)
    }
}

impl Timers {
    /// Timers on `clock`. Nothing wakes until [`Timers::run`] is polled.
    pub fn new(clock: &Clock) -> Self {
        Self(Arc::new(Shared {
            clock: clock.clone(),
            waits: Mutex::default(),
            woken: AtomicU64::new(0),
            sooner: Notify::new(),
        }))
    }

    /// Wakes whatever is due, for ever. Spawn it on the runtime whose tasks wait; one driver is enough.
    pub async fn run(self) -> io::Result<()> {
        let mut pacer = Pacer::new(&self.0.clock)?;
        loop {
            let next = self.0.waits().first();
            let Some(next) = next else {
                self.0.sooner.notified().await;
                continue;
            };
            tokio::select! {
                biased;
                waited = pacer.wait_until(next) => waited?,
                () = self.0.sooner.notified() => {}
            }
            self.0.wake_due();
        }
    }

    /// Waits until `at`; returns at once where it has passed. Safe to drop.
    pub async fn sleep_until(&self, at: Mono) {
        Deadline::passed(&self.clock(), Some(at)).await;
    }

    /// The clock, its [`Deadline`]s on these timers.
    pub(crate) fn clock(&self) -> Clock {
        Clock { timers: Some(self.clone()), ..self.0.clock.clone() }
    }

    /// Enters a wait until `at`, or up to a millisecond longer where there are many.
    pub(crate) fn wait(&self, at: Mono, waker: &Waker) -> Wait {
        let mut waits = self.0.waits();
        let is_fine = waits.ends.len() < FINE_WAITS;
        let at = if is_fine { at } else { Mono::from_nanos(at.as_nanos().next_multiple_of(COARSE_NS)) };
        let is_sooner = waits.first().is_none_or(|first| at < first);
        waits.entered += 1;
        let number = waits.entered;
        waits.ends.insert((at, number), waker.clone());
        drop(waits);
        if is_sooner {
            self.0.sooner.notify_one();
        }
        Wait { timers: self.clone(), at, number, waker: waker.clone() }
    }
}

impl Shared {
    /// Nothing that could panic runs under the lock.
    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_due(&self) {
        let now = self.clock.now();
        let mut waits = self.waits();
        self.woken.store(now.as_nanos(), Ordering::Release);
        while let Some(first) = waits.ends.first_entry().filter(|first| first.key().0 <= now) {
            first.remove().wake();
        }
    }
}

/// A wait that has been entered. Dropping it takes it back.
#[derive(Debug)]
pub(crate) struct Wait {
    timers: Timers,
    at: Mono,
    number: u64,
    waker: Waker,
}

impl Wait {
    /// When it ends.
    pub(crate) fn at(&self) -> Mono {
        self.at
    }

    /// Whether it has not ended and will wake the task of `waker`. Reads no clock and takes no lock.
    pub(crate) fn runs_for(&self, waker: &Waker) -> bool {
        self.waker.will_wake(waker) && self.timers.0.woken.load(Ordering::Acquire) < self.at.as_nanos()
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.timers.0.waits().ends.remove(&(self.at, self.number));
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_wait_ends_at_its_own_instant() {
        let clock = Clock::virtual_time();
        let timers = Timers::new(&clock);
        tokio::spawn(timers.clone().run());
        let ends: Vec<_> = [700, 10, 300, 10, 1_500]
            .map(|us| {
                let (timers, clock) = (timers.clone(), clock.clone());
                tokio::spawn(async move {
                    timers.sleep_until(Mono::from_nanos(us * 1_000)).await;
                    (us, clock.now())
                })
            })
            .into();
        for end in ends {
            let (us, at) = end.await.unwrap();
            assert_eq!(at, Mono::from_nanos(us * 1_000));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn many_waits_share_their_milliseconds() {
        let clock = Clock::virtual_time();
        let timers = Timers::new(&clock);
        tokio::spawn(timers.clone().run());
        let wait = |us: u64| {
            let (timers, clock) = (timers.clone(), clock.clone());
            tokio::spawn(async move {
                timers.sleep_until(Mono::from_nanos(us * 1_000)).await;
                clock.now()
            })
        };
        let fine: Vec<_> = (0..FINE_WAITS as u64).map(|n| wait(50_000 + n)).collect();
        tokio::task::yield_now().await;
        let coarse = wait(10_100);
        assert_eq!(coarse.await.unwrap(), Mono::from_nanos(11_000_000));
        for (n, end) in (0..).zip(fine) {
            assert_eq!(end.await.unwrap(), Mono::from_nanos((50_000 + n) * 1_000));
        }
    }

    #[tokio::test]
    async fn a_dropped_wait_wakes_nobody_wrongly() {
        let clock = Clock::monotonic();
        let timers = Timers::new(&clock);
        tokio::spawn(timers.clone().run());
        let soon = clock.now() + Duration::from_millis(2);
        tokio::select! {
            () = timers.sleep_until(clock.now() + Duration::from_secs(60)) => panic!("early"),
            () = timers.sleep_until(soon) => {}
        }
        assert!(clock.now() >= soon);
    }

    /// A wait that is taken back leaves nothing behind: a timeout of minutes is one of every request.
    #[tokio::test(start_paused = true)]
    async fn a_wait_taken_back_is_gone() {
        let timers = Timers::new(&Clock::virtual_time());
        let waker = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
        let waits = [5, 3, 9].map(|us| timers.wait(Mono::from_nanos(us * 1_000), &waker));
        assert!(waits.iter().all(|wait| wait.runs_for(&waker)));
        let [first, second, third] = waits;
        drop(second);
        assert_eq!(timers.0.waits().first(), Some(first.at()));
        drop((first, third));
        assert_eq!(timers.0.waits().first(), None);
    }
}
