//! Cold starts and bursts.

use inferometer_metrics::{Bursts, CellSummary, ColdStart, ColdStarts, Metric, Rate};

use crate::number::{NONE, count, digits, of, proportion, time, time_point, time_rate};
use crate::page::{Block, Column, Fact, Table, Text};

use super::sweep;

/// A table for each of the two, where any cell has it. On a screen of cold starts both states of the connection
/// together, and in words only where one was found.
pub(super) fn blocks(cells: &[CellSummary], is_brief: bool) -> Vec<Block> {
    let names = sweep::names(cells);
    let named = || names.iter().map(String::as_str).zip(cells);
    let colds: Vec<(&str, &ColdStarts)> =
        named().filter_map(|(name, cell)| Some((name, cell.cold_starts.as_ref()?))).collect();
    let bursts: Vec<(&str, &Bursts)> =
        named().filter_map(|(name, cell)| Some((name, cell.bursts.as_ref()?))).collect();
    let mut blocks = Vec::new();
    if !colds.is_empty() {
        blocks.push(Block::Heading(
            "cold starts: first request after a gap − warm control, connect left out".to_owned(),
        ));
        blocks.push(Block::Table(cold_table(&colds, is_brief)));
        blocks.push(Block::Facts(vec![Fact { label: "found", lines: found(&colds, is_brief) }]));
    }
    if !bursts.is_empty() {
        blocks.push(Block::Heading("bursts: from rest to so many at once".to_owned()));
        blocks.push(Block::Table(burst_table(&bursts, is_brief)));
        let notes = bursts.iter().flat_map(|(name, burst)| {
            let recovery = burst.recovery.note.iter();
            burst.notes.iter().chain(recovery).map(move |note| Text::warn(format!("{name}: {note}")))
        });
        blocks.push(Block::Facts(vec![Fact { label: "notes", lines: notes.collect() }]));
    }
    blocks
}

fn median(metric: &Metric) -> String {
    let (value, interval) = time_point(metric.p50.as_ref());
    format!("{value} {interval}").trim_end().to_owned()
}

/// The states of the connection that are shown.
fn states(cold: &ColdStarts, is_brief: bool) -> impl Iterator<Item = (&'static str, &ColdStart)> {
    let states = [("fresh", &cold.fresh), ("kept", &cold.kept), ("either", &cold.either)];
    let is_shown = move |state: &str| !is_brief || cold.either.n == 0 || state == "either";
    states.into_iter().filter(move |(state, _)| is_shown(state))
}

/// On a screen the states of the connection are shown together, by their difference.
fn cold_table(colds: &[(&str, &ColdStarts)], is_brief: bool) -> Table {
    let mut columns = vec![Column::left(""), Column::right("gap"), Column::left("connection")];
    columns.extend(
        ["n", "cold TTFT p50", "warm TTFT p50", "difference p50", "beyond warm", "failed"].map(Column::right),
    );
    let detail = |text: String| if is_brief { String::new() } else { text };
    let row = |name: &str, gap_s: f64, state: &str, start: &ColdStart| {
        // Where there is no state in common, each is told apart.
        let state = if state == "either" { detail(state.to_owned()) } else { state.to_owned() };
        vec![
            Text::from(name),
            Text::from(format!("{}\u{a0}s", digits(gap_s))),
            Text::from(state),
            Text::from(count(start.n)),
            Text::from(detail(median(&start.cold_ttft))),
            Text::from(detail(median(&start.warm_ttft))),
            Text::from(median(&start.penalty)),
            Text::from(of(&start.seen)),
            Text::bad_if(start.failed > 0, count(start.failed)),
        ]
    };
    let rows = colds.iter().flat_map(|(name, cold)| {
        states(cold, is_brief)
            .filter(|(_, start)| start.n + start.failed > 0)
            .map(move |(state, start)| row(name, cold.gap_s, state, start))
    });
    Table { columns, rows: rows.collect() }
}

/// What was found, in the words of the figures; on a screen a difference that is none stands in the table alone.
fn found(colds: &[(&str, &ColdStarts)], is_brief: bool) -> Vec<Text> {
    let is_shown = |start: &ColdStart| {
        let p50 = start.penalty.p50.as_ref();
        !is_brief || p50.is_none_or(|p50| p50.value.is_none() || p50.lo.is_some_and(|lo| lo.get() > 0.0))
    };
    let said = colds.iter().flat_map(|(name, cold)| {
        states(cold, is_brief)
            .filter(|(_, start)| is_shown(start))
            .map(move |(state, start)| (format!("{name}, {state} connection"), &start.detail))
    });
    said.filter(|(_, detail)| !detail.is_empty())
        .map(|(who, detail)| Text::from(format!("{who}: {detail}")))
        .collect()
}

/// How long a burst was felt: a time, a bound of it, or that it was not.
fn back(recovery: &Rate) -> String {
    let is_unfelt = recovery.note.as_ref().is_some_and(|note| note.starts_with("not felt"));
    match (recovery.value, recovery.lo, recovery.hi) {
        (None, ..) if is_unfelt => "not\u{a0}felt".to_owned(),
        (None, Some(lo), _) => format!(">\u{a0}{}", time(lo)),
        (None, None, Some(hi)) => format!("≤\u{a0}{}", time(hi)),
        _ => time_rate(recovery).unwrap_or_else(|| NONE.to_owned()),
    }
}

fn burst_table(bursts: &[(&str, &Bursts)], is_brief: bool) -> Table {
    let mut columns = vec![Column::left("")];
    let planned = ["size", "bursts", "sent within"].map(Column::right);
    columns.extend(planned.map(|column| if is_brief { column.spare() } else { column }));
    let heads =
        ["rest TTFT p50", "burst TTFT p50", "p95 of all", "refused (429)", "failed", "n", "back after"];
    columns.extend(heads.map(Column::right));
    // On a screen n has a column of its own.
    let share = |share: &inferometer_metrics::Proportion| match proportion(share) {
        Some(shown) if is_brief => shown,
        Some(shown) => format!("{shown} ({})", of(share)),
        None => NONE.to_owned(),
    };
    let row = |(name, burst): &(&str, &Bursts)| {
        let all = burst.ttft.all_attempts.as_deref();
        let (p95, interval) = time_point(all.and_then(|all| all.p95.as_ref()));
        vec![
            Text::from(*name),
            Text::from(count(u64::from(burst.size))),
            Text::from(count(burst.n)),
            Text::from(burst.sent_within.max.map_or(NONE.to_owned(), time)),
            Text::from(median(&burst.rest_ttft)),
            Text::from(median(&burst.ttft)),
            Text::from(format!("{p95} {interval}").trim_end()),
            Text::bad_if(burst.refused.count > 0, share(&burst.refused)),
            Text::bad_if(burst.failed.count > 0, share(&burst.failed)),
            Text::from(if is_brief { count(burst.refused.n) } else { String::new() }),
            Text::from(back(&burst.recovery)),
        ]
    };
    Table { columns, rows: bursts.iter().map(row).collect() }
}
