//! A lane: one cell among those that are measured side by side.

use std::sync::Arc;
use std::time::Duration;

use inferometer_clock::Mono;
use inferometer_metrics::Window;
use inferometer_plan::{Arrival, Cell};
use inferometer_record as record;
use inferometer_workload::Prompts;

use crate::Live;
use crate::axis::Axis;
use crate::course::Course;
use crate::gate::Gate;
use crate::health::Health;
use crate::phase::{Numbers, Phase};
use crate::shard::{ShardReport, Slots};
use crate::slices::Slices;

/// Lanes that run at once begin within this time of each other.
const MAX_STAGGER: Duration = Duration::from_secs(1);
/// What a connection of one lane has to itself, where each opens one.
const CONNECTIONS_APART: Duration = Duration::from_millis(5);

/// One cell among those that are measured side by side.
#[derive(Clone, Debug)]
pub struct Lane<'a> {
    /// What is measured.
    pub cell: Cell<'a>,
    /// The prompts of its workload.
    pub prompts: &'a Prompts,
    /// Counts of this lane alone.
    pub live: Arc<Live>,
}

impl<'a> Lane<'a> {
    /// A lane that has not begun.
    pub fn new(cell: Cell<'a>, prompts: &'a Prompts) -> Self {
        Self { cell, prompts, live: Arc::default() }
    }
}

/// `arrival` with no more in flight than `limit`.
pub(crate) fn limited(arrival: &Arrival, limit: Option<u32>) -> Arrival {
    let Some(limit) = limit.map(|limit| limit.max(1)) else { return arrival.clone() };
    match *arrival {
        Arrival::Closed { slots, ramp } => Arrival::Closed { slots: slots.min(limit), ramp },
        Arrival::Open { rate, pattern, cap } => {
            Arrival::Open { rate, pattern, cap: Some(cap.map_or(limit, |cap| cap.min(limit))) }
        }
        Arrival::Burst { size, rest } => Arrival::Burst { size: size.min(limit), rest },
        Arrival::ColdStart { gap } => Arrival::ColdStart { gap },
    }
}

/// The most requests that `arrival` may have in flight, as far as it is bounded.
pub(crate) fn places(arrival: &Arrival) -> u32 {
    match *arrival {
        Arrival::Closed { slots, .. } => slots.max(1),
        Arrival::Open { cap, .. } => cap.unwrap_or(u32::MAX).max(1),
        // A script is one sequence.
        Arrival::ColdStart { .. } | Arrival::Burst { .. } => 1,
    }
}

/// Slots of `arrival`: so many prompts are a block where all lanes run at once.
pub(crate) fn slots(arrival: &Arrival) -> u32 {
    match *arrival {
        Arrival::Closed { slots, .. } => slots.max(1),
        Arrival::Open { .. } | Arrival::ColdStart { .. } | Arrival::Burst { .. } => 1,
    }
}

/// How much later than the first of `lanes` that run at once the one at `turn` begins. They have one schedule: without
/// this, each of its starts would be one of every lane in the same instant, and all but one would be late.
pub(crate) fn stagger(arrival: &Arrival, turn: usize, lanes: usize) -> Duration {
    let lanes = u32::try_from(lanes).unwrap_or(u32::MAX).max(1);
    let apart = match *arrival {
        // One lane's slots after the other's.
        Arrival::Closed { ramp, .. } => ramp,
        Arrival::Open { rate, .. } => Duration::try_from_secs_f64(1.0 / rate).unwrap_or(MAX_STAGGER) / lanes,
        Arrival::ColdStart { .. } | Arrival::Burst { .. } => CONNECTIONS_APART,
    };
    apart.min(MAX_STAGGER / lanes).saturating_mul(u32::try_from(turn).unwrap_or(u32::MAX))
}

/// A lane while it is measured, as its conductor sees it.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) course: Course,
    /// Slots of the load, whatever the lane may use of them.
    pub(crate) slots: u32,
    pub(crate) numbers: Numbers,
    pub(crate) warmup: Numbers,
    /// Prompts that are sent once before they are measured.
    pub(crate) warmed: u64,
    /// What keeps it under the limits that its target tells.
    gate: Option<Arc<Gate>>,
    pub(crate) is_warm: bool,
    /// The piece that runs.
    pub(crate) current: Option<Arc<Phase>>,
    /// Why nothing, or not all, is measured.
    pub(crate) gap: Option<String>,
    pub(crate) health: Health,
    pub(crate) slices: Slices,
    pub(crate) window: Option<Window>,
    /// Of the last piece, while it is the only one.
    pub(crate) at_work: Option<AtWork>,
    /// What its slots waited for other lanes that run at once, and all their time.
    held: Duration,
    slot_time: Duration,
    pieces: u32,
}

