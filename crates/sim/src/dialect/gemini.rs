//! Gemini's own dialect: `POST /v1beta/models/{model}:generateContent`, and `:streamGenerateContent?alt=sse` (W90).
//!
//! Lines end with CRLF, each event states the usage so far, thoughts stand beside the candidate's tokens, a tool call
//! comes whole, and there is no terminal event.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Address, Refused, Speak, Writer, object, parameter, segment, text_of};
use crate::ask::Wishes;
use crate::chunk::{Call, Facts, Say, Usage, Whole};
use crate::http::Head;
use crate::limit::Level;
use crate::reply::Sheet;

/// The dialect.
#[derive(Debug)]
pub(super) struct Gemini;

impl Speak for Gemini {
    fn hears(&self, at: Address) -> bool {
        call(at).is_some()
    }

    fn shows(&self, head: &Head, key: &str) -> bool {
        head.header("x-goog-api-key") == Some(key) || parameter(head.query(), "key") == Some(key)
    }

    fn read(&self, at: Address, body: &[u8]) -> Result<Wishes, Refused> {
        let (model, stream) = call(at).unwrap_or_default();
        if stream && parameter(at.query, "alt") != Some("sse") {
            return Err(Refused::invalid("only streams with `alt=sse` are simulated"));
        }
        let body: Body = serde_json::from_slice(body)?;
        let contents = body.contents.ok_or_else(|| Refused::invalid("contents is not specified"))?;
        let system = body.system_instruction.map_or("", RawValue::get);
        Ok(Wishes {
            model: segment(model),
            stream,
            max_tokens: body.generation_config.and_then(|config| config.max_output_tokens),
            include_usage: true,
            ..Wishes::of(&[system, contents.get()])
        })
    }

    fn prompt_text(&self, body: &Value) -> String {
        let system = body.get("systemInstruction").or(body.get("system_instruction"));
        let contents = body.get("contents").and_then(Value::as_array).into_iter().flatten();
        let parts = system.into_iter().chain(contents).filter_map(|content| content.get("parts"));
        parts.map(text_of).collect::<Vec<_>>().join("\n\n")
    }

    fn writer<'a>(&self, facts: Facts<'a>) -> Box<dyn Writer + 'a> {
        Box::new(Events { facts, call: None, finished: false, told: false })
    }

    fn whole(&self, whole: &Whole, facts: Facts) -> Vec<u8> {
        let mut parts = Vec::new();
        if !whole.reasoning.is_empty() {
            parts.push(thought(&whole.reasoning));
        }
        match &whole.call {
            Some((name, arguments)) => parts.push(function_call(name, arguments)),
            None => parts.push(text(&whole.content)),
        }
        let candidate = candidate(&parts.join(","), Some(whole.finish.as_deref().unwrap_or("stop")));
        response(facts, Some(&candidate), whole.usage).into_bytes()
    }

    fn error(&self, status: u16, _: &str, message: &str) -> Sheet {
        let error = serde_json::json!({"code": status, "message": message, "status": status_name(status)});
        Sheet::json(status, serde_json::json!({"error": error}).to_string())
    }

    fn opens(&self) -> bool {
        false
    }

    fn counts_along(&self) -> bool {
        true
    }

    /// None: a limit shows only when it is reached.
    fn limit_headers(&self, _: Level) -> Vec<(String, String)> {
        Vec::new()
    }
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(default, borrow)]
    contents: Option<&'a RawValue>,
    #[serde(default, borrow, rename = "systemInstruction", alias = "system_instruction")]
    system_instruction: Option<&'a RawValue>,
    #[serde(default, rename = "generationConfig", alias = "generation_config")]
    generation_config: Option<GenerationConfig>,
}

#[derive(Deserialize)]
struct GenerationConfig {
    #[serde(default, rename = "maxOutputTokens", alias = "max_output_tokens")]
    max_output_tokens: Option<u32>,
}

/// The model that an address names, and whether it is to stream.
fn call(at: Address<'_>) -> Option<(&str, bool)> {
    let (model, method) = at.path.strip_prefix("/v1beta/models/")?.rsplit_once(':')?;
    let stream = match method {
        "generateContent" => false,
        "streamGenerateContent" => true,
        _ => return None,
    };
    (!model.is_empty() && !model.contains('/')).then_some((model, stream))
}

/// Google's name of an HTTP status.
const fn status_name(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 | 405 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        400..=499 => "INVALID_ARGUMENT",
        _ => "INTERNAL",
    }
}

