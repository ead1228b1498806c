//! Under load: what more requests at once do to each stream, and to all of them together.

use inferometer_metrics::{Arrival, CellSummary, Metric, QuantilePoint, name};
use serde_json::{Value, json};

use crate::html::story::Story;
use crate::html::table::{Cell, Column, Row, Table, Unit};
use crate::number::count;

use super::{Chart, View, finite, provider_key, tip};

/// Cells of one workload at different numbers of requests in flight.
struct Sweep<'a> {
    workload: &'a str,
    /// Place in the summary, requests in flight, the cell.
    cells: Vec<(usize, u32, &'a CellSummary)>,
}

/// A plot per workload that was measured at several numbers of requests in flight.
pub(super) fn charts(story: &Story<'_>) -> Vec<Chart> {
    sweeps(story).iter().enumerate().map(|(at, sweep)| chart(story, at, sweep)).collect()
}

fn sweeps<'a>(story: &'a Story<'_>) -> Vec<Sweep<'a>> {
    let mut sweeps: Vec<Sweep<'a>> = Vec::new();
    for (index, cell) in story.summary.cells.iter().enumerate() {
        let Arrival::Closed { slots } = cell.arrival else { continue };
        match sweeps.iter_mut().find(|sweep| sweep.workload == cell.workload) {
            Some(sweep) => sweep.cells.push((index, slots, cell)),
            None => sweeps.push(Sweep { workload: &cell.workload, cells: vec![(index, slots, cell)] }),
        }
    }
    // A target that was measured at one number only has no course.
    for sweep in &mut sweeps {
        let all = sweep.cells.clone();
        let has_steps = |target: &str, slots: u32| {
            all.iter().any(|(_, other, cell)| cell.target == target && *other != slots)
        };
        sweep.cells.retain(|(_, slots, cell)| has_steps(&cell.target, *slots));
    }
    sweeps.retain(|sweep| !sweep.cells.is_empty());
    sweeps
}

fn chart(story: &Story<'_>, at: usize, sweep: &Sweep<'_>) -> Chart {
    let figures: [(&str, Of); 3] = [
        ("Tokens/s of one stream, p50", speed),
        ("TTFT p95, ms, all attempts", ttft),
        ("Tokens/s of all streams", throughput),
    ];
    let views = figures.into_iter().map(|(title, of)| {
        let label = format!("{title} against requests in flight; the table below holds the figures");
        View::new(title, label, spec(story, sweep, of))
    });
    Chart {
        id: format!("load-{at}"),
        title: format!("{}: against requests in flight", sweep.workload),
        note: "Bars are 95\u{a0}% intervals.".to_owned(),
        key: provider_key(story, sweep.cells.iter().map(|(_, _, cell)| *cell)),
        views: views.collect(),
        table: table(at, sweep),
    }
}

/// Value and interval of a figure.
type Of = fn(&CellSummary) -> [Option<f64>; 3];

fn bounds(point: Option<&QuantilePoint>) -> [Option<f64>; 3] {
    point.map_or([None; 3], |point| [finite(point.value), finite(point.lo), finite(point.hi)])
}

fn speed(cell: &CellSummary) -> [Option<f64>; 3] {
    bounds(cell.metrics.get(name::SPEED).and_then(|metric: &Metric| metric.p50.as_ref()))
}

fn ttft(cell: &CellSummary) -> [Option<f64>; 3] {
    bounds(super::ttft_p95(cell))
}

fn throughput(cell: &CellSummary) -> [Option<f64>; 3] {
    let rate = &cell.throughput.output_token_throughput;
    [finite(rate.value), finite(rate.lo), finite(rate.hi)]
}

fn spec(story: &Story<'_>, sweep: &Sweep<'_>, of: Of) -> Value {
    let measured = sweep.cells.iter().map(|(_, slots, cell)| (*slots, *cell, of(cell)));
    let measured: Vec<(u32, &CellSummary, [Option<f64>; 3])> = measured.collect();
    // A side that n cannot bound reaches to the edge.
    let most =
        measured.iter().flat_map(|(_, _, bounds)| bounds.iter().flatten()).fold(0.0_f64, |a, b| a.max(*b))
            * 1.05;
    let value = |(slots, cell, [value, lo, hi]): &(u32, &CellSummary, [Option<f64>; 3])| {
        let value = (*value)?;
        let has_interval = lo.is_some() || hi.is_some();
        let side = |bound: &Option<f64>, open: f64| bound.unwrap_or(if has_interval { open } else { value });
        Some(json!({
            "target": cell.target, "color": super::color(story, cell), "slots": slots, "value": value,
            "lo": side(lo, 0.0), "hi": side(hi, most), "shown": crate::number::digits(value),
        }))
    };
    let values: Vec<Value> = measured.iter().filter_map(value).collect();
    let mut steps: Vec<u32> = sweep.cells.iter().map(|(_, slots, _)| *slots).collect();
    steps.sort_unstable();
    steps.dedup();
    json!({
        "height": 220,
        "data": {"values": values},
        "encoding": {
            "x": {
                "field": "slots", "type": "quantitative", "scale": {"type": "log", "base": 2, "nice": false, "padding": 12},
                "axis": {"title": "requests in flight", "values": steps, "format": "d", "grid": false},
            },
            "y": {"field": "value", "type": "quantitative", "scale": {"domain": [0, most], "nice": false}, "axis": {"title": null, "tickCount": 5}},
            "color": {"field": "color", "type": "nominal", "scale": null},
            "detail": {"field": "target"},
        },
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 1.8}},
            {"mark": {"type": "rule", "opacity": 0.6}, "encoding": {"y": {"field": "lo", "type": "quantitative"}, "y2": {"field": "hi"}}},
            {"mark": {"type": "point", "filled": true, "size": 55, "opacity": 1}, "encoding": {"tooltip": [
                tip("target", "target"), tip("slots", "requests in flight"), tip("shown", "value"),
            ]}},
        ],
    })
}

fn table(at: usize, sweep: &Sweep<'_>) -> Table {
    let row = |(index, slots, cell): &(usize, u32, &CellSummary)| {
        let speed = cell.metrics.get(name::SPEED).and_then(|metric| metric.p50.as_ref());
        let throughput = format!("/cells/{index}/throughput/output_token_throughput");
        let cells = vec![
            Cell::text(count(u64::from(*slots))),
            Cell::quantile(&format!("/cells/{index}/metrics/{}/p50", name::SPEED), speed),
            super::ttft_p95_cell(*index, cell),
            Cell::rate(&throughput, &cell.throughput.output_token_throughput, Unit::Plain),
        ];
        Row { head: cell.target.clone(), detail: cell.load.clone(), cells, ..Row::default() }
    };
    Table {
        id: format!("load-{at}-data"),
        caption: format!("{}: figures by requests in flight", sweep.workload),
        corner: "Target".to_owned(),
        columns: vec![
            Column::number("In flight", "requests"),
            Column::number("Speed p50", "tokens/s of a stream"),
            Column::number("TTFT p95", "all attempts"),
            Column::number("Throughput", "tokens/s of all"),
        ],
        rows: sweep.cells.iter().map(row).collect(),
    }
}
