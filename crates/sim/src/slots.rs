//! The slots of a model: work is done in them, and who finds none waits, first in, first out. Their number may follow
//! the demand, late.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use inferometer_clock::{Clock, Mono, Timers};
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::units;

/// Slots that follow the demand: more than there are were wanted, and `delay` later there are `to`; no more than
/// `from` were wanted for `down_after`, and there are `from` again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// Slots at rest.
    pub from: u32,
    /// Slots once the demand has been seen.
    pub to: u32,
    /// How long more slots take, from the moment they were missing.
    #[serde(with = "units::text")]
    pub delay: Duration,
    /// How long the slots at rest must have been enough before the others go.
    #[serde(with = "units::text")]
    pub down_after: Duration,
}

impl Scale {
    pub(crate) fn check(self) -> Result<(), String> {
        if self.from == 0 || self.to < self.from {
            return Err(format!("it cannot scale from {} to {} slots", self.from, self.to));
        }
        Ok(())
    }
}

/// Slots, and the queue before them.
#[derive(Debug)]
pub(crate) struct Slots {
    free: Semaphore,
    clock: Clock,
    queue: Option<u32>,
    scale: Option<Scale>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Slots there are.
    slots: u32,
    /// Requests that wait for one.
    waiting: u32,
    /// Requests that have one.
    at_work: u32,
    /// When the ordered slots are there.
    more_at: Option<Mono>,
    /// When the demand fell to what is there at rest; none while it is above.
    calm_since: Option<Mono>,
}

/// A place in the queue; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place<'a>(&'a Slots);

/// A slot; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Slot<'a> {
    slots: &'a Slots,
    /// Slots there were when this one was taken.
    pub(crate) of: u32,
    /// Dropped after the count, so that a slot that is free is counted as such.
    _permit: SemaphorePermit<'a>,
}

impl Slots {
    /// `slots` slots, before which at most `queue` requests wait.
    pub(crate) fn new(slots: u32, queue: Option<u32>) -> Self {
        let state = State { slots, waiting: 0, at_work: 0, more_at: None, calm_since: None };
        let free = Semaphore::new(slots as usize);
        Self { free, clock: Clock::monotonic(), queue, scale: None, state: Mutex::new(state) }
    }

    /// As many slots as the demand asks for.
    pub(crate) fn scaled(scale: Scale, queue: Option<u32>) -> Self {
        Self { scale: Some(scale), ..Self::new(scale.from, queue) }
    }

    /// A place in the queue; none where it is full.
    pub(crate) fn enter(&self) -> Option<Place<'_>> {
        self.change(|state| {
            let all_taken = state.at_work + state.waiting >= state.slots;
            if all_taken && self.queue.is_some_and(|most| state.waiting >= most) {
                return None;
            }
            state.waiting += 1;
            Some(Place(self))
        })
    }

    /// Changes the demand, and lets the number of slots follow what is due.
    fn change<T>(&self, demand: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        self.follow(&mut state, now);
        let changed = demand(&mut state);
        if let Some(scale) = self.scale {
            let wanted = state.waiting + state.at_work;
            if wanted > state.slots && state.slots < scale.to {
                state.more_at.get_or_insert(now + scale.delay);
            }
            if wanted > scale.from {
                state.calm_since = None;
            } else {
                state.calm_since.get_or_insert(now);
            }
        }
        changed
    }

    fn follow(&self, state: &mut State, now: Mono) {
        let Some(scale) = self.scale else { return };
        if state.more_at.is_some_and(|at| now >= at) {
            self.free.add_permits((scale.to - state.slots) as usize);
            (state.slots, state.more_at) = (scale.to, None);
        }
        if state.calm_since.is_some_and(|since| now >= since + scale.down_after) {
            // No more than `from` are taken: the others are free.
            self.free.forget_permits((state.slots - scale.from) as usize);
            (state.slots, state.more_at) = (scale.from, None);
        }
    }

    /// When slots that are ordered will be there.
    fn more_at(&self) -> Option<Mono> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).more_at
    }
}

impl<'a> Place<'a> {
    /// Waits for a slot, which is held until it is dropped. None only where the server ends.
    pub(crate) async fn slot(self, timers: &Timers) -> Option<Slot<'a>> {
        let slots = self.0;
        let turn = slots.free.acquire();
        tokio::pin!(turn);
        let permit = loop {
            let Some(at) = slots.more_at() else { break turn.await.ok()? };
            tokio::select! {
                permit = &mut turn => break permit.ok()?,
                () = timers.sleep_until(at) => slots.change(|_| ()),
            }
        };
        let of = slots.change(|state| {
            (state.waiting, state.at_work) = (state.waiting - 1, state.at_work + 1);
            state.slots
        });
        // The place has become the slot, in one step: the demand is what it was.
        std::mem::forget(self);
        Some(Slot { slots, of, _permit: permit })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.waiting -= 1);
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.slots.change(|state| state.at_work -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timers() -> Timers {
        Timers::new(&Clock::monotonic())
    }

    #[tokio::test]
    async fn the_queue_has_its_length() {
        let (slots, timers) = (Slots::new(1, Some(1)), timers());
        let slot = slots.enter().unwrap().slot(&timers).await;
        let place = slots.enter();
        assert!(place.is_some());
        assert!(slots.enter().is_none());
        drop(slot);
        let _slot = place.unwrap().slot(&timers).await;
        assert!(slots.enter().is_some());
    }

    #[tokio::test]
    async fn more_slots_come_late_and_go_after_a_calm() {
        let (delay, down_after) = (Duration::from_millis(40), Duration::from_millis(60));
        let (slots, timers) = (Slots::scaled(Scale { from: 1, to: 3, delay, down_after }, None), timers());
        let running = timers.clone();
        let take = async || slots.enter().unwrap().slot(&timers).await.unwrap();
        let work = async {
            let start = slots.clock.now();
            let first = take().await;
            assert_eq!(first.of, 1);
            let (second, third) = (take().await, take().await);
            assert!(slots.clock.now() - start >= delay);
            assert_eq!((second.of, third.of), (3, 3));
            drop((first, second, third));
            let again = (take().await, take().await);
            assert_eq!(again.1.of, 3, "no calm yet");
            drop(again);
            slots.clock.sleep(down_after).await;
            assert_eq!(take().await.of, 1);
        };
        tokio::select! {
            () = work => {}
            _ = running.run() => {}
        }
    }
}
