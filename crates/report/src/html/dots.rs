//! The samples that are drawn: every one up to a bound, then a part of them that favours none.
//!
//! One streaming pass fills it. Of each cell it keeps the samples whose seeded hash is smallest (a uniform draw without
//! replacement that does not depend on their order), the slowest in full, so that a tail stays exact, and a few streams
//! with the stamps of their events.

use std::collections::{BTreeMap, BinaryHeap};

use inferometer_record::{Events, Phase, Sample, Status, Verdict};

use crate::clean::clean;
use crate::html::streams::Streams;

/// Cells of which samples are kept: further ones are only counted.
const CELLS_MAX: usize = 96;
/// Samples kept of a cell, the slowest aside.
const SAMPLES_PER_CELL_MAX: usize = 600;
/// The slowest requests of a cell, always kept.
const SLOWEST_PER_CELL: usize = 40;
/// Samples on the page: with more cells each has fewer, so that the page stays under 2 MiB.
const SAMPLES_PER_PAGE_MAX: usize = 9_000;

/// A cell: target, workload, load.
pub(super) type Key = (String, String, String);

/// The samples of a run that its page draws.
#[derive(Debug, Default)]
pub struct Dots {
    cells: BTreeMap<Key, CellDots>,
    left_out: u64,
}

impl Dots {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a sample, of any phase and in any order, with its events where the run kept them.
    pub fn push(&mut self, sample: &Sample, events: Option<&Events>) {
        let Some(start_ns) = sample.start_ns.filter(|_| sample.phase == Phase::Measure) else { return };
        let name = |text: &str| clean(text).into_owned();
        let key = (name(&sample.target), name(&sample.workload), name(&sample.load));
        if self.cells.len() >= CELLS_MAX && !self.cells.contains_key(&key) {
            self.left_out += 1;
            return;
        }
        let cell = self.cells.entry(key).or_default();
        cell.push(Dot::of(sample, start_ns));
        cell.streams.push(sample, start_ns, events);
    }

    /// The samples of one cell.
    pub(super) fn of(&self, key: &Key) -> Option<&CellDots> {
        self.cells.get(key)
    }

    /// How many samples of each cell a page may draw.
    pub(super) fn quota(&self) -> usize {
        (SAMPLES_PER_PAGE_MAX / self.cells.len().max(1)).min(SAMPLES_PER_CELL_MAX)
    }

    /// Samples of cells beyond the bound.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// What a dot shows of its sample.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dot {
    pub(super) request: u64,
    pub(super) attempt: u32,
    pub(super) start_ns: u64,
    pub(super) ttft_ms: Option<f64>,
    pub(super) latency_ms: Option<f64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) status: Status,
    pub(super) verdict: Option<Verdict>,
}

impl Dot {
    fn of(sample: &Sample, start_ns: u64) -> Self {
        Self {
            request: sample.request,
            attempt: sample.attempt,
            start_ns,
            ttft_ms: sample.ttft_ms.filter(|ms| ms.is_finite()),
            latency_ms: sample.request_latency_ms.filter(|ms| ms.is_finite()),
            output_tokens: sample.output_tokens,
            status: sample.status,
            verdict: sample.verdict,
        }
    }

    /// When in the run it was started, s.
    pub(super) fn at_s(&self) -> f64 {
        self.start_ns as f64 / 1e9
    }

    /// Latency in whole microseconds for the order of the tail: what failed never ended.
    fn slowness(&self) -> u64 {
        match self.latency_ms {
            Some(ms) if self.status == Status::Ok => (ms * 1000.0) as u64,
            _ => u64::MAX,
        }
    }

    fn id(&self) -> (u64, u32) {
        (self.request, self.attempt)
    }
}

/// The samples of one cell.
#[derive(Debug, Default)]
pub(super) struct CellDots {
    /// The smallest hashes, the largest of them on top.
    drawn: BinaryHeap<Ranked>,
    /// The slowest, the quickest of them on top.
    slowest: BinaryHeap<Ranked>,
    seen: u64,
    cancelled: u64,
    /// Streams with their events.
    pub(super) streams: Streams,
}

/// A dot by its rank: the largest is the first to go.
#[derive(Debug)]
struct Ranked {
    rank: (u64, u64),
    dot: Dot,
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank)
    }
}

impl CellDots {
    fn push(&mut self, dot: Dot) {
        self.seen += 1;
        self.cancelled += u64::from(dot.status.is_cancelled());
        let hash = hash(dot.request, dot.attempt);
        if !dot.status.is_cancelled() {
            let rank = (u64::MAX - dot.slowness(), hash);
            keep(&mut self.slowest, Ranked { rank, dot: dot.clone() }, SLOWEST_PER_CELL);
        }
        keep(&mut self.drawn, Ranked { rank: (hash, dot.request), dot }, SAMPLES_PER_CELL_MAX);
    }

    /// Attempts that were measured.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// At most `quota` dots, and the slowest; by start.
    pub(super) fn shown(&self, quota: usize) -> Vec<&Dot> {
        let mut drawn: Vec<&Ranked> = self.drawn.iter().collect();
        drawn.sort_by_key(|ranked| ranked.rank);
        let drawn = drawn.into_iter().take(quota).map(|ranked| &ranked.dot);
        let slowest = self.slowest.iter().map(|ranked| &ranked.dot);
        let mut shown: Vec<&Dot> = drawn.chain(slowest).collect();
        shown.sort_by_key(|dot| (dot.start_ns, dot.id()));
        shown.dedup_by_key(|dot| dot.id());
        shown
    }

