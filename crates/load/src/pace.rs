//! Keeps lanes that run at once near each other.
//!
//! Every lane may be so many blocks ahead of the slowest, which holds up the others no longer than their patience lasts.
//! A lane that falls further behind gives up its oldest trials. Looked at once a request, never while one streams.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use inferometer_clock::{Clock, Mono};
use tokio::sync::watch;

use crate::phase::Phase;

/// How far the lanes of one load have come.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Positions of a block.
    size: u64,
    max_lag: u64,
    patience: Duration,
    lanes: Mutex<Vec<Stand>>,
    changed: watch::Sender<()>,
}

/// How far one lane has come, in blocks.
#[derive(Clone, Copy, Debug)]
struct Stand {
    claimed: u64,
    started: u64,
    /// When it claimed last.
    since: Mono,
    has_part: bool,
    is_over: bool,
}

/// One lane's place in the pace.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pace: Arc<Pace>,
    lane: usize,
}

impl Pace {
    /// A pace for lanes of which those in `runs` take part.
    pub(crate) fn new(size: u64, max_lag: u32, patience: Duration, runs: &[bool], now: Mono) -> Arc<Self> {
        let stand =
            |runs: &bool| Stand { claimed: 0, started: 0, since: now, has_part: *runs, is_over: !runs };
        Arc::new(Self {
            size: size.max(1),
            max_lag: u64::from(max_lag),
            patience,
            lanes: Mutex::new(runs.iter().map(stand).collect()),
            changed: watch::Sender::new(()),
        })
    }

    pub(crate) fn place(self: &Arc<Self>, lane: usize) -> Place {
        Place { pace: Arc::clone(self), lane }
    }

    /// Nothing is left half done under this lock.
    fn lanes(&self) -> MutexGuard<'_, Vec<Stand>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// The next position of `phase` for a slot that is free at `now`, unless it is over. What lags too far is given up.
    pub(crate) fn claim(&self, phase: &Phase, now: Mono, clock: &Clock) -> Option<u64> {
        let Pace { size, max_lag, patience, .. } = *self.pace;
        let mut lanes = self.pace.lanes();
        let front = lanes.iter().map(|stand| stand.started).max().unwrap_or(0);
        phase.skip_to(front.saturating_sub(max_lag).saturating_mul(size));
        let others_ended = lanes.iter().any(|stand| stand.has_part && stand.is_over);
        let has_held_up = lanes.get(self.lane).is_some_and(|stand| now >= stand.since + patience);
        if let Some(to) = phase.piece.span.to.filter(|_| others_ended && has_held_up) {
            // It would hold up only itself, each time for as long.
            phase.skip_to(to);
        }
        let claimed = phase.claim(now, clock);
        if let Some(stand) = lanes.get_mut(self.lane) {
            stand.claimed = claimed.map_or(stand.claimed, |seq| stand.claimed.max(seq / size));
            (stand.since, stand.is_over) = (now, claimed.is_none());
        }
        drop(lanes);
        self.pace.changed.send_replace(());
        claimed
    }

    /// Waits until the position `seq` may start; the instant from which it may.
    pub(crate) async fn admitted(&self, seq: u64, clock: &Clock) -> Mono {
        let block = seq / self.pace.size;
        let mut changed = self.pace.changed.subscribe();
        loop {
            let now = clock.now();
            let Some(until) = self.held_until(block, now) else { return now };
            tokio::select! {
                _ = changed.changed() => {}
                () = clock.sleep_until(until) => {}
            }
        }
    }

    /// Until when another lane holds up `block`; `None` where none does, and it has begun.
    fn held_until(&self, block: u64, now: Mono) -> Option<Mono> {
        let Pace { max_lag, patience, .. } = *self.pace;
        let mut lanes = self.pace.lanes();
        let holds = |stand: &&Stand| {
            !stand.is_over && stand.claimed.saturating_add(max_lag) < block && now < stand.since + patience
        };
        let until = lanes.iter().filter(holds).map(|stand| stand.since + patience).min();
        if until.is_none()
            && let Some(stand) = lanes.get_mut(self.lane)
        {
            stand.started = stand.started.max(block);
        }
        until
    }
}
