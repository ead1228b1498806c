//! What went wrong, in the servers' words, and what a reader must know beside the figures.

use inferometer_metrics::{Cause, GateOutcome};

use crate::Ending;
use crate::number::count;

use super::decision::constraint;
use super::story::Story;
use super::table::{Cell, Column, Row, Table};

/// Causes of failure that are listed: each is of one target, so that many targets have many.
const CAUSES_MAX: usize = 100;
/// Letters of an error message that are shown.
const MESSAGE_CHARS_MAX: usize = 300;

/// What must be known before any figure is read.
pub(super) fn notices(story: &Story<'_>) -> Vec<String> {
    let run = story.run;
    let mut notices = Vec::new();
    match run.ending() {
        Ending::Complete => {}
        Ending::Interrupted => notices.push("Interrupted: the run was stopped before its plan's end. Every figure is of what had been measured by then.".to_owned()),
        Ending::Incomplete => notices.push("Incomplete: the run was killed, or is still at work. Every figure is of what has reached the disk.".to_owned()),
    }
    if run.is_insecure() {
        notices
            .push("TLS certificates were not verified (--insecure): who answered is not proven.".to_owned());
    }
    let not_valid = story.summary.cells.iter().filter(|cell| !cell.client.valid).count();
    if not_valid > 0 {
        notices.push(format!("Not valid in {not_valid} of {} cells: the client was too slow there. The method section says why.", story.summary.cells.len()));
    }
    notices.extend(story.summary.warnings.iter().cloned());
    notices
}

/// Warnings of cells, each once with the cells that it is about.
pub(super) fn warnings(story: &Story<'_>) -> Vec<(String, String)> {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for cell in &story.summary.cells {
        let name = format!("{} ({}, {})", cell.target, cell.workload, cell.load);
        for warning in &cell.warnings {
            match said.iter_mut().find(|(known, _)| known == warning) {
                Some((_, names)) => names.push(name.clone()),
                None => said.push((warning.clone(), vec![name.clone()])),
            }
        }
    }
    let all = story.summary.cells.len();
    let of = |names: Vec<String>| {
        if names.len() == all && all > 1 { "all cells".to_owned() } else { names.join(", ") }
    };
    said.into_iter().map(|(warning, names)| (warning, of(names))).collect()
}

/// The distinct causes of failure.
pub(super) fn causes(story: &Story<'_>) -> Option<Table> {
    let mut rows: Vec<Row> = Vec::new();
    for cell in &story.summary.cells {
        let row = |cause: &Cause| Row {
            head: cell.target.clone(),
            detail: format!("{}, {}", cell.workload, cell.load),
            color: story.color(&cell.target),
            cells: vec![
                Cell::text(count(cause.count)),
                Cell::text(cause.status.name().replace('_', " ")),
                Cell::text(
                    [cause.http_status.map(|status| status.to_string()), cause.code.clone()]
                        .into_iter()
                        .flatten()
                        .collect::<Vec<_>>()
                        .join(" "),
                ),
                Cell::text(cut(cause.message.as_deref().unwrap_or_default())),
            ],
        };
        rows.extend(cell.failures.iter().map(row));
    }
    rows.truncate(CAUSES_MAX);
    let columns = vec![
        Column::number("Attempts", ""),
        Column::text("Ended as"),
        Column::text("Code"),
        Column::text("First message"),
    ];
    (!rows.is_empty()).then(|| Table {
        id: "causes".to_owned(),
        caption: "Why attempts failed, in the servers' own words".to_owned(),
        corner: "Target".to_owned(),
        columns,
        rows,
    })
}

fn cut(message: &str) -> String {
    match message.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((at, _)) => format!("{} …", message.get(..at).unwrap_or_default()),
        None => message.to_owned(),
    }
}

/// Conditions that fail the run, and how they came out.
pub(super) fn gates(story: &Story<'_>) -> Option<Table> {
    let row = |on: String, outcome: &GateOutcome| Row {
        head: format!("fails if {}", outcome.gate),
        detail: on,
        cells: vec![constraint(outcome)],
        ..Row::default()
    };
    let of_run = story.summary.gates.iter().map(|outcome| row(String::new(), outcome));
    let of_cells = story.summary.cells.iter().flat_map(|cell| {
        let on = format!("{}, {}, {}", cell.target, cell.workload, cell.load);
        cell.gates.iter().map(move |outcome| row(on.clone(), outcome))
    });
    let rows: Vec<Row> = of_run.chain(of_cells).collect();
    (!rows.is_empty()).then(|| Table {
        id: "gate-results".to_owned(),
        caption: "Gates: conditions that fail the run".to_owned(),
        corner: "Gate".to_owned(),
        columns: vec![Column::text("Result")],
        rows,
    })
}
