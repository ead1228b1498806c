//! Anthropic's messages: `POST /v1/messages`, events with names, text and thinking in blocks (W82 to W87).

mod events;

use std::borrow::Cow;

use inferometer_clock::Wall;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Address, Refused, SIGNATURE, Speak, Writer, conversation, object};
use crate::ask::Wishes;
use crate::chunk::{Facts, Usage, Whole};
use crate::http::Head;
use crate::limit::Level;
use crate::reply::Sheet;

/// The dialect.
#[derive(Debug)]
pub(super) struct Anthropic;

impl Speak for Anthropic {
    fn hears(&self, at: Address) -> bool {
        at.path == "/v1/messages"
    }

    fn shows(&self, head: &Head, key: &str) -> bool {
        head.header("x-api-key") == Some(key)
    }

    fn read(&self, _: Address, body: &[u8]) -> Result<Wishes, Refused> {
        let body: Body = serde_json::from_slice(body)?;
        let messages = body.messages.ok_or_else(|| Refused::invalid("messages: Field required"))?;
        let most = body.max_tokens.ok_or_else(|| Refused::invalid("max_tokens: Field required"))?;
        Ok(Wishes {
            model: body.model.unwrap_or_default().into_owned(),
            stream: body.stream.unwrap_or(false),
            max_tokens: Some(most),
            include_usage: true,
            ..Wishes::of(&[body.system.map_or("", RawValue::get), messages.get()])
        })
    }

    fn prompt_text(&self, body: &Value) -> String {
        conversation(body)
    }

    fn writer<'a>(&self, facts: Facts<'a>) -> Box<dyn Writer + 'a> {
        Box::new(events::Events::new(facts))
    }

    fn whole(&self, whole: &Whole, facts: Facts) -> Vec<u8> {
        let mut content = Vec::new();
        if !whole.reasoning.is_empty() {
            let thinking = &whole.reasoning;
            content
                .push(format!(r#"{{"type":"thinking","thinking":"{thinking}","signature":"{SIGNATURE}"}}"#));
        }
        if !whole.content.is_empty() {
            content.push(format!(r#"{{"type":"text","text":"{}"}}"#, whole.content));
        }
        if let Some((name, arguments)) = &whole.call {
            content.push(tool_use(name, &object(arguments)));
        }
        let reason = format!("\"{}\"", stop_reason(whole.finish.as_deref().unwrap_or("stop")));
        let usage = usage(whole.usage.unwrap_or(facts.usage));
        message(facts, &content.join(","), &reason, &usage).into_bytes()
    }

    fn error(&self, status: u16, _: &str, message: &str) -> Sheet {
        let error = serde_json::json!({"type": error_type(status), "message": message});
        Sheet::json(status, serde_json::json!({"type": "error", "error": error}).to_string())
    }

    fn request_id_header(&self) -> &'static str {
        "request-id"
    }

    /// The reset as an instant, in RFC 3339.
    fn limit_headers(&self, level: Level) -> Vec<(String, String)> {
        let header = |name: &str, value: String| (format!("anthropic-ratelimit-requests-{name}"), value);
        let reset_ns = i64::try_from(level.reset.as_nanos()).unwrap_or(i64::MAX);
        let reset = Wall::from_unix_nanos(Wall::now().unix_nanos().saturating_add(reset_ns));
        vec![
            header("limit", level.limit.to_string()),
            header("remaining", level.remaining.to_string()),
            header("reset", reset.to_string()),
        ]
    }
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(default, borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    max_tokens: Option<u32>,
    #[serde(default, borrow)]
    system: Option<&'a RawValue>,
    #[serde(default, borrow)]
    messages: Option<&'a RawValue>,
}

/// Anthropic's name of an HTTP status.
const fn error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 | 405 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    }
}

fn stop_reason(finish: &str) -> &'static str {
    match finish {
        "length" => "max_tokens",
        "tool_calls" => "tool_use",
        _ => "end_turn",
    }
}

fn tool_use(name: &str, input: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"toolu_sim","name":"{name}","input":{input}}}"#)
}

fn message(facts: Facts, content: &str, reason: &str, usage: &str) -> String {
    let model = facts.model;
    format!(
        r#"{{"id":"msg_sim","type":"message","role":"assistant","model":{model},"content":[{content}],"stop_reason":{reason},"stop_sequence":null,"usage":{usage}}}"#
    )
}

/// A usage object: input that was read from a cache is not among `input_tokens` (W38).
fn usage(usage: Usage) -> String {
    let cached = usage.cached.unwrap_or(0);
    let (input, output) = (usage.prompt.saturating_sub(cached), usage.completion);
    format!(
        r#"{{"input_tokens":{input},"cache_creation_input_tokens":0,"cache_read_input_tokens":{cached},"output_tokens":{output}}}"#
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, whole};
    use super::*;

    #[test]
    fn whole_answers_and_errors() {
        assert_eq!(
            whole(&Anthropic, false),
            r#"{"id":"msg_sim","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":" so","signature":"c2lt"},{"type":"text","text":" a\"b"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":3,"output_tokens":5}}"#
        );
        let body: Value = serde_json::from_str(&whole(&Anthropic, true)).unwrap();
        assert_eq!(
            (&body["content"][0]["input"]["a"], &body["stop_reason"]),
            (&1.into(), &"tool_use".into())
        );
        let body: Value = serde_json::from_str(&error(&Anthropic, 429, "rate_limit_exceeded")).unwrap();
        let limited = serde_json::json!({"type": "rate_limit_error", "message": "why"});
        assert_eq!(body, serde_json::json!({"type": "error", "error": limited}));
    }

    #[test]
    fn requests_are_read() {
        let read = |body: &str| Anthropic.read(Address::default(), body.as_bytes());
        let body = r#"{"model":"m","max_tokens":9,"stream":true,"system":[{"type":"text","text":"a"}],
                       "messages":[{"role":"user","content":"b c"}]}"#;
        let wishes = read(body).unwrap();
        assert_eq!((wishes.model.as_str(), wishes.stream, wishes.max_tokens), ("m", true, Some(9)));
        assert_eq!(Anthropic.prompt_text(&serde_json::from_str(body).unwrap()), "a\n\nb c");
        assert_eq!(read(r#"{"messages":[]}"#).unwrap_err().message, "max_tokens: Field required");
        assert_eq!(read(r#"{"max_tokens":1}"#).unwrap_err().status, 400);
    }
}
