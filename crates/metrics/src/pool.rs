//! What the runners of several runs knew of one cell, as one.

use inferometer_record::{Manifest, Part, Pool};
use serde::Deserialize;

use crate::{Arrival, CellContext, ClientHealth, Lateness, Study, TargetInfo, Window};

/// Fills in what a pool of runs knows of its cells and of what they are for.
///
/// Cells of one target, workload and load are one cell; its time is the time that each run gave to it, and never what
/// lies between two runs. Where a name means another provider or model in a later run, or its load another way of
/// asking, that run's target is called `NAME (run 2)` and stands beside the first. Of limits and gates, the first run's
/// count. An error where a cell or a study is none that this version writes.
pub fn pooled(pool: &mut Pool) -> Result<(), serde_json::Error> {
    let mut study = Study::default();
    let mut cells: Vec<CellContext> = Vec::new();
    for nth in 0..pool.parts().len() {
        let Some(part) = pool.parts().get(nth) else { break };
        let (own, contexts) = read(part.manifest())?;
        let others = own.targets.iter().filter(|target| is_other(target, &study)).map(|target| &target.name);
        let otherwise =
            contexts.iter().filter(|cell| is_asked_otherwise(cell, &cells)).map(|cell| &cell.target);
        for name in others.chain(otherwise) {
            pool.rename(nth, name, &format!("{name} (run {})", nth + 1));
        }
        let Some(part) = pool.parts().get(nth) else { break };
        join_studies(&mut study, own, part, nth == 0);
        for context in contexts {
            let context = placed(context, part);
            match cells.iter_mut().find(|cell| is_same(cell, &context)) {
                Some(cell) => join(cell, context),
                None => cells.push(context),
            }
        }
    }
    let study = serde_json::to_value(&study)?;
    let cells = cells.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?;
    pool.update(|manifest| (manifest.study, manifest.cells) = (study, cells));
    Ok(())
}

/// What a run is for, and what its runner knew of its cells.
pub(crate) fn read(manifest: &Manifest) -> Result<(Study, Vec<CellContext>), serde_json::Error> {
    let study =
        if manifest.study.is_null() { Study::default() } else { Study::deserialize(&manifest.study)? };
    let contexts: Result<_, _> = manifest.cells.iter().map(CellContext::deserialize).collect();
    Ok((study, contexts?))
}

/// Whether the name means something else in `study`.
fn is_other(target: &TargetInfo, study: &Study) -> bool {
    let who = |target: &TargetInfo| (target.provider.clone(), target.model.clone());
    study.targets.iter().any(|known| known.name == target.name && who(known) != who(target))
}

fn is_same(a: &CellContext, b: &CellContext) -> bool {
    (&a.target, &a.workload, &a.load) == (&b.target, &b.workload, &b.load)
}

/// Whether the same cell is there with another arrival.
fn is_asked_otherwise(context: &CellContext, cells: &[CellContext]) -> bool {
    let is_known = |arrival: Arrival| arrival != Arrival::Unknown;
    cells.iter().any(|cell| {
        is_same(cell, context)
            && is_known(cell.arrival)
            && is_known(context.arrival)
            && cell.arrival != context.arrival
    })
}

/// Adds what `own`, the study of `part`, asks for.
fn join_studies(study: &mut Study, own: Study, part: &Part, is_first: bool) {
    if is_first {
        *study = own;
        return;
    }
    for target in own.targets {
        let target = TargetInfo { name: part.target(&target.name).to_owned(), ..target };
        if !study.targets.iter().any(|known| known.name == target.name) {
            study.targets.push(target);
        }
    }
    add_new(&mut study.profiles, own.profiles);
    add_new(&mut study.pair_gates, own.pair_gates);
}

fn add_new<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

/// A cell of a run as it stands in the pool: its own time are its slices.
fn placed(context: CellContext, part: &Part) -> CellContext {
    let at = |ns: u64| ns.saturating_add(part.offset_ns());
    let shift = |window: Window| Window { from_ns: at(window.from_ns), to_ns: at(window.to_ns) };
    // A run that could not say had all of its time.
    let whole = Window { from_ns: part.offset_ns(), to_ns: part.last_ns() };
    let window = context.window.map_or(whole, shift);
    let slices: Vec<Window> = context.slices.iter().copied().map(shift).collect();
    CellContext {
        target: part.target(&context.target).to_owned(),
        window: Some(window),
        slices: if slices.is_empty() { vec![window] } else { slices },
        all_slots_finished_ns: context.all_slots_finished_ns.map(at),
        first_idle_ns: context.first_idle_ns.map(at),
        ..context
    }
}

/// Adds a later run's cell. Steady time stays the first run's: each run has ramp and drain of its own.
fn join(cell: &mut CellContext, later: CellContext) {
    let around =
        |a: Window, b: Window| Window { from_ns: a.from_ns.min(b.from_ns), to_ns: a.to_ns.max(b.to_ns) };
    cell.window = match (cell.window, later.window) {
        (Some(a), Some(b)) => Some(around(a, b)),
        (a, b) => a.or(b),
    };
    cell.slices.extend(later.slices);
    if cell.arrival == Arrival::Unknown {
        cell.arrival = later.arrival;
    }
    cell.missing = cell.missing.saturating_add(later.missing);
    cell.held_share = larger(cell.held_share, later.held_share);
    cell.gap = match (cell.gap.take(), later.gap) {
        (Some(a), Some(b)) if a != b => Some(format!("{a}; {b}")),
        (a, b) => a.or(b),
    };
    cell.limited_by_count |= later.limited_by_count;
    cell.no_events |= later.no_events;
    cell.cache_busted &= later.cache_busted;
    add_new(&mut cell.not_valid_before, later.not_valid_before);
    join_health(&mut cell.health, later.health);
}

/// The worse of both, and the sums of what is counted.
pub(crate) fn join_health(health: &mut ClientHealth, later: ClientHealth) {
    health.wakeup_lateness = worse(health.wakeup_lateness, later.wakeup_lateness);
    health.connection_wait = worse(health.connection_wait, later.connection_wait);
    health.shard_cpu.extend(later.shard_cpu);
    health.steal_share = larger(health.steal_share, later.steal_share);
    health.clock_step_ms = larger(health.clock_step_ms, later.clock_step_ms);
    health.planned_starts = health.planned_starts.zip(later.planned_starts).map(|(a, b)| a.saturating_add(b));
    health.dropped_starts = health.dropped_starts.saturating_add(later.dropped_starts);
    // Of several schedules there is no one rate.
    health.planned_rate = health.planned_rate.filter(|rate| Some(*rate) == later.planned_rate);
    health.channel_full = health.channel_full.saturating_add(later.channel_full);
    health.ceiling = health.ceiling.or(later.ceiling);
}

/// A quantile of both lies between theirs: the larger bounds it. The median is not one to judge by, and is left out.
fn worse(a: Lateness, b: Lateness) -> Lateness {
    if b.n == 0 {
        return a;
    }
    if a.n == 0 {
        return b;
    }
    Lateness {
        n: a.n.saturating_add(b.n),
        p50_ms: None,
        p99_ms: larger(a.p99_ms, b.p99_ms),
        max_ms: larger(a.max_ms, b.max_ms),
    }
}

fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}
