//! OpenAI's chat completions: `POST /v1/chat/completions`.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Address, Refused, Speak, Writer, contents};
use crate::ask::Wishes;
use crate::chunk::{CREATED, Call, Chunk, Facts, Say, Usage, Whole};
use crate::reply::Sheet;

/// The id of every tool call: an answer has one at most.
const CALL_ID: &str = "call_sim";

/// The dialect.
#[derive(Debug)]
pub(super) struct Chat;

impl Speak for Chat {
    fn hears(&self, at: Address) -> bool {
        at.path == "/v1/chat/completions"
    }

    fn read(&self, _: Address, body: &[u8]) -> Result<Wishes, Refused> {
        let body: Body = serde_json::from_slice(body)?;
        let messages = body.messages.ok_or_else(|| Refused::invalid("`messages` is missing"))?;
        Ok(body.wishes(messages))
    }

    fn prompt_text(&self, body: &Value) -> String {
        contents(body.get("messages")).join("\n\n")
    }

    fn writer<'a>(&self, facts: Facts<'a>) -> Box<dyn Writer + 'a> {
        Box::new(Events(facts))
    }

    fn whole(&self, whole: &Whole, facts: Facts) -> Vec<u8> {
        let mut message = format!(r#""message":{{"role":"assistant","content":"{}""#, whole.content);
        if !whole.reasoning.is_empty() {
            let _ = write!(message, r#","reasoning_content":"{}""#, whole.reasoning);
        }
        if let Some((name, arguments)) = &whole.call {
            let _ = write!(
                message,
                r#","tool_calls":[{{"id":"{CALL_ID}","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}]"#
            );
        }
        message.push('}');
        SHAPE.whole(whole, &message, facts)
    }

    fn broken(&self) -> Vec<u8> {
        STOPPED.into()
    }

    fn error(&self, status: u16, code: &str, message: &str) -> Sheet {
        let error = serde_json::json!({"error": {"message": message, "type": code, "code": status}});
        Sheet::json(status, error.to_string())
    }

    fn is_stateless(&self) -> bool {
        true
    }
}

/// The error of an answer that fails under way.
pub(super) const STOPPED: &str = "{\"error\":{\"message\":\"engine stopped\",\"code\":500}}\n\n";

/// The request's fields, of both of OpenAI's older dialects.
#[derive(Deserialize)]
pub(super) struct Body<'a> {
    #[serde(default, borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    max_tokens: Option<u32>,
    #[serde(default)]
    max_completion_tokens: Option<u32>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    #[serde(default, borrow)]
    messages: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) prompt: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: Option<bool>,
}

impl Body<'_> {
    /// What is asked for, of this prompt.
    pub(super) fn wishes(self, prompt: &RawValue) -> Wishes {
        Wishes {
            model: self.model.unwrap_or_default().into_owned(),
            stream: self.stream.unwrap_or(false),
            max_tokens: self.max_completion_tokens.or(self.max_tokens),
            include_usage: self.stream_options.and_then(|options| options.include_usage).unwrap_or(false),
            ..Wishes::of(&[prompt.get()])
        }
    }
}

/// What differs around the choices.
pub(super) struct Shape {
    pub(super) id: &'static str,
    /// Of a streamed event, and of a whole answer.
    pub(super) objects: (&'static str, &'static str),
}

const SHAPE: Shape = Shape { id: "chatcmpl-sim", objects: ("chat.completion.chunk", "chat.completion") };

