//! One cell: headline, what is wrong, times, and everything else as facts.

use inferometer_metrics::CellSummary;
use serde_json::Value;

use crate::RunView;
use crate::number::{counted, digits};
use crate::page::{Block, Text};

use super::{client, failures, gates, money, requests, throughput, times, tokens, warnings};

/// What makes the cell of a slow client valid.
const REMEDY: &str =
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
    facts.extend(tokens::facts(cell));
    facts.push(money::fact(run, cell));
    facts.push(client::fact(cell));
    facts.push(gates::fact(cell));
    facts.extend(times::caveats(cell));
    blocks.push(Block::Facts(facts));
    blocks.extend(warnings(&cell.warnings));
    blocks
}

/// Only what is wrong with a cell; nothing where all is well.
pub(super) fn brief(run: &RunView<'_>, cell: &CellSummary) -> Vec<Block> {
    let facts = vec![failures::causes(cell), gates::fact(cell)];
    let has_facts = facts.iter().any(|fact| !fact.lines.is_empty());
    let alarms = alarms(cell);
    if alarms.is_empty() && !has_facts && cell.warnings.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![heading(run, cell)];
    blocks.extend(alarms);
    if has_facts {
        blocks.push(Block::Facts(facts));
    }
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

/// What makes the figures below unusable, or shows that there are none.
fn alarms(cell: &CellSummary) -> Vec<Block> {
    let mut alarms = Vec::new();
    if !cell.client.valid {
        alarms.push(format!("NOT VALID: {}. {REMEDY}", client::reasons(cell)));
    }
    if cell.counts.ok == 0 && cell.counts.issued > 0 {
        alarms.push(format!("no request succeeded: 0 of {}.", cell.counts.issued));
    }
    alarms.into_iter().map(|text| Block::Notice(Text::bad(text))).collect()
}
