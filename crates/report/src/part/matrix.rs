//! Targets side by side: what matters of each, with intervals.

use inferometer_metrics::{CellSummary, Metric, Num, QuantilePoint, Rate, name};

use crate::number::{NONE, Scale, count, digits, dollar_rate, point, proportion, share, time_point};
use crate::page::{Block, Column, Table, Text};

use super::sweep;

/// A table per workload and load, a row per target. On a screen some figures stand only where there is room.
pub(super) fn blocks(cells: &[CellSummary], is_brief: bool) -> Vec<Block> {
    let table = |(place, cells): (String, Vec<&CellSummary>)| {
        let rows = cells.into_iter().map(|cell| row(cell, is_brief)).collect();
        [Block::Heading(place), Block::Table(Table { columns: columns(is_brief), rows })]
    };
    let is_ordinary = |place: &(String, Vec<&CellSummary>)| {
        // Cold starts and bursts have tables of their own.
        !place.1.iter().any(|cell| cell.cold_starts.is_some() || cell.bursts.is_some())
    };
    by_place(cells).into_iter().filter(is_ordinary).flat_map(table).collect()
}

/// The cells of each workload and load, in the plan's order.
pub(super) fn by_place(cells: &[CellSummary]) -> Vec<(String, Vec<&CellSummary>)> {
    let mut places: Vec<(String, Vec<&CellSummary>)> = Vec::new();
    for cell in cells {
        let place = format!("{} · {}", cell.workload, cell.load);
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, cells)) => cells.push(cell),
            None => places.push((place, vec![cell])),
        }
    }
    places
}

fn columns(is_brief: bool) -> Vec<Column> {
    let spare = |column: Column| if is_brief { column.spare() } else { column };
    vec![
        Column::left("target"),
        Column::right("ok"),
        Column::right("TTFT\u{a0}p50"),
        Column::right("TTFT\u{a0}p95"),
        spare(Column::right("latency p95")),
        spare(Column::right("tokens/s")),
        spare(Column::right("errors")),
        Column::right("useful"),
        Column::right(if is_brief { "$\u{a0}per 1000 useful" } else { "$\u{a0}per useful" }),
    ]
}

/// Times are over all attempts: a target that fails its slow requests must not look fast.
fn row(cell: &CellSummary, is_brief: bool) -> Vec<Text> {
    let counts = &cell.counts;
    let time = |metric: &str, of: fn(&Metric) -> Option<&QuantilePoint>| {
        let metric = cell.metrics.get(metric);
        let all = metric.and_then(|metric| metric.all_attempts.as_deref()).or(metric);
        let (value, interval) = time_point(all.filter(|all| all.n > 0).and_then(of));
        format!("{value} {interval}").trim_end().to_owned()
    };
    let speed = cell.metrics.get(name::SPEED).and_then(|speed| point(speed.p50.as_ref()?, Scale::PLAIN));
    let errors = cell.metrics.get(name::ERROR_RATE).and_then(|rate| share(rate.value, rate.lo, rate.hi));
    let useful = proportion(&cell.validity.useful);
    // A thousand of them have digits that can be read.
    let answers = if is_brief { 1_000.0 } else { 1.0 };
    let per_useful = times(&cell.cost.per_useful_usd, answers);
    let cost = dollar_rate(&per_useful)
        .or_else(|| per_useful.lo.map(|lo| format!("none; ≥\u{a0}${}", digits(lo.get()))));
    let or_none = |text: Option<String>| Text::from(text.unwrap_or_else(|| NONE.to_owned()));
    vec![
        Text::from(&cell.target),
        ended(cell),
        Text::from(time(name::TTFT, |all| all.p50.as_ref())),
        Text::from(time(name::TTFT, |all| all.p95.as_ref())),
        Text::from(time(name::LATENCY, |all| all.p95.as_ref())),
        or_none(speed),
        Text::bad_if(counts.failed > 0, errors.unwrap_or_else(|| NONE.to_owned())),
        or_none(useful),
        or_none(cost),
    ]
}

fn times(rate: &Rate, factor: f64) -> Rate {
    let times = |value: Option<Num>| value.and_then(|value| Num::new(value.get() * factor));
    Rate { value: times(rate.value), lo: times(rate.lo), hi: times(rate.hi), note: rate.note.clone() }
}

/// How many of how many, and what lessens the whole row.
fn ended(cell: &CellSummary) -> Text {
    let counts = &cell.counts;
    let shown = format!("{}/{}", count(counts.ok), count(counts.issued));
    match (counts.ok, cell.client.valid, counts.missing) {
        (0, ..) => Text::bad(shown),
        (_, false, _) => Text::bad(format!("{shown} not\u{a0}valid")),
        (_, _, 0) => Text::from(shown),
        (_, _, missing) => Text::warn(format!("{shown} {}\u{a0}missing", count(missing))),
    }
}

/// Why cells are empty or have trials missing.
pub(super) fn gaps(cells: &[CellSummary]) -> Vec<Text> {
    let names = sweep::names(cells);
    let said = names.iter().zip(cells).filter_map(|(name, cell)| {
        let missing = (cell.counts.missing > 0).then(|| {
            format!("{} trials given up because it lagged behind the others", count(cell.counts.missing))
        });
        super::joined([missing, cell.gap.clone()]).map(|why| Text::bad(format!("{name}: {why}")))
    });
    said.collect()
}