impl Shape {
    /// A chunk's event, `data: ` to blank line, round its choice.
    pub(super) fn event(&self, chunk: &Chunk, choice: &str, facts: Facts) -> Vec<u8> {
        let mut out = String::with_capacity(256);
        let (id, object, model) = (self.id, self.objects.0, facts.model);
        let _ = write!(
            out,
            r#"data: {{"id":"{id}","object":"{object}","created":{CREATED},"model":{model},"choices":["#
        );
        if chunk.has_choice() {
            out.push_str(choice);
            let _ = match &chunk.finish {
                Some(reason) => write!(out, r#","finish_reason":"{reason}"}}"#),
                None => write!(out, r#","finish_reason":null}}"#),
            };
        }
        out.push(']');
        if let Some(usage) = chunk.usage {
            out.push_str(r#","usage":"#);
            write_usage(usage, &mut out);
        }
        if let Some(usage) = chunk.groq {
            out.push_str(r#","x_groq":{"usage":"#);
            write_usage(usage, &mut out);
            out.push('}');
        }
        out.push_str("}\n\n");
        out.into_bytes()
    }

    /// A whole answer's body, round what its choice says.
    pub(super) fn whole(&self, whole: &Whole, said: &str, facts: Facts) -> Vec<u8> {
        let (id, object, model) = (self.id, self.objects.1, facts.model);
        let finish = whole.finish.as_ref().map_or("null".to_owned(), |reason| format!("\"{reason}\""));
        let mut out = format!(
            r#"{{"id":"{id}","object":"{object}","created":{CREATED},"model":{model},"choices":[{{"index":0,{said},"finish_reason":{finish}}}]"#
        );
        if let Some(usage) = whole.usage {
            out.push_str(r#","usage":"#);
            write_usage(usage, &mut out);
        }
        out.push('}');
        out.into_bytes()
    }
}

/// The events that are no chunks.
pub(super) fn literal(say: Say) -> Vec<u8> {
    match say {
        Say::Error => format!("data: {STOPPED}").into_bytes(),
        Say::Malformed => b"data: {\"choices\":[{\"delta\":{\"conte\n\n".to_vec(),
        Say::Chunk(_) | Say::Done => b"data: [DONE]\n\n".to_vec(),
    }
}

fn write_usage(usage: Usage, out: &mut String) {
    let (prompt, completion) = (usage.prompt, usage.completion);
    let total = prompt.saturating_add(completion);
    let _ =
        write!(out, r#"{{"prompt_tokens":{prompt},"completion_tokens":{completion},"total_tokens":{total}"#);
    if let Some(cached) = usage.cached {
        let _ = write!(out, r#","prompt_tokens_details":{{"cached_tokens":{cached}}}"#);
    }
    if let Some(reasoning) = usage.reasoning {
        let _ = write!(out, r#","completion_tokens_details":{{"reasoning_tokens":{reasoning}}}"#);
    }
    if let Some(cost) = usage.cost {
        let _ = write!(out, r#","cost":{cost}"#);
    }
    out.push('}');
}

/// An answer's events.
struct Events<'a>(Facts<'a>);

impl Writer for Events<'_> {
    fn event(&mut self, say: Say) -> Vec<u8> {
        match say {
            Say::Chunk(chunk) => SHAPE.event(chunk, &choice(chunk), self.0),
            other => literal(other),
        }
    }
}

/// The choice of a chunk, without its end.
fn choice(chunk: &Chunk) -> String {
    let mut fields = Vec::new();
    if chunk.role {
        fields.push(r#""role":"assistant""#.to_owned());
    }
    if let Some((key, text)) = &chunk.reasoning {
        fields.push(format!(r#""{key}":"{text}""#));
    }
    if chunk.content.is_some() || chunk.role {
        fields.push(format!(r#""content":"{}""#, chunk.content.as_deref().unwrap_or_default()));
    }
    fields.extend(chunk.call.as_ref().map(call));
    format!(r#"{{"index":0,"delta":{{{}}}"#, fields.join(","))
}

fn call(call: &Call) -> String {
    match call {
        Call::Opens(name) => format!(
            r#""tool_calls":[{{"index":0,"id":"{CALL_ID}","type":"function","function":{{"name":"{name}","arguments":""}}}}]"#
        ),
        Call::Arguments(text) => {
            format!(r#""tool_calls":[{{"index":0,"function":{{"arguments":"{text}"}}}}]"#)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Dialect;
    use super::*;
    use crate::ask::Ask;
    use crate::chunk::escaped;

    #[test]
    fn events_are_these_bytes() {
        let check = |chunk: Chunk, choices_and_more: &str| {
            let event = Chat.writer(Facts::of("\"m\"")).event(Say::Chunk(&chunk));
            let event = String::from_utf8(event).unwrap();
            let (before, rest) = event.split_once(r#""choices":"#).unwrap();
            assert_eq!(
                before,
                r#"data: {"id":"chatcmpl-sim","object":"chat.completion.chunk","created":1796051544,"model":"m","#
            );
            assert_eq!(rest, format!("{choices_and_more}\n\n"));
        };
        let role = Chunk { role: true, ..Chunk::default() };
        check(role, r#"[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#);
        let text = Chunk { content: Some(" a".into()), finish: Some("stop".into()), ..Chunk::default() };
        check(text, r#"[{"index":0,"delta":{"content":" a"},"finish_reason":"stop"}]}"#);
        let usage = Chunk { usage: Some(Usage::new(7, 5)), ..Chunk::default() };
        check(usage, r#"[],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}}"#);
        let call = Chunk { call: Some(Call::Arguments(escaped("{\"a\":1}"))), ..Chunk::default() };
        check(
            call,
            r#"[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]},"finish_reason":null}]}"#,
        );
    }

    #[test]
    fn whole_answers_are_json() {
        let whole = Whole { content: " a".into(), reasoning: " r".into(), ..Whole::default() };
        let body: Value = serde_json::from_slice(&Chat.whole(&whole, Facts::of("\"m\""))).unwrap();
        assert_eq!(body["choices"][0]["message"]["reasoning_content"], " r");
    }

    #[test]
    fn requests_are_read() {
        let body = br#"{"model":"m","stream":true,"max_tokens":9,"stream_options":{"include_usage":true},
                        "messages":[{"role":"user","content":"one two three"}],"x":1}"#;
        let wishes = Chat.read(Address::default(), body).unwrap();
        assert_eq!((wishes.model.as_str(), wishes.stream, wishes.max_tokens), ("m", true, Some(9)));
        assert_eq!((wishes.include_usage, wishes.input_tokens), (true, 3));
        for wrong in ["", "[]", "{}", r#"{"prompt":"a"}"#, r#"{"messages":[],"max_tokens":-1}"#] {
            assert!(Chat.read(Address::default(), wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_text_of_a_prompt() {
        let parts = r#"[{"type":"text","text":"b"},{"type":"text","text":"c"}]"#;
        let body = format!(
            r#"{{"messages":[{{"content":"a"}},{{"role":"assistant","content":null}},{{"content":{parts}}}]}}"#
        );
        let ask = Ask::parse(Dialect::CHAT, Address::default(), body.into()).unwrap();
        assert_eq!(ask.prompt_text(), "a\n\n\n\nbc");
    }
}
