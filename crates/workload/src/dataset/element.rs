//! One element of a dataset: JSON to prompt.

use std::sync::Arc;

use inferometer_judge::{Check, Grader};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::fault::{Fault, Problem};
use super::framing::Element;
use crate::entry::{Body, Entry};
use crate::messages::Messages;

/// The longest id, in bytes: it stands in every sample.
const ID_BYTES_MAX: usize = 128;

/// The fields that are read; others are nobody's business here.
#[derive(Deserialize)]
struct Fields<'a> {
    id: Option<serde_json::Value>,
    prompt: Option<String>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    conversations: Option<Vec<Turn>>,
    max_tokens: Option<u64>,
    output_tokens: Option<u64>,
    #[serde(borrow)]
    check: Option<&'a RawValue>,
    #[serde(borrow)]
    checks: Option<&'a RawValue>,
    tools: Option<Value>,
    tool_choice: Option<Value>,
    response_format: Option<Value>,
}

/// ShareGPT's turn.
#[derive(Deserialize)]
struct Turn {
    from: Option<String>,
    value: Option<String>,
}

/// The entry that `element` states; `None` for a conversation in which no human speaks.
pub(crate) fn parse(element: Element<'_>) -> Result<Option<Entry>, Problem> {
    let fault = |fault| Problem::new(element.line, fault);
    let text = std::str::from_utf8(element.bytes).map_err(|e| {
        Problem::new(line_of(element, e.valid_up_to()), Fault::NotUtf8 { at: e.valid_up_to() + 1 })
    })?;
    let mut fields: Fields<'_> = serde_json::from_str(text).map_err(|e| not_json(element.line, &e))?;
    let max_tokens = limit(&fields).map_err(fault)?;
    let id = match &fields.id {
        None => format!("item-{}", element.nth),
        Some(id) => id_text(id).ok_or(Fault::BadId).map_err(fault)?,
    };
    let grader = grader(&fields).map_err(fault)?;
    let parameters = parameters(&mut fields).map_err(fault)?;
    let body = body(fields).map_err(fault)?;
    let extra_bytes = if grader.is_some() || !parameters.is_empty() { text.len() } else { 0 };
    Ok(body.map(|body| Entry { id, body, max_tokens, parameters: Arc::new(parameters), grader, extra_bytes }))
}

/// The check that the fields state, ready to run.
fn grader(fields: &Fields<'_>) -> Result<Option<Arc<Grader>>, Fault> {
    let unreadable = |error: &serde_json::Error| Fault::NotACheck(without_position(error));
    let check = match (fields.check, fields.checks) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => return Err(Fault::AmbiguousCheck),
        (Some(check), None) => serde_json::from_str(check.get()).map_err(|e| unreadable(&e))?,
        (None, Some(checks)) => {
            let checks: Vec<Check> = serde_json::from_str(checks.get()).map_err(|e| unreadable(&e))?;
            if checks.is_empty() {
                return Err(Fault::NotACheck("checks is an empty list".to_owned()));
            }
            Check::All(checks)
        }
    };
    let grader = Grader::new(check).map_err(|error| Fault::CheckCannotRun(error.to_string()))?;
    Ok(Some(Arc::new(grader)))
}

/// The fields of the request that the element states.
fn parameters(fields: &mut Fields<'_>) -> Result<Map<String, Value>, Fault> {
    let stated = [
        ("tools", fields.tools.take(), Value::is_array as fn(&Value) -> bool, "a list"),
        (
            "tool_choice",
            fields.tool_choice.take(),
            |value| value.is_string() || value.is_object(),
            "a string or an object",
        ),
        ("response_format", fields.response_format.take(), Value::is_object, "an object"),
    ];
    let mut parameters = Map::new();
    for (name, value, fits, wanted) in stated {
        match value {
            None => {}
            Some(value) if fits(&value) => drop(parameters.insert(name.to_owned(), value)),
            Some(_) => return Err(Fault::BadParameter { name, wanted }),
        }
    }
    Ok(parameters)
}

/// The one prompt that the fields hold.
fn body(fields: Fields<'_>) -> Result<Option<Body>, Fault> {
    match (fields.prompt, fields.messages, fields.conversations) {
        (Some(prompt), None, None) if prompt.is_empty() => Err(Fault::EmptyPrompt("prompt")),
        (Some(prompt), None, None) => Ok(Some(Body::Text(prompt))),
        (None, Some(messages), None) => Messages::read(messages).map(Body::Messages).map(Some),
        (None, None, Some(turns)) => Ok(first_human_turn(turns).map(Body::Text)),
        (None, None, None) => Err(Fault::NoPrompt),
        _ => Err(Fault::Ambiguous),
    }
}

