//! How it was measured: each definition used, the protocol, and whether the client was good enough.

use askama::Template;
use inferometer_metrics::{CellSummary, CheckState, name};
use serde_json::Value;

use crate::number::{count, counted, digits, time};
use crate::part::limits;

use super::matrix;
use super::names::title;
use super::story::{Story, cleaned};
use super::table::{Cell, Column, Row, Table};

/// Every figure's definition: the same text as people read, so that there is one.
const FIGURES: &str = include_str!("../../../../docs/figures.md");

/// Facts of a JSON object that are listed.
const FACTS_MAX: usize = 40;

/// A definition, its text in pieces so that names can be set apart.
pub(super) struct Definition {
    pub(super) title: String,
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) text: Vec<Piece>,
}

/// A piece of text, or a name in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) is_code: bool,
}

/// The section.
#[derive(Template)]
#[template(path = "methods.html")]
pub(super) struct Methods {
    definitions: Vec<Definition>,
    protocol: Vec<(String, String)>,
    /// The certificate in one sentence.
    client: String,
    is_client_bad: bool,
    certificate: Table,
    /// Checks over several answers, and what each came to.
    checks: Vec<CheckLine>,
    targets: Option<Table>,
    limits: Table,
    self_check: Vec<(String, String)>,
    environment: Vec<(String, String)>,
    again: Vec<(String, String)>,
}

impl askama::filters::HtmlSafe for Methods {}

pub(super) fn methods(story: &Story<'_>) -> Methods {
    let manifest = story.run.manifest;
    Methods {
        definitions: definitions(story),
        protocol: facts(manifest.plan.get("protocol").unwrap_or(&Value::Null)),
        client: client(story),
        is_client_bad: story.summary.cells.iter().any(|cell| !cell.client.valid),
        certificate: certificate(story),
        checks: checks(story),
        targets: targets(story),
        limits: told_limits(story),
        self_check: facts(&manifest.self_check),
        environment: facts(&manifest.environment),
        again: again(story),
    }
}

/// The definitions of the figures that the page shows, out of the documentation.
fn definitions(story: &Story<'_>) -> Vec<Definition> {
    const SHOWN: [&str; 8] = [
        name::TTFT,
        name::TTFA,
        name::LATENCY,
        name::SPEED,
        name::TOKENS_RATE,
        name::ERROR_RATE,
        name::USEFUL_RATE,
        name::COST_PER_USEFUL,
    ];
    let is_used = |name: &str| {
        matches!(name, name::TOKENS_RATE | name::USEFUL_RATE | name::COST_PER_USEFUL)
            || story.summary.cells.iter().any(|cell| cell.metrics.contains_key(name))
    };
    SHOWN.into_iter().filter(|name| is_used(name)).filter_map(|name| definition(FIGURES, name)).collect()
}

/// The section of one figure: `### name`, a line of facts, then paragraphs up to the next heading.
fn definition(document: &str, name: &str) -> Option<Definition> {
    let head = format!("\n### `{name}`\n");
    let (_, section) = document.split_once(&head)?;
    let section = section.split("\n#").next().unwrap_or_default();
    let mut paragraphs = section.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
    let unit = paragraphs.next()?.split(" · ").next().unwrap_or_default().to_owned();
    let text = paragraphs.collect::<Vec<_>>().join(" ").replace('\n', " ");
    Some(Definition { title: title(name), name: name.to_owned(), unit, text: pieces(&text) })
}

fn pieces(text: &str) -> Vec<Piece> {
    let parts = text.split('`').enumerate();
    let piece = |(at, part): (usize, &str)| Piece { text: part.replace("**", ""), is_code: at % 2 == 1 };
    parts.map(piece).filter(|piece| !piece.text.is_empty()).collect()
}

/// What a JSON object says, in one line each: lists and objects as JSON.
fn facts(value: &Value) -> Vec<(String, String)> {
    let value = cleaned(value.clone());
    let Some(fields) = value.as_object() else { return Vec::new() };
    let shown = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) if items.is_empty() => None,
        other => Some(other.to_string()),
    };
    let fact = |(name, value): (&String, &Value)| Some((name.replace('_', " "), shown(value)?));
    fields.iter().filter_map(fact).take(FACTS_MAX).collect()
}

