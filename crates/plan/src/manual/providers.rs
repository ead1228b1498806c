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
    let mut text = "| `provider` | who | key from | dialects | terms | retention | seen to hold |\n\
                    |---|---|---|---|---|---|---|\n"
        .to_owned();
    for row in presets() {
        let key = match (&row.key_env, &row.key_cmd) {
            (Some(variable), _) => format!("`{variable}`"),
            (None, Some(command)) => format!("`{command}`"),
            (None, None) => "none".to_owned(),
        };
        let seen = match &row.retired {
            Some(retired) => format!("retired {retired}"),
            None if row.verified => "yes".to_owned(),
            None => "not yet".to_owned(),
        };
        let dialects: Vec<_> =
            std::iter::once(row.dialect.name()).chain(row.doors.keys().map(String::as_str)).collect();
        let _ = writeln!(
            text,
            "| [`{0}`](#{1}) | {2} | {key} | {3} | {4} | {5} | {seen} |",
            row.name,
            row.name.replace('.', ""),
            row.title,
            dialects.join(", "),
            known(row, row.terms.as_deref(), "terms"),
            known(row, row.retention.as_deref(), "retention"),
        );
    }
    text
}

/// A link under its name; where there is none, why.
fn known(row: &Preset, link: Option<&str>, name: &str) -> String {
    match link {
        Some(link) => format!("[{name}]({})", link.split(' ').next().unwrap()),
        None if row.is_local() => "—".to_owned(),
        None => "not known".to_owned(),
    }
}

fn section(row: &Preset) -> String {
    let mut text =
        format!("\n## {}\n\n{}, asked at `{}`.\n\n", row.name, row.title, asked_at(row, row.dialect));
    let mut unknown = Vec::new();
    for (name, said) in said(row) {
        match said {
            Some(said) => {
                let space = if said.starts_with('\n') { "" } else { " " };
                let _ = writeln!(text, "- {name}:{space}{said}");
            }
            None => unknown.push(name),
        }
    }
    if !unknown.is_empty() {
        let _ = writeln!(text, "- not known: {}", unknown.join(", "));
    }
    let _ = writeln!(text, "- read {}: {}", row.read, row.sources.join("; "));
    text
}

/// What there is to say of a provider, by name; nothing where nothing is known.
fn said(row: &Preset) -> Vec<(String, Option<String>)> {
    let listed = |list: &[String]| (!list.is_empty()).then(|| list.join("; "));
    let limits = row.ratelimit.as_deref();
    let mut said: Vec<(String, Option<String>)> = Vec::new();
    let mut line = |name: &str, text: Option<String>| said.push((name.to_owned(), text));
    for dialect in row.doors.keys().map(|name| name.parse().unwrap()) {
        line(&format!("in the dialect `{dialect}`"), Some(format!("`{}`", asked_at(row, dialect))));
    }
    if let Some(field) = row.token_field {
        line("token limit", Some(format!("`{}`", field.name())));
    }
    line("refused or ignored", listed(&row.refused));
    line("reasoning is called", called(row));
    line("text of reasoning", listed(&row.reasoning_text));
    line("tokens of reasoning", row.reasoning_tokens.clone());
    line("usage", row.usage.clone());
    line("rate limits", limits.map(|limits| listed(limits).unwrap_or_else(|| "no headers".to_owned())));
    if row.is_local() {
        line("terms, retention, residency, warmth", Some("on this machine, all one's own".to_owned()));
        return said;
    }
    line("residency", listed(&row.residency));
    line("terms", row.terms.clone());
    line("retention", row.retention.clone());
    line("kept warm", row.warm.clone());
    if let Some(retired) = &row.retired {
        line("retired", Some(format!("{retired}: it answers no more")));
    }
    said
}

/// What levels of reasoning are called: by the provider, else by its dialect.
fn called(row: &Preset) -> Option<String> {
    if !row.reasoning.is_empty() {
        return Some(levels(&row.reasoning));
    }
    let common = dialect_words().iter().find(|words| words.name == row.dialect)?;
    Some(format!("as [in its dialect](#{})", common.name))
}

fn common(dialect: Dialect, words: &[ReasoningWords], sources: &[String]) -> String {
    format!(
        "\n### `{dialect}`\n\n- reasoning is called:{}\n- sources: {}\n",
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
