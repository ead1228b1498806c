//! Where the money went: what a thousand useful answers cost, part by part.

use inferometer_metrics::CellSummary;

use crate::html::story::{Group, Story};
use crate::html::table::{Cell, Column, Row, Table};
use crate::number::{NONE, count, digits, dollars, percent};

use super::split::{Part, spec};
use super::{Chart, Key, USD, View};

/// The parts of a cost: field, name, colour.
const PARTS: [(&str, &str, &str); 6] = [
    ("input", "input", "p1"),
    ("cache_read", "cached input", "p2"),
    ("cache_write", "cache writes", "p3"),
    ("output", "visible output", "p4"),
    ("reasoning", "reasoning", "p5"),
    ("request", "per request", "p6"),
];
const ANSWERS: f64 = 1000.0;

pub(super) fn chart(story: &Story<'_>, at: usize, group: &Group) -> Option<Chart> {
    let mut used: Vec<&str> = Vec::new();
    let mut views = Vec::new();
    for panel in story.panels(group) {
        let mut parts = Vec::new();
        for (field, name, color) in PARTS {
            for (member, cell) in story.cells(&panel.cells) {
                let Some(value) = per_thousand(cell, field) else { continue };
                let shown = format!("${} per 1,000 useful answers", digits(value));
                parts.push(Part { row: member.label.clone(), name, color, value, shown });
                used.push(field);
            }
        }
        let rows: Vec<&str> = panel.cells.iter().map(|member| member.label.as_str()).collect();
        let label =
            format!("Cost of 1,000 useful answers by part {}; the table below holds the sums", panel.title);
        if !parts.is_empty() {
            views.push(View::new(
                &panel.title,
                label,
                spec(&rows, &parts, "USD per 1,000 useful answers", USD, None),
            ));
        }
    }
    let key = PARTS.iter().filter(|(field, _, _)| used.contains(field));
    (!views.is_empty()).then(|| Chart {
        id: format!("money-{at}"),
        title: "Where the money went".to_owned(),
        note: "What 1,000 useful answers cost, failed and useless attempts included. Each model has its own scale.".to_owned(),
        key: key.map(|(_, name, color)| Key { class: (*color).to_owned(), name: (*name).to_owned() }).collect(),
        views,
        table: table(story, at, group),
    })
}

/// A part of the total over the useful answers; `None` where either is not there.
fn per_thousand(cell: &CellSummary, field: &str) -> Option<f64> {
    let part: f64 = cell.cost.parts_usd.get(field)?.parse().ok()?;
    (cell.counts.useful > 0 && part > 0.0 && part.is_finite())
        .then(|| part / cell.counts.useful as f64 * ANSWERS)
}

fn table(story: &Story<'_>, at: usize, group: &Group) -> Table {
    let row = |label: &str, cell: &CellSummary| {
        let usd = |text: Option<&String>| text.map_or_else(Cell::none, |text| Cell::text(format!("${text}")));
        let share = |share: Option<inferometer_metrics::Num>| {
            share.map_or(NONE.to_owned(), |share| percent(share.get()))
        };
        let mut cells: Vec<Cell> =
            PARTS.iter().map(|(field, _, _)| usd(cell.cost.parts_usd.get(*field))).collect();
        let total = usd(cell.cost.total_usd.as_ref());
        cells.push(if cell.cost.lower_bound { total.with_detail("a lower bound") } else { total });
        cells.push(Cell::text(share(cell.cost.waste_share)));
        cells.push(Cell::text(share(cell.cost.reasoning_share)));
        cells.push(usd(cell.cost.reported_usd.as_ref()));
        cells.push(usd(cell.cost.residual_usd.as_ref()));
        cells.push(cell.cost.per_month_usd.value.map_or_else(Cell::none, |usd| Cell::text(dollars(usd))));
        let identities =
            cell.tokens.usage_identities.iter().map(|(name, n)| format!("{name}\u{a0}{}", count(*n)));
        cells.push(Cell::text(identities.collect::<Vec<_>>().join(", ")));
        Row { head: label.to_owned(), cells, ..Row::default() }
    };
    let parts = PARTS.iter().map(|(_, name, _)| Column::number(name, "USD"));
    let more = [
        Column::number("Total", "USD"),
        Column::number("Waste", "share on answers of no use"),
        Column::number("Reasoning", "share"),
        Column::number("Reported", "by the provider"),
        Column::number("Reported − ours", "USD"),
        Column::number("A month", "at the stated traffic"),
        Column::text("Usage adds up as"),
    ];
    Table {
        id: format!("money-{at}-data"),
        caption: "Cost of all attempts".to_owned(),
        corner: "Target".to_owned(),
        columns: parts.chain(more).collect(),
        rows: story.cells(&group.cells).map(|(member, cell)| row(&member.label, cell)).collect(),
    }
}
