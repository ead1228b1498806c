//! Time to first token over the run, a drawing per target: drift, bad hours, and when failures came.

use inferometer_metrics::CellSummary;
use serde_json::{Value, json};

use crate::html::dots::Dot;
use crate::html::story::{Group, Story};
use crate::html::table::{Cell, Column, Row, Table};
use crate::number::time;

use super::{Chart, MS, View, log_axis, merged, sample_marks, ttft};

/// Drawings of one group: of more targets the first so many.
const VIEWS_MAX: usize = 24;

pub(super) fn chart(story: &Story<'_>, at: usize, group: &Group) -> Option<Chart> {
    let span = ttft::domain(story, group)?;
    let quota = story.dots.quota();
    let with_dots =
        || story.cells(&group.cells).filter_map(|(member, cell)| Some((member, story.dots_of(cell)?)));
    let ends =
        with_dots().flat_map(|(_, dots)| dots.shown(quota).into_iter().map(Dot::at_s).collect::<Vec<_>>());
    let (from, to) = ends.fold((f64::INFINITY, 0.0_f64), |(from, to), at| (from.min(at), to.max(at)));
    let views = with_dots().take(VIEWS_MAX).map(|(member, _)| {
        let label = format!("TTFT of {} over the run; the table below says whether it drifts", member.label);
        View::new(&member.label, label, spec(member.index, span, [from, to]))
    });
    let views: Vec<View> = views.collect();
    (!views.is_empty() && from < to).then(|| Chart {
        id: format!("course-{at}"),
        title: "Time to first token over the run".to_owned(),
        note:
            "When each request was started (seconds from the run's start), and how long its first token took; crosses at the top had none. All drawings share both axes."
                .to_owned(),
        key: Vec::new(),
        views,
        table: table(story, at, group),
    })
}

fn spec(index: usize, span: [f64; 2], [from, to]: [f64; 2]) -> Value {
    let x = json!({
        "field": "at_s",
        "type": "quantitative",
        "scale": {"domain": [from.floor(), to.ceil()], "nice": false},
        "axis": {"title": null, "grid": false, "tickCount": 5, "labelExpr": "datum.value + ' s'"},
    });
    json!({
        "usermeta": {"cells": [index]},
        "height": 110,
        "data": {"name": "samples"},
        "transform": [{"calculate": format!("isValid(datum.ttft_ms) ? datum.ttft_ms : {}", span[1]), "as": "y"}],
        "mark": {"type": "point", "strokeWidth": 0.8},
        "encoding": merged(json!({"x": x, "y": log_axis("y", "", span, MS)}), sample_marks()),
    })
}

fn table(story: &Story<'_>, at: usize, group: &Group) -> Table {
    let row = |label: &str, cell: &CellSummary| {
        let drift = cell.stability.drift.unwrap_or_default();
        let found = match cell.stability.drift {
            None => "not tested: too few requests",
            Some(drift) if drift.found => "drifts",
            Some(_) => "no drift found",
        };
        let change = drift.change_ms.map_or_else(Cell::none, |ms| Cell::text(time(ms)));
        let p = drift.p.map_or_else(Cell::none, |p| Cell::text(crate::number::digits(p.get())));
        let modes = match cell.stability.bimodal {
            None => "not tested",
            Some(true) => "more than one mode",
            Some(false) => "one mode",
        };
        Row {
            head: label.to_owned(),
            cells: vec![Cell::text(found), change, p, Cell::text(modes)],
            ..Row::default()
        }
    };
    Table {
        id: format!("course-{at}-data"),
        caption:
            "Whether TTFT moved over the run (Mann–Kendall, Theil–Sen), and whether it has several modes"
                .to_owned(),
        corner: "Target".to_owned(),
        columns: vec![
            Column::text("Drift"),
            Column::number("Change", "over the run"),
            Column::number("p", ""),
            Column::text("Modes"),
        ],
        rows: story.cells(&group.cells).map(|(member, cell)| row(&member.label, cell)).collect(),
    }
}