/// An answer's events.
struct Events<'a> {
    facts: Facts<'a>,
    /// Name and arguments of the tool call under way: it is told when it is complete.
    call: Option<(String, String)>,
    finished: bool,
    /// Whether the usage at the end was told.
    told: bool,
}

impl Writer for Events<'_> {
    fn event(&mut self, say: Say) -> Vec<u8> {
        let chunk = match say {
            Say::Chunk(chunk) => chunk,
            Say::Error => {
                return event(r#"{"error":{"code":500,"message":"engine stopped","status":"INTERNAL"}}"#);
            }
            Say::Malformed => return event("{\"candidates\":[{\"conte"),
            Say::Done => return Vec::new(),
        };
        let mut parts = Vec::new();
        parts.extend(chunk.reasoning.as_ref().map(|(_, text)| thought(text)));
        parts.extend(chunk.content.as_deref().map(text));
        match (&chunk.call, &mut self.call) {
            (Some(Call::Opens(name)), call) => *call = Some((name.clone(), String::new())),
            (Some(Call::Arguments(text)), Some((_, arguments))) => arguments.push_str(text),
            _ => {}
        }
        if chunk.finish.is_some() {
            self.finished = true;
            parts.extend(self.call.take().map(|(name, arguments)| function_call(&name, &arguments)));
            if parts.is_empty() {
                parts.push(text(""));
            }
        }
        let usage = chunk.usage.filter(|_| !self.told);
        self.told |= self.finished && usage.is_some();
        if !parts.is_empty() {
            let candidate = candidate(&parts.join(","), chunk.finish.as_deref());
            return event(&response(self.facts, Some(&candidate), usage));
        }
        // A tool call that is not complete says nothing, not even its usage.
        let alone = usage.filter(|_| chunk.call.is_none() && !chunk.role);
        alone.map(|usage| event(&response(self.facts, None, Some(usage)))).unwrap_or_default()
    }
}

fn event(json: &str) -> Vec<u8> {
    format!("data: {json}\r\n\r\n").into_bytes()
}

