//! What a reader should see of a run: headline first, then the cells, then where it all stands.

mod brief;
mod cell;
mod client;
mod failures;
mod gates;
mod money;
mod requests;
mod run;
mod sweep;
mod throughput;
mod times;
mod tokens;

use inferometer_metrics::CellSummary;

use crate::RunView;
use crate::page::{Block, Text};

/// Up to so many cells are shown in full on a screen; of more, their table and what goes with it.
const FULL_ON_SCREEN: usize = 2;

/// The page of a run at a terminal: a sweep fits a screen.
pub(crate) fn screen(run: &RunView<'_>) -> Vec<Block> {
    let cells = &run.summary.cells;
    if cells.len() <= FULL_ON_SCREEN {
        return page(run);
    }
    let mut blocks = run::opening(run);
    blocks.extend(sweep::blocks(cells));
    blocks.extend(brief::blocks(run, cells));
    blocks.extend(run::closing(run, true));
    blocks
}

/// The page of a run with everything about each cell.
pub(crate) fn page(run: &RunView<'_>) -> Vec<Block> {
    let cells = &run.summary.cells;
    let mut blocks = run::opening(run);
    if cells.len() > 1 {
        blocks.extend(sweep::blocks(cells));
    }
    blocks.extend(cells.iter().flat_map(|cell| cell::full(run, cell)));
    blocks.extend(run::closing(run, false));
    blocks
}

/// Joins what is there: absent parts leave no trace.
fn joined(parts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let said: Vec<String> = parts.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(" · "))
}

/// Warnings, each with its word in front.
fn warnings<'a>(texts: impl IntoIterator<Item = &'a String>) -> Vec<Block> {
    texts.into_iter().map(|text| Block::Notice(Text::warn(format!("warning: {text}")))).collect()
}

/// Marks what stands on the figures of a cell whose client was too slow.
fn marked(cell: &CellSummary, text: String) -> Text {
    if cell.client.valid { text.into() } else { Text::bad(format!("not valid: {text}")) }
}