/// From when on every slot of a closed load had finished a request, and when one first found no work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AtWork {
    pub(crate) all_finished: Option<Mono>,
    pub(crate) first_idle: Option<Mono>,
}

impl Run {
    pub(crate) fn new(course: Course, slots: u32, warmup: Numbers, numbers: Numbers) -> Self {
        Self {
            course,
            slots,
            numbers,
            warmup,
            warmed: 0,
            gate: None,
            is_warm: false,
            current: None,
            gap: None,
            health: Health::default(),
            slices: Slices::default(),
            window: None,
            at_work: None,
            held: Duration::ZERO,
            slot_time: Duration::ZERO,
            pieces: 0,
        }
    }

    /// The same with so many prompts that are sent once before they are measured.
    pub(crate) fn warming(self, warmed: u64) -> Self {
        Self { warmed, ..self }
    }

    /// The same with its requests kept under the limits that its target tells.
    pub(crate) fn behind(self, gate: Option<Arc<Gate>>) -> Self {
        Self { gate, ..self }
    }

    /// The same behind what earlier processes did in `slices`, and `held_share` as they found it.
    pub(crate) fn after(mut self, slices: &[Window], held_share: Option<f64>) -> Self {
        for slice in slices {
            self.add(*slice);
            self.course.time += Duration::from_nanos(slice.to_ns.saturating_sub(slice.from_ns));
        }
        // What is read from a file may say anything.
        if let (Some(share), Arrival::Closed { slots, .. }) =
            (held_share.filter(|share| (0.0..=1.0).contains(share)), &self.course.arrival)
        {
            self.slot_time = self.course.time.saturating_mul(*slots);
            self.held = self.slot_time.mul_f64(share);
        }
        self
    }

    fn add(&mut self, slice: Window) {
        let from_ns = self.window.map_or(slice.from_ns, |window| window.from_ns);
        self.window = Some(Window { from_ns, to_ns: slice.to_ns });
        self.slices.push(slice);
        self.pieces += 1;
    }

    /// Whether a piece may be ordered.
    pub(crate) fn is_free(&self) -> bool {
        self.current.is_none() && !self.course.is_over()
    }

    /// Share of its slots' time that they waited for other lanes, where they may have to.
    pub(crate) fn held_share(&self) -> Option<f64> {
        let share = self.held.as_secs_f64() / self.slot_time.as_secs_f64();
        (!self.slot_time.is_zero()).then_some(share.min(1.0))
    }

    /// Why nothing more is sent.
    pub(crate) fn refuse(&mut self, words: String) {
        self.gap = Some(words);
        self.course.end();
    }

    /// Takes the reports of the piece that ran, which ended `now`.
    pub(crate) fn ended(&mut self, reports: &[ShardReport], axis: Axis, now: Mono) {
        let Some(phase) = self.current.take() else { return };
        if let Some(words) = self.gate.as_ref().and_then(|gate| gate.closed()).map(str::to_owned) {
            self.refuse(words);
        }
        if phase.piece.kind != record::Phase::Measure {
            self.is_warm = true;
            return;
        }
        self.health.add(reports);
        let origin = phase.started();
        // The time of an open load's schedule is given out by block.
        let is_open = matches!(phase.piece.arrival, Arrival::Open { .. });
        let took = origin.filter(|_| !is_open).map_or(Duration::ZERO, |origin| now - origin);
        self.course.took(phase.used(), took, phase.missing());
        if let (Some(_), Arrival::Closed { slots, .. }) = (&phase.piece.place, &phase.piece.arrival) {
            self.held += reports.iter().map(|report| report.held).sum::<Duration>();
            self.slot_time += took.saturating_mul(*slots);
        }
        if let Some(origin) = origin {
            self.add(Window { from_ns: axis.ns(origin), to_ns: axis.ns(now.max(origin)) });
        }
        self.at_work = (self.pieces == 1).then(|| at_work(&phase.piece.arrival, reports));
    }
}

fn at_work(arrival: &Arrival, reports: &[ShardReport]) -> AtWork {
    let Arrival::Closed { slots, .. } = *arrival else { return AtWork::default() };
    let of = || reports.iter().map(|report| report.slots);
    let finished: u32 = of().map(|Slots { finished, .. }| finished).sum();
    let all_finished = of().filter_map(|slots| slots.all_finished).max();
    let first_idle = of().filter_map(|slots| slots.first_idle).min();
    AtWork { all_finished: all_finished.filter(|_| finished == slots), first_idle }
}
