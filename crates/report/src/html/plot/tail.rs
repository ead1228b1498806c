//! The tail of latency: the share of requests that took longer than so long.

use inferometer_metrics::{CellSummary, name};
use serde_json::{Value, json};

use crate::html::story::{Group, Story};
use crate::html::table::{Cell, Column, Row, Table};
use crate::number::{count, percent};

use super::{Chart, MS, View, all_attempts, all_attempts_at, log_axis, provider_key, rounded, span, tip};

/// Points of one curve: more could not be told apart.
const POINTS_MAX: usize = 160;

/// One curve.
struct Curve<'a> {
    label: &'a str,
    color: String,
    points: Vec<(f64, f64)>,
    /// What never ended.
    rest: f64,
}

pub(super) fn chart(story: &Story<'_>, at: usize, group: &Group) -> Option<Chart> {
    let views = story.panels(group).into_iter().filter_map(|panel| {
        let label = format!(
            "Share of requests slower than a latency {}; the table below holds its quantiles",
            panel.title
        );
        Some(View::new(&panel.title, label, spec(&curves(story, &panel))?))
    });
    let views: Vec<View> = views.collect();
    (!views.is_empty()).then(|| Chart {
        id: format!("tail-{at}"),
        title: "Tail of latency".to_owned(),
        note: "The share of attempts that took longer, both axes logarithmic: lower and further left is better. A curve that ends in a level line has failures, which never end.".to_owned(),
        key: provider_key(story, story.cells(&group.cells).map(|(_, cell)| cell)),
        views,
        table: table(story, at, group),
    })
}

/// A curve for each cell of `panel` in which something ended.
fn curves<'a>(story: &'a Story<'_>, panel: &'a Group) -> Vec<Curve<'a>> {
    let curves = story.cells(&panel.cells).filter_map(|(member, cell)| {
        let points = story.dots_of(cell)?.survival();
        let rest = points.last()?.1;
        let (label, color) = (member.label.as_str(), super::color(story, cell));
        Some(Curve { label, color, points: thinned(&points), rest })
    });
    curves.collect()
}

/// Evenly over the logarithm of the share, so that the tail keeps all its points.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= POINTS_MAX {
        return points.to_vec();
    }
    let least = points.iter().map(|(_, share)| *share).filter(|share| *share > 0.0).fold(1.0, f64::min);
    let step = least.ln() / POINTS_MAX as f64;
    let mut kept: Vec<(f64, f64)> = Vec::new();
    let mut next = 0_i64;
    for (at, (ms, share)) in points.iter().enumerate() {
        let lane = if *share > 0.0 { (share.ln() / step) as i64 } else { i64::MAX };
        if lane >= next || at + 1 == points.len() {
            kept.push((*ms, *share));
            next = lane.saturating_add(1);
        }
    }
    kept
}

fn spec(curves: &[Curve<'_>]) -> Option<Value> {
    let [lo, hi] = span(curves.iter().flat_map(|curve| curve.points.iter().map(|(ms, _)| *ms)), 1.1)?;
    let shares = curves.iter().flat_map(|curve| curve.points.iter().map(|(_, share)| *share));
    let [least, _] = span(shares, 1.2)?;
    let mut values: Vec<Value> = Vec::new();
    for (order, curve) in curves.iter().enumerate() {
        let point = |ms: f64, share: f64| {
            json!({
                "of": curve.label, "order": order, "color": curve.color, "ms": rounded(ms), "share": rounded(share.max(least)),
                "slower": percent(share), "latency": format!("{} ms", crate::number::digits(ms)),
            })
        };
        values.extend(curve.points.iter().map(|(ms, share)| point(*ms, *share)));
        if curve.rest > 0.0 {
            values.push(point(hi, curve.rest));
        }
    }
    let y = json!({
        "field": "share",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [rounded(least), 1], "nice": false},
        "axis": {"title": "share slower", "values": [1.0, 0.1, 0.01, 0.001, 0.0001], "format": "~%"},
    });
    Some(json!({
        "height": 240,
        "data": {"values": values},
        "encoding": {
            "x": log_axis("ms", "latency", [rounded(lo), rounded(hi)], MS),
            "y": y,
            "color": {"field": "color", "type": "nominal", "scale": null},
            "detail": {"field": "of"},
        },
        "layer": [
            {"mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.8}},
            {
                "mark": {"type": "point", "filled": true, "opacity": 0, "size": 90},
                "encoding": {"tooltip": [tip("of", "target"), tip("latency", "slower than"), tip("slower", "share")]},
            },
        ],
    }))
}

fn table(story: &Story<'_>, at: usize, group: &Group) -> Table {
    let row = |index: usize, label: &str, cell: &CellSummary| {
        let metric = all_attempts(cell, name::LATENCY);
        let base = all_attempts_at(index, cell, name::LATENCY);
        let time = |quantile: &str, point| Cell::time(&format!("{base}/{quantile}"), point);
        let cells = vec![
            time("p50", metric.and_then(|metric| metric.p50.as_ref())),
            time("p95", metric.and_then(|metric| metric.p95.as_ref())),
            time("p99", metric.and_then(|metric| metric.p99.as_ref())),
            time("p999", metric.and_then(|metric| metric.p999.as_ref())),
            metric.map_or_else(Cell::none, |metric| Cell::text(count(metric.n))),
        ];
        Row { head: label.to_owned(), cells, ..Row::default() }
    };
    Table {
        id: format!("tail-{at}-data"),
        caption: "Latency over all attempts".to_owned(),
        corner: "Target".to_owned(),
        columns: ["p50", "p95", "p99", "p99.9", "n"].map(|head| Column::number(head, "")).to_vec(),
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
    fn thinning_keeps_the_ends_and_the_tail() {
        let points: Vec<(f64, f64)> =
            (1..=5_000).map(|i| (f64::from(i), f64::from(5_000 - i) / 5_000.0)).collect();
        let kept = thinned(&points);
        assert!(kept.len() <= POINTS_MAX + 2, "{}", kept.len());
        assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
        assert_eq!(kept[kept.len() - 3..], points[4_997..]);
    }
}
