//! Cost against the tail of the first token, with the line of those that no other beats in both.

use inferometer_metrics::{CellSummary, Num, Rate};
use serde_json::{Value, json};

use crate::html::story::{Group, Story};
use crate::html::table::{Cell, Column, Row, Table, Unit};
use crate::number::{dollar_rate, time_point};

use super::labels::{Place, places};
use super::{
    Chart, MS, USD, View, finite, log_axis, merged, provider_key, rounded, span, tip, ttft_p95, ttft_p95_cell,
};

/// Height of the drawing.
const HEIGHT_PX: f64 = 380.0;

/// One target where both are known.
struct Point<'a> {
    label: &'a str,
    color: String,
    cell: &'a CellSummary,
    cost: f64,
    ms: f64,
}

pub(super) fn chart(story: &Story<'_>, at: usize, group: &Group) -> Option<Chart> {
    let points: Vec<Point<'_>> = story
        .cells(&group.cells)
        .filter_map(|(member, cell)| {
            let cost = thousand(cell.cost.per_useful_usd.value).filter(|cost| *cost > 0.0)?;
            let ms = finite(ttft_p95(cell)?.value)?;
            Some(Point { label: &member.label, color: super::color(story, cell), cell, cost, ms })
        })
        .collect();
    if points.len() < 2 {
        return None;
    }
    let label = "Cost per useful answer against TTFT p95; the table below holds both".to_owned();
    let line: Vec<&Point<'_>> = frontier(&points);
    Some(Chart {
        id: format!("pareto-{at}"),
        title: "Cost against the tail of the first token".to_owned(),
        note: "Left and low is better. The line joins the targets that no other beats in both (the Pareto set); the bars are 95\u{a0}% intervals.".to_owned(),
        key: provider_key(story, story.cells(&group.cells).map(|(_, cell)| cell)),
        views: vec![View::new("", label, spec(&points, &line)?)],
        table: table(story, at, group, &line),
    })
}

/// Dollars of a thousand answers.
fn thousand(value: Option<Num>) -> Option<f64> {
    finite(value).map(|usd| usd * 1000.0)
}

fn cost_shown(rate: &Rate) -> Option<String> {
    let of = |value| thousand(value).and_then(Num::new);
    dollar_rate(&Rate { value: of(rate.value), lo: of(rate.lo), hi: of(rate.hi), note: None })
}

/// Those that no other beats in both, by cost.
fn frontier<'a, 'b>(points: &'b [Point<'a>]) -> Vec<&'b Point<'a>> {
    let mut by_cost: Vec<&Point<'_>> = points.iter().collect();
    by_cost.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(a.ms.total_cmp(&b.ms)));
    let mut best = f64::INFINITY;
    by_cost.retain(|point| {
        let is_on = point.ms < best;
        best = best.min(point.ms);
        is_on
    });
    by_cost
}

