//! A run between its first request and its last: preflights, then the cells, in turn or one after the other.

use std::collections::BTreeSet;

use inferometer_clock::Clock;
use inferometer_load::{Control, Lane, Runner};
use inferometer_metrics::CellContext;
use inferometer_plan::{Arrival, Cell, Load, Plan};
use inferometer_record::{Manifest, RunWriter};
use inferometer_workload::Prompts;
use serde_json::Value;

use crate::console::say;
use crate::machine::Moment;
use crate::preflight::{self, Finding};
use crate::progress::{Goal, Progress, Waiting};
use crate::sink::RunSink;
use crate::{Error, OutputFlags, self_check};

/// Requests of one cold-start episode: first and control, on a fresh connection and on a kept one.
const COLD_START_REQUESTS: u64 = 4;

/// A run at work.
pub(crate) struct Session<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) output: &'a OutputFlags,
    /// One for each workload of the plan, in its order.
    pub(crate) prompts: &'a [Prompts],
    pub(crate) clock: Clock,
    pub(crate) control: Control,
    pub(crate) self_check: Value,
    pub(crate) runner: Runner<'a>,
    pub(crate) writer: &'a mut RunWriter,
}

impl<'a> Session<'a> {
    /// Asks every target once, then measures every cell of those that can be asked.
    pub(crate) fn run(&mut self) -> Result<(), Error> {
        self.prompts.iter().flat_map(Prompts::notes).for_each(|note| say(&note.to_string()));
        self.plan.unprovable().iter().for_each(|note| say(note));
        if let Some(spent) = self.runner.spent() {
            // Earlier processes of a run that goes on have used it up.
            say(&spent);
            return Ok(());
        }
        let gaps = self.preflights()?;
        for group in self.groups() {
            self.measure_group(&group, &gaps)?;
            if self.control.is_cut() {
                return Ok(());
            }
            if let Some(spent) = self.runner.spent() {
                say(&spent);
                return Ok(());
            }
        }
        Ok(())
    }

