//! A timeout that can move with every event and costs nothing while it does.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::task::coop::unconstrained;
use tokio::time::Sleep;

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

#[derive(Debug)]
struct Timer {
    armed_for: Mono,
    sleep: Pin<Box<Sleep>>,
    /// Whom it wakes.
    waker: Option<Waker>,
}

impl Deadline {
    /// A deadline that never comes until it is set.
    pub fn new(clock: &Clock) -> Self {
        Self { clock: clock.clone(), at: None, timer: None }
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
        let timer = self.timer.get_or_insert_with(|| Timer {
            armed_for: at,
            sleep: Box::pin(tokio::time::sleep_until(self.clock.timer_instant(at))),
            waker: None,
        });
        if timer.armed_for <= at && timer.runs_for(cx.waker()) {
            return Poll::Pending;
        }
        if at < timer.armed_for {
            timer.arm(&self.clock, at);
        }
        loop {
            // A task whose budget is used up would not be entered with the timer, and never be woken by it.
            if pin!(unconstrained(timer.sleep.as_mut())).poll(cx).is_pending() {
                timer.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            if timer.armed_for >= at {
                return Poll::Ready(());
            }
            timer.arm(&self.clock, at);
        }
    }
}

impl Timer {
    fn arm(&mut self, clock: &Clock, at: Mono) {
        self.sleep.as_mut().reset(clock.timer_instant(at));
        self.armed_for = at;
    }

    /// Whether it has not fired and will wake the task of `waker`: then polling it would change nothing.
    fn runs_for(&self, waker: &Waker) -> bool {
        self.waker.as_ref().is_some_and(|known| known.will_wake(waker)) && !self.sleep.is_elapsed()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Polled first by a task whose budget is used up, then by others: the last one is woken.
    #[tokio::test(start_paused = true)]
    async fn whoever_polled_last_is_woken() {
        let clock = Clock::virtual_time();
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
        let clock = Clock::virtual_time();
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
