//! What earlier processes of a run have measured, so that a later one sends only what is missing.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use inferometer_clock::{Mono, Wall};
use inferometer_metrics::Window;
use inferometer_plan::{Arrival, Cell, Stop};
use inferometer_record::{Phase, RecordError, RunReader, Sample, Segment, Tail};

use crate::episode::{closing, stride};
use crate::lane::limited;
use crate::purse::{self, Amount};

/// Between the last stamp of a segment and the origin of the next one, on the run's line of time.
const BETWEEN_SEGMENTS: Duration = Duration::from_secs(1);

/// Spans of one cell (one for each block of each segment) that are kept; beyond it the time that a cell has used is known
/// to be at least so much.
const MAX_SPANS: usize = 1_000_000;

/// What the folder of a run says was done.
#[derive(Clone, Debug, Default)]
pub struct Past {
    segments: u32,
    next_request: u64,
    offset_ns: u64,
    used: Amount,
    tail: Tail,
    cells: HashMap<(String, String, String), Trace>,
}

/// What samples tell of one cell.
#[derive(Clone, Debug, Default)]
struct Trace {
    /// Positions whose last attempt was not cut, with the part that it played.
    ended: Vec<(u64, Option<String>)>,
    /// Positions that were begun.
    begun: BTreeSet<u64>,
    /// By segment and block.
    spans: HashMap<(u32, Option<u32>), Window>,
}

/// What is done of one load.
#[derive(Clone, Debug, Default)]
pub(crate) struct Done {
    pub(crate) positions: Arc<BTreeSet<u64>>,
    /// Of the lane's own time, where lanes take turns: in which a block of it was under way.
    pub(crate) time_in_blocks: Duration,
    /// The same where all run at once: from the first start to the last end of each process.
    pub(crate) time: Duration,
    /// Episodes that were begun and cut: others take their place.
    pub(crate) broken: u64,
}

impl Past {
    /// Reads what was done from a run's folder.
    pub fn read(reader: &RunReader) -> Result<Self, RecordError> {
        let mut past = Self { segments: reader.manifest().segments.len() as u32, ..Self::default() };
        let mut samples = reader.samples()?;
        for recorded in samples.by_ref() {
            past.note(&recorded?.0);
        }
        past.tail = samples.tail();
        Ok(past)
    }

    /// What a kill tore off.
    pub fn tail(&self) -> Tail {
        self.tail
    }

    /// What was used of the budget.
    pub fn used(&self) -> Amount {
        self.used
    }

    /// The segment of a process that starts at `origin`, which the wall clock calls `wall`: behind every earlier stamp.
    pub fn segment(&self, origin: Mono, wall: Wall) -> Segment {
        Segment::at_offset(origin, wall, self.offset_ns)
    }

    pub(crate) fn note(&mut self, sample: &Sample) {
        self.next_request = self.next_request.max(sample.request.saturating_add(1));
        let last = sample.end_ns.max(sample.sched_ns).unwrap_or(0);
        self.offset_ns = self.offset_ns.max(last.saturating_add(BETWEEN_SEGMENTS.as_nanos() as u64));
        self.segments = self.segments.max(sample.segment.saturating_add(1));
        self.used = purse::sum(self.used, purse::recorded(sample));
        if sample.phase != Phase::Measure {
            return;
        }
        let key = (sample.target.clone(), sample.workload.clone(), sample.load.clone());
        let trace = self.cells.entry(key).or_default();
        trace.begun.insert(sample.seq);
        if sample.is_final && !sample.status.is_cancelled() {
            trace.ended.push((sample.seq, sample.role.clone()));
        }
        if let (Some(from_ns), Some(to_ns)) = (sample.start_ns, sample.end_ns)
            && trace.spans.len() < MAX_SPANS
        {
            let block = (sample.segment, sample.block);
            let span = trace.spans.entry(block).or_insert(Window { from_ns, to_ns });
            *span = Window { from_ns: span.from_ns.min(from_ns), to_ns: span.to_ns.max(to_ns) };
        }
    }

    pub(crate) fn segments(&self) -> u32 {
        self.segments
    }

    pub(crate) fn next_request(&self) -> u64 {
        self.next_request
    }

    pub(crate) fn offset_ns(&self) -> u64 {
        self.offset_ns
    }

    /// What is done of `cell`.
    pub(crate) fn done(&self, cell: Cell<'_>) -> Done {
        let key = (cell.target.name.clone(), cell.workload.name.clone(), cell.load.name.clone());
        let Some(trace) = self.cells.get(&key) else { return Done::default() };
        trace.done(&limited(&cell.load.arrival, cell.target.concurrency_limit))
    }
}

impl Trace {
    /// Time that the windows of blocks cover, nanoseconds.
    fn in_blocks(&self) -> u64 {
        let mut spans: Vec<(u64, u64)> = self.spans.values().map(|span| (span.from_ns, span.to_ns)).collect();
        spans.sort_unstable();
        let (mut sum, mut seen) = (0_u64, 0);
        for (from, to) in spans {
            sum = sum.saturating_add(to.saturating_sub(from.max(seen)));
            seen = seen.max(to);
        }
        sum
    }

    /// From the first start to the last end of each process, nanoseconds.
    fn in_all(&self) -> u64 {
        let mut processes: HashMap<u32, (u64, u64)> = HashMap::new();
        for ((segment, _), span) in &self.spans {
            let seen = processes.entry(*segment).or_insert((span.from_ns, span.to_ns));
            *seen = (seen.0.min(span.from_ns), seen.1.max(span.to_ns));
        }
        processes.values().fold(0, |sum, (from, to)| sum.saturating_add(to.saturating_sub(*from)))
    }

    fn done(&self, arrival: &Arrival) -> Done {
        let [time_in_blocks, time] = [self.in_blocks(), self.in_all()].map(Duration::from_nanos);
        let Some((role, count)) = closing(arrival) else {
            let positions = self.ended.iter().map(|(seq, _)| *seq).collect();
            return Done { positions: Arc::new(positions), time_in_blocks, time, broken: 0 };
        };
        let stride = stride(arrival);
        let mut whole: HashMap<u64, u64> = HashMap::new();
        for (seq, _) in self.ended.iter().filter(|(_, played)| played.as_deref() == Some(role)) {
            *whole.entry(seq / stride).or_default() += 1;
        }
        // An episode that was cut would be two under one number, were it played again.
        let begun: BTreeSet<u64> = self.begun.iter().map(|seq| seq / stride).collect();
        let broken = begun.iter().filter(|episode| whole.get(episode).is_none_or(|n| *n < count)).count();
        Done { positions: Arc::new(begun), time_in_blocks, time, broken: broken as u64 }
    }
}

impl Done {
    /// The stop rule with the positions that take the place of broken ones.
    pub(crate) fn stop(&self, stop: Stop) -> Stop {
        Stop { requests: stop.requests.map(|requests| requests.saturating_add(self.broken)), ..stop }
    }
}
