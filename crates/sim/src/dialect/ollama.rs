//! Ollama's own chat: `POST /api/chat`, one JSON object a line (W88).
//!
//! The durations of its last line are those that the timing law plans: what came before the first token is the
//! prompt's, and each token has taken its time; a cold start is not in them.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Address, Refused, Speak, Writer, contents, object};
use crate::ask::Wishes;
use crate::chunk::{Call, Facts, Say, Usage, Whole};
use crate::limit::Level;
use crate::reply::Sheet;

/// The dialect.
#[derive(Debug)]
pub(super) struct Ollama;

impl Speak for Ollama {
    fn hears(&self, at: Address) -> bool {
        at.path == "/api/chat"
    }

    fn read(&self, _: Address, body: &[u8]) -> Result<Wishes, Refused> {
        let body: Body = serde_json::from_slice(body)?;
        let messages = body.messages.ok_or_else(|| Refused::invalid("`messages` is missing"))?;
        let most = body.options.and_then(|options| options.num_predict);
        Ok(Wishes {
            model: body.model.unwrap_or_default().into_owned(),
            stream: body.stream.unwrap_or(true),
            // Negative numbers set no limit.
            max_tokens: most.and_then(|most| u32::try_from(most).ok()),
            include_usage: true,
            ..Wishes::of(&[messages.get()])
        })
    }

    fn prompt_text(&self, body: &Value) -> String {
        contents(body.get("messages")).join("\n\n")
    }

    fn writer<'a>(&self, facts: Facts<'a>) -> Box<dyn Writer + 'a> {
        Box::new(Lines { facts, call: None, finish: None, ended: false })
    }

    fn whole(&self, whole: &Whole, facts: Facts) -> Vec<u8> {
        let mut message = message(&whole.content, &whole.reasoning);
        if let Some((name, arguments)) = &whole.call {
            message = with_call(name, arguments);
        }
        let finish = whole.finish.as_deref().unwrap_or_default();
        line(facts, &message, &end(facts, finish, whole.usage.unwrap_or(facts.usage)))
    }

    fn error(&self, status: u16, _: &str, message: &str) -> Sheet {
        Sheet::json(status, serde_json::json!({"error": message}).to_string())
    }

    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn opens(&self) -> bool {
        false
    }

    /// None: a limit shows only when it is reached.
    fn limit_headers(&self, _: Level) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// Labels, and measures nothing.
const CREATED_AT: &str = "2026-11-30T15:12:24.000000Z";

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(default, borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default, borrow)]
    messages: Option<&'a RawValue>,
    #[serde(default)]
    options: Option<Options>,
}

#[derive(Deserialize)]
struct Options {
    #[serde(default)]
    num_predict: Option<i64>,
}

/// An answer's lines.
struct Lines<'a> {
    facts: Facts<'a>,
    /// Name and arguments of the tool call under way: it is told when it is complete.
    call: Option<(String, String)>,
    finish: Option<String>,
    ended: bool,
}

