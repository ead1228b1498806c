//! The shard's own pulse: how late it wakes is how late it reads.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use inferometer_clock::{Clock, Mono, Pacer};

/// Between two beats.
const BEAT: Duration = Duration::from_millis(10);
/// Lateness from here on is kept with its instant, so that it can be taken out of the server's stalls.
const HICCUP: Duration = Duration::from_millis(1);
/// Hiccups kept: the latest.
const MAX_HICCUPS: usize = 4_096;
/// Beats kept for the distribution: six hours of them.
pub(crate) const MAX_BEATS: usize = 2_000_000;

/// A time at which the shard was late: it should have woken at `due_ns` and woke `late_ns` after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hiccup {
    pub(crate) due_ns: u64,
    pub(crate) late_ns: u64,
}

/// The lateness of one shard's wake-ups.
#[derive(Debug, Default)]
pub(crate) struct Heart {
    lateness_ns: RefCell<Vec<u64>>,
    hiccups: RefCell<VecDeque<Hiccup>>,
}

impl Heart {
    /// Beats until it is dropped.
    pub(crate) async fn beat(&self, clock: &Clock) -> io::Result<()> {
        let mut pacer = Pacer::new(clock)?;
        let mut due = clock.now() + BEAT;
        loop {
            pacer.wait_until(due).await?;
            let now = clock.now();
            self.note(due, now - due);
            // A long hiccup is one observation of its whole length, not one of every beat it swallowed.
            due = (due + BEAT).max(now + BEAT / 2);
        }
    }

    fn note(&self, due: Mono, late: Duration) {
        let late_ns = late.as_nanos() as u64;
        let mut lateness = self.lateness_ns.borrow_mut();
        if lateness.len() < MAX_BEATS {
            lateness.push(late_ns);
        }
        if late >= HICCUP {
            let mut hiccups = self.hiccups.borrow_mut();
            if hiccups.len() == MAX_HICCUPS {
                hiccups.pop_front();
            }
            hiccups.push_back(Hiccup { due_ns: due.as_nanos(), late_ns });
        }
    }

    /// The hiccups that ended after `since`.
    pub(crate) fn hiccups_since(&self, since: Mono) -> Vec<Hiccup> {
        let ended = |hiccup: &&Hiccup| hiccup.due_ns + hiccup.late_ns > since.as_nanos();
        self.hiccups.borrow().iter().rev().take_while(ended).copied().collect()
    }

    /// Every lateness so far, nanoseconds; forgets them.
    pub(crate) fn take_lateness(&self) -> Vec<u64> {
        self.lateness_ns.take()
    }
}
