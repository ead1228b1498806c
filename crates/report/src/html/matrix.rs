//! Targets against what matters, each figure with its interval drawn.

use inferometer_metrics::{CellSummary, Metric, QuantilePoint, name};

use crate::number::{count, of, percent, time};

use super::story::{Group, Member, Story};
use super::table::{Cell, Column, Row, Table, Tone, Unit, draw_bars};

/// A table per group of cells.
pub(super) fn tables(story: &Story<'_>, groups: &[Group]) -> Vec<Table> {
    groups.iter().enumerate().map(|(at, group)| table(story, at, group)).collect()
}

/// An error rate that is surely above this stands out.
const ERRORS_BAD_FROM: f64 = 0.01;

/// A column: its head, what stands below it, how its bars are measured, and its cell.
type Drawn = (&'static str, &'static str, Unit, fn(&str, &CellSummary) -> Cell);

const COLUMNS: [Drawn; 9] = [
    ("Useful answers", "of requests", Unit::Share, useful),
    ("Errors", "of requests", Unit::Share, errors),
    ("Cost", "per 1,000 useful answers", Unit::UsdPerThousand, cost),
    ("TTFT p50", "ok", Unit::Ms, |at, cell| quantile(at, cell, name::TTFT, false, "p50", |m| m.p50.as_ref())),
    ("TTFT p95", "all attempts", Unit::Ms, |at, cell| {
        quantile(at, cell, name::TTFT, true, "p95", |m| m.p95.as_ref())
    }),
    ("Latency p50", "ok", Unit::Ms, |at, cell| {
        quantile(at, cell, name::LATENCY, false, "p50", |m| m.p50.as_ref())
    }),
    ("Latency p95", "all attempts", Unit::Ms, |at, cell| {
        quantile(at, cell, name::LATENCY, true, "p95", |m| m.p95.as_ref())
    }),
    ("Speed p50", "tokens/s of a stream", Unit::Plain, speed),
    ("Throughput", "tokens/s of all", Unit::Plain, throughput),
];

fn table(story: &Story<'_>, at: usize, group: &Group) -> Table {
    let by_target = story.has_targets();
    let columns = COLUMNS.iter().map(|(head, hint, _, _)| Column::number(head, hint));
    let mut table = Table {
        id: format!("figures-{at}"),
        caption: format!("{}: figures with their 95\u{a0}% intervals", group.title),
        corner: if by_target { "Target" } else { "Load" }.to_owned(),
        columns: columns.chain([Column::text("Client")]).collect(),
        rows: story.cells(&group.cells).map(|(member, cell)| row(story, member, cell)).collect(),
    };
    for (column, (_, _, unit, _)) in COLUMNS.iter().enumerate() {
        draw_bars(&mut table, column, *unit);
    }
    table
}

fn row(story: &Story<'_>, member: &Member, cell: &CellSummary) -> Row {
    let at = format!("/cells/{}", member.index);
    let cells = COLUMNS.iter().map(|(_, _, _, cell_of)| cell_of(&at, cell));
    let tells = |target: &str| if story.has_targets() { story.color(target) } else { 0 };
    Row {
        head: member.label.clone(),
        detail: counted(cell),
        color: tells(&cell.target),
        cells: cells.chain([client(cell)]).collect(),
    }
}

fn counted(cell: &CellSummary) -> String {
    let counts = &cell.counts;
    let ok = format!("{} of {} ok", count(counts.ok), count(counts.issued));
    let missing = (counts.missing > 0).then(|| format!(", {} never sent", count(counts.missing)));
    let gap = cell.gap.as_ref().map(|gap| format!(": {gap}"));
    ok + &missing.unwrap_or_default() + &gap.unwrap_or_default()
}

fn useful(at: &str, cell: &CellSummary) -> Cell {
    let shown = Cell::proportion(&format!("{at}/validity/useful"), &cell.validity.useful);
    tone_if(shown, cell.validity.useful.n > 0 && cell.validity.useful.count * 2 < cell.validity.useful.n)
}

fn errors(at: &str, cell: &CellSummary) -> Cell {
    let Some(rate) = cell.metrics.get(name::ERROR_RATE) else { return Cell::none() };
    let at = format!("{at}/metrics/{}", name::ERROR_RATE);
    let is_bad = rate.lo.is_some_and(|lo| lo.get() > ERRORS_BAD_FROM);
    tone_if(Cell::share(&at, rate.value, rate.lo, rate.hi), is_bad)
}

pub(super) fn tone_if(cell: Cell, is_bad: bool) -> Cell {
    if is_bad { Cell { tone: Tone::Bad, ..cell } } else { cell }
}

fn quantile(
    at: &str,
    cell: &CellSummary,
    figure: &str,
    is_all: bool,
    name: &str,
    of: fn(&Metric) -> Option<&QuantilePoint>,
) -> Cell {
    let Some(metric) = cell.metrics.get(figure) else { return Cell::none() };
    let all = metric.all_attempts.as_deref().filter(|_| is_all);
    let within = if all.is_some() { "/all_attempts" } else { "" };
    Cell::time(&format!("{at}/metrics/{figure}{within}/{name}"), of(all.unwrap_or(metric)))
}

fn speed(at: &str, cell: &CellSummary) -> Cell {
    let metric = cell.metrics.get(name::SPEED);
    Cell::quantile(
        &format!("{at}/metrics/{}/p50", name::SPEED),
        metric.and_then(|metric| metric.p50.as_ref()),
    )
}

fn throughput(at: &str, cell: &CellSummary) -> Cell {
    let at = format!("{at}/throughput/output_token_throughput");
    Cell::rate(&at, &cell.throughput.output_token_throughput, Unit::Plain)
}

fn cost(at: &str, cell: &CellSummary) -> Cell {
    let shown =
        Cell::rate(&format!("{at}/cost/per_useful_usd"), &cell.cost.per_useful_usd, Unit::UsdPerThousand);
    let bound = if cell.cost.lower_bound && !shown.text.is_empty() && shown.figure.is_some() {
        "≥\u{a0}"
    } else {
        ""
    };
    Cell { text: format!("{bound}{}", shown.text), ..shown }
}

/// Whether the client was good enough, by this cell's own evidence.
pub(super) fn client(cell: &CellSummary) -> Cell {
    let client = &cell.client;
    if !client.valid {
        let reasons = if client.reasons.is_empty() {
            "no proof that it kept up".to_owned()
        } else {
            client.reasons.join("; ")
        };
        return Cell::toned(Tone::Bad, "✗ NOT VALID").with_detail(reasons);
    }
    let error = client.error_ms.map(|ms| format!("error ≤\u{a0}{}", time(ms)));
    Cell::toned(Tone::Good, "✓ valid").with_detail(error.unwrap_or_default())
}

/// Late starts, for the client's certificate.
pub(super) fn late(cell: &CellSummary) -> String {
    let late = &cell.client.late_starts;
    let share = late.value.map(|share| percent(share.get()));
    share.map_or_else(String::new, |share| format!("{share} ({})", of(late)))
}