    /// Latency against the share of attempts that took longer, failures never ending: exact among the slowest, and
    /// everywhere where every sample was kept; between, by rank within what was drawn. Empty without a finite latency.
    pub(super) fn survival(&self) -> Vec<(f64, f64)> {
        let counted = (self.seen - self.cancelled) as f64;
        let slow: Vec<u64> = sorted(self.slowest.iter().map(|ranked| ranked.dot.slowness()));
        let Some(bound) = slow.first().copied() else { return Vec::new() };
        let is_whole = slow.len() < SLOWEST_PER_CELL;
        let is_quick = |us: &u64| !is_whole && *us < bound;
        let ended = self.drawn.iter().filter(|ranked| !ranked.dot.status.is_cancelled());
        let quick = sorted(ended.map(|ranked| ranked.dot.slowness()).filter(is_quick));
        let mut curve = Vec::with_capacity(quick.len() + slow.len());
        let slower = slow.len() as f64;
        for (at, us) in quick.iter().enumerate() {
            let left = (quick.len() - at - 1) as f64 / quick.len() as f64;
            curve.push((*us, (left * (counted - slower) + slower) / counted));
        }
        for (at, us) in slow.iter().enumerate() {
            curve.push((*us, (slow.len() - at - 1) as f64 / counted));
        }
        curve.retain(|(us, _)| *us != u64::MAX);
        curve.into_iter().map(|(us, share)| (us as f64 / 1000.0, share)).collect()
    }
}

fn sorted(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values
}

/// Puts `item` among the `max` of smallest rank.
fn keep(heap: &mut BinaryHeap<Ranked>, item: Ranked, max: usize) {
    if heap.len() < max {
        heap.push(item);
    } else if heap.peek().is_some_and(|largest| item < *largest) {
        heap.pop();
        heap.push(item);
    }
}

/// A number that has nothing to do with when or how the request ran: the finalizer of SplitMix64 (Steele, Lea and
/// Flood 2014) over its id, the same in every report of a run.
pub(super) fn hash(request: u64, attempt: u32) -> u64 {
    let mut z = request.wrapping_mul(31).wrapping_add(u64::from(attempt)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(request: u64, latency_ms: Option<f64>) -> Sample {
        Sample {
            request,
            attempt: 1,
            is_final: true,
            start_ns: Some(request * 1_000_000),
            status: if latency_ms.is_some() { Status::Ok } else { Status::Timeout },
            request_latency_ms: latency_ms,
            ..Sample::default()
        }
    }

    fn filled(samples: impl IntoIterator<Item = Sample>) -> Dots {
        let mut dots = Dots::new();
        samples.into_iter().for_each(|sample| dots.push(&sample, None));
        dots
    }

    fn only(dots: &Dots) -> &CellDots {
        dots.cells.values().next().unwrap()
    }

    #[test]
    fn every_sample_up_to_the_bound_then_a_draw_that_keeps_the_slowest() {
        let few = filled((0..50).map(|i| sample(i, Some(10.0))));
        assert_eq!(only(&few).shown(few.quota()).len(), 50);
        let many = filled((0..5_000).map(|i| sample(i, Some(i as f64))));
        let shown = only(&many).shown(many.quota());
        assert!((600..=640).contains(&shown.len()), "{}", shown.len());
        assert!(shown.iter().any(|dot| dot.request == 4_999));
        let late = shown.iter().filter(|dot| dot.request >= 2_500).count() as f64;
        assert!((0.40..0.62).contains(&(late / shown.len() as f64)), "{late} in the second half");
    }

    #[test]
    fn the_draw_does_not_depend_on_the_order() {
        let there = filled((0..3_000).map(|i| sample(i, Some(1.0 + i as f64))));
        let back = filled((0..3_000).rev().map(|i| sample(i, Some(1.0 + i as f64))));
        assert_eq!(only(&there).shown(100), only(&back).shown(100));
    }

    #[test]
    fn only_what_was_measured_and_started_is_drawn() {
        let warmup = Sample { phase: Phase::Warmup, ..sample(1, Some(1.0)) };
        let unsent = Sample { start_ns: None, ..sample(2, None) };
        assert!(filled([warmup, unsent]).cells.is_empty());
    }

    #[test]
    fn the_tail_is_exact_and_failures_never_end() {
        let exact =
            filled((1..=8).map(|i| sample(i, Some(i as f64))).chain([sample(9, None), sample(10, None)]));
        let curve = only(&exact).survival();
        assert_eq!(curve.first(), Some(&(1.0, 0.9)));
        assert_eq!(curve.last(), Some(&(8.0, 0.2)));
        let many = filled((1..=10_000).map(|i| sample(i, Some(i as f64))));
        let curve = only(&many).survival();
        assert_eq!(curve.last(), Some(&(10_000.0, 0.0)));
        assert!(curve.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1));
        let at_half = curve.iter().find(|(ms, _)| *ms >= 5_000.0).unwrap().1;
        assert!((0.44..0.56).contains(&at_half), "{at_half}");
    }

    #[test]
    fn cells_beyond_the_bound_are_counted() {
        let cell = |i: usize| Sample { target: format!("t{i}"), ..sample(1, Some(1.0)) };
        let dots = filled((0..CELLS_MAX + 3).map(cell));
        assert_eq!((dots.cells.len(), dots.left_out()), (CELLS_MAX, 3));
        assert_eq!(dots.quota(), SAMPLES_PER_PAGE_MAX / CELLS_MAX);
    }
}
