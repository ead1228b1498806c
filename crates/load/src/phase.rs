//! One phase of a cell: what its shards share.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use inferometer_clock::{Clock, Mono};
use inferometer_plan::{Arrival, Stop};
use inferometer_record as record;

use crate::schedule::{Schedule, Start};

/// Between the moment all shards are ready and the first planned start.
const LEAD: Duration = Duration::from_millis(20);

/// Prompts from here on are asked before the figures begin: no measured prompt has been seen before.
const UNMEASURED_PROMPTS: u64 = 1 << 40;

/// A phase: arrival and stop rule, and how far it has come.
#[derive(Debug)]
pub(crate) struct Phase {
    pub(crate) kind: record::Phase,
    pub(crate) arrival: Arrival,
    pub(crate) stop: Stop,
    pub(crate) seed: u64,
    grace: Duration,
    /// Id of the first request, unique in the run: the others follow.
    first_request: u64,
    claimed: AtomicU64,
    origin: OnceLock<Mono>,
}

impl Phase {
    pub(crate) fn new(kind: record::Phase, arrival: Arrival, stop: Stop, seed: u64, grace: Duration) -> Self {
        let (claimed, origin) = (AtomicU64::new(0), OnceLock::new());
        Self { kind, arrival, stop, seed, grace, first_request: 0, claimed, origin }
    }

    /// The same phase with its requests numbered from `first`.
    pub(crate) fn numbered_from(mut self, first: u64) -> Self {
        self.first_request = first;
        self
    }

    /// The id of the request at `seq`.
    pub(crate) fn request(&self, seq: u64) -> u64 {
        self.first_request + seq
    }

    /// The prompt of the request at `seq`: the same for every cell, but for what comes before the figures.
    pub(crate) fn prompt(&self, seq: u64) -> u64 {
        match self.kind {
            record::Phase::Measure => seq,
            record::Phase::Preflight | record::Phase::Warmup => UNMEASURED_PROMPTS + seq,
        }
    }

    /// The instant that planned offsets count from; the first shard that asks sets it.
    pub(crate) fn origin(&self, clock: &Clock) -> Mono {
        *self.origin.get_or_init(|| clock.now() + LEAD)
    }

    /// The instant that planned offsets count from, once a shard has asked for it.
    pub(crate) fn started(&self) -> Option<Mono> {
        self.origin.get().copied()
    }

    /// How many of its requests have been given out.
    pub(crate) fn used(&self) -> u64 {
        let claimed = self.claimed.load(Relaxed);
        self.stop.requests.map_or(claimed, |requests| claimed.min(requests))
    }

    /// Notes that the planned start at `index` was given out.
    pub(crate) fn use_start(&self, index: u64) {
        self.claimed.fetch_max(index + 1, Relaxed);
    }

    /// From this instant on, requests in flight are cut.
    pub(crate) fn cut_at(&self, clock: &Clock) -> Option<Mono> {
        self.stop.duration.map(|duration| self.origin(clock) + duration + self.grace)
    }

    /// Whether each start goes on to claim further requests, as a slot does.
    pub(crate) fn repeats(&self) -> bool {
        matches!(self.arrival, Arrival::Closed { .. })
    }

    /// How many of `shards` have a share in this phase.
    pub(crate) fn shards(&self, shards: u32) -> u32 {
        match self.arrival {
            Arrival::Closed { slots, .. } | Arrival::Open { cap: Some(slots), .. } => {
                shards.min(slots).max(1)
            }
            Arrival::Open { cap: None, .. } => shards,
            Arrival::ColdStart { .. } | Arrival::Burst { .. } => 1,
        }
    }

    /// How many requests of shard `index` may be in flight, where that is bounded.
    pub(crate) fn cap(&self, index: u32, shards: u32) -> Option<u32> {
        let Arrival::Open { cap: Some(cap), .. } = self.arrival else { return None };
        let shards = self.shards(shards);
        Some(cap / shards + u32::from(index < cap % shards))
    }

    /// The planned starts of shard `index`, in order.
    pub(crate) fn starts(&self, index: u32, shards: u32) -> impl Iterator<Item = Start> + use<> {
        let shards = u64::from(self.shards(shards));
        // A slot's first start is no request yet: slots claim theirs as they go.
        let requests = if self.repeats() { None } else { self.stop.requests };
        let duration = self.stop.duration.unwrap_or(Duration::MAX);
        Schedule::new(&self.arrival, self.seed)
            .take_while(move |start| start.offset < duration && requests.is_none_or(|n| start.index < n))
            .filter(move |start| start.index % shards == u64::from(index))
    }

    /// The next request of a slot, unless the phase is over at `now`.
    pub(crate) fn claim(&self, now: Mono, clock: &Clock) -> Option<u64> {
        if self.stop.duration.is_some_and(|duration| now >= self.origin(clock) + duration) {
            return None;
        }
        let seq = self.claimed.fetch_add(1, Relaxed);
        self.stop.requests.is_none_or(|n| seq < n).then_some(seq)
    }
}

#[cfg(test)]
mod tests {
    use inferometer_plan::Pattern;

    use super::*;

    fn phase(arrival: Arrival, requests: Option<u64>, duration: Option<Duration>) -> Phase {
        Phase::new(record::Phase::Measure, arrival, Stop { requests, duration }, 1, Duration::ZERO)
    }

    #[test]
    fn shards_split_the_plan_without_loss() {
        let check = |arrival: Arrival, requests, duration, shards: u32, total: usize| {
            let phase = phase(arrival, requests, duration);
            let mut starts: Vec<Start> = (0..shards).flat_map(|index| phase.starts(index, shards)).collect();
            starts.sort_by_key(|start| start.index);
            let indices: Vec<u64> = starts.iter().map(|start| start.index).collect();
            assert_eq!(indices, (0..total as u64).collect::<Vec<_>>());
        };
        let constant = |cap| Arrival::Open { rate: 10.0, pattern: Pattern::Constant, cap };
        check(constant(None), Some(25), None, 3, 25);
        check(constant(Some(2)), Some(25), None, 3, 25);
        check(constant(None), None, Some(Duration::from_secs(2)), 3, 20);
        check(constant(None), Some(7), Some(Duration::from_secs(2)), 3, 7);
        check(Arrival::Closed { slots: 5, ramp: Duration::ZERO }, Some(100), None, 3, 5);
        check(Arrival::Closed { slots: 1, ramp: Duration::ZERO }, Some(100), None, 3, 1);
    }

    #[test]
    fn caps_add_up() {
        let phase =
            phase(Arrival::Open { rate: 1.0, pattern: Pattern::Poisson, cap: Some(7) }, Some(1), None);
        assert_eq!((0..3).filter_map(|index| phase.cap(index, 3)).sum::<u32>(), 7);
    }
}
