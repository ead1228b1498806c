//! A timeout that can move with every event and costs nothing while it does.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::Sleep;

use crate::{Clock, Mono};

/// A deadline of one request. Moving it only writes a number; the timer behind it is set again when it fires too
/// early, so that an idle timeout over a stream of a thousand events costs a timer per timeout, not per event.
#[derive(Debug)]
pub struct Deadline {
    clock: Clock,
    at: Option<Mono>,
    timer: Option<(Mono, Pin<Box<Sleep>>)>,
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
        loop {
            let (armed_for, sleep) = self.timer.get_or_insert_with(|| {
                (at, Box::pin(tokio::time::sleep_until(self.clock.timer_instant(at))))
            });
            if at < *armed_for {
                sleep.as_mut().reset(self.clock.timer_instant(at));
                *armed_for = at;
            }
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if *armed_for >= at {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(self.clock.timer_instant(at));
            *armed_for = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

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