impl Writer for Lines<'_> {
    fn event(&mut self, say: Say) -> Vec<u8> {
        let chunk = match say {
            Say::Chunk(chunk) => chunk,
            Say::Error => {
                self.ended = true;
                return b"{\"error\":\"engine stopped\"}\n".to_vec();
            }
            Say::Malformed => return b"{\"message\":{\"conte\n".to_vec(),
            Say::Done => return self.end(self.facts.usage),
        };
        let mut out = Vec::new();
        if chunk.content.is_some() || chunk.reasoning.is_some() {
            let thinking = chunk.reasoning.as_ref().map_or("", |(_, text)| text);
            let message = message(chunk.content.as_deref().unwrap_or_default(), thinking);
            out.extend(line(self.facts, &message, r#""done":false"#));
        }
        match (&chunk.call, &mut self.call) {
            (Some(Call::Opens(name)), call) => *call = Some((name.clone(), String::new())),
            (Some(Call::Arguments(text)), Some((_, arguments))) => arguments.push_str(text),
            _ => {}
        }
        if chunk.finish.is_some() {
            self.finish.clone_from(&chunk.finish);
            if let Some((name, arguments)) = self.call.take() {
                out.extend(line(self.facts, &with_call(&name, &arguments), r#""done":false"#));
            }
        }
        if let Some(usage) = chunk.usage.filter(|_| self.finish.is_some()) {
            out.extend(self.end(usage));
        }
        out
    }
}

impl Lines<'_> {
    /// The last line, once.
    fn end(&mut self, usage: Usage) -> Vec<u8> {
        if std::mem::replace(&mut self.ended, true) {
            return Vec::new();
        }
        let finish = self.finish.as_deref().unwrap_or("stop");
        line(self.facts, &message("", ""), &end(self.facts, finish, usage))
    }
}

fn line(facts: Facts, message: &str, rest: &str) -> Vec<u8> {
    let model = facts.model;
    format!("{{\"model\":{model},\"created_at\":\"{CREATED_AT}\",\"message\":{message},{rest}}}\n")
        .into_bytes()
}

fn message(content: &str, thinking: &str) -> String {
    let thinking = if thinking.is_empty() { String::new() } else { format!(r#","thinking":"{thinking}""#) };
    format!(r#"{{"role":"assistant","content":"{content}"{thinking}}}"#)
}

fn with_call(name: &str, arguments: &str) -> String {
    let arguments = object(arguments);
    format!(
        r#"{{"role":"assistant","content":"","tool_calls":[{{"function":{{"name":"{name}","arguments":{arguments}}}}}]}}"#
    )
}

/// The fields of the last line.
fn end(facts: Facts, finish: &str, usage: Usage) -> String {
    let reason = if finish == "length" { "length" } else { "stop" };
    let (prompt_ns, eval_ns) = (facts.first_ns, (facts.token_ns * usage.completion as f64) as u64);
    let total_ns = prompt_ns.saturating_add(eval_ns);
    let (prompt, completion) = (usage.prompt, usage.completion);
    format!(
        r#""done":true,"done_reason":"{reason}","total_duration":{total_ns},"load_duration":0,"prompt_eval_count":{prompt},"prompt_eval_duration":{prompt_ns},"eval_count":{completion},"eval_duration":{eval_ns}"#
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{answer, broken, error, events, tool_call, whole};
    use super::*;

    const BEFORE: &str =
        r#"{"model":"m","created_at":"2026-11-30T15:12:24.000000Z","message":{"role":"assistant","#;

    const END: &str = r#","done":true,"done_reason":"stop","total_duration":100000000,"load_duration":0,"prompt_eval_count":7,"prompt_eval_duration":50000000,"eval_count":5,"eval_duration":50000000}
"#;

    #[test]
    fn lines_are_these_bytes() {
        let line = |rest: &str| format!("{BEFORE}{rest}");
        let streaming = |rest: &str| line(&format!("{rest},\"done\":false}}\n"));
        let end = line(&format!(r#""content":""}}{END}"#));
        let nothing = String::new;
        assert_eq!(
            events(&Ollama, &answer("stop")),
            [
                nothing(),
                streaming(r#""content":"","thinking":" so"}"#),
                streaming(r#""content":" a"}"#),
                streaming(r#""content":"\"b"}"#),
                nothing(),
                end.clone(),
                nothing(),
            ]
        );
        let call = r#""content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}"#;
        let told = [nothing(), nothing(), nothing(), nothing(), streaming(call), end, nothing()];
        assert_eq!(events(&Ollama, &tool_call()), told);
        assert!(events(&Ollama, &answer("length"))[5].contains(r#""done_reason":"length""#));
        // Without usage the end still comes.
        assert!(events(&Ollama, &answer("stop")[..5])[5].contains(r#""eval_count":5"#));
    }

    #[test]
    fn whole_answers_and_errors() {
        assert_eq!(whole(&Ollama, false), format!(r#"{BEFORE}"content":" a\"b","thinking":" so"}}{END}"#));
        let body: Value = serde_json::from_str(&whole(&Ollama, true)).unwrap();
        assert_eq!(body["message"]["tool_calls"][0]["function"]["arguments"]["a"], 1);
        assert_eq!(broken(&Ollama), ["{\"error\":\"engine stopped\"}\n", ""]);
        assert_eq!(error(&Ollama, 404, "model_not_found"), r#"{"error":"why"}"#);
    }

    #[test]
    fn requests_are_read() {
        let check = |body: &str, stream, max_tokens| {
            let wishes = Ollama.read(Address::default(), body.as_bytes()).unwrap();
            assert_eq!(
                (wishes.stream, wishes.max_tokens, wishes.include_usage),
                (stream, max_tokens, true),
                "{body}"
            );
        };
        check(r#"{"messages":[]}"#, true, None);
        check(
            r#"{"messages":[],"stream":false,"options":{"num_predict":9,"temperature":0}}"#,
            false,
            Some(9),
        );
        check(r#"{"messages":[],"options":{"num_predict":-1}}"#, true, None);
        assert!(Ollama.read(Address::default(), b"{}").is_err());
    }
}
