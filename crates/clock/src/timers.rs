//! Many waits on one fine timer.
//!
//! A timer wheel wakes whatever is due in the same millisecond together; what is paced by it leaves in bunches that no
//! real server sends. Here each wait ends at its own instant, tens of microseconds late, on one [`Pacer`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use tokio::sync::Notify;

use crate::{Clock, Mono, Pacer};

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
    waits: Mutex<BinaryHeap<Reverse<Wait>>>,
    sooner: Notify,
}

#[derive(Debug)]
struct Wait {
    at: Mono,
    waker: Waker,
}

impl PartialEq for Wait {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Wait {}

impl PartialOrd for Wait {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Wait {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

impl Timers {
    /// Timers on `clock`. Nothing wakes until [`Timers::run`] is polled.
    pub fn new(clock: &Clock) -> Self {
        Self(Arc::new(Shared { clock: clock.clone(), waits: Mutex::default(), sooner: Notify::new() }))
    }

    /// Wakes whatever is due, for ever. Spawn it on the runtime whose tasks wait; one driver is enough.
    pub async fn run(self) -> io::Result<()> {
        let mut pacer = Pacer::new(&self.0.clock)?;
        loop {
            let next = self.0.waits().peek().map(|Reverse(wait)| wait.at);
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
        let mut at = at;
        let mut waiting: Option<Waker> = None;
        poll_fn(|context| {
            if self.0.clock.now() >= at {
                return Poll::Ready(());
            }
            if !waiting.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                at = self.0.wait(at, context.waker());
                waiting = Some(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }
}

impl Shared {
    /// Nothing that could panic runs under the lock.
    fn waits(&self) -> MutexGuard<'_, BinaryHeap<Reverse<Wait>>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a wait until `at`; when it will really end.
    fn wait(&self, at: Mono, waker: &Waker) -> Mono {
        let mut waits = self.waits();
        let at = if waits.len() < FINE_WAITS {
            at
        } else {
            Mono::from_nanos(at.as_nanos().next_multiple_of(COARSE_NS))
        };
        let is_sooner = waits.peek().is_none_or(|Reverse(first)| at < first.at);
        waits.push(Reverse(Wait { at, waker: waker.clone() }));
        drop(waits);
        if is_sooner {
            self.sooner.notify_one();
        }
        at
    }

    fn wake_due(&self) {
        let now = self.clock.now();
        let mut waits = self.waits();
        while waits.peek().is_some_and(|Reverse(wait)| wait.at <= now) {
            if let Some(Reverse(wait)) = waits.pop() {
                wait.waker.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
}
