//! Time to first token of each target: the ladder of its quantiles with their intervals, and every sample as a dot.

use inferometer_metrics::{CellSummary, QuantilePoint, name};
use serde_json::{Value, json};

use crate::html::story::{Group, Story};
use crate::html::table::{Cell, Column, Row, Table};

use super::{
    Chart, MS, View, all_attempts, all_attempts_at, finite, log_axis, merged, provider_key, rounded,
    sample_marks, span, tip,
};

/// The quantiles of the ladder: name, lane, field.
type Step = (&'static str, f64, fn(&inferometer_metrics::Metric) -> Option<&QuantilePoint>);
const LADDER: [Step; 4] = [
    ("p50", 0.24, |metric| metric.p50.as_ref()),
    ("p90", 0.34, |metric| metric.p90.as_ref()),
    ("p95", 0.44, |metric| metric.p95.as_ref()),
    ("p99", 0.54, |metric| metric.p99.as_ref()),
];
/// Height of a target: a line for its name, four steps, and the dots.
const ROW_PX: usize = 104;

pub(super) fn chart(story: &Story<'_>, at: usize, group: &Group) -> Option<Chart> {
    let span = domain(story, group)?;
    let view = |panel: Group| {
        let label = format!(
            "Time to first token {}, one row a target; the table below holds the quantiles",
            panel.title
        );
        View::new(&panel.title, label, spec(story, &panel, span))
    };
    let views = story.panels(group).into_iter().map(view);
    Some(Chart {
        id: format!("ttft-{at}"),
        title: "Time to first token".to_owned(),
        note: "Each dot is a request; the ladder above the dots shows p50, p90, p95 and p99 over all attempts with their 95\u{a0}% intervals, an open end where n cannot bound it. Crosses at the right edge had no first token; hollow dots are answers worth nothing.".to_owned(),
        key: provider_key(story, story.cells(&group.cells).map(|(_, cell)| cell)),
        views: views.collect(),
        table: table(story, at, group),
    })
}

/// What all panels of a group share, so that models can be compared: the last twentieth is the lane of what never came.
pub(super) fn domain(story: &Story<'_>, group: &Group) -> Option<[f64; 2]> {
    let quantiles = story.cells(&group.cells).flat_map(|(_, cell)| {
        let points = all_attempts(cell, name::TTFT)
            .into_iter()
            .flat_map(|metric| LADDER.iter().filter_map(|(_, _, of)| of(metric)));
        points.flat_map(|point| [point.value, point.lo, point.hi]).filter_map(finite).collect::<Vec<_>>()
    });
    let dots = story.cells(&group.cells).filter_map(|(_, cell)| story.dots_of(cell));
    let dots = dots.flat_map(|dots| {
        dots.shown(story.dots.quota()).into_iter().filter_map(|dot| dot.ttft_ms).collect::<Vec<_>>()
    });
    let [lo, hi] = span(quantiles.chain(dots), 1.1)?;
    Some([rounded(lo), rounded(hi * (hi / lo).powf(0.06))])
}

fn spec(story: &Story<'_>, panel: &Group, span: [f64; 2]) -> Value {
    let rows: Vec<&str> = panel.cells.iter().map(|member| member.label.as_str()).collect();
    let indices: Vec<usize> = panel.cells.iter().map(|member| member.index).collect();
    let names: Vec<Value> = rows.iter().map(|row| json!({"row": row, "lane": 0.08})).collect();
    let band = |lane: &str| {
        json!({
            "y": {"field": "row", "type": "nominal", "scale": {"domain": rows, "padding": 0.04}, "axis": null},
            "yOffset": {"field": lane, "type": "quantitative", "scale": {"domain": [1, 0]}},
        })
    };
    let x = |field: &str| log_axis(field, "", span, MS);
    let paint = json!({"field": "color", "type": "nominal", "scale": null});
    json!({
        "usermeta": {"cells": indices, "rows": rows},
        "height": rows.len() * ROW_PX,
        "layer": [
            {
                "data": {"name": "samples"},
                "transform": [
                    {"calculate": "0.64 + 0.34 * ((datum.request * 0.61803) % 1)", "as": "lane"},
                    {"calculate": format!("isValid(datum.ttft_ms) ? datum.ttft_ms : {}", span[1]), "as": "x"},
                ],
                "mark": {"type": "point", "strokeWidth": 0.8},
                "encoding": merged(merged(band("lane"), json!({"x": x("x")})), sample_marks()),
            },
            {
                "data": {"name": "ladder", "values": ladder(story, panel, span)},
                "encoding": merged(band("lane"), json!({"color": paint, "tooltip": [
                    tip("row", "target"), tip("quantile", "quantile"), tip("shown", "TTFT, all attempts"), tip("n", "n"),
                ]})),
                "layer": [
                    {
                        "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.45},
                        "encoding": {"x": x("lo"), "x2": {"field": "hi"}},
                    },
                    {"mark": {"type": "tick", "thickness": 2.5, "size": 9}, "encoding": {"x": x("value")}},
                    {
                        "mark": {"type": "text", "align": "right", "baseline": "middle", "dx": -5, "fontSize": 9.5},
                        "encoding": {"x": {"value": 0}, "text": {"field": "quantile"}, "color": {"value": "var(--faint)"}},
                    },
                ],
            },
            {
                "data": {"values": names},
                "mark": {"type": "text", "align": "left", "baseline": "middle", "fontWeight": 600, "dx": -24},
                "encoding": merged(band("lane"), json!({"x": {"value": 0}, "text": {"field": "row"}})),
            },
        ],
    })
}

/// The quantiles of a panel; an interval's open end is drawn to the edge, a value at infinity stands there.
fn ladder(story: &Story<'_>, panel: &Group, [lo, hi]: [f64; 2]) -> Vec<Value> {
    let mut steps = Vec::new();
    for (member, cell) in story.cells(&panel.cells) {
        let Some(metric) = all_attempts(cell, name::TTFT) else { continue };
        for (quantile, lane, of) in LADDER {
            let Some(point) = of(metric).filter(|point| point.value.is_some()) else { continue };
            let (value, interval) = crate::number::time_point(Some(point));
            steps.push(json!({
                "row": member.label,
                "color": super::color(story, cell),
                "quantile": quantile,
                "lane": lane,
                "value": finite(point.value).unwrap_or(hi),
                "lo": finite(point.lo).unwrap_or(lo),
                "hi": finite(point.hi).unwrap_or(hi),
                "shown": format!("{value} {interval}"),
                "n": metric.n,
            }));
        }
    }
    steps
}

fn table(story: &Story<'_>, at: usize, group: &Group) -> Table {
    let row = |index: usize, label: &str, cell: &CellSummary| {
        let metric = all_attempts(cell, name::TTFT);
        let base = all_attempts_at(index, cell, name::TTFT);
        let step = |(quantile, _, of): &Step| Cell::time(&format!("{base}/{quantile}"), metric.and_then(of));
        let n = metric.map_or_else(Cell::none, |metric| Cell::text(crate::number::count(metric.n)));
        Row {
            head: label.to_owned(),
            color: 0,
            cells: LADDER.iter().map(step).chain([n]).collect(),
            ..Row::default()
        }
    };
    Table {
        id: format!("ttft-{at}-data"),
        caption: "TTFT over all attempts".to_owned(),
        corner: "Target".to_owned(),
        columns: LADDER
            .iter()
            .map(|(quantile, _, _)| Column::number(quantile, ""))
            .chain([Column::number("n", "")])
            .collect(),
        rows: story
            .cells(&group.cells)
            .map(|(member, cell)| row(member.index, &member.label, cell))
            .collect(),
    }
}