fn first_human_turn(turns: Vec<Turn>) -> Option<String> {
    let human = |turn: &Turn| matches!(turn.from.as_deref(), Some("human" | "user"));
    turns.into_iter().filter(human).find_map(|turn| turn.value.filter(|value| !value.is_empty()))
}

fn limit(fields: &Fields<'_>) -> Result<Option<u32>, Fault> {
    let stated = match (fields.max_tokens, fields.output_tokens) {
        (Some(a), Some(b)) if a != b => return Err(Fault::AmbiguousLimit),
        (a, b) => a.or(b),
    };
    let fitted = |limit| u32::try_from(limit).ok().filter(|&limit| limit > 0).ok_or(Fault::BadLimit(limit));
    stated.map(fitted).transpose()
}

fn id_text(id: &serde_json::Value) -> Option<String> {
    let text = match id {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (1..=ID_BYTES_MAX).contains(&text.len()).then_some(text)
}

/// The parser's words without its position, which counts from the element's start, and the file's line instead.
fn not_json(first_line: u64, error: &serde_json::Error) -> Problem {
    let why = without_position(error);
    let line = first_line + (error.line() as u64).saturating_sub(1);
    Problem::new(line, Fault::NotJson(format!("{why} at column {}", error.column())))
}

fn without_position(error: &serde_json::Error) -> String {
    let said = error.to_string();
    said.rsplit_once(" at line ").map_or(said.as_str(), |(why, _)| why).to_owned()
}

fn line_of(element: Element<'_>, offset: usize) -> u64 {
    element.line + element.bytes.iter().take(offset).filter(|&&byte| byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &Body) -> &str {
        match body {
            Body::Text(text) => text,
            Body::Messages(messages) => messages.json(),
        }
    }

    /// The entry as `id|prompt|limit`, or the line and the fault.
    fn parsed(bytes: &[u8]) -> String {
        match parse(Element { bytes, line: 7, nth: 3 }) {
            Ok(Some(entry)) => {
                let limit = entry.max_tokens.map_or(String::from("-"), |limit| limit.to_string());
                format!("{}|{}|{limit}", entry.id, shown(&entry.body))
            }
            Ok(None) => "skipped".into(),
            Err(problem) => format!("{}! {}", problem.line, problem.fault),
        }
    }

    #[test]
    fn prompts_of_every_shape_are_read() {
        let check = |json: &str, expected: &str| assert_eq!(parsed(json.as_bytes()), expected, "{json}");
        check(r#"{"prompt":"Hi"}"#, "item-3|Hi|-");
        check(r#"{"prompt":"a\n\u00e9","id":"x-1","max_tokens":5,"other":[{}]}"#, "x-1|a\né|5");
        check(r#"{"prompt":"Hi","id":12,"output_tokens":4294967295}"#, "12|Hi|4294967295");
        check(r#"{"prompt":"Hi","id":null,"messages":null,"max_tokens":3,"output_tokens":3}"#, "item-3|Hi|3");
        check(
            r#"{"messages":[{"role":"system","content":"S"}, {"role":"user","content":[{"type":"text","text":"U"}]}]}"#,
            r#"item-3|[{"role":"system","content":"S"}, {"role":"user","content":[{"type":"text","text":"U"}]}]|-"#,
        );
        check(
            r#"{"id":"q","conversations":[{"from":"system","value":"s"},{"from":"human","value":"H"},{"from":"gpt","value":"G"}]}"#,
            "q|H|-",
        );
        check(r#"{"conversations":[{"from":"gpt","value":"G"},{"from":"user","value":"U"}]}"#, "item-3|U|-");
        check(r#"{"conversations":[]}"#, "skipped");
        check(r#"{"conversations":[{"from":"human","value":""},{"from":"gpt"}]}"#, "skipped");
    }

    #[test]
    fn checks_and_parameters_are_read() {
        let entry = |json: &str| match parse(Element { bytes: json.as_bytes(), line: 1, nth: 1 }) {
            Ok(Some(entry)) => entry,
            other => panic!("{json}: {other:?}"),
        };
        let check = |json: &str, expected: &str| {
            let grader = entry(&format!(r#"{{"prompt":"x",{json}}}"#)).grader.expect("a check");
            assert_eq!(serde_json::to_string(grader.check()).expect("JSON"), expected);
        };
        check(r#""check":"not_empty""#, r#""not_empty""#);
        check(r#""check":{"equals":"a"}"#, r#"{"equals":"a"}"#);
        check(
            r#""checks":[{"contains":"a"},{"max_length":9}]"#,
            r#"{"all":[{"contains":"a"},{"max_length":9}]}"#,
        );
        check(r#""check":{"number":{"value":3}}"#, r#"{"number":{"value":3.0,"within":0.0}}"#);
        check(
            r#""check":{"any":[{"language":"fr"},"not_empty"]}"#,
            r#"{"any":[{"language":"fr"},"not_empty"]}"#,
        );
        let with = entry(
            r#"{"prompt":"x","tools":[{"a":1}],"tool_choice":"auto","response_format":{"type":"json_object"}}"#,
        );
        assert_eq!(with.parameters.keys().collect::<Vec<_>>(), ["response_format", "tool_choice", "tools"]);
        assert!(with.grader.is_none() && with.bytes() > size_of::<Entry>() + 90);
        assert!(entry(r#"{"prompt":"x","check":null,"tools":null}"#).parameters.is_empty());
    }

    #[test]
    fn faults_say_where_why_and_what_would_be_right() {
        let check = |bytes: &[u8], parts: &[&str]| {
            let said = parsed(bytes);
            for part in parts {
                assert!(said.contains(part), "{:?}: {said} lacks {part}", String::from_utf8_lossy(bytes));
            }
        };
        check(b"{}", &["7! no prompt", r#"{"prompt": "#, "conversations"]);
        check(
            br#"{"prompt":3}"#,
            &["7! invalid type: integer `3`, expected a string at column", r#"{"prompt""#],
        );
        check(b"{\"a\":1,\n\"prompt\":}", &["8! expected value at column"]);
        check(br#"{"prompt":"a"} x"#, &["7! trailing characters"]);
        check(br#"{"prompt":"a","prompt":"b"}"#, &["duplicate field `prompt`"]);
        check(br#""text""#, &["invalid type: string"]);
        check(b"prompt,answer", &["expected value", r#"{"prompt""#]);
        check(br#"{"prompt":""}"#, &["prompt is empty"]);
        check(br#"{"messages":[]}"#, &["messages is empty"]);
        check(
            br#"{"prompt":"x","check":{"equal":"a"}}"#,
            &["7! no check: unknown variant `equal`", "not_empty"],
        );
        check(br#"{"prompt":"x","check":7}"#, &["7! no check", "\"contains\""]);
        check(br#"{"prompt":"x","checks":[]}"#, &["checks is an empty list"]);
        check(br#"{"prompt":"x","check":"not_empty","checks":[]}"#, &["both check and checks"]);
        check(br#"{"prompt":"x","check":{"regex":"("}}"#, &["7! the check cannot run"]);
        check(br#"{"prompt":"x","check":{"json_schema":{"type":7}}}"#, &["7! the check cannot run"]);
        check(br#"{"prompt":"x","check":{"all":[{"json_schema":"no"}]}}"#, &["7! the check cannot run"]);
        check(br#"{"prompt":"x","tools":{}}"#, &["tools must be a list"]);
        check(br#"{"prompt":"x","tool_choice":1}"#, &["tool_choice must be a string or an object"]);
        check(br#"{"prompt":"x","response_format":"json"}"#, &["response_format must be an object"]);
        check(br#"{"messages":[3]}"#, &["messages must be a list of objects", r#"{"role""#]);
        check(br#"{"messages":"x"}"#, &["messages must be a list of objects"]);
        check(br#"{"messages":[{"content":"x"}]}"#, &["message 1 has no role"]);
        check(
            br#"{"messages":[{"role":"user","content":"x"},{"role":"user"}]}"#,
            &["message 2 has no content"],
        );
        check(br#"{"messages":[{"role":"user","content":7}]}"#, &["message 1 has no content"]);
        check(br#"{"prompt":"a","messages":[]}"#, &["more than one"]);
        check(br#"{"prompt":"a","max_tokens":0}"#, &["a token limit of 0", "from 1"]);
        check(br#"{"prompt":"a","max_tokens":4294967296}"#, &["a token limit of 4294967296"]);
        check(br#"{"prompt":"a","max_tokens":-1}"#, &["invalid value: integer `-1`"]);
        check(br#"{"prompt":"a","max_tokens":1,"output_tokens":2}"#, &["differ"]);
        check(br#"{"prompt":"a","id":[]}"#, &["id must be"]);
        check(format!(r#"{{"prompt":"a","id":"{}"}}"#, "i".repeat(129)).as_bytes(), &["id must be"]);
        check(b"{\"a\":1,\n\"prompt\":\"\xff\"}", &["8! not UTF-8 at byte 19", "save the file as UTF-8"]);
        check(&[b'['; 4_000], &["7! "]);
    }
}