fn spec(points: &[Point<'_>], line: &[&Point<'_>]) -> Option<Value> {
    let costs = points.iter().flat_map(|point| {
        let rate = &point.cell.cost.per_useful_usd;
        [Some(point.cost), thousand(rate.lo), thousand(rate.hi)].into_iter().flatten()
    });
    let times = points.iter().flat_map(|point| {
        let p95 = ttft_p95(point.cell);
        [Some(point.ms), p95.and_then(|p95| finite(p95.lo)), p95.and_then(|p95| finite(p95.hi))]
            .into_iter()
            .flatten()
    });
    let [cost_lo, cost_hi] = span(costs, 1.15)?;
    let [ms_lo, ms_hi] = span(times, 1.15)?;
    let cost = [rounded(cost_lo), rounded(cost_hi)];
    let ms = [rounded(ms_lo), rounded(ms_hi)];
    let row = |point: &Point<'_>| {
        let (rate, p95) = (&point.cell.cost.per_useful_usd, ttft_p95(point.cell));
        let (value, interval) = time_point(p95);
        json!({
            "target": point.label, "color": point.color, "cost": point.cost, "ms": point.ms,
            "cost_lo": thousand(rate.lo).unwrap_or(cost[0]), "cost_hi": thousand(rate.hi).unwrap_or(cost[1]),
            "ms_lo": p95.and_then(|p95| finite(p95.lo)).unwrap_or(ms[0]), "ms_hi": p95.and_then(|p95| finite(p95.hi)).unwrap_or(ms[1]),
            "cost_shown": cost_shown(rate), "ms_shown": format!("{value} {interval}"),
        })
    };
    let x = |field: &str| log_axis(field, "cost per 1,000 useful answers", cost, USD);
    let y = |field: &str| log_axis(field, "TTFT p95, all attempts", ms, MS);
    let paint = json!({"field": "color", "type": "nominal", "scale": null});
    let mut layers = vec![
        json!({
            "data": {"values": line.iter().map(|point| row(point)).collect::<Vec<_>>()},
            "mark": {"type": "line", "interpolate": "step-after", "color": "var(--faint)", "strokeDash": [4, 3], "strokeWidth": 1.2},
            "encoding": {"x": x("cost"), "y": y("ms"), "order": {"field": "cost"}},
        }),
        json!({
            "mark": {"type": "rule", "opacity": 0.55},
            "encoding": {"x": x("cost_lo"), "x2": {"field": "cost_hi"}, "y": y("ms"), "color": paint},
        }),
        json!({
            "mark": {"type": "rule", "opacity": 0.55},
            "encoding": {"x": x("cost"), "y": y("ms_lo"), "y2": {"field": "ms_hi"}, "color": paint},
        }),
        json!({
            "mark": {"type": "point", "filled": true, "size": 70, "opacity": 1},
            "encoding": {"x": x("cost"), "y": y("ms"), "color": paint, "tooltip": [
                tip("target", "target"), tip("cost_shown", "cost per 1,000 useful answers"), tip("ms_shown", "TTFT p95, all attempts"),
            ]},
        }),
    ];
    layers.extend(names(points, [cost, ms], &row).into_iter().flat_map(|(mark, values)| {
        // Over a rim of the page's colour, so that a name can be read across a line.
        let rim = json!({"stroke": "var(--page)", "strokeWidth": 4, "fill": "var(--page)"});
        let encoding = json!({"x": x("cost"), "y": y("ms"), "text": {"field": "target"}});
        [merged(mark.clone(), rim), mark]
            .map(|mark| json!({"data": {"values": values}, "mark": mark, "encoding": encoding}))
    }));
    let values: Vec<Value> = points.iter().map(row).collect();
    Some(json!({"height": HEIGHT_PX, "data": {"values": values}, "layer": layers}))
}

/// The names, those that stand on the same side of their points together.
fn names(
    points: &[Point<'_>],
    [cost, ms]: [[f64; 2]; 2],
    row: &dyn Fn(&Point<'_>) -> Value,
) -> Vec<(Value, Vec<Value>)> {
    let share = |value: f64, [lo, hi]: [f64; 2]| (value / lo).ln() / (hi / lo).ln();
    let at =
        |point: &Point<'_>| (share(point.cost, cost), 1.0 - share(point.ms, ms), point.label.chars().count());
    let places = places(&points.iter().map(at).collect::<Vec<_>>(), HEIGHT_PX);
    let on = |place: Place| {
        let own = points.iter().zip(&places).filter(|(_, own)| **own == place).map(|(point, _)| row(point));
        let (align, baseline, dx, dy) = place.words();
        (
            json!({"type": "text", "align": align, "baseline": baseline, "dx": dx, "dy": dy}),
            own.collect::<Vec<_>>(),
        )
    };
    Place::ALL.map(on).into_iter().filter(|(_, own)| !own.is_empty()).collect()
}

fn table(story: &Story<'_>, at: usize, group: &Group, line: &[&Point<'_>]) -> Table {
    let row = |index: usize, label: &str, cell: &CellSummary| {
        let is_on = line.iter().any(|point| point.label == label);
        let cells = vec![
            Cell::rate(
                &format!("/cells/{index}/cost/per_useful_usd"),
                &cell.cost.per_useful_usd,
                Unit::UsdPerThousand,
            ),
            ttft_p95_cell(index, cell),
            if is_on { Cell::text("on the line") } else { Cell::none() },
        ];
        Row { head: label.to_owned(), cells, ..Row::default() }
    };
    Table {
        id: format!("pareto-{at}-data"),
        caption: "Cost per 1,000 useful answers and TTFT p95".to_owned(),
        corner: "Target".to_owned(),
        columns: vec![
            Column::number("Cost", "per 1,000 useful answers"),
            Column::number("TTFT p95", "all attempts"),
            Column::text("Pareto"),
        ],
        rows: story
            .cells(&group.cells)
            .map(|(member, cell)| row(member.index, &member.label, cell))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_holds_those_that_none_beats_in_both() {
        let cell = CellSummary::default();
        let point = |label, cost, ms| Point { label, color: String::new(), cell: &cell, cost, ms };
        let points = [
            point("a", 1.0, 300.0),
            point("b", 2.0, 200.0),
            point("c", 2.0, 250.0),
            point("d", 3.0, 200.0),
            point("e", 4.0, 100.0),
        ];
        let labels: Vec<&str> = frontier(&points).iter().map(|point| point.label).collect();
        assert_eq!(labels, ["a", "b", "e"]);
    }
}
