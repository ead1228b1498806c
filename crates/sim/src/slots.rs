//! The slots of a model: work is done in them, and who finds none waits, first in, first out.

use std::sync::{Mutex, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

/// Slots, and the queue before them.
#[derive(Debug)]
pub(crate) struct Slots {
    free: Semaphore,
    waiting: Mutex<u32>,
    queue: Option<u32>,
}

/// A place in the queue; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place<'a>(&'a Slots);

impl Slots {
    /// `slots` slots, before which at most `queue` requests wait.
    pub(crate) fn new(slots: u32, queue: Option<u32>) -> Self {
        Self { free: Semaphore::new(slots as usize), waiting: Mutex::default(), queue }
    }

    /// A place in the queue; none where it is full.
    pub(crate) fn enter(&self) -> Option<Place<'_>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if self.free.available_permits() == 0 && self.queue.is_some_and(|most| *waiting >= most) {
            return None;
        }
        *waiting += 1;
        Some(Place(self))
    }
}

impl<'a> Place<'a> {
    /// Waits for a slot, which is held until it is dropped. None only where the server ends.
    pub(crate) async fn slot(self) -> Option<SemaphorePermit<'a>> {
        self.0.free.acquire().await.ok()
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_queue_has_its_length() {
        let slots = Slots::new(1, Some(1));
        let slot = slots.enter().unwrap().slot().await;
        let place = slots.enter();
        assert!(place.is_some());
        assert!(slots.enter().is_none());
        drop(slot);
        let _slot = place.unwrap().slot().await;
        assert!(slots.enter().is_some());
    }
}
