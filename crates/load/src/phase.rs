//! One phase: a piece of a lane's load in one go, and what its shards share.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use inferometer_clock::{Clock, Mono};
use inferometer_plan::Arrival;
use inferometer_record as record;

use crate::pace::Place;
use crate::schedule::{Schedule, Start};

/// Prompts from here on are asked before the figures begin: no measured prompt has been seen before.
const UNMEASURED_PROMPTS: u64 = 1 << 40;

/// How requests get their ids: those of lanes that are asked the same prompts interleave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) first: u64,
    /// Lanes.
    pub(crate) stride: u64,
    /// This lane's place among them.
    pub(crate) lane: u64,
}

impl Numbers {
    /// The id of the request at `seq`, unique in the run.
    pub(crate) fn request(self, seq: u64) -> u64 {
        self.nonce(seq).saturating_add(self.lane)
    }

    /// What gives the prompt at `seq` its nonce: one number for all lanes, so that they are sent the very same text.
    pub(crate) fn nonce(self, seq: u64) -> u64 {
        self.first.saturating_add(seq.saturating_mul(self.stride))
    }

    /// The first id behind `seqs` positions of every lane.
    pub(crate) fn end(self, seqs: u64) -> u64 {
        self.nonce(seqs)
    }
}

/// What block a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocked {
    /// To none: its cell is not interleaved.
    Never,
    /// All of the phase to this one.
    Always(u32),
    /// So many positions to each.
    Each(u64),
    /// So much of the schedule to each.
    Every(Duration),
}

/// Which part of a load a phase is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// First position; of a load of episodes the first episode.
    pub(crate) from: u64,
    /// First position beyond it.
    pub(crate) to: Option<u64>,
    /// Where it begins in the lane's own time, which is that of an open load's schedule.
    pub(crate) begin: Duration,
    /// No further request starts after so long.
    pub(crate) length: Option<Duration>,
}

/// What a phase is made of.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) kind: record::Phase,
    /// Before the figures, so many requests ask what no figure does; those behind them warm the figures' own prompts.
    pub(crate) apart: u64,
    pub(crate) arrival: Arrival,
    pub(crate) seed: u64,
    pub(crate) numbers: Numbers,
    pub(crate) blocked: Blocked,
    pub(crate) span: Span,
    /// Positions (of a load of episodes: episodes) that an earlier process has measured.
    pub(crate) done: Arc<BTreeSet<u64>>,
    /// Between the order and the first planned start.
    pub(crate) lead: Duration,
    /// After its length, requests in flight are cut once this has passed; never where absent.
    pub(crate) grace: Option<Duration>,
    /// What keeps this lane near the others, where all run at once.
    pub(crate) place: Option<Place>,
}

/// A phase that runs: what it is made of, and how far it has come.
#[derive(Debug)]
pub(crate) struct Phase {
    pub(crate) piece: Piece,
    next: AtomicU64,
    missing: AtomicU64,
    origin: OnceLock<Mono>,
}

impl Phase {
    pub(crate) fn new(piece: Piece) -> Self {
        let next = AtomicU64::new(piece.span.from);
        Self { piece, next, missing: AtomicU64::new(0), origin: OnceLock::new() }
    }

    /// The prompt of the request at `seq`: the same for every cell, but for what comes before the figures.
    pub(crate) fn prompt(&self, seq: u64) -> u64 {
        match self.piece.kind {
            record::Phase::Measure => seq,
            record::Phase::Preflight | record::Phase::Warmup => {
                seq.checked_sub(self.piece.apart).unwrap_or(UNMEASURED_PROMPTS + seq)
            }
        }
    }

    /// The block of the request at `seq`, planned for `sched`.
    pub(crate) fn block(&self, seq: u64, sched: Mono) -> Option<u32> {
        let block = match self.piece.blocked {
            Blocked::Never => return None,
            Blocked::Always(block) => return Some(block),
            Blocked::Each(size) => seq / size.max(1),
            Blocked::Every(slice) => {
                let origin = self.origin.get().copied().unwrap_or_default();
                let at = self.piece.span.begin + (sched - origin);
                (at.as_nanos() / slice.as_nanos().max(1)) as u64
            }
        };
        Some(u32::try_from(block).unwrap_or(u32::MAX))
    }

    /// The instant that planned offsets count from; the first shard that asks sets it.
    pub(crate) fn origin(&self, clock: &Clock) -> Mono {
        *self.origin.get_or_init(|| clock.now() + self.piece.lead)
    }

