//! From a run's folder to its summary.

use inferometer_record::{Events, Manifest, Phase, SCHEMA, Sample, State};

use crate::{CellAccumulator, CellContext, Summary};

/// Cells that are made for samples of a run which could not say its own; beyond it, a file is not ours.
const MAX_UNKNOWN_CELLS: usize = 1_000;

/// The summary of a run out of its manifest and its samples, as `record::RunReader` streams them. Samples of a cell
/// that the manifest does not hold (the run was killed) make a cell without a context.
pub fn summarize(
    manifest: &Manifest,
    samples: impl Iterator<Item = (Sample, Option<Events>)>,
) -> Result<Summary, serde_json::Error> {
    let contexts: Result<Vec<CellContext>, _> =
        manifest.cells.iter().map(|cell| serde_json::from_value(cell.clone())).collect();
    let mut cells = Cells { cells: contexts?.into_iter().map(Cell::new).collect(), latest: 0 };
    let mut unplaced = 0_u64;
    for (sample, events) in samples {
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
    Ok(Summary {
        schema: SCHEMA,
        run_id: manifest.run_id.clone(),
        state: manifest.state,
        interrupted: manifest.state != State::Complete,
        cells: cells.cells.into_iter().map(|cell| cell.accumulator.finish()).collect(),
        warnings,
        ..Summary::default()
    })
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
