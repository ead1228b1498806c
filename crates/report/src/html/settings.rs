//! Settings to copy into a client, with what each rests on.

use askama::Template;
use inferometer_metrics::{Num, Setting, Settings};

use crate::number::{count, digits, whole};

use super::story::Story;
use super::table::{Cell, Column, Row, Table};

/// The settings of one target on one workload.
#[derive(Template)]
#[template(path = "settings.html")]
pub(super) struct Block {
    id: String,
    title: String,
    /// Shown at once: of a target that a decision chose, or the only one.
    is_open: bool,
    code: String,
    evidence: Table,
    retry: Option<Table>,
}

impl askama::filters::HtmlSafe for Block {}

/// The settings of every target, those of chosen ones first.
pub(super) fn blocks(story: &Story<'_>) -> Vec<Block> {
    let settings = &story.summary.settings;
    let is_chosen =
        |of: &Settings| story.summary.profiles.iter().any(|decision| decision.chosen.contains(&of.target));
    let all = || settings.iter().enumerate();
    let first = all().filter(|(_, of)| is_chosen(of)).map(|(at, of)| block(at, of, true));
    let rest = all().filter(|(_, of)| !is_chosen(of)).map(|(at, of)| block(at, of, settings.len() == 1));
    first.chain(rest).collect()
}

fn block(at: usize, settings: &Settings, is_open: bool) -> Block {
    let title = format!("{}, {}", settings.target, settings.workload);
    let retry = Table {
        id: format!("retry-{at}"),
        caption: "What to do about each class of error that was seen".to_owned(),
        corner: "Class".to_owned(),
        columns: vec![Column::number("Seen", ""), Column::text("Advice")],
        rows: settings
            .retry
            .iter()
            .map(|advice| Row {
                head: advice.class.clone(),
                cells: vec![Cell::text(count(advice.seen)), Cell::text(advice.advice.clone())],
                ..Row::default()
            })
            .collect(),
    };
    Block {
        id: format!("settings-{at}"),
        code: code(&title, &settings.values),
        evidence: evidence(at, &settings.values),
        retry: (!settings.retry.is_empty()).then_some(retry),
        title,
        is_open,
    }
}

/// Lines of `name_unit = value` under a comment: TOML, and close to every other form.
fn code(title: &str, values: &[Setting]) -> String {
    let line = |setting: &Setting| {
        let value = setting.value.and_then(Num::finite)?;
        Some(format!("{} = {}", keyed(setting), plain(value)))
    };
    let lines: Vec<String> = values.iter().filter_map(line).collect();
    format!("# {title}\n{}", lines.join("\n"))
}

fn keyed(setting: &Setting) -> String {
    if setting.unit == "ms" { format!("{}_ms", setting.name) } else { setting.name.clone() }
}

fn plain(value: f64) -> String {
    if value >= 10.0 { format!("{value:.0}") } else { value.to_string() }
}

fn evidence(at: usize, values: &[Setting]) -> Table {
    let row = |(index, setting): (usize, &Setting)| {
        let shown = setting.value.map(|value| format!("{}\u{a0}{}", whole_or_digits(value), setting.unit));
        let value = shown.map_or_else(Cell::none, |shown| {
            Cell::text(shown).standing(&format!("/settings/{at}/values/{index}"), setting.value)
        });
        let cells = vec![value, Cell::text(setting.evidence.clone()), Cell::text(setting.confidence.clone())];
        Row { head: setting.name.replace('_', " "), cells, ..Row::default() }
    };
    Table {
        id: format!("evidence-{at}"),
        caption: "What each setting rests on".to_owned(),
        corner: "Setting".to_owned(),
        columns: vec![Column::number("Value", ""), Column::text("Evidence"), Column::text("How sure")],
        rows: values.iter().enumerate().map(row).collect(),
    }
}

fn whole_or_digits(value: Num) -> String {
    if value.get().fract() == 0.0 { whole(value) } else { digits(value.get()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_holds_what_is_known_and_nothing_else() {
        let setting = |name: &str, value: f64, unit: &str| Setting {
            name: name.to_owned(),
            value: Num::new(value),
            unit: unit.to_owned(),
            ..Setting::default()
        };
        let values = [
            setting("first_token_timeout", 2412.7, "ms"),
            setting("idle_timeout", f64::NAN, "ms"),
            setting("total_timeout", f64::INFINITY, "ms"),
            setting("max_tokens", 512.0, "tokens"),
            setting("max_concurrency", 4.0, "requests"),
        ];
        assert_eq!(
            code("a, b", &values),
            "# a, b\nfirst_token_timeout_ms = 2413\nmax_tokens = 512\nmax_concurrency = 4"
        );
    }
}