    /// The instant that planned offsets count from, once a shard has asked for it.
    pub(crate) fn started(&self) -> Option<Mono> {
        self.origin.get().copied()
    }

    /// The first position that has not been given out.
    pub(crate) fn used(&self) -> u64 {
        let next = self.next.load(Relaxed);
        self.piece.span.to.map_or(next, |to| next.min(to))
    }

    /// Notes that the planned start at `index` was given out.
    pub(crate) fn use_start(&self, index: u64) {
        self.next.fetch_max(index + 1, Relaxed);
    }

    /// Positions that were given up because the lane lagged too far behind.
    pub(crate) fn missing(&self) -> u64 {
        self.missing.load(Relaxed)
    }

    /// Gives up a position that was given out and is not sent any more, since the time of its turn is over.
    pub(crate) fn miss(&self) {
        if matches!(self.piece.blocked, Blocked::Always(_)) {
            self.missing.fetch_add(1, Relaxed);
        }
    }

    /// Gives up what has not been given out before `seq`.
    pub(crate) fn skip_to(&self, seq: u64) {
        let seq = self.piece.span.to.map_or(seq, |to| seq.min(to));
        let next = self.next.fetch_max(seq, Relaxed);
        let skipped = (next..seq).filter(|seq| !self.piece.done.contains(seq)).count();
        self.missing.fetch_add(skipped as u64, Relaxed);
    }

    /// From this instant on, no further request starts.
    pub(crate) fn starts_until(&self, clock: &Clock) -> Option<Mono> {
        Some(self.origin(clock) + self.piece.span.length?)
    }

    /// From this instant on, requests in flight are cut.
    pub(crate) fn cut_at(&self, clock: &Clock) -> Option<Mono> {
        let (length, grace) = self.piece.span.length.zip(self.piece.grace)?;
        Some(self.origin(clock) + length + grace)
    }

    /// Whether each start goes on to claim further requests, as a slot does.
    pub(crate) fn repeats(&self) -> bool {
        matches!(self.piece.arrival, Arrival::Closed { .. })
    }

    /// Whether requests are asked by a script, episode by episode.
    pub(crate) fn is_episodic(&self) -> bool {
        matches!(self.piece.arrival, Arrival::ColdStart { .. } | Arrival::Burst { .. })
    }

    /// How many of `shards` have a share in this phase.
    pub(crate) fn shards(&self, shards: u32) -> u32 {
        match self.piece.arrival {
            Arrival::Closed { slots, .. } | Arrival::Open { cap: Some(slots), .. } => {
                shards.min(slots).max(1)
            }
            Arrival::Open { cap: None, .. } => shards,
            // A script is one sequence.
            Arrival::ColdStart { .. } | Arrival::Burst { .. } => 1,
        }
    }

    /// How many requests of shard `index` may be in flight, where that is bounded.
    pub(crate) fn cap(&self, index: u32, shards: u32) -> Option<u32> {
        let Arrival::Open { cap: Some(cap), .. } = self.piece.arrival else { return None };
        let shards = self.shards(shards);
        Some(cap / shards + u32::from(index < cap % shards))
    }

    /// The planned starts of shard `index`, in order, from the beginning of the phase.
    pub(crate) fn starts(&self, index: u32, shards: u32) -> impl Iterator<Item = Start> + use<> {
        let shards = u64::from(self.shards(shards));
        let Piece { arrival, seed, span, done, .. } = &self.piece;
        let (span, done) = (*span, Arc::clone(done));
        // A slot's first start is no request yet: slots claim theirs as they go.
        let slots = self.repeats();
        let begin = if slots { Duration::ZERO } else { span.begin };
        let end = span.length.map_or(Duration::MAX, |length| begin.saturating_add(length));
        let is_due = move |start: &Start| {
            slots || start.offset >= begin && start.index >= span.from && !done.contains(&start.index)
        };
        Schedule::new(arrival, *seed)
            .take_while(move |start| {
                start.offset < end && (slots || span.to.is_none_or(|to| start.index < to))
            })
            .filter(move |start| start.index % shards == u64::from(index) && is_due(start))
            .map(move |start| Start { offset: start.offset.saturating_sub(begin), ..start })
    }

