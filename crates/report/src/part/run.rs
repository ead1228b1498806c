//! What is said of the run as a whole.

use crate::page::{Block, Fact, Text};
use crate::{Ending, RunView};

use super::{client, warnings};

/// What must be known before any figure is read.
pub(super) fn opening(run: &RunView<'_>) -> Vec<Block> {
    let mut blocks = state(run);
    blocks.extend(cautions(run));
    blocks
}

/// How the run ended, and whether it was proven who answered.
pub(super) fn state(run: &RunView<'_>) -> Vec<Block> {
    let mut notices = Vec::new();
    match run.ending() {
        Ending::Complete => {}
        // Without a cell there is no figure to be careful with.
        Ending::Interrupted if run.summary.cells.is_empty() => {}
        Ending::Interrupted => notices.push(Text::warn(
            "interrupted: the run was stopped before its plan's end. Every figure is of what had been measured by then.",
        )),
        Ending::Incomplete => notices.push(Text::bad(
            "incomplete: the run was killed, or is still at work. Every figure is of what has reached the disk.",
        )),
    }
    if run.is_insecure() {
        notices.push(Text::warn(
            "warning: TLS certificates were not verified (--insecure): who answered is not proven. To verify a \
             private CA, name its file with --cacert.",
        ));
    }
    if run.summary.cells.is_empty() {
        notices.push(Text::bad("nothing was measured: the run has no cell."));
    }
    notices.into_iter().map(Block::Notice).collect()
}

/// The warnings of the run as a whole.
pub(super) fn cautions(run: &RunView<'_>) -> Vec<Block> {
    // That the run is incomplete is said by its state.
    let is_said = |warning: &&String| run.ending() == Ending::Incomplete && warning.starts_with("incomplete");
    warnings(run.summary.warnings.iter().filter(|warning| !is_said(warning)))
}

/// Where it all stands, and how to get it again; where the page is brief, also what it leaves out.
pub(super) fn closing(run: &RunView<'_>, is_brief: bool) -> Vec<Block> {
    let seed = run.seed().map(|seed| Text::from(seed.to_string()));
    let folder = run.folder.map(|folder| Text::from(folder.display().to_string()));
    let details = run.folder.filter(|_| is_brief);
    let details =
        details.map(|folder| Text::from(format!("inferometer report {} --format md", folder.display())));
    vec![Block::Facts(vec![
        client::self_check(&run.summary.cells),
        Fact { label: "details", lines: details.into_iter().collect() },
        Fact { label: "seed", lines: seed.into_iter().collect() },
        Fact { label: "folder", lines: folder.into_iter().collect() },
    ])]
}
