//! A timeout that can move with every event and costs nothing while it does.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::task::coop::unconstrained;
use tokio::time::Sleep;

use crate::timers::Wait;
use crate::{Clock, Mono};

/// A deadline of one request. Moving it only writes a number; the timer behind it is set again when it fires too
/// early, so that an idle timeout over a stream of a thousand events costs a timer per timeout, not per event. Polling it
/// while the timer runs on for the same task is two comparisons.
#[derive(Debug)]
pub struct Deadline {
    clock: Clock,
    at: Option<Mono>,
    timer: Option<Timer>,
}

/// What wakes it.
#[derive(Debug)]
enum Timer {
    Wheel(Wheel),
    Apart(Wait),
}

/// A timer of tokio's wheel.
#[derive(Debug)]
struct Wheel {
    at: Mono,
    sleep: Pin<Box<Sleep>>,
    /// Whom it wakes.
    waker: Option<Waker>,
}

impl Deadline {
    /// A deadline that never comes until it is set.
    pub fn new(clock: &Clock) -> Self {
        Self { clock: clock.clone(), at: None, timer: None }
    }

    /// Waits until `at`; for ever where that is `None`.
    pub async fn passed(clock: &Clock, at: Option<Mono>) {
        Self { at, ..Self::new(clock) }.expired().await;
    }

    /// Moves the deadline; `None` is never.
    pub fn set(&mut self, at: Option<Mono>) {
        self.at = at;
    }

    /// Completes once the deadline has passed. Safe to drop and call again.
    pub async fn expired(&mut self) {
        poll_fn(|cx| self.poll_expired(cx)).await;
    }

    /// As [`Deadline::expired`], for hand-written futures.
    pub fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else { return Poll::Pending };
        if self.timer.as_ref().is_some_and(|timer| timer.at() <= at && timer.runs_for(cx.waker())) {
            return Poll::Pending;
        }
        self.poll_timer(at, cx)
    }

    #[cold]
    fn poll_timer(&mut self, at: Mono, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(timers) = &self.clock.timers {
            if self.clock.now() >= at {
                return Poll::Ready(());
            }
            self.timer = Some(Timer::Apart(timers.wait(at, cx.waker())));
            return Poll::Pending;
        }
        let mut wheel = match self.timer.take() {
            Some(Timer::Wheel(wheel)) => wheel,
            Some(Timer::Apart(_)) | None => Wheel::new(&self.clock, at),
        };
        let polled = wheel.poll(&self.clock, at, cx);
        self.timer = Some(Timer::Wheel(wheel));
        polled
    }
}

impl Timer {
    /// When it fires.
    fn at(&self) -> Mono {
        match self {
            Self::Wheel(wheel) => wheel.at,
            Self::Apart(wait) => wait.at(),
        }
    }

    /// Whether it has not fired and will wake the task of `waker`: then polling it would change nothing.
    fn runs_for(&self, waker: &Waker) -> bool {
        match self {
            Self::Wheel(wheel) => {
                wheel.waker.as_ref().is_some_and(|known| known.will_wake(waker)) && !wheel.sleep.is_elapsed()
            }
            Self::Apart(wait) => wait.runs_for(waker),
        }
    }
}

impl Wheel {
    fn new(clock: &Clock, at: Mono) -> Self {
        Self { at, sleep: Box::pin(tokio::time::sleep_until(clock.timer_instant(at))), waker: None }
    }

    fn arm(&mut self, clock: &Clock, at: Mono) {
        self.sleep.as_mut().reset(clock.timer_instant(at));
        self.at = at;
    }

    fn poll(&mut self, clock: &Clock, at: Mono, cx: &mut Context<'_>) -> Poll<()> {
        if at < self.at {
            self.arm(clock, at);
        }
        loop {
            // A task whose budget is used up would not be entered with the timer, and never be woken by it.
            if pin!(unconstrained(self.sleep.as_mut())).poll(cx).is_pending() {
                self.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            if self.at >= at {
                return Poll::Ready(());
            }
            self.arm(clock, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn with_timers() -> Clock {
        let (clock, timers) = Clock::virtual_time().with_timers();
        tokio::spawn(timers.run());
        clock
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_polled_last_is_woken() {
        wakes_whoever_polled_last(Clock::virtual_time()).await;
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_polled_last_is_woken_by_timers() {
        wakes_whoever_polled_last(with_timers()).await;
    }

    /// Polled first by a task whose budget is used up, then by others: the last one is woken.
    async fn wakes_whoever_polled_last(clock: Clock) {
        let mut deadline = Deadline::new(&clock);
        deadline.set(Some(Mono::from_nanos(3_000_000)));
        poll_fn(|cx| {
            while tokio::task::coop::has_budget_remaining() {
                let _ = pin!(tokio::task::consume_budget()).poll(cx);
            }
            assert!(deadline.poll_expired(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        let in_time = |clock: Clock, mut deadline: Deadline| async move {
            tokio::select! {
                () = deadline.expired() => {}
                () = clock.sleep(Duration::from_secs(1)) => panic!("never woken"),
            }
            (clock.now(), deadline)
        };
        let (at, mut deadline) = in_time(clock.clone(), deadline).await;
        assert_eq!(at, Mono::from_nanos(3_000_000));
        deadline.set(Some(Mono::from_nanos(5_000_000)));
        assert!(poll_fn(|cx| Poll::Ready(deadline.poll_expired(cx))).await.is_pending());
        let (at, _) = tokio::spawn(in_time(clock.clone(), deadline)).await.unwrap();
        assert_eq!(at, Mono::from_nanos(5_000_000));
    }

    #[tokio::test(start_paused = true)]
    async fn moves_later_and_earlier() {
        moves(Clock::virtual_time()).await;
    }

    #[tokio::test(start_paused = true)]
    async fn moves_later_and_earlier_on_timers() {
        moves(with_timers()).await;
    }

    async fn moves(clock: Clock) {
        let mut deadline = Deadline::new(&clock);
        deadline.set(Some(Mono::from_nanos(1_000_000)));
        tokio::select! {
            () = deadline.expired() => panic!("expired early"),
            () = clock.sleep(Duration::from_micros(500)) => {}
        }
        deadline.set(Some(Mono::from_nanos(5_000_000)));
        deadline.expired().await;
        assert_eq!(clock.now(), Mono::from_nanos(5_000_000));
        deadline.set(Some(Mono::from_nanos(900_000_000)));
        tokio::select! {
            () = deadline.expired() => panic!("expired early"),
            () = clock.sleep(Duration::from_micros(10)) => {}
        }
        deadline.set(Some(Mono::from_nanos(6_000_000)));
        deadline.expired().await;
        assert_eq!(clock.now(), Mono::from_nanos(6_000_000));
    }
}