    /// The next position for a slot, or the next episode, unless the phase is over at `now`.
    pub(crate) fn claim(&self, now: Mono, clock: &Clock) -> Option<u64> {
        if self.piece.span.length.is_some_and(|length| now >= self.origin(clock) + length) {
            return None;
        }
        loop {
            let seq = self.next.fetch_add(1, Relaxed);
            if self.piece.span.to.is_some_and(|to| seq >= to) {
                return None;
            }
            if !self.piece.done.contains(&seq) {
                return Some(seq);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use inferometer_plan::Pattern;

    use super::*;

    fn phase(arrival: Arrival, span: Span, done: &[u64]) -> Phase {
        Phase::new(Piece {
            kind: record::Phase::Measure,
            apart: 0,
            arrival,
            seed: 1,
            numbers: Numbers { first: 0, stride: 1, lane: 0 },
            blocked: Blocked::Never,
            span,
            done: Arc::new(done.iter().copied().collect()),
            lead: Duration::ZERO,
            grace: None,
            place: None,
        })
    }

    fn constant(cap: Option<u32>) -> Arrival {
        Arrival::Open { rate: 10.0, pattern: Pattern::Constant, cap }
    }

    fn closed(slots: u32) -> Arrival {
        Arrival::Closed { slots, ramp: Duration::ZERO }
    }

    fn starts(phase: &Phase, shards: u32) -> Vec<Start> {
        let mut starts: Vec<Start> = (0..shards).flat_map(|index| phase.starts(index, shards)).collect();
        starts.sort_by_key(|start| start.index);
        starts
    }

    #[test]
    fn shards_split_the_plan_without_loss() {
        let check = |arrival: Arrival, to, length, total: usize| {
            let phase = phase(arrival, Span { to, length, ..Span::default() }, &[]);
            let indices: Vec<u64> = starts(&phase, 3).iter().map(|start| start.index).collect();
            assert_eq!(indices, (0..total as u64).collect::<Vec<_>>());
        };
        check(constant(None), Some(25), None, 25);
        check(constant(Some(2)), Some(25), None, 25);
        check(constant(None), None, Some(Duration::from_secs(2)), 20);
        check(constant(None), Some(7), Some(Duration::from_secs(2)), 7);
        check(closed(5), Some(100), None, 5);
        check(closed(1), Some(100), None, 1);
    }

    /// A slice of an open load is that part of its one schedule, whoever runs it.
    #[test]
    fn slices_of_a_schedule_join_without_loss() {
        let poisson = Arrival::Open { rate: 10.0, pattern: Pattern::Poisson, cap: None };
        let (s, whole) =
            (Duration::from_secs, Span { length: Some(Duration::from_secs(8)), ..Span::default() });
        let whole = starts(&phase(poisson.clone(), whole, &[]), 1);
        let slice = |begin| Span { begin: s(begin), length: Some(s(2)), ..Span::default() };
        let joined: Vec<Start> = [0, 2, 4, 6]
            .into_iter()
            .flat_map(|begin| {
                let starts = starts(&phase(poisson.clone(), slice(begin), &[]), 2);
                starts.into_iter().map(move |at| Start { offset: at.offset + s(begin), ..at })
            })
            .collect();
        assert!(whole.len() > 40 && joined == whole);
    }

    #[test]
    fn what_is_done_is_not_given_out_again() {
        let span = Span { to: Some(5), ..Span::default() };
        let open = phase(constant(None), span, &[0, 3]);
        assert_eq!(starts(&open, 2).iter().map(|start| start.index).collect::<Vec<_>>(), [1, 2, 4]);
        let (closed, clock) = (phase(closed(1), span, &[0, 3]), Clock::monotonic());
        let claimed = std::iter::from_fn(|| closed.claim(clock.now(), &clock));
        assert_eq!((claimed.collect::<Vec<_>>(), closed.used()), (vec![1, 2, 4], 5));
    }

    #[test]
    fn what_is_skipped_is_missing_unless_it_is_done() {
        let phase = phase(closed(1), Span { to: Some(9), ..Span::default() }, &[1]);
        phase.skip_to(4);
        phase.skip_to(2);
        assert_eq!((phase.missing(), phase.used()), (3, 4));
        phase.skip_to(100);
        assert_eq!((phase.missing(), phase.used()), (8, 9));
    }

    #[test]
    fn caps_add_up() {
        let phase = phase(constant(Some(7)), Span { to: Some(1), ..Span::default() }, &[]);
        assert_eq!((0..3).filter_map(|index| phase.cap(index, 3)).sum::<u32>(), 7);
    }
}
