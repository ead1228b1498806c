//! What the runner knows of a cell beyond its samples.

use inferometer_metrics::{self as metrics, CellContext, Window};
use inferometer_plan::{Arrival, Cell, Plan};
use inferometer_workload::Cache;

use crate::axis::Axis;
use crate::lane::{Run, limited};

/// What is known of a cell before it is run: enough to make sense of what a killed run leaves.
pub(crate) fn planned(plan: &Plan, cell: Cell<'_>) -> CellContext {
    CellContext {
        target: cell.target.name.clone(),
        workload: cell.workload.name.clone(),
        load: cell.load.name.clone(),
        arrival: match limited(&cell.load.arrival, cell.target.concurrency_limit) {
            Arrival::Closed { slots, .. } => metrics::Arrival::Closed { slots },
            Arrival::Open { rate, .. } => metrics::Arrival::Open { asked_rate: Some(rate) },
            Arrival::ColdStart { gap } => metrics::Arrival::ColdStart { gap_s: gap.as_secs_f64() },
            Arrival::Burst { size, .. } => metrics::Arrival::Burst { size },
        },
        objectives: plan.objectives.clone().unwrap_or_default(),
        gates: plan.gates.clone(),
        // Who asks for a length knows that answers will be cut at it.
        degraded_is_useful: cell.workload.degraded_is_useful.unwrap_or(cell.workload.max_tokens.is_some()),
        cache_busted: plan.protocol.cache == Cache::Bust,
        ..CellContext::default()
    }
}

/// What is known of a cell that has run. `last_end` is that of its samples; `stopped` says whether, and why, the run
/// ended before its load did.
pub(crate) fn measured(
    plan: &Plan,
    cell: Cell<'_>,
    run: Run,
    axis: Axis,
    last_end: Option<u64>,
    stopped: Option<Stopped>,
) -> CellContext {
    let stop = run.course.stop;
    let limited_by_count = stop.requests.is_some_and(|requests| run.course.next >= requests);
    let is_whole = stopped.is_none() && !limited_by_count;
    let held_share = run.held_share();
    let slices = run.slices.into_windows();
    let window = run.window.map(|Window { from_ns, to_ns }| {
        // In one piece it is what was planned, whoever drained after it; else to the last end.
        let planned = stop.duration.filter(|_| is_whole && slices.is_empty());
        let planned_end = planned.map(|duration| from_ns.saturating_add(duration.as_nanos() as u64));
        let to_ns = planned_end.or(last_end).unwrap_or(to_ns);
        Window { from_ns, to_ns: to_ns.max(from_ns) }
    });
    let at_work = run.at_work.unwrap_or_default();
    CellContext {
        window,
        slices,
        missing: run.course.missing,
        held_share,
        gap: run.gap.or_else(|| match stopped {
            Some(Stopped::Spent(reason)) if !run.course.is_over() && !limited_by_count => Some(reason),
            _ => None,
        }),
        limited_by_count,
        all_slots_finished_ns: at_work.all_finished.map(|at| axis.ns(at)),
        first_idle_ns: at_work.first_idle.map(|at| axis.ns(at)),
        health: run.health.client(),
        ..planned(plan, cell)
    }
}

/// Why a run ended before its loads did.
#[derive(Clone, Debug)]
pub(crate) enum Stopped {
    /// It was cut.
    Cut,
    /// Its budget is used up.
    Spent(String),
}