fn client(story: &Story<'_>) -> String {
    let cells = &story.summary.cells;
    let valid: Vec<&CellSummary> = cells.iter().filter(|cell| cell.client.valid).collect();
    let worst =
        valid.iter().filter_map(|cell| cell.client.error_ms).max_by(|a, b| a.get().total_cmp(&b.get()));
    let error = worst.map_or_else(
        || "its error is not known".to_owned(),
        |ms| format!("its error is at most {}", time(ms)),
    );
    let of = counted(cells.len() as u64, "cell", "cells");
    format!("The client was quick enough in {} of {of}: there {error}.", count(valid.len() as u64))
}

/// The client's certificate, cell by cell.
fn certificate(story: &Story<'_>) -> Table {
    let columns = vec![
        Column::text("Client"),
        Column::number("Tolerance", "may be late by"),
        Column::number("Schedule lag", "p50"),
        Column::number("Schedule lag", "p99"),
        Column::number("Late starts", "later than that"),
        Column::number("Wake-up lateness", "p99"),
        Column::number("Busiest core", "of one core"),
    ];
    let rows = story.summary.cells.iter().enumerate().map(|(index, cell)| certified(story, index, cell));
    Table {
        id: "certificate".to_owned(),
        caption: "The client's certificate: whether this machine was quick enough for these figures"
            .to_owned(),
        corner: "Cell".to_owned(),
        columns,
        rows: rows.collect(),
    }
}

fn certified(story: &Story<'_>, index: usize, cell: &CellSummary) -> Row {
    let client = &cell.client;
    let at = format!("/cells/{index}/client");
    let ms = |field: &str, value: Option<inferometer_metrics::Num>| {
        value.map_or_else(Cell::none, |ms| Cell::text(time(ms)).standing(&format!("{at}/{field}"), Some(ms)))
    };
    let busiest = client.health.shard_cpu.iter().copied().reduce(f64::max);
    let wakeup = client.health.wakeup_lateness;
    let lateness = wakeup.p99_ms.map(|ms| format!("{}\u{a0}ms", digits(ms)));
    let notes = client.notes.join("; ");
    let mut verdict = matrix::client(cell);
    if !notes.is_empty() {
        verdict.detail =
            if verdict.detail.is_empty() { notes } else { format!("{}; {notes}", verdict.detail) };
    }
    let cells = vec![
        verdict,
        ms("tolerance_ms", client.tolerance_ms),
        Cell::time(&format!("{at}/schedule_lag/p50"), client.schedule_lag.p50.as_ref()),
        Cell::time(&format!("{at}/schedule_lag/p99"), client.schedule_lag.p99.as_ref()),
        Cell::text(matrix::late(cell)),
        lateness.map_or_else(Cell::none, |text| {
            Cell::text(text).with_detail(format!("n\u{a0}=\u{a0}{}", count(wakeup.n)))
        }),
        busiest.map_or_else(Cell::none, |share| Cell::text(crate::number::percent(share))),
    ];
    let detail = format!("{}, {}", cell.workload, cell.load);
    Row { head: cell.target.clone(), detail, color: story.color(&cell.target), cells }
}

/// Who was asked, by what is declared of them.
fn targets(story: &Story<'_>) -> Option<Table> {
    let told = |text: &Option<String>| text.as_ref().map_or_else(Cell::none, |text| Cell::text(text.clone()));
    let row = |target: &inferometer_metrics::TargetInfo| Row {
        head: target.name.clone(),
        color: story.color(&target.name),
        cells: vec![
            Cell::text(target.provider.clone()),
            Cell::text(target.model.clone()),
            target.price.as_ref().map_or_else(Cell::none, |price| {
                Cell::text(price.clone()).with_detail(target.price_source.clone().unwrap_or_default())
            }),
            told(&target.region),
            told(&target.precision),
            told(&target.terms),
        ],
        ..Row::default()
    };
    let columns = ["Provider", "Model", "Price", "Region", "Precision", "Terms"].map(Column::text).to_vec();
    let rows: Vec<Row> = story.study.targets.iter().map(row).collect();
    (!rows.is_empty()).then(|| Table {
        id: "targets".to_owned(),
        caption: "Targets as declared in the plan: nothing of this was measured".to_owned(),
        corner: "Target".to_owned(),
        columns,
        rows,
    })
}