fn text(text: &str) -> String {
    format!(r#"{{"text":"{text}"}}"#)
}

fn thought(text: &str) -> String {
    format!(r#"{{"text":"{text}","thought":true}}"#)
}

fn function_call(name: &str, arguments: &str) -> String {
    format!(r#"{{"functionCall":{{"name":"{name}","args":{}}}}}"#, object(arguments))
}

fn candidate(parts: &str, finish: Option<&str>) -> String {
    let finish = match finish {
        None => "",
        Some("length") => r#","finishReason":"MAX_TOKENS""#,
        Some(_) => r#","finishReason":"STOP""#,
    };
    format!(r#"{{"content":{{"parts":[{parts}],"role":"model"}}{finish},"index":0}}"#)
}

/// A response object, whole or of one event.
fn response(facts: Facts, candidate: Option<&str>, usage: Option<Usage>) -> String {
    let candidates = candidate.map(|candidate| format!(r#""candidates":[{candidate}],"#)).unwrap_or_default();
    let usage = usage.map(usage_metadata).unwrap_or_default();
    format!(r#"{{{candidates}{usage}"modelVersion":{},"responseId":"sim"}}"#, facts.model)
}

/// The usage: thoughts come before the answer, and are not among the candidate's tokens.
fn usage_metadata(usage: Usage) -> String {
    let thoughts = usage.reasoning.unwrap_or(0).min(usage.completion);
    let (prompt, candidates) = (usage.prompt, usage.completion - thoughts);
    let total = prompt.saturating_add(usage.completion);
    let field = |name: &str, tokens: u64| format!(r#","{name}":{tokens}"#);
    let cached = usage.cached.map(|cached| field("cachedContentTokenCount", cached)).unwrap_or_default();
    let thoughts = if thoughts > 0 { field("thoughtsTokenCount", thoughts) } else { String::new() };
    format!(
        r#""usageMetadata":{{"promptTokenCount":{prompt}{cached},"candidatesTokenCount":{candidates}{thoughts},"totalTokenCount":{total}}},"#
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{answer, broken, error, events, tool_call, usage, whole};
    use super::*;

    const USAGE: &str = r#""usageMetadata":{"promptTokenCount":7,"cachedContentTokenCount":3,"candidatesTokenCount":3,"thoughtsTokenCount":2,"totalTokenCount":12},"#;
    const VERSION: &str = r#""modelVersion":"m","responseId":"sim"}"#;

    #[test]
    fn events_are_these_bytes() {
        let said = |candidate: &str| {
            format!("data: {{\"candidates\":[{{\"content\":{candidate}}}],{VERSION}\r\n\r\n")
        };
        let parts = |part: &str| said(&format!(r#"{{"parts":[{part}],"role":"model"}},"index":0"#));
        let ends = |part: &str| {
            said(&format!(r#"{{"parts":[{part}],"role":"model"}},"finishReason":"STOP","index":0"#))
        };
        let told = format!("data: {{{USAGE}{VERSION}\r\n\r\n");
        let nothing = String::new;
        assert_eq!(
            events(&Gemini, &answer("stop")),
            [
                nothing(),
                parts(r#"{"text":" so","thought":true}"#),
                parts(r#"{"text":" a"}"#),
                parts(r#"{"text":"\"b"}"#),
                ends(r#"{"text":""}"#),
                told.clone(),
                nothing()
            ]
        );
        let call = ends(r#"{"functionCall":{"name":"f","args":{"a":1}}}"#);
        assert_eq!(
            events(&Gemini, &tool_call()),
            [nothing(), nothing(), nothing(), nothing(), call, told, nothing()]
        );
    }

    #[test]
    fn usage_runs_along_and_is_told_once_at_the_end() {
        let mut chunks = answer("length");
        for (chunk, completion) in chunks.iter_mut().zip([0, 1, 3, 5, 5]) {
            chunk.usage = Some(Usage { completion, ..usage() });
        }
        let events = events(&Gemini, &chunks);
        let counts = |event: &str, candidates: u64, rest: &str| {
            let found = format!(r#""candidatesTokenCount":{candidates},{rest}"#);
            assert!(event.contains(&found), "{event}");
        };
        counts(&events[1], 0, r#""thoughtsTokenCount":1,"totalTokenCount":8"#);
        counts(&events[2], 1, r#""thoughtsTokenCount":2,"totalTokenCount":10"#);
        counts(&events[4], 3, r#""thoughtsTokenCount":2,"totalTokenCount":12"#);
        assert!(events[4].contains(r#""finishReason":"MAX_TOKENS""#));
        assert_eq!((events[0].as_str(), events[5].as_str()), ("", ""));
    }

    #[test]
    fn whole_answers_and_errors() {
        assert_eq!(
            whole(&Gemini, false),
            format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"text":" so","thought":true}},{{"text":" a\"b"}}],"role":"model"}},"finishReason":"STOP","index":0}}],{USAGE}{VERSION}"#
            )
        );
        let body: Value = serde_json::from_str(&whole(&Gemini, true)).unwrap();
        assert_eq!(body["candidates"][0]["content"]["parts"][0]["functionCall"]["args"]["a"], 1);
        let stopped = r#"{"error":{"code":500,"message":"engine stopped","status":"INTERNAL"}}"#;
        assert_eq!(broken(&Gemini), [format!("data: {stopped}\r\n\r\n"), String::new()]);
        let body: Value = serde_json::from_str(&error(&Gemini, 429, "rate_limit_exceeded")).unwrap();
        assert_eq!(
            body,
            serde_json::json!({"error": {"code": 429, "message": "why", "status": "RESOURCE_EXHAUSTED"}})
        );
    }

    #[test]
    fn the_path_names_model_and_method() {
        let at = |path, query| Address { path, query };
        let body =
            br#"{"contents":[{"parts":[{"text":"b"},{"text":"c"}]}],"generationConfig":{"maxOutputTokens":9},
                        "systemInstruction":{"parts":[{"text":"a"}]}}"#;
        let whole = Gemini.read(at("/v1beta/models/m%3A1:generateContent", ""), body).unwrap();
        assert_eq!((whole.model.as_str(), whole.stream, whole.max_tokens), ("m:1", false, Some(9)));
        let stream = "/v1beta/models/m:streamGenerateContent";
        assert!(Gemini.read(at(stream, "key=k&alt=sse"), body).unwrap().stream);
        assert_eq!(Gemini.read(at(stream, ""), body).unwrap_err().status, 400);
        assert!(!Gemini.hears(at("/v1beta/models/m:countTokens", "")));
        assert_eq!(Gemini.prompt_text(&serde_json::from_slice(body).unwrap()), "a\n\nbc");
    }
}
