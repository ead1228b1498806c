//! Cold starts and bursts.

use inferometer_metrics::{Bursts, CellSummary, ColdStart, ColdStarts, Metric, QuantilePoint, Rate};

use crate::number::{count, digits, of, time};

use super::matrix::tone_if;
use super::story::Story;
use super::table::{Cell, Column, Row, Table, Unit, draw_bars};

/// A table of cold starts and one of bursts, as far as there are any.
pub(super) fn tables(story: &Story<'_>) -> Vec<Table> {
    let [cold, bursts] = [cold_starts(story), bursts(story)];
    [cold, bursts].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn cold_starts(story: &Story<'_>) -> Table {
    let mut rows = Vec::new();
    for (index, cell) in story.summary.cells.iter().enumerate() {
        let Some(cold) = &cell.cold_starts else { continue };
        let states = [("kept", &cold.kept), ("fresh", &cold.fresh), ("either", &cold.either)];
        let is_measured = |(_, of): &(&str, &ColdStart)| of.n + of.failed > 0;
        rows.extend(
            states
                .into_iter()
                .filter(is_measured)
                .map(|(state, of)| cold_row(story, index, cell, cold, state, of)),
        );
    }
    let columns = vec![
        Column::number("Gaps", "n"),
        Column::number("First TTFT", "p50"),
        Column::number("Warm TTFT", "p50"),
        Column::number("Penalty p50", "first − warm"),
        Column::number("Penalty p95", "first − warm"),
        Column::number("Connect", "p50"),
        Column::number("Seen", "share of gaps"),
        Column::text("In words"),
    ];
    let caption =
        "Cold starts: the first request after an idle gap against the warm control right after it".to_owned();
    let mut table =
        Table { id: "cold-starts".to_owned(), caption, corner: "Target".to_owned(), columns, rows };
    for column in [1, 2, 3, 4] {
        draw_bars(&mut table, column, Unit::Ms);
    }
    draw_bars(&mut table, 6, Unit::Share);
    table
}

fn cold_row(
    story: &Story<'_>,
    index: usize,
    cell: &CellSummary,
    all: &ColdStarts,
    state: &str,
    cold: &ColdStart,
) -> Row {
    let at = format!("/cells/{index}/cold_starts/{state}");
    let p50 = |field: &str, metric: &Metric| Cell::time(&format!("{at}/{field}/p50"), metric.p50.as_ref());
    let p95 = Cell::time(&format!("{at}/penalty/p95"), cold.penalty.p95.as_ref());
    let failed = if cold.failed > 0 { format!("{} failed", count(cold.failed)) } else { String::new() };
    let cells = vec![
        Cell::text(count(cold.n)).with_detail(failed),
        p50("cold_ttft", &cold.cold_ttft),
        p50("warm_ttft", &cold.warm_ttft),
        p50("penalty", &cold.penalty),
        p95,
        p50("connect", &cold.connect),
        Cell::proportion(&format!("{at}/seen"), &cold.seen),
        Cell::text(cold.detail.clone()),
    ];
    let detail = format!("{}, {state} connection, idle {}\u{a0}s", cell.workload, digits(all.gap_s));
    Row { head: cell.target.clone(), detail, color: story.color(&cell.target), cells }
}

fn bursts(story: &Story<'_>) -> Table {
    let rows = story.summary.cells.iter().enumerate();
    let rows =
        rows.filter_map(|(index, cell)| Some(burst_row(story, index, cell, cell.bursts.as_ref()?))).collect();
    let columns = vec![
        Column::number("Sent within", "p95, 5 ms promised"),
        Column::number("TTFT at rest", "p50"),
        Column::number("TTFT p50", "of the burst"),
        Column::number("TTFT p95", "all attempts"),
        Column::number("Refused", "429"),
        Column::number("Failed", "otherwise"),
        Column::number("Back to rest", "after"),
        Column::text("Notes"),
    ];
    let caption = "Bursts: from rest to many requests at once".to_owned();
    let mut table = Table { id: "bursts".to_owned(), caption, corner: "Target".to_owned(), columns, rows };
    for (column, unit) in
        [(1, Unit::Ms), (2, Unit::Ms), (3, Unit::Ms), (4, Unit::Share), (5, Unit::Share), (6, Unit::Ms)]
    {
        draw_bars(&mut table, column, unit);
    }
    table
}

/// How long a burst was felt: a time, a bound of it, or that it was not.
fn recovery(at: &str, recovery: &Rate) -> Cell {
    let is_unfelt = recovery.note.as_ref().is_some_and(|note| note.starts_with("not felt"));
    let said = match (recovery.value, recovery.lo, recovery.hi) {
        (None, ..) if is_unfelt => "not felt".to_owned(),
        (None, Some(lo), _) => format!(">\u{a0}{}", time(lo)),
        (None, None, Some(hi)) => format!("≤\u{a0}{}", time(hi)),
        _ => return Cell::rate(at, recovery, Unit::Ms),
    };
    Cell::text(said).figured(at, None, recovery.lo, recovery.hi)
}

fn burst_row(story: &Story<'_>, index: usize, cell: &CellSummary, bursts: &Bursts) -> Row {
    let at = format!("/cells/{index}/bursts");
    let timed = |field: &str, point: Option<&QuantilePoint>| Cell::time(&format!("{at}/{field}"), point);
    let all = bursts.ttft.all_attempts.as_deref();
    let within = if all.is_some() { "ttft/all_attempts/p95" } else { "ttft/p95" };
    let refused = Cell::proportion(&format!("{at}/refused"), &bursts.refused);
    let failed = Cell::proportion(&format!("{at}/failed"), &bursts.failed);
    let notes: Vec<&str> = bursts.recovery.note.iter().chain(&bursts.notes).map(String::as_str).collect();
    let cells = vec![
        timed("sent_within/p95", bursts.sent_within.p95.as_ref()),
        timed("rest_ttft/p50", bursts.rest_ttft.p50.as_ref()),
        timed("ttft/p50", bursts.ttft.p50.as_ref()),
        timed(within, all.unwrap_or(&bursts.ttft).p95.as_ref()),
        tone_if(refused, bursts.refused.count > 0).with_count(&of(&bursts.refused)),
        tone_if(failed, bursts.failed.count > 0).with_count(&of(&bursts.failed)),
        recovery(&format!("{at}/recovery"), &bursts.recovery),
        Cell::text(notes.join("; ")),
    ];
    let detail = format!("{}, {} bursts of {}", cell.workload, count(bursts.n), bursts.size);
    Row { head: cell.target.clone(), detail, color: story.color(&cell.target), cells }
}