/// The limits that each target told, and what the pacer held back to keep under them.
fn told_limits(story: &Story<'_>) -> Table {
    let row = |of: limits::OfTarget<'_>| {
        let told = of.told.unwrap_or_else(|| limits::NOT_TOLD.to_owned());
        Row {
            head: of.target.to_owned(),
            color: story.color(of.target),
            cells: vec![Cell::text(told), Cell::text(count(of.throttled)), Cell::text(of.paced.join("; "))],
            ..Row::default()
        }
    };
    Table {
        id: "limits".to_owned(),
        caption: "Limits of requests and tokens, as the targets’ answers told them".to_owned(),
        corner: "Target".to_owned(),
        columns: vec![
            Column::text("Limits"),
            Column::number("Throttled", "attempts"),
            Column::text("Held back by us"),
        ],
        rows: limits::by_target(&story.summary.cells).into_iter().map(row).collect(),
    }
}

/// How to get the same report, and the same run, again.
fn again(story: &Story<'_>) -> Vec<(String, String)> {
    let manifest = story.run.manifest;
    let text = |text: &str| crate::clean::clean(text).into_owned();
    let folder = story.run.folder.map(|folder| text(&folder.display().to_string()));
    let report = folder.as_ref().map(|folder| format!("inferometer report {folder}"));
    let version = (!manifest.version.is_empty()).then(|| format!("inferometer {}", text(&manifest.version)));
    let command = (!manifest.argv.is_empty()).then(|| text(&manifest.argv.join(" ")));
    let facts = [
        ("run", Some(story.summary.run_id.clone())),
        ("folder", folder),
        ("this report again", report),
        ("measured by", version),
        ("with", command),
        ("seed", story.run.seed().map(|seed| seed.to_string())),
    ];
    facts
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value.filter(|text| !text.is_empty())?)))
        .collect()
}

/// What a check over several answers came to, over the cells of the run.
struct CheckLine {
    id: String,
    words: String,
}

/// The checks over several answers in one line each: where each passed and found something, and where it could not run,
/// with what it takes. Nobody may take that for passed.
fn checks(story: &Story<'_>) -> Vec<CheckLine> {
    let all = || story.summary.cells.iter().flat_map(|cell| &cell.checks);
    let mut ids: Vec<&str> = Vec::new();
    for check in all() {
        if !ids.contains(&check.id.as_str()) {
            ids.push(&check.id);
        }
    }
    let line = |id: &str| {
        let of = |state| all().filter(move |check| check.id == id && check.state == state);
        let told = |state, word: &str| {
            let n = of(state).count() as u64;
            let why = of(state).map(|check| check.why.as_str()).find(|why| !why.is_empty());
            let why = why.map_or_else(String::new, |why| format!(" ({})", crate::clean::clean(why)));
            (n > 0).then(|| format!("{word} in {}{why}", counted(n, "cell", "cells")))
        };
        let parts = [
            told(CheckState::Found, "found"),
            told(CheckState::Passed, "passed"),
            told(CheckState::Unavailable, "unavailable"),
        ];
        CheckLine { id: id.to_owned(), words: parts.into_iter().flatten().collect::<Vec<_>>().join("; ") }
    };
    ids.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_that_is_shown_stands_in_the_documentation() {
        for name in [name::TTFT, name::LATENCY, name::SPEED, name::TOKENS_RATE, name::ERROR_RATE] {
            let definition = definition(FIGURES, name).unwrap();
            assert!(!definition.text.is_empty() && !definition.unit.is_empty(), "{name}");
        }
        assert_eq!(definition(FIGURES, name::TTFT).unwrap().unit, "ms");
    }

    #[test]
    fn names_are_set_apart() {
        let piece = |text: &str, is_code| Piece { text: text.to_owned(), is_code };
        assert_eq!(pieces("a `b` **c**"), [piece("a ", false), piece("b", true), piece(" c", false)]);
    }
}
