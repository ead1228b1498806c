//! Error shapes: inside a stream, in place of a stream, or as the body of a refusal (W49 to W55).

use serde_json::Value;
use serde_json::value::RawValue;

use crate::chunk::Chunk;
use crate::loose::Loose;
use crate::sse::{Frame, Framer};

/// Most bytes that are kept of an error's message.
pub const MAX_MESSAGE: usize = 2048;
/// Most bytes that are kept of an id, a model's name or a finish reason.
const MAX_LABEL: usize = 512;
/// Most levels of `{"error":{"error":…}}` that are opened.
const MAX_DEPTH: usize = 4;

/// What the words of an error are called.
const MESSAGES: [&str; 7] =
    ["message", "msg", "detail", "reason", "error_message", "error_description", "Message"];

/// What a server said went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
}

/// Whether an event or a whole answer is an error. `"error": null` and its like are none.
pub(crate) fn is_error(chunk: &Chunk<'_>) -> bool {
    let says = |raw: Option<&RawValue>| raw.is_some_and(is_said);
    let has_no_output = chunk.choices.is_empty() && chunk.usage.is_none();
    let is_named = chunk.kind.text() == "error" || chunk.object.text() == "error";
    let is_bare = !chunk.message.text().is_empty() && !is_success(&chunk.code);
    says(chunk.error) || (has_no_output && (is_named || is_bare || says(chunk.detail)))
}

/// Whether the value of a field `error` says anything: `null` and its like do not.
pub(crate) fn is_said(raw: &RawValue) -> bool {
    !matches!(raw.get(), "null" | "\"\"" | "{}" | "[]" | "false" | "0")
}

/// Whether a code beside a message is none, or one that says all is well.
fn is_success(code: &Loose<'_>) -> bool {
    matches!(code.as_u64(), Some(0 | 200))
        || matches!(code.text(), "0" | "200" | "success")
        || code.is_absent()
}

/// Reads an error of any shape; text that is no JSON is its own message.
pub(crate) fn read(text: &str) -> Fault {
    match serde_json::from_str(text) {
        Ok(value) => from_value(&value, 0),
        Err(_) => Fault { code: None, message: shorten(text) },
    }
}

/// Reads the body of a refusal: JSON, SSE-framed JSON, or text; absent fields where it is empty.
pub(crate) fn read_body(body: &[u8]) -> Fault {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with(['{', '[', '"']) {
        return read(text);
    }
    unframe(text.as_bytes()).map_or_else(|| read(text), |inner| read(&inner))
}

/// The error in a list of one, as Google sends it.
pub(crate) fn in_list(document: &[u8]) -> Option<Fault> {
    let list: Vec<Value> = serde_json::from_slice(document).ok()?;
    let first = list.first().filter(|first| first.get("error").is_some_and(|error| !error.is_null()))?;
    Some(from_value(first, 0))
}

/// The first JSON payload in an SSE-framed body.
fn unframe(body: &[u8]) -> Option<String> {
    let mut found = None;
    let mut sink = |frame: Frame<'_>| {
        if let Frame::Event { data: payload, .. } | Frame::Error(payload) = frame
            && payload.trim_ascii_start().starts_with(b"{")
        {
            found.get_or_insert_with(|| String::from_utf8_lossy(payload).into_owned());
        }
    };
    let mut framer = Framer::default();
    framer.feed(body, &mut sink);
    framer.finish(&mut sink);
    found
}

fn from_value(value: &Value, depth: usize) -> Fault {
    match value {
        Value::String(text) => Fault { code: None, message: shorten(text) },
        Value::Array(errors) if depth < MAX_DEPTH => {
            errors.first().map(|first| from_value(first, depth + 1)).unwrap_or_default()
        }
        Value::Object(fields) => {
            let inner = fields.get("error").or_else(|| fields.get("errors")).filter(|inner| !inner.is_null());
            match inner {
                Some(inner) if depth < MAX_DEPTH => with_fallback(from_value(inner, depth + 1), value),
                _ => from_fields(value),
            }
        }
        Value::Null => Fault::default(),
        other => Fault { code: None, message: shorten(&other.to_string()) },
    }
}

