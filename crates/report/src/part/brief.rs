//! What is said of the cells of a sweep beside their table, so that all of it fits a screen: what is wrong, how far each
//! can be trusted, what it cost. Everything else stands in the details.

use inferometer_metrics::CellSummary;

use crate::RunView;
use crate::number::{NONE, rate, time};
use crate::page::{Block, Column, Fact, Table, Text};

use super::{cell, client, failures, gates, money, sweep};

/// The rest of a sweep's page. Beside the tables of a study there is no need of the table.
pub(super) fn blocks(run: &RunView<'_>, cells: &[CellSummary], has_table: bool) -> Vec<Block> {
    let names = sweep::names(cells);
    let named: Vec<(&str, &CellSummary)> = names.iter().map(String::as_str).zip(cells).collect();
    let mut blocks = alarms(&named);
    if has_table {
        blocks.push(Block::Table(table(&named)));
    }
    let trust = if has_table { Fact::default() } else { worst_client(cells) };
    let facts = vec![trust, failures::all(&named), by_cell(&named, gates::fact), unpriced(run, cells)];
    if facts.iter().any(|fact| !fact.lines.is_empty()) {
        blocks.push(Block::Facts(facts));
    }
    blocks.extend(warnings(&named));
    blocks
}

fn alarms(named: &[(&str, &CellSummary)]) -> Vec<Block> {
    let of = |name: &str| format!(" ({name})");
    let not_valid = named.iter().filter(|(_, cell)| !cell.client.valid);
    let groups = alike(not_valid.map(|(name, cell)| (*name, client::reasons(cell))));
    let mut said: Vec<String> = groups.iter().map(|(reasons, names)| not_valid_all(reasons, names)).collect();
    if !said.is_empty() {
        said.push(cell::REMEDY.to_owned());
    }
    said.extend(named.iter().filter_map(|(name, cell)| cell::none_succeeded(cell, &of(name))));
    said.into_iter().map(|text| Block::Notice(Text::bad(text))).collect()
}

/// Of several, the numbers are those of the first.
fn not_valid_all(reasons: &str, names: &[&str]) -> String {
    let first = if names.len() > 1 { ", the first: " } else { ": " };
    format!("NOT VALID ({}){first}{reasons}.", few(names))
}

/// How far each cell can be trusted, and what it cost. Columns that no cell has anything for are not drawn.
fn table(named: &[(&str, &CellSummary)]) -> Table {
    let figures = ["requests/s", "client error", "cost", "cost per useful answer"];
    let mut columns = vec![Column::left("load")];
    columns.extend(figures.map(Column::right));
    let is_priced = named.iter().any(|(_, cell)| money::columns(cell).is_some());
    let unpriced = if is_priced { NONE.to_owned() } else { String::new() };
    let row = |(name, cell): &(&str, &CellSummary)| {
        let client = &cell.client;
        let error = client.error_ms.map_or_else(|| NONE.to_owned(), |ms| format!("≤\u{a0}{}", time(ms)));
        let requests = rate(&cell.throughput.request_throughput, "").unwrap_or_else(|| NONE.to_owned());
        let [total, per_useful] =
            money::columns(cell).unwrap_or_else(|| [unpriced.clone(), unpriced.clone()]);
        vec![
            Text::from(*name),
            Text::from(requests),
            Text::bad_if(!client.valid, error),
            Text::from(total),
            Text::from(per_useful),
        ]
    };
    Table { columns, rows: named.iter().map(row).collect() }
}

/// How late the client was at worst where its figures are valid.
fn worst_client(cells: &[CellSummary]) -> Fact {
    let valid = cells.iter().filter(|cell| cell.client.valid).filter_map(|cell| cell.client.error_ms);
    let worst = valid.max_by(|a, b| a.get().total_cmp(&b.get()));
    let line = worst.map(|ms| Text::from(format!("client error ≤\u{a0}{} in every valid cell", time(ms))));
    Fact { label: "client", lines: line.into_iter().collect() }
}

/// The same fact of every cell, each line behind its cell's name.
fn by_cell(named: &[(&str, &CellSummary)], fact: fn(&CellSummary) -> Fact) -> Fact {
    let label = fact(&CellSummary::default()).label;
    let lines = named.iter().flat_map(|(name, cell)| {
        let behind_name = move |line: Text| Text { text: format!("{name}: {}", line.text), ..line };
        fact(cell).lines.into_iter().map(behind_name)
    });
    Fact { label, lines: lines.collect() }
}

/// Why no cost is known, where that is so of every cell.
fn unpriced(run: &RunView<'_>, cells: &[CellSummary]) -> Fact {
    let is_unknown = cells.iter().all(|cell| cell.cost.total_usd.is_none());
    let fact = cells.first().filter(|_| is_unknown).map(|cell| money::fact(run, cell));
    fact.unwrap_or_default()
}

/// So many of the cells that a warning is about are named.
const MAX_NAMED: usize = 3;

/// The first few names, and how many more there are.
fn few(names: &[&str]) -> String {
    let first = names.get(..names.len().min(MAX_NAMED)).unwrap_or_default().join(", ");
    match names.len().saturating_sub(MAX_NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Texts that differ in their numbers alone, as the first of them, with the names of all.
fn alike<'a>(said: impl Iterator<Item = (&'a str, String)>) -> Vec<(String, Vec<&'a str>)> {
    let kind = |text: &str| text.replace(|c: char| c.is_ascii_digit() || c == '.', "");
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, text) in said {
        match groups.iter_mut().find(|(known, _)| kind(known) == kind(&text)) {
            Some((_, names)) => names.push(name),
            None => groups.push((text, vec![name])),
        }
    }
    groups
}

/// Each warning once, with the cells it is about where that is not all of them.
fn warnings(named: &[(&str, &CellSummary)]) -> Vec<Block> {
    let all = named.iter().flat_map(|(name, cell)| cell.warnings.iter().map(move |w| (*name, w.clone())));
    let line = |(warning, names): (String, Vec<&str>)| {
        let of = if names.len() == named.len() { String::new() } else { format!(" ({})", few(&names)) };
        Block::Notice(Text::warn(format!("warning{of}: {warning}")))
    };
    alike(all).into_iter().map(line).collect()
}
