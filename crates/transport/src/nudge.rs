//! The waker of a connection that is driven by whoever reads its body.
//!
//! Taking a frame out of a body tells the connection that there is room for the next one, by waking its task. Here that
//! task is the one that takes the frame, and it drives the connection anyhow before it waits: each such wake-up would cost
//! a turn through the scheduler for every frame. So while the body is polled, wake-ups are only noted.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

/// Wakes the reading task, or while that is polling the body itself, notes that it would have.
pub(crate) struct Nudge {
    task: Mutex<Waker>,
    muted: AtomicBool,
    noted: AtomicBool,
}

impl Nudge {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            task: Mutex::new(Waker::noop().clone()),
            muted: AtomicBool::new(false),
            noted: AtomicBool::new(false),
        })
    }

    /// From now on, wakes the task of `cx`.
    pub(crate) fn follow(&self, cx: &Context<'_>) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if !task.will_wake(cx.waker()) {
            task.clone_from(cx.waker());
        }
    }

    /// Runs `poll` with wake-ups noted instead of made; what came of it, and whether there was one.
    pub(crate) fn muted<T>(&self, poll: impl FnOnce() -> T) -> (T, bool) {
        self.muted.store(true, SeqCst);
        let polled = poll();
        // In this order: a wake-up from elsewhere is either noted by now or made.
        self.muted.store(false, SeqCst);
        (polled, self.noted.swap(false, SeqCst))
    }
}

impl Wake for Nudge {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.muted.load(SeqCst) {
            self.noted.store(true, SeqCst);
        } else {
            self.task.lock().unwrap_or_else(PoisonError::into_inner).wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    #[test]
    fn notes_while_muted_and_wakes_otherwise() {
        let count = Arc::new(Count::default());
        let task = Waker::from(Arc::clone(&count));
        let nudge = Nudge::new();
        nudge.follow(&Context::from_waker(&task));
        let waker = Waker::from(Arc::clone(&nudge));
        assert_eq!(nudge.muted(|| waker.wake_by_ref()), ((), true));
        assert_eq!((nudge.muted(|| ()), count.0.load(SeqCst)), (((), false), 0));
        waker.wake_by_ref();
        waker.wake();
        assert_eq!(count.0.load(SeqCst), 2);
    }
}
