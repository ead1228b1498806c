//! One cell: headline, what is wrong, times, and everything else as facts.

use inferometer_metrics::CellSummary;
use serde_json::Value;

use crate::RunView;
use crate::number::{counted, digits};
use crate::page::{Block, Text};

use super::{client, failures, gates, limits, money, requests, throughput, times, tokens, warnings};

/// What makes the cell of a slow client valid.
pub(super) const REMEDY: &str =
    "Lower the rate or the concurrency, or use a machine with more or idler cores, and measure again.";

/// Everything about a cell.
pub(super) fn full(run: &RunView<'_>, cell: &CellSummary) -> Vec<Block> {
    let mut blocks = vec![heading(run, cell)];
    blocks.extend(alarms(cell));
    blocks.extend(times::table(cell));
    let mut facts = times::facts(cell);
    facts.extend(throughput::facts(cell));
    facts.push(failures::errors(cell));
    facts.push(failures::causes(cell));
    facts.push(requests::fact(cell));
    facts.push(limits::fact(cell));
    facts.extend(tokens::facts(run, cell));
    facts.push(money::fact(run, cell));
    facts.push(client::fact(cell));
    facts.push(gates::fact(cell));
    facts.extend(times::caveats(cell));
    blocks.push(Block::Facts(facts));
    blocks.extend(warnings(&cell.warnings));
    blocks
}

fn heading(run: &RunView<'_>, cell: &CellSummary) -> Block {
    let load = arrival(run, cell).map_or(cell.load.clone(), |words| format!("{} ({words})", cell.load));
    Block::Heading(format!("{} · {} · {load}", cell.target, cell.workload))
}

/// How requests arrived, in words, where the manifest says it.
fn arrival(run: &RunView<'_>, cell: &CellSummary) -> Option<String> {
    let is_own = |context: &&Value| {
        [("target", &cell.target), ("workload", &cell.workload), ("load", &cell.load)]
            .iter()
            .all(|(key, own)| context.get(key).and_then(Value::as_str) == Some(own.as_str()))
    };
    let context = run.manifest.cells.iter().find(is_own)?;
    let slots = context.pointer("/arrival/closed/slots").and_then(Value::as_u64);
    let rate = context.pointer("/arrival/open/asked_rate").and_then(Value::as_f64);
    slots
        .map(|slots| format!("{} in flight", counted(slots, "request", "requests")))
        .or_else(|| rate.map(|rate| format!("{}\u{a0}requests/s asked", digits(rate))))
}

fn alarms(cell: &CellSummary) -> Vec<Block> {
    let invalid = not_valid(cell, "").map(|said| format!("{said} {REMEDY}"));
    let alarms = invalid.into_iter().chain(none_succeeded(cell, ""));
    alarms.map(|text| Block::Notice(Text::bad(text))).collect()
}

/// What makes the figures unusable; `of` names the cell where others stand beside it.
pub(super) fn not_valid(cell: &CellSummary, of: &str) -> Option<String> {
    (!cell.client.valid).then(|| format!("NOT VALID{of}: {}.", client::reasons(cell)))
}

/// What shows that there are no figures.
pub(super) fn none_succeeded(cell: &CellSummary, of: &str) -> Option<String> {
    let is_dead = cell.counts.ok == 0 && cell.counts.issued > 0;
    is_dead.then(|| format!("no request succeeded{of}: 0 of {}.", cell.counts.issued))
}
