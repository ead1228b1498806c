//! OpenAI's responses: `POST /v1/responses`, numbered events round items (W77 to W81).

mod events;
mod item;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::chat::Chat;
use super::{Address, Refused, Speak, Writer, contents, text_of};
use crate::ask::Wishes;
use crate::chunk::{CREATED, Facts, Usage, Whole};
use crate::reply::Sheet;
use item::{Item, Kind};

/// The dialect.
#[derive(Debug)]
pub(super) struct Responses;

impl Speak for Responses {
    fn hears(&self, at: Address) -> bool {
        at.path == "/v1/responses"
    }

    fn read(&self, _: Address, body: &[u8]) -> Result<Wishes, Refused> {
        let body: Body = serde_json::from_slice(body)?;
        let input = body.input.ok_or_else(|| Refused::invalid("Missing required parameter: 'input'."))?;
        Ok(Wishes {
            model: body.model.unwrap_or_default().into_owned(),
            stream: body.stream.unwrap_or(false),
            max_tokens: body.max_output_tokens,
            include_usage: true,
            ..Wishes::of(&[body.instructions.map_or("", RawValue::get), input.get()])
        })
    }

    fn prompt_text(&self, body: &Value) -> String {
        let instructions = body.get("instructions").filter(|text| text.is_string()).map(text_of);
        let input = match body.get("input") {
            Some(Value::String(text)) => vec![text.clone()],
            items => contents(items),
        };
        let texts: Vec<_> = instructions.into_iter().chain(input).collect();
        texts.join("\n\n")
    }

    fn writer<'a>(&self, facts: Facts<'a>) -> Box<dyn Writer + 'a> {
        Box::new(events::Events::new(facts))
    }

    fn whole(&self, whole: &Whole, facts: Facts) -> Vec<u8> {
        let mut items = Vec::new();
        if !whole.reasoning.is_empty() {
            items.push(Item::new(Kind::Reasoning, whole.reasoning.clone()).json(true));
        }
        if !whole.content.is_empty() {
            items.push(Item::new(Kind::Message, whole.content.clone()).json(true));
        }
        if let Some((name, arguments)) = &whole.call {
            items.push(Item::new(Kind::Call(name.clone()), arguments.clone()).json(true));
        }
        let status = Status::of(whole.finish.as_deref().unwrap_or("stop"));
        response(facts, status, &items.join(","), whole.usage).into_bytes()
    }

    fn error(&self, status: u16, code: &str, message: &str) -> Sheet {
        Chat.error(status, code, message)
    }
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(default, borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    max_output_tokens: Option<u32>,
    #[serde(default, borrow)]
    instructions: Option<&'a RawValue>,
    #[serde(default, borrow)]
    input: Option<&'a RawValue>,
}

/// How far a response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    InProgress,
    Completed,
    /// Its limit of tokens has ended it.
    Incomplete,
}

impl Status {
    /// The end that `finish` means.
    fn of(finish: &str) -> Self {
        if finish == "length" { Self::Incomplete } else { Self::Completed }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Incomplete => "incomplete",
        }
    }
}

/// A response object, whole or in an event.
fn response(facts: Facts, status: Status, output: &str, usage: Option<Usage>) -> String {
    let (model, name) = (facts.model, status.name());
    let details = if status == Status::Incomplete { r#"{"reason":"max_output_tokens"}"# } else { "null" };
    let usage = usage.map_or_else(|| "null".to_owned(), usage_object);
    format!(
        r#"{{"id":"resp_sim","object":"response","created_at":{CREATED},"status":"{name}","error":null,"incomplete_details":{details},"model":{model},"output":[{output}],"usage":{usage}}}"#
    )
}

fn usage_object(usage: Usage) -> String {
    let (input, output) = (usage.prompt, usage.completion);
    let (cached, reasoning) = (usage.cached.unwrap_or(0), usage.reasoning.unwrap_or(0));
    let total = input.saturating_add(output);
    let cost = usage.cost.map(|cost| format!(r#","cost":{cost}"#)).unwrap_or_default();
    format!(
        r#"{{"input_tokens":{input},"input_tokens_details":{{"cached_tokens":{cached}}},"output_tokens":{output},"output_tokens_details":{{"reasoning_tokens":{reasoning}}},"total_tokens":{total}{cost}}}"#
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, whole};
    use super::*;

    #[test]
    fn whole_answers_and_errors() {
        assert_eq!(
            whole(&Responses, false),
            r#"{"id":"resp_sim","object":"response","created_at":1796051544,"status":"completed","error":null,"incomplete_details":null,"model":"m","output":[{"id":"rs_sim","type":"reasoning","summary":[{"type":"summary_text","text":" so"}]},{"id":"msg_sim","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":" a\"b","annotations":[]}]}],"usage":{"input_tokens":7,"input_tokens_details":{"cached_tokens":3},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":12}}"#
        );
        let body: Value = serde_json::from_str(&whole(&Responses, true)).unwrap();
        let call = &body["output"][0];
        assert_eq!((&call["name"], &call["arguments"]), (&"f".into(), &r#"{"a":1}"#.into()));
        let body: Value = serde_json::from_str(&error(&Responses, 429, "rate_limit_exceeded")).unwrap();
        let limited = serde_json::json!({"message": "why", "type": "rate_limit_exceeded", "code": 429});
        assert_eq!(body, serde_json::json!({"error": limited}));
    }

    #[test]
    fn requests_are_read() {
        let check = |body: &str, text: &str| {
            assert!(Responses.read(Address::default(), body.as_bytes()).unwrap().include_usage, "{body}");
            assert_eq!(Responses.prompt_text(&serde_json::from_str(body).unwrap()), text);
        };
        check(r#"{"model":"m","input":"a b"}"#, "a b");
        check(
            r#"{"instructions":"a","input":[{"role":"user","content":[{"type":"input_text","text":"b"}]}]}"#,
            "a\n\nb",
        );
        let body = br#"{"model":"m","input":"a b","stream":true,"max_output_tokens":9}"#;
        let wishes = Responses.read(Address::default(), body).unwrap();
        assert_eq!((wishes.stream, wishes.max_tokens, wishes.input_tokens), (true, Some(9), 2));
        assert_eq!(Responses.read(Address::default(), b"{}").unwrap_err().status, 400);
    }
}
