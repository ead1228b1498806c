//! JSON in an answer: bare, wrapped in a fence or in prose, cut, or none.

use serde_json::Value;
use serde_json::error::Category;

use crate::Case;
use crate::evidence::Head;
use crate::verdict::Finding;

/// Longest text that is read as JSON, in bytes: a tree takes some ten times its text.
const JSON_BYTES_MAX: usize = 4 << 20;

/// Most places at which JSON inside prose is looked for.
const STARTS_MAX: usize = 8;

/// What JSON a text holds.
#[derive(Debug)]
pub(crate) enum Json {
    /// The text is JSON.
    Bare(Value),
    /// JSON in a fence or between words.
    Wrapped(Value),
    /// JSON that ends before its end.
    Cut,
    /// No JSON, and why.
    Broken(serde_json::Error),
    /// Longer than we read.
    TooLarge,
}

impl Json {
    /// The value, wrapped or not.
    pub(crate) fn value(self) -> Option<Value> {
        match self {
            Json::Bare(value) | Json::Wrapped(value) => Some(value),
            Json::Cut | Json::Broken(_) | Json::TooLarge => None,
        }
    }
}

/// Looks for JSON in `text`.
pub(crate) fn find(text: &str) -> Json {
    let text = text.trim();
    if text.len() > JSON_BYTES_MAX {
        return Json::TooLarge;
    }
    let broken = match serde_json::from_str(text) {
        Ok(value) => return Json::Bare(value),
        Err(broken) => broken,
    };
    if let Some(value) = fenced(text).or_else(|| embedded(text)) {
        return Json::Wrapped(value);
    }
    if is_cut(text, &broken) { Json::Cut } else { Json::Broken(broken) }
}

/// The content of the first fence, if it is JSON.
fn fenced(text: &str) -> Option<Value> {
    let (_, rest) = text.split_once("```")?;
    let (inside, _) = rest.split_once("```")?;
    let inside = inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    serde_json::from_str(inside).ok()
}

/// The longest object or list between words.
fn embedded(text: &str) -> Option<Value> {
    let mut at = 0;
    let mut best: Option<(usize, Value)> = None;
    for _ in 0..STARTS_MAX {
        let Some(start) = text.get(at..).and_then(|rest| rest.find(['{', '['])) else { break };
        let rest = text.get(at + start..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let length = match values.next() {
            Some(Ok(value)) => {
                let length = values.byte_offset();
                if best.as_ref().is_none_or(|(known, _)| length > *known) {
                    best = Some((length, value));
                }
                length
            }
            _ => 1,
        };
        at += start + length;
    }
    // `[1]` is a footnote, `{}` a placeholder.
    best.filter(|(length, value)| value.is_object() && *length > 2 || *length > 16).map(|(_, value)| value)
}

/// Whether it begins as JSON, in a fence or not, and then stops.
fn is_cut(text: &str, broken: &serde_json::Error) -> bool {
    if broken.classify() == Category::Eof {
        return text.starts_with(['{', '[', '"']);
    }
    let Some((_, inside)) = text.split_once("```") else { return false };
    let inside = inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim_start();
    let read = serde_json::from_str::<serde::de::IgnoredAny>(inside);
    inside.starts_with(['{', '[']) && read.is_err_and(|error| error.classify() == Category::Eof)
}

/// v.json.truncated, v.json.wrapped, and JSON that is none: where JSON was asked for.
pub(crate) fn form(case: &Case<'_>) -> Option<Finding> {
    if !case.expect.wants_json() || case.is_answerless() || case.visible.trim().is_empty() {
        return None;
    }
    match find(case.visible) {
        Json::Bare(_) => None,
        Json::Wrapped(_) => {
            let head = Head(case.visible);
            Some(Finding::degraded("json_wrapped").because(format_args!("begins with {head}")))
        }
        Json::Cut => {
            let tail = crate::evidence::Tail(case.visible);
            Some(Finding::invalid("json_truncated").because(format_args!("ends with {tail}")))
        }
        Json::Broken(error) => Some(Finding::invalid("json_invalid").because(format_args!("{error}"))),
        Json::TooLarge => Some(Finding::unverifiable("json_too_large")),
    }
}

/// v.schema.invalid: JSON that the schema which the server was asked to keep to does not accept.
pub(crate) fn schema(case: &Case<'_>) -> Option<Finding> {
    let schema = case.expect.parameters.schema()?;
    let value = find(case.visible).value()?;
    let why = crate::schema::Schema::new(schema).ok()?.fault(&value)?;
    Some(Finding::invalid("schema_invalid").because(format_args!("{why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_where_it_stands() {
        let check = |text: &str, expected: &str| {
            let seen = match find(text) {
                Json::Bare(value) => format!("bare {value}"),
                Json::Wrapped(value) => format!("wrapped {value}"),
                Json::Cut => "cut".to_owned(),
                Json::Broken(_) => "broken".to_owned(),
                Json::TooLarge => "too large".to_owned(),
            };
            assert_eq!(seen, expected, "{text}");
        };
        check(" {\"a\":1}\n", r#"bare {"a":1}"#);
        check("42", "bare 42");
        check("```json\n{\"a\":1}\n```", r#"wrapped {"a":1}"#);
        check("```\n[1]\n```\nDone.", "wrapped [1]");
        check("As said [1]: {\"a\":1}, which is all.", r#"wrapped {"a":1}"#);
        check("{\"a\":", "cut");
        check("```json\n{\"a\":", "cut");
        check("[1, 2", "cut");
        check("", "broken");
        check("As said in [1] and [2].", "broken");
        check("{oops}", "broken");
        check(&"[".repeat(100_000), "broken");
        check(&" x".repeat(JSON_BYTES_MAX), "too large");
    }
}
