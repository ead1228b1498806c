//! docs/providers.md is made from the table of presets.

use std::fmt::Write as _;

use inferometer_wire::{Dialect, endpoint};

use super::{docs, held};
use crate::presets::{Preset, ReasoningWords, dialect_words, presets};

const BEGIN: &str = "<!-- providers, written by a test -->\n";
const END: &str = "<!-- end of providers -->\n";

#[test]
fn every_provider_stands_in_the_manual() {
    let text = std::fs::read_to_string(docs("providers.md")).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let table = overview();
    let rows: String = presets().iter().map(section).collect();
    let dialects: String =
        dialect_words().iter().map(|words| common(words.name, &words.reasoning, &words.sources)).collect();
    held(
        "providers.md",
        &format!("{before}{BEGIN}\n{table}{rows}\n## What dialects call reasoning\n{dialects}\n{END}{after}"),
    );
}

fn overview() -> String {
    let mut text =
        "| `provider` | who | key from | dialect | read | seen to hold |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for row in presets() {
        let key = match (&row.key_env, &row.key_cmd) {
            (Some(variable), _) => format!("`{variable}`"),
            (None, Some(command)) => format!("`{command}`"),
            (None, None) => "none".to_owned(),
        };
        let seen = if row.verified { "yes" } else { "not yet" };
        let _ = writeln!(
            text,
            "| [`{0}`](#{1}) | {2} | {key} | `{3}` | {4} | {seen} |",
            row.name,
            row.name.replace('.', ""),
            row.title,
            row.dialect,
            row.read
        );
    }
    text
}

fn section(row: &Preset) -> String {
    let mut text =
        format!("\n## {}\n\n{}, asked at `{}`.\n\n", row.name, row.title, asked_at(row, row.dialect));
    let mut line = |name: &str, said: String| {
        if !said.is_empty() {
            let _ = writeln!(text, "- {name}: {said}");
        }
    };
    let said = |said: &Option<String>| said.clone().unwrap_or_default();
    for dialect in row.doors.keys().map(|name| name.parse().unwrap()) {
        line(&format!("in the dialect `{dialect}`"), format!("`{}`", asked_at(row, dialect)));
    }
    line("token limit", row.token_field.map_or_else(String::new, |field| format!("`{}`", field.name())));
    line("refused", row.refused.join("; "));
    line("reasoning is called", levels(&row.reasoning));
    line("text of reasoning", row.reasoning_text.join("; "));
    line("tokens of reasoning", said(&row.reasoning_tokens));
    line("usage", said(&row.usage));
    let headers = row.ratelimit.as_ref();
    line(
        "rate limits",
        headers.map_or_else(String::new, |headers| {
            if headers.is_empty() { "no headers".into() } else { headers.join("; ") }
        }),
    );
    line("residency", row.residency.join(", "));
    line("terms", said(&row.terms));
    line("retention", said(&row.retention));
    line("kept warm", said(&row.warm));
    line("sources", row.sources.join("; "));
    text
}

fn common(dialect: Dialect, words: &[ReasoningWords], sources: &[String]) -> String {
    format!(
        "\n### `{dialect}`\n\n- reasoning is called: {}\n- sources: {}\n",
        levels(words),
        sources.join("; ")
    )
}

/// Each entry with its levels.
fn levels(words: &[ReasoningWords]) -> String {
    let entries = words.iter().map(|words| {
        let levels: Vec<_> = words.named().map(|(name, template)| format!("{name} `{template}`")).collect();
        let dialect = words.dialect.as_ref().map_or_else(String::new, |name| format!("in `{name}`, "));
        let models = if words.models.is_empty() { "any model".to_owned() } else { words.models.join(", ") };
        format!("\n  - {dialect}{models}: {}", levels.join(", "))
    });
    entries.collect()
}

/// The address as it is asked, with the names of its variables and of the model.
fn asked_at(row: &Preset, dialect: Dialect) -> String {
    let name = |variable: &str| {
        Some(if variable.ends_with("ENDPOINT") { format!("https://{variable}") } else { variable.to_owned() })
    };
    let base = Preset::filled(row.door(dialect), name).unwrap();
    endpoint(&base, dialect, "MODEL", true).unwrap()
}
