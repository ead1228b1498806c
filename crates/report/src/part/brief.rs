//! What is said of the cells of a sweep beside their table, so that all of it fits a screen: what is wrong, how far each
//! can be trusted, what it cost. Everything else stands in the details.

use inferometer_metrics::CellSummary;

use crate::RunView;
use crate::number::{NONE, rate, time};
use crate::page::{Block, Column, Fact, Table, Text};

use super::{cell, failures, gates, money, sweep};

/// The rest of a sweep's page. Beside the tables of a study there is no need of the table.
pub(super) fn blocks(run: &RunView<'_>, cells: &[CellSummary], has_table: bool) -> Vec<Block> {
    let names = sweep::names(cells);
    let named: Vec<(&str, &CellSummary)> = names.iter().map(String::as_str).zip(cells).collect();
    let mut blocks = alarms(&named);
    if has_table {
        blocks.push(Block::Table(table(&named)));
    }
    let client = if has_table { Fact::default() } else { worst_client(cells) };
    let facts =
        vec![client, by_cell(&named, failures::causes), by_cell(&named, gates::fact), unpriced(run, cells)];
    if facts.iter().any(|fact| !fact.lines.is_empty()) {
        blocks.push(Block::Facts(facts));
    }
    blocks.extend(warnings(&named));
    blocks
}

fn alarms(named: &[(&str, &CellSummary)]) -> Vec<Block> {
    let of = |name: &str| format!(" ({name})");
    let mut said: Vec<String> =
        named.iter().filter_map(|(name, cell)| cell::not_valid(cell, &of(name))).collect();
    if !said.is_empty() {
        said.push(cell::REMEDY.to_owned());
    }
    said.extend(named.iter().filter_map(|(name, cell)| cell::none_succeeded(cell, &of(name))));
    said.into_iter().map(|text| Block::Notice(Text::bad(text))).collect()
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

/// Each warning once, with the cells it is about where that is not all of them. Warnings that differ in their numbers
/// alone are one, with the numbers of the first.
fn warnings(named: &[(&str, &CellSummary)]) -> Vec<Block> {
    let kind = |warning: &str| warning.replace(|c: char| c.is_ascii_digit() || c == '.', "");
    let mut said: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, warning) in named.iter().flat_map(|(name, cell)| cell.warnings.iter().map(move |w| (*name, w)))
    {
        match said.iter_mut().find(|(known, _)| kind(known) == kind(warning)) {
            Some((_, names)) => names.push(name),
            None => said.push((warning, vec![name])),
        }
    }
    let line = |(warning, names): (&str, Vec<&str>)| {
        let more = names.len().saturating_sub(MAX_NAMED);
        let first = names.get(..names.len().min(MAX_NAMED)).unwrap_or_default().join(", ");
        let of = match more {
            _ if names.len() == named.len() => String::new(),
            0 => format!(" ({first})"),
            more => format!(" ({first} and {more} more)"),
        };
        Block::Notice(Text::warn(format!("warning{of}: {warning}")))
    };
    said.into_iter().map(line).collect()
}
