//! What a run that goes on knows of its cells from before.

use inferometer_record::{Events, Manifest, Sample};

use crate::kept::Finished;
use crate::{CellAccumulator, CellContext, finish, pool};

/// How a reason begins that is of the time before the run went on.
pub(crate) const BEFORE: &str = "before the run went on: ";

/// The cells of a run that goes on, each with the reasons for which what its `samples` hold of it is not valid. An error
/// where a cell or the study of the manifest is none that this version writes.
pub fn resumed(
    manifest: &Manifest,
    samples: impl Iterator<Item = (Sample, Option<Events>)>,
) -> Result<Vec<CellContext>, serde_json::Error> {
    let (_, contexts) = pool::read(manifest)?;
    let mut cells: Vec<CellAccumulator> = contexts.into_iter().map(CellAccumulator::new).collect();
    for (sample, events) in samples {
        if let Some(cell) = cells.iter_mut().find(|cell| cell.context.owns(&sample)) {
            cell.push(&sample, events.as_ref());
        }
    }
    let known = |cell: CellAccumulator| {
        let Finished { summary, context, .. } = finish::cell(cell);
        let bare = |reason: &String| reason.strip_prefix(BEFORE).unwrap_or(reason).to_owned();
        let is_measured = summary.counts.issued > 0;
        let reasons = summary.client.reasons.iter().filter(|_| is_measured).map(bare).collect();
        CellContext { not_valid_before: reasons, ..context }
    };
    Ok(cells.into_iter().map(known).collect())
}

impl CellContext {
    /// This cell as a further process begins it: how the client fares is open again, and should the process be killed it
    /// stays so.
    #[must_use]
    pub fn begun_after(self, before: &CellContext) -> Self {
        Self { not_valid_before: before.not_valid_before.clone(), ..self }
    }

    /// This cell as a further process leaves it: the worse of what both knew of the client.
    #[must_use]
    pub fn ended_after(self, before: &CellContext) -> Self {
        let mut health = before.health.clone();
        pool::join_health(&mut health, self.health);
        Self { not_valid_before: before.not_valid_before.clone(), health, ..self }
    }
}
