//! Settings to copy, and what to do about errors.

use inferometer_metrics::{Setting, Settings, Summary};

use crate::number::{NONE, count, time, whole};
use crate::page::{Block, Column, Fact, Table, Text};

use super::{ELSEWHERE, is_wanted};

/// So many rows are shown on a screen.
const MAX_ON_SCREEN: usize = 12;

/// Up to so many stand beside each other on a screen.
const MAX_ACROSS: usize = 4;

/// So many of those who saw an error are named.
const MAX_SEEN: usize = 3;

/// The settings, in the order of the columns.
const NAMES: [&str; 6] = [
    "first_token_timeout",
    "idle_timeout",
    "total_timeout",
    "max_tokens",
    "max_concurrency",
    "keep_warm_interval",
];

/// A row per target and workload; where there is room, the evidence of each setting.
pub(super) fn blocks(summary: &Summary, is_brief: bool) -> Vec<Block> {
    let shown: Vec<&Settings> = summary
        .settings
        .iter()
        .filter(|settings| !is_brief || is_wanted(summary, &settings.target))
        .collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let settings =
        shown.get(..shown.len().min(if is_brief { MAX_ON_SCREEN } else { usize::MAX })).unwrap_or_default();
    let table = if is_brief && settings.len() <= MAX_ACROSS { across(settings) } else { down(settings) };
    let evidence =
        if is_brief { Vec::new() } else { settings.iter().flat_map(|settings| evidence(settings)).collect() };
    let note = format!(
        "~ is a guess: too few answers to bound p99, or half a cold gap; the evidence is in {ELSEWHERE}"
    );
    let is_unsure = settings.iter().flat_map(|s| &s.values).any(is_low);
    let left = summary.settings.len() - settings.len();
    let left =
        (left > 0).then(|| format!("{} more targets and workloads in {ELSEWHERE}", count(left as u64)));
    let notes = super::joined([is_unsure.then_some(note), left]).into_iter().map(Text::from);
    vec![
        Block::Heading("settings to copy".to_owned()),
        Block::Table(table),
        Block::Facts(vec![
            Fact { label: "reading", lines: notes.collect() },
            Fact { label: "evidence", lines: evidence },
            Fact { label: "retry", lines: retry(settings) },
        ]),
    ]
}

/// A row per target and workload.
fn down(settings: &[&Settings]) -> Table {
    let mut columns = vec![Column::left("target"), Column::left("workload")];
    columns.extend(NAMES.map(Column::right));
    let row = |settings: &&Settings| {
        let mut cells = vec![Text::from(&settings.target), Text::from(&settings.workload)];
        cells.extend(NAMES.map(|name| Text::from(of(settings, name))));
        cells
    };
    Table { columns, rows: settings.iter().map(row).collect() }
}

/// A column per target and workload, the settings below each other.
fn across(settings: &[&Settings]) -> Table {
    let head = |settings: &&Settings| Column::right(&format!("{} {}", settings.target, settings.workload));
    let columns = [Column::left("setting")].into_iter().chain(settings.iter().map(head)).collect();
    let row = |name: &str| {
        let values: Vec<String> = settings.iter().map(|settings| of(settings, name)).collect();
        let is_any = values.iter().any(|value| !value.is_empty() && value != NONE);
        is_any.then(|| [name.to_owned()].into_iter().chain(values).map(Text::from).collect())
    };
    Table { columns, rows: NAMES.into_iter().filter_map(row).collect() }
}

fn of(settings: &Settings, name: &str) -> String {
    settings.values.iter().find(|setting| setting.name == name).map_or(String::new(), value)
}

fn is_low(setting: &Setting) -> bool {
    setting.confidence.starts_with("low")
}

fn value(setting: &Setting) -> String {
    // Why there is none is what its confidence begins with.
    let why = ["not needed", "not known"].into_iter().find(|why| setting.confidence.starts_with(why));
    let Some(value) = setting.value else { return why.unwrap_or(NONE).to_owned() };
    let shown = match setting.unit.as_str() {
        "ms" => time(value),
        unit => format!("{}\u{a0}{unit}", whole(value)),
    };
    if is_low(setting) { format!("~\u{a0}{shown}") } else { shown }
}

fn evidence(settings: &Settings) -> impl Iterator<Item = Text> {
    settings.values.iter().map(|setting| {
        let (target, workload) = (&settings.target, &settings.workload);
        Text::from(format!(
            "{target} {workload}, {}: {} ({})",
            setting.name, setting.evidence, setting.confidence
        ))
    })
}

/// Each class once, with who saw it how often.
fn retry(settings: &[&Settings]) -> Vec<Text> {
    let mut classes: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for settings in settings {
        for advice in &settings.retry {
            let seen = format!("{} {}: {}", settings.target, settings.workload, count(advice.seen));
            match classes.iter_mut().find(|(class, ..)| *class == advice.class) {
                Some((.., who)) => who.push(seen),
                None => classes.push((&advice.class, &advice.advice, vec![seen])),
            }
        }
    }
    let line = |(class, advice, who): (&str, &str, Vec<String>)| {
        let more = who.len().saturating_sub(MAX_SEEN);
        let more = if more > 0 { format!(", and {} more", count(more as u64)) } else { String::new() };
        let who = who.get(..who.len().min(MAX_SEEN)).unwrap_or_default().join(", ");
        Text::from(format!("{class}: {advice} (seen: {who}{more})"))
    };
    classes.into_iter().map(line).collect()
}
