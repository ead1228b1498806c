//! What a reader should see of a run: headline first, then the cells, then where it all stands.

mod brief;
mod cell;
mod client;
mod comparisons;
mod decision;
mod episodes;
mod failures;
mod gates;
pub(crate) mod limits;
mod matrix;
mod models;
mod money;
mod requests;
mod run;
mod settings;
mod sweep;
mod throughput;
mod times;
mod tokens;

use inferometer_metrics::{CellSummary, Decision, Summary};

use crate::RunView;
use crate::page::{Block, Fact, Text};

/// Up to so many cells are shown in full on a screen; of more, their table and what goes with it.
const FULL_ON_SCREEN: usize = 2;

/// The page of a run at a terminal: a sweep fits a screen, and of many targets only what is said of them together.
pub(crate) fn screen(run: &RunView<'_>) -> Vec<Block> {
    let cells = &run.summary.cells;
    if cells.len() <= FULL_ON_SCREEN {
        return page(run);
    }
    // Of several targets the decision comes first, and what lessens it with all that does.
    let is_study = is_study(run);
    let mut blocks = if is_study { run::state(run) } else { run::opening(run) };
    blocks.extend(if is_study { study(run, true) } else { sweep::blocks(cells) });
    blocks.extend(brief::blocks(run, cells, !is_study));
    blocks.extend(is_study.then(|| run::cautions(run)).into_iter().flatten());
    blocks.extend(run::closing(run, true));
    blocks
}

/// The page of a run with everything about each cell.
pub(crate) fn page(run: &RunView<'_>) -> Vec<Block> {
    let cells = &run.summary.cells;
    let mut blocks = run::opening(run);
    if is_study(run) {
        blocks.extend(study(run, false));
    } else if cells.len() > 1 {
        blocks.extend(sweep::blocks(cells));
    }
    blocks.extend(cells.iter().flat_map(|cell| cell::full(run, cell)));
    blocks.extend(run::closing(run, false));
    blocks
}

/// Where a screen's page leaves something out.
const ELSEWHERE: &str = "report.html";

/// Whether a decision names this target: it is chosen, or stands by.
fn is_named(summary: &Summary, target: &str) -> bool {
    let is_named_in = |decision: &Decision| {
        let fallback = decision.fallback.iter().map(|fallback| &fallback.target);
        decision.chosen.iter().chain(fallback).any(|named| named == target)
    };
    summary.profiles.iter().any(is_named_in)
}

/// Whether a screen's page has anything of this target beside the tables of all: it is named by a decision, or there
/// is no decision.
fn is_wanted(summary: &Summary, target: &str) -> bool {
    let is_decided = summary.profiles.iter().any(|decision| !decision.chosen.is_empty());
    !is_decided || is_named(summary, target)
}

/// Whether there is more to say than what each cell says by itself: several targets, or a question that was asked of
/// them all.
fn is_study(run: &RunView<'_>) -> bool {
    let summary = run.summary;
    let is_same = |cell: &CellSummary| summary.cells.first().is_some_and(|first| first.target == cell.target);
    let has_episodes = summary.cells.iter().any(|cell| cell.cold_starts.is_some() || cell.bursts.is_some());
    !summary.profiles.is_empty()
        || !summary.gates.is_empty()
        || has_episodes
        || !summary.cells.iter().all(is_same)
}

/// What is said of all cells together: the decision first, then its evidence.
fn study(run: &RunView<'_>, is_brief: bool) -> Vec<Block> {
    let summary = run.summary;
    let cells = &summary.cells;
    let mut blocks = decision::blocks(summary, is_brief);
    blocks.extend(matrix::blocks(cells, is_brief));
    let facts = vec![
        Fact { label: "why empty", lines: matrix::gaps(cells) },
        Fact { label: "gates", lines: gates::lines(&summary.gates) },
        if is_brief { limits::of_all(cells) } else { Fact { label: "limits", lines: Vec::new() } },
    ];
    if facts.iter().any(|fact| !fact.lines.is_empty()) {
        blocks.push(Block::Facts(facts));
    }
    blocks.extend(comparisons::blocks(summary, is_brief));
    blocks.extend(models::blocks(run));
    blocks.extend(money::split(summary, is_brief));
    blocks.extend(episodes::blocks(cells, is_brief));
    blocks.extend(settings::blocks(summary, is_brief));
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