    /// The cells that are measured together: those of one workload and load where the plan asks in turns, else each
    /// cell alone, target by target.
    fn groups(&self) -> Vec<Vec<Cell<'a>>> {
        let plan = self.plan;
        if plan.protocol.blocks.is_none() {
            return plan.cells().map(|cell| vec![cell]).collect();
        }
        let pairs =
            plan.workloads.iter().flat_map(|workload| plan.loads.iter().map(move |load| (workload, load)));
        let cells_of = |(workload, load): (&inferometer_plan::Workload, &inferometer_plan::Load)| {
            let same = |cell: &Cell<'_>| cell.workload.name == workload.name && cell.load.name == load.name;
            plan.cells().filter(same).collect::<Vec<_>>()
        };
        pairs.map(cells_of).filter(|group| !group.is_empty()).collect()
    }

    /// One request to each target. Why a target cannot be asked, by the targets' order; an error where none can.
    fn preflights(&mut self) -> Result<Vec<Option<String>>, Error> {
        let (mut gaps, mut named) = (Vec::new(), BTreeSet::new());
        for target in &self.plan.targets {
            if named.insert(&target.shown_url) {
                say(&format!("asking {}", target.shown_url));
            }
            let first = self.plan.cells().find(|cell| cell.target.name == target.name);
            let gap = match first {
                Some(cell) if !self.output.no_preflight && !self.control.is_cut() => self.preflight(cell)?,
                _ => None,
            };
            gaps.push(gap);
        }
        let mut refused = gaps.iter().flatten();
        if let Some(reason) = refused.next()
            && gaps.iter().all(Option::is_some)
        {
            return Err(Error::Preflight(reason.clone()));
        }
        for (target, gap) in self.plan.targets.iter().zip(&gaps) {
            if let Some(reason) = gap {
                say(&format!("{} is left out: {reason}", target.name));
            }
        }
        Ok(gaps)
    }

    fn preflight(&mut self, cell: Cell<'a>) -> Result<Option<String>, Error> {
        let Some(prompts) = self.prompts_of(cell) else { return Ok(None) };
        let mut sink = RunSink::new(self.writer, &self.clock, !self.output.no_events);
        let waiting = Waiting::start(self.output.no_progress, "waiting for one answer before the load");
        let asked = self.runner.preflight(cell, prompts, &mut sink);
        drop(waiting);
        asked?;
        let Some(sample) = sink.preflight else { return Ok(None) };
        match preflight::read(&sample, cell.target) {
            Finding::Ready => Ok(None),
            Finding::Warning(warning) => {
                say(&warning);
                Ok(None)
            }
            Finding::Stop(reason) => Ok(Some(reason)),
        }
    }

    fn prompts_of(&self, cell: Cell<'_>) -> Option<&'a Prompts> {
        let place = self.plan.workloads.iter().position(|workload| workload.name == cell.workload.name)?;
        self.prompts.get(place)
    }

    /// Why the target of `cell` cannot be asked.
    fn gap_of<'g>(&self, cell: Cell<'_>, gaps: &'g [Option<String>]) -> Option<&'g str> {
        let place = self.plan.targets.iter().position(|target| target.name == cell.target.name)?;
        gaps.get(place)?.as_deref()
    }

    fn measure_group(&mut self, group: &[Cell<'a>], gaps: &[Option<String>]) -> Result<(), Error> {
        let mut lanes = Vec::new();
        for cell in group {
            let context = self.runner.planned(*cell);
            if let Some(reason) = self.gap_of(*cell, gaps) {
                self.record(self.runner.left_out(*cell, reason.to_owned()))?;
            } else if self.runner.is_done(*cell) {
                say(&format!("{} is already measured", title(&[*cell])));
            } else if let Some(prompts) = self.prompts_of(*cell) {
                self.record(context)?;
                lanes.push(Lane::new(*cell, prompts));
            }
        }
        if lanes.is_empty() { Ok(()) } else { self.measure(&lanes) }
    }

    fn measure(&mut self, lanes: &[Lane<'a>]) -> Result<(), Error> {
        let cells: Vec<Cell<'a>> = lanes.iter().map(|lane| lane.cell).collect();
        let progress = self.progress(&cells);
        let before = Moment::now(&self.clock);
        let mut sink = RunSink::new(self.writer, &self.clock, !self.output.no_events);
        let ran = match (lanes, self.plan.protocol.blocks) {
            (lanes, Some(blocks)) => self.runner.measure_blocks(lanes, &blocks, &mut sink),
            (lanes, None) => {
                let alone = lanes.iter().map(|lane| self.runner.measure(lane.cell, lane.prompts, &mut sink));
                alone.collect()
            }
        };
        drop(progress);
        for context in ran? {
            if let Some(reason) = &context.gap {
                say(&format!("{}: {reason}", context.target));
            }
            let context = self.complete(context, &before);
            self.record(context)?;
        }
        Ok(())
    }

    fn progress(&self, cells: &[Cell<'a>]) -> Progress {
        let before = |cell: &Cell<'_>| {
            let warmed = self.prompts_of(*cell).map_or(0, |prompts| self.plan.warmed(cell.load, prompts));
            self.plan.protocol.warmup + warmed
        };
        let of = |cell: &Cell<'_>| requests_of(cell.load).map(|requests| requests + before(cell));
        let requests = cells.iter().map(of).sum();
        let duration = cells.first().and_then(|cell| cell.load.stop.duration);
        Progress::start(
            self.output.no_progress,
            title(cells),
            Goal { requests, duration },
            self.runner.live(),
        )
    }

    /// Writes what is known of a cell into the manifest, over what was known of it before.
    fn record(&mut self, mut context: CellContext) -> Result<(), Error> {
        context.no_events = self.output.no_events;
        let is_same = |known: &Value| {
            let names =
                [("target", &context.target), ("workload", &context.workload), ("load", &context.load)];
            names.iter().all(|(key, name)| known.get(key).and_then(Value::as_str) == Some(name.as_str()))
        };
        let place = self.writer.manifest().cells.iter().position(is_same);
        // A context is plain data: that it is no JSON cannot happen, and an absent one only costs its own figures.
        let context = serde_json::to_value(&context).unwrap_or_default();
        let cells = |manifest: &mut Manifest| match place.and_then(|place| manifest.cells.get_mut(place)) {
            Some(known) => *known = context,
            None => manifest.cells.push(context),
        };
        Ok(self.writer.update(cells)?)
    }

    /// Adds what the machine knows to what the runner knows.
    fn complete(&self, mut context: CellContext, before: &Moment) -> CellContext {
        let after = Moment::now(&self.clock);
        // What earlier processes saw of the machine stays, where it was worse.
        let steals = [context.health.steal_share, before.steal_share_until(&after)];
        context.health.steal_share = steals.into_iter().flatten().reduce(f64::max);
        let steps = [context.health.clock_step_ms, Some(before.clock_step_ms_until(&after))];
        let larger = |a: f64, b: f64| if b.abs() > a.abs() { b } else { a };
        context.health.clock_step_ms = steps.into_iter().flatten().reduce(larger);
        context.health.ceiling = self_check::ceiling(&self.self_check);
        context
    }
}

/// Requests of one cell under `load`, where that is known beforehand: after a burst it is asked until the target has
/// recovered.
fn requests_of(load: &Load) -> Option<u64> {
    match load.arrival {
        Arrival::Closed { .. } | Arrival::Open { .. } => load.stop.requests,
        Arrival::ColdStart { .. } => {
            load.stop.requests.map(|episodes| episodes.saturating_mul(COLD_START_REQUESTS))
        }
        Arrival::Burst { .. } => None,
    }
}

/// What the progress line calls the cells that run.
fn title(cells: &[Cell<'_>]) -> String {
    match cells {
        [] => String::new(),
        [cell] => format!("{} {}", cell.load.name, cell.target.model),
        [cell, ..] => format!("{} {} × {} targets", cell.load.name, cell.workload.name, cells.len()),
    }
}
