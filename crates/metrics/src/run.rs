//! From a run's folder to its summary.

use inferometer_record::{Events, Manifest, Phase, SCHEMA, Sample, State, Status};

use crate::kept::{Finished, Kept};
use crate::{
    CellAccumulator, CellContext, Study, Summary, checks, compare, decide, finish, hold_against, money, pool,
};

/// Cells that are made for samples of a run which could not say its own; beyond it, a file is not ours.
const MAX_UNKNOWN_CELLS: usize = 1_000;

/// The summary of a run out of its manifest and its samples, as `record::RunReader` streams them. Samples of a cell
/// that the manifest does not hold (the run was killed) make a cell without a context. An error where a cell or the
/// study of the manifest is none that this version writes.
pub fn summarize(
    manifest: &Manifest,
    samples: impl Iterator<Item = (Sample, Option<Events>)>,
) -> Result<Summary, serde_json::Error> {
    let (study, contexts) = pool::read(manifest)?;
    let mut cells = Cells { cells: contexts.into_iter().map(Cell::new).collect(), latest: 0 };
    let mut unplaced = 0_u64;
    let mut preflight = Preflight::default();
    for (sample, events) in samples {
        preflight.see(&sample);
        match cells.of(&sample) {
            Some(cell) => cell.accumulator.push(&sample, events.as_ref()),
            // A preflight may stand before any cell.
            None => unplaced += u64::from(sample.phase != Phase::Preflight),
        }
    }
    let mut warnings = Vec::new();
    if manifest.state == State::Running {
        warnings.push("incomplete: the run did not say how it ended".to_owned());
    }
    if unplaced > 0 {
        warnings.push(format!("{unplaced} samples belong to no cell of this run"));
    }
    warnings.extend(preflight.stopped());
    let finished: Vec<Finished> =
        cells.cells.into_iter().map(|cell| finish::cell(cell.accumulator)).collect();
    let summary = conclude(&study, finished);
    warnings.extend(summary.warnings);
    Ok(Summary {
        schema: SCHEMA,
        run_id: manifest.run_id.clone(),
        state: manifest.state,
        interrupted: manifest.state != State::Complete,
        warnings,
        ..summary
    })
}

/// What the cells say together.
fn conclude(study: &Study, mut finished: Vec<Finished>) -> Summary {
    checks::add(study, &mut finished);
    let kept: Vec<Kept> = finished.iter().map(Finished::kept).collect();
    let compare::Compared { comparisons, warnings } = compare::compare(study, &kept);
    let mut summary = Summary {
        profiles: decide::decide(study, &kept, &comparisons),
        levers: decide::levers(study, &kept),
        settings: decide::settings(study, &kept),
        comparisons,
        warnings,
        cells: finished
            .into_iter()
            .map(|cell| money::by_month(cell.summary, study.monthly_requests))
            .collect(),
        ..Summary::default()
    };
    hold_against(&mut summary, study, None);
    summary
}

/// What became of the request before any load.
#[derive(Default)]
struct Preflight {
    /// The last one that was not answered.
    failed: Option<Sample>,
    /// Whether anything was sent after it.
    is_passed: bool,
}

impl Preflight {
    fn see(&mut self, sample: &Sample) {
        match sample.phase {
            Phase::Preflight if sample.status.is_failure() || sample.status == Status::ClientLimit => {
                self.failed = Some(sample.clone());
            }
            Phase::Preflight => self.failed = None,
            Phase::Warmup | Phase::Measure => self.is_passed = true,
        }
    }

    /// Why nothing was measured, where it was the preflight that stopped the run.
    fn stopped(self) -> Option<String> {
        let sample = self.failed.filter(|_| !self.is_passed)?;
        let http = sample.http_status.map(|status| format!(" HTTP {status}"));
        let code = sample.error_code.map(|code| format!(" {code}"));
        let message = sample.error_message.map(|message| format!(": {message}"));
        let why = [http, code, message].into_iter().flatten().collect::<String>();
        Some(format!("the preflight of {} failed: {}{why}", sample.target, sample.status.name()))
    }
}

struct Cell {
    accumulator: CellAccumulator,
}

impl Cell {
    fn new(context: CellContext) -> Self {
        Cell { accumulator: CellAccumulator::new(context) }
    }

    fn owns(&self, sample: &Sample) -> bool {
        self.accumulator.context.owns(sample)
    }
}

struct Cells {
    cells: Vec<Cell>,
    /// Index of the cell of the last sample: neighbours mostly share theirs.
    latest: usize,
}

impl Cells {
    fn of(&mut self, sample: &Sample) -> Option<&mut Cell> {
        if !self.cells.get(self.latest).is_some_and(|cell| cell.owns(sample)) {
            self.latest = match self.cells.iter().position(|cell| cell.owns(sample)) {
                Some(found) => found,
                None => self.make(sample)?,
            };
        }
        self.cells.get_mut(self.latest)
    }

    fn make(&mut self, sample: &Sample) -> Option<usize> {
        if sample.phase == Phase::Preflight || self.cells.len() >= MAX_UNKNOWN_CELLS {
            return None;
        }
        self.cells.push(Cell::new(CellContext {
            target: sample.target.clone(),
            workload: sample.workload.clone(),
            load: sample.load.clone(),
            ..CellContext::default()
        }));
        Some(self.cells.len() - 1)
    }
}