/// What the inner error does not say, the object round it may.
fn with_fallback(inner: Fault, outer: &Value) -> Fault {
    Fault { code: inner.code.or_else(|| code(outer)), message: inner.message.or_else(|| message(outer)) }
}

fn from_fields(value: &Value) -> Fault {
    Fault { code: code(value), message: message(value).or_else(|| shorten(&value.to_string())) }
}

fn code(value: &Value) -> Option<String> {
    ["code", "type", "status", "error_code", "__type"].iter().find_map(|key| match value.get(*key)? {
        Value::String(text) if !text.is_empty() && text != "error" => shorten(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

fn message(value: &Value) -> Option<String> {
    MESSAGES.iter().find_map(|key| match value.get(*key)? {
        Value::String(text) if !text.is_empty() => shorten(text),
        inner @ (Value::Object(_) | Value::Array(_)) => shorten(&inner.to_string()),
        _ => None,
    })
}

/// At most [`MAX_LABEL`] bytes of an id, a model's name or a reason.
pub(crate) fn label(text: &str) -> &str {
    let text = text.trim();
    &text[..text.floor_char_boundary(MAX_LABEL)]
}

/// At most [`MAX_MESSAGE`] bytes of the text; absent where it is empty.
pub(crate) fn shorten(text: &str) -> Option<String> {
    let text = text.trim();
    let end = text.floor_char_boundary(MAX_MESSAGE);
    Some(text[..end].to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, code: Option<&str>, message: Option<&str>) {
        let expected = Fault { code: code.map(Into::into), message: message.map(Into::into) };
        assert_eq!(read_body(body.as_bytes()), expected, "{body}");
    }

    #[test]
    fn shapes() {
        check(r#"{"error":{"message":"engine stopped","code":500}}"#, Some("500"), Some("engine stopped"));
        check(r#"{"error":{"message":"m","type":"t","code":null}}"#, Some("t"), Some("m"));
        check(r#"{"type":"error","code":"x","message":"y"}"#, Some("x"), Some("y"));
        check(
            r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#,
            Some("overloaded_error"),
            Some("m"),
        );
        check(r#"{"error":"text"}"#, None, Some("text"));
        check(r#"{"error":"text","code":7}"#, Some("7"), Some("text"));
        check(r#"{"object":"error","message":"m","code":40301}"#, Some("40301"), Some("m"));
        check(r#"{"detail":"not found"}"#, None, Some("not found"));
        check(r#"{"detail":[{"msg":"field required"}]}"#, None, Some(r#"[{"msg":"field required"}]"#));
        check(r#"[{"error":{"code":400,"message":"m"}}]"#, Some("400"), Some("m"));
        check("data: {\"error\":{\"message\":\"m\",\"code\":400}}\n\n", Some("400"), Some("m"));
        check("error: {\"code\":400,\"message\":\"m\"}\n\n", Some("400"), Some("m"));
        check(r#"{"__type":"AccessDenied","Message":"m"}"#, Some("AccessDenied"), Some("m"));
        check("Service Unavailable\n", None, Some("Service Unavailable"));
        check("", None, None);
    }

    #[test]
    fn messages_are_bounded_at_a_character() {
        let long = "ä".repeat(MAX_MESSAGE);
        assert_eq!(shorten(&long).unwrap().len(), MAX_MESSAGE);
        assert_eq!(shorten(&format!("a{long}")).unwrap().len(), MAX_MESSAGE - 1);
    }

    #[test]
    fn any_body_is_read() {
        bolero::check!().with_iterations(2000).for_each(|body: &[u8]| {
            let fault = read_body(body);
            assert!(fault.message.is_none_or(|message| message.len() <= MAX_MESSAGE));
        });
    }
}
