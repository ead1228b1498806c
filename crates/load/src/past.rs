//! What earlier processes of a run have measured, so that a later one sends only what is missing.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use inferometer_clock::{Mono, Wall};
use inferometer_metrics::{self as metrics, CellContext, Window};
use inferometer_plan::{Arrival, Cell, Plan, Stop};
use inferometer_record::{Phase, RecordError, RunReader, Sample, Segment, Tail};

use crate::Error;
use crate::episode::{closing, stride};
use crate::lane::limited;
use crate::precision::{Goal, MAX_VALUES};
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
    /// By segment: how long it was at work, nanoseconds.
    worked: Vec<Worked>,
    tail: Tail,
    goal: Option<Goal>,
    cells: HashMap<(String, String, String), Trace>,
    /// What the processes before knew of the cells.
    contexts: Vec<CellContext>,
}

/// How long one process was at work.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_field_names, reason = "each is in nanoseconds, and says so")]
struct Worked {
    /// Where it began on the run's line of time.
    offset_ns: u64,
    /// As it said itself at its end.
    told_ns: Option<u64>,
    /// The last stamp that it left.
    last_ns: u64,
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
    /// Of the figure of the plan's goal, in the order they came.
    values: Vec<f64>,
}

/// What is done of one load.
#[derive(Clone, Debug, Default)]
pub(crate) struct Done {
    pub(crate) positions: Arc<BTreeSet<u64>>,
    /// Episodes that were begun and cut: others take their place.
    pub(crate) broken: u64,
    /// In which it was done, in order and apart: by block where lanes take turns, else one for each process.
    pub(crate) slices_in_turns: Vec<Window>,
    pub(crate) slices: Vec<Window>,
    /// Of the figure of the plan's goal, in the order they came.
    pub(crate) values: Vec<f64>,
}

impl Past {
    /// No process has done anything of `plan`.
    pub(crate) fn none(plan: &Plan) -> Self {
        Self { goal: plan.protocol.precision.as_ref().and_then(Goal::new), ..Self::default() }
    }

    /// Reads what was done of `plan` from a run's folder.
    pub fn read(reader: &RunReader, plan: &Plan) -> Result<Self, Error> {
        let manifest = reader.manifest();
        let worked = |segment: &Segment| Worked {
            offset_ns: segment.offset_ns,
            told_ns: segment.used_ns,
            last_ns: segment.offset_ns,
        };
        let mut past = Self {
            segments: manifest.segments.len() as u32,
            worked: manifest.segments.iter().map(worked).collect(),
            ..Self::none(plan)
        };
        let mut samples = reader.samples()?;
        let mut failed: Option<RecordError> = None;
        let noted = samples.by_ref().map_while(|recorded| {
            let recorded = recorded.map_err(|error| failed = Some(error)).ok()?;
            past.note(&recorded.0);
            Some(recorded)
        });
        let contexts = metrics::resumed(manifest, noted);
        failed.map_or(Ok(()), Err)?;
        let path = || reader.dir().display().to_string();
        past.contexts = contexts.map_err(|source| Error::Manifest { path: path(), source })?;
        past.tail = samples.tail();
        Ok(past)
    }

    /// What a kill tore off.
    pub fn tail(&self) -> Tail {
        self.tail
    }

    /// What was used of the budget.
    pub(crate) fn used(&self) -> Amount {
        self.used
    }

    /// How long earlier processes were at work. One that was killed could not say: it was at work until its last stamp at
    /// least.
    pub(crate) fn time(&self) -> Duration {
        let of = |worked: &Worked| {
            worked.told_ns.unwrap_or_else(|| worked.last_ns.saturating_sub(worked.offset_ns))
        };
        Duration::from_nanos(self.worked.iter().map(of).fold(0, u64::saturating_add))
    }

    /// What the processes before knew of `cell`.
    pub(crate) fn context(&self, cell: Cell<'_>) -> Option<&CellContext> {
        self.contexts.iter().find(|context| {
            (&context.target, &context.workload, &context.load)
                == (&cell.target.name, &cell.workload.name, &cell.load.name)
        })
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
        self.used = self.used.plus(purse::recorded(sample));
        if let Some(worked) = self.worked.get_mut(sample.segment as usize) {
            worked.last_ns = worked.last_ns.max(last);
        }
        if sample.phase != Phase::Measure {
            return;
        }
        let key = (sample.target.clone(), sample.workload.clone(), sample.load.clone());
        let trace = self.cells.entry(key).or_default();
        trace.begun.insert(sample.seq);
        let value = self.goal.filter(|_| sample.is_final).and_then(|goal| goal.value(sample));
        trace.values.extend(value.filter(|_| trace.values.len() < MAX_VALUES));
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
    /// The spans of time in which something of `kind` was under way, in order and apart.
    fn slices<K: Eq + Hash>(&self, kind: impl Fn(u32, Option<u32>) -> K) -> Vec<Window> {
        let mut by_kind: HashMap<K, Window> = HashMap::new();
        for ((segment, block), span) in &self.spans {
            let seen = by_kind.entry(kind(*segment, *block)).or_insert(*span);
            *seen = joined(*seen, *span);
        }
        let mut spans: Vec<Window> = by_kind.into_values().collect();
        spans.sort_unstable_by_key(|span| (span.from_ns, span.to_ns));
        let mut apart: Vec<Window> = Vec::new();
        for span in spans {
            match apart.last_mut().filter(|last| span.from_ns <= last.to_ns) {
                Some(last) => *last = joined(*last, span),
                None => apart.push(span),
            }
        }
        apart
    }

    fn done(&self, arrival: &Arrival) -> Done {
        let slices_in_turns = self.slices(|segment, block| (segment, block));
        let slices = self.slices(|segment, _| segment);
        let Some((role, count)) = closing(arrival) else {
            let positions = Arc::new(self.ended.iter().map(|(seq, _)| *seq).collect());
            return Done { positions, broken: 0, slices_in_turns, slices, values: self.values.clone() };
        };
        let stride = stride(arrival);
        let mut whole: HashMap<u64, u64> = HashMap::new();
        for (seq, _) in self.ended.iter().filter(|(_, played)| played.as_deref() == Some(role)) {
            *whole.entry(seq / stride).or_default() += 1;
        }
        // An episode that was cut would be two under one number, were it played again.
        let begun: BTreeSet<u64> = self.begun.iter().map(|seq| seq / stride).collect();
        let broken = begun.iter().filter(|episode| whole.get(episode).is_none_or(|n| *n < count)).count();
        let (positions, values) = (Arc::new(begun), self.values.clone());
        Done { positions, broken: broken as u64, slices_in_turns, slices, values }
    }
}

fn joined(a: Window, b: Window) -> Window {
    Window { from_ns: a.from_ns.min(b.from_ns), to_ns: a.to_ns.max(b.to_ns) }
}

impl Done {
    /// The stop rule with the positions that take the place of broken ones.
    pub(crate) fn stop(&self, stop: Stop) -> Stop {
        Stop { requests: stop.requests.map(|requests| requests.saturating_add(self.broken)), ..stop }
    }
}
