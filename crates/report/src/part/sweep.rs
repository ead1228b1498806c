//! Several cells side by side.

use inferometer_metrics::{CellSummary, Metric, QuantilePoint, name};

use crate::number::{NONE, Scale, count, point, rate, share, time_point};
use crate::page::{Block, Column, Table, Text};

/// A row per cell. What all cells share stands above the table, what differs in it.
pub(super) fn blocks(cells: &[CellSummary]) -> Vec<Block> {
    let Some(first) = cells.first() else { return Vec::new() };
    let shared = [(is_same(cells, target), &first.target), (is_same(cells, workload), &first.workload)];
    let mut heading: Vec<String> =
        shared.iter().filter(|(same, _)| *same).map(|(_, name)| (*name).clone()).collect();
    heading.push(format!("{}\u{a0}cells", cells.len()));
    let rows = names(cells).into_iter().zip(cells).map(|(name, cell)| row(name, cell)).collect();
    vec![Block::Heading(heading.join(" · ")), Block::Table(Table { columns: columns(), rows })]
}

fn target(cell: &CellSummary) -> &str {
    &cell.target
}

fn workload(cell: &CellSummary) -> &str {
    &cell.workload
}

fn is_same(cells: &[CellSummary], part: fn(&CellSummary) -> &str) -> bool {
    cells.windows(2).all(|pair| matches!(pair, [a, b] if part(a) == part(b)))
}

/// What each cell is called among the others: what differs between them, and its load.
pub(super) fn names(cells: &[CellSummary]) -> Vec<String> {
    let own = [target, workload].into_iter().filter(|part| !is_same(cells, *part));
    let parts: Vec<fn(&CellSummary) -> &str> = own.chain([load as fn(&CellSummary) -> &str]).collect();
    let name = |cell| parts.iter().map(|part| part(cell)).collect::<Vec<_>>().join(" ");
    cells.iter().map(name).collect()
}

fn load(cell: &CellSummary) -> &str {
    &cell.load
}

fn columns() -> Vec<Column> {
    let figures = ["ok", "TTFT\u{a0}p50", "TTFT\u{a0}p95", "tokens/s per\u{a0}user", "tokens/s", "errors"];
    let mut columns = vec![Column::left("load")];
    columns.extend(figures.map(Column::right));
    columns.push(Column::left("valid"));
    columns
}

fn row(name: String, cell: &CellSummary) -> Vec<Text> {
    let ttft = cell.metrics.get(name::TTFT).filter(|ttft| ttft.n > 0);
    let time = |quantile: fn(&Metric) -> Option<&QuantilePoint>| {
        let (value, interval) = time_point(ttft.and_then(quantile));
        format!("{value} {interval}")
    };
    let own_n =
        ttft.filter(|ttft| ttft.n != cell.counts.ok).map(|ttft| format!(" n\u{a0}=\u{a0}{}", count(ttft.n)));
    let median = time(|ttft| ttft.p50.as_ref()) + &own_n.unwrap_or_default();
    let speed = cell.metrics.get(name::SPEED).and_then(|speed| point(speed.p50.as_ref()?, Scale::PLAIN));
    let tokens = rate(&cell.throughput.output_token_throughput, "");
    let counts = &cell.counts;
    let valid = cell.client.valid;
    vec![
        Text::from(name),
        Text::bad_if(counts.ok == 0, format!("{}/{}", count(counts.ok), count(counts.issued))),
        Text::from(median),
        Text::from(time(|ttft| ttft.p95.as_ref())),
        Text::from(speed.unwrap_or_else(|| NONE.to_owned())),
        Text::from(tokens.unwrap_or_else(|| NONE.to_owned())),
        Text::bad_if(counts.failed > 0, errors(cell)),
        Text::bad_if(!valid, if valid { "yes" } else { "NO" }),
    ]
}

fn errors(cell: &CellSummary) -> String {
    let rate = cell.metrics.get(name::ERROR_RATE);
    rate.and_then(|rate| share(rate.value, rate.lo, rate.hi)).unwrap_or_else(|| NONE.to_owned())
}
