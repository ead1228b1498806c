//! What requests came to: useful, useless, failed.

use inferometer_metrics::CellSummary;

use crate::html::story::{Group, Story};
use crate::html::table::{Cell, Column, Row, Table};
use crate::number::{count, percent};

use super::split::{Part, spec};
use super::{Chart, Key, View};

/// What a request may come to: name, colour, how many did.
type Outcome = (&'static str, &'static str, fn(&CellSummary) -> u64);
const OUTCOMES: [Outcome; 9] = [
    ("useful", "v1", |cell| cell.counts.useful),
    ("ok, not useful", "v2", |cell| cell.counts.ok.saturating_sub(cell.counts.useful)),
    ("HTTP error", "v3", |cell| cell.counts.http_error),
    ("error in the stream", "v4", |cell| cell.counts.stream_error),
    ("truncated", "v5", |cell| cell.counts.truncated),
    ("timeout", "v6", |cell| cell.counts.timeout),
    ("transport, protocol", "v7", |cell| cell.counts.transport + cell.counts.protocol),
    ("cut by the run", "v8", |cell| cell.counts.cancelled),
    ("never sent", "v9", |cell| cell.counts.missing),
];

pub(super) fn chart(story: &Story<'_>, at: usize, group: &Group) -> Option<Chart> {
    let mut used: Vec<&str> = Vec::new();
    let mut views = Vec::new();
    for panel in story.panels(group) {
        let mut parts = Vec::new();
        for (name, color, of) in OUTCOMES {
            for (member, cell) in story.cells(&panel.cells) {
                let (n, all) = (of(cell), cell.counts.issued + cell.counts.missing);
                if n > 0 && all > 0 {
                    let value = n as f64 / all as f64;
                    let shown = format!("{} of {} ({})", count(n), count(all), percent(value));
                    parts.push(Part { row: member.label.clone(), name, color, value, shown });
                    used.push(name);
                }
            }
        }
        let rows: Vec<&str> = panel.cells.iter().map(|member| member.label.as_str()).collect();
        let label = format!("What requests came to {}; the table below holds the counts", panel.title);
        if !parts.is_empty() {
            views.push(View::new(
                &panel.title,
                label,
                spec(&rows, &parts, "share of requests", "format(datum.value, '.0%')", Some(1.0)),
            ));
        }
    }
    let key = OUTCOMES.iter().filter(|(name, _, _)| used.contains(name));
    (!views.is_empty()).then(|| Chart {
        id: format!("outcome-{at}"),
        title: "What requests came to".to_owned(),
        note: "A complete answer is useful where it passed the checks of its workload.".to_owned(),
        key: key
            .map(|(name, color, _)| Key { class: (*color).to_owned(), name: (*name).to_owned() })
            .collect(),
        views,
        table: table(story, at, group),
    })
}

fn table(story: &Story<'_>, at: usize, group: &Group) -> Table {
    let row = |index: usize, label: &str, cell: &CellSummary| {
        let flags = cell.validity.flags.iter().map(|(flag, n)| format!("{flag}\u{a0}{}", count(*n)));
        let mut cells: Vec<Cell> = OUTCOMES.iter().map(|(_, _, of)| Cell::text(count(of(cell)))).collect();
        cells.push(Cell::text(count(cell.counts.rate_limited)));
        let tool_calls = format!("/cells/{index}/validity/tool_calls");
        cells.push(Cell::proportion(&tool_calls, &cell.validity.tool_calls));
        cells.push(Cell::text(flags.collect::<Vec<_>>().join(", ")));
        Row { head: label.to_owned(), cells, ..Row::default() }
    };
    let heads = OUTCOMES.iter().map(|(name, _, _)| Column::number(name, ""));
    Table {
        id: format!("outcome-{at}-data"),
        caption: "Requests by what they came to".to_owned(),
        corner: "Target".to_owned(),
        columns: heads
            .chain([
                Column::number("429", "attempts"),
                Column::number("Valid tool calls", ""),
                Column::text("Flags of answers"),
            ])
            .collect(),
        rows: story
            .cells(&group.cells)
            .map(|(member, cell)| row(member.index, &member.label, cell))
            .collect(),
    }
}
