//! Verdicts on answers as servers send them: for each rule what it finds, and the trap that it must not fall into.

mod across_cuts;
mod captures;
mod channel;
mod content;
mod envelope;
mod grades;
mod hostile;
mod termination;
mod tools;
mod vectors;

use inferometer_wire::{Answer, Decoder, Dialect, End, Head};
use serde_json::{Map, Value, json};

use crate::{Check, Expect, Grader, Judgement, Parameters, Verdict, judge};

/// A chat answer with the events given, each the inside of a data line.
fn answer_of(status: u16, events: &[&str], end: End) -> Answer {
    let head = Head { status, content_type: Some("text/event-stream"), streaming: true };
    let mut decoder = Decoder::new(Dialect::Chat, head);
    for event in events {
        decoder.feed(format!("data: {event}\n\n").as_bytes(), &mut |_| {});
    }
    decoder.finish(end, &mut |_| {})
}

/// What was asked, as tests state it.
#[derive(Default)]
struct Asked {
    prompt: &'static str,
    model: &'static str,
    parameters: Value,
    check: Option<Check>,
    counted: Option<u64>,
    max_tokens: Option<u32>,
    think_tags: bool,
}

impl Asked {
    fn prompt(prompt: &'static str) -> Asked {
        Asked { prompt, ..Asked::default() }
    }

    fn parameters(parameters: Value) -> Asked {
        Asked { parameters, ..Asked::default() }
    }

    fn check(check: Check) -> Asked {
        Asked { check: Some(check), ..Asked::default() }
    }

    fn judge(&self, events: &[&str]) -> Judgement {
        let grader = self.check.clone().map(|check| Grader::new(check).expect("a check"));
        let empty = Map::new();
        let expect = Expect {
            max_tokens: self.max_tokens,
            prompt: self.prompt,
            model: self.model,
            parameters: Parameters {
                prompt: Some(self.parameters.as_object().unwrap_or(&empty)),
                target: None,
            },
            think_tags: self.think_tags,
            counted_output: self.counted,
            grader: grader.as_ref(),
        };
        judge(&answer_of(200, events, End::Eof), &expect)
    }

    /// The verdict and the flags on a stream of `events`.
    fn gives(&self, events: &[&str], verdict: Verdict, flags: &[&str]) {
        let judgement = self.judge(events);
        let shown = format!("{events:?} {:?}", judgement.evidence);
        assert_eq!((judgement.verdict, judgement.flags.as_slice()), (verdict, flags), "{shown}");
    }

    /// The verdict and the flags on a text that ends with `stop`.
    fn gives_text(&self, text: &str, verdict: Verdict, flags: &[&str]) {
        self.gives(&[&content(text), STOP, DONE], verdict, flags);
    }
}

fn check(events: &[&str], verdict: Verdict, flags: &[&str]) {
    Asked { max_tokens: Some(3), ..Asked::default() }.gives(events, verdict, flags);
}

/// An event that adds `text`.
fn content(text: &str) -> String {
    json!({"choices": [{"delta": {"content": text}}]}).to_string()
}

/// An event that adds `text` as reasoning.
fn reasoning(text: &str) -> String {
    json!({"choices": [{"delta": {"reasoning_content": text}}]}).to_string()
}

/// An event with tool calls, each a name, its arguments and its id.
fn calls(calls: &[(&str, &str, &str)]) -> String {
    let calls = calls.iter().enumerate().map(|(index, (name, arguments, id))| {
        json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}})
    });
    json!({"choices": [{"delta": {"tool_calls": calls.collect::<Vec<_>>()}}]}).to_string()
}

/// An event with usage.
fn usage(prompt: u64, completion: u64, total: u64) -> String {
    json!({"choices": [], "usage":
        {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}})
    .to_string()
}

fn finish(reason: &str) -> String {
    json!({"choices": [{"delta": {}, "finish_reason": reason}]}).to_string()
}

const TEXT: &str = r#"{"choices":[{"delta":{"content":"map"}}]}"#;
const REASONING: &str = r#"{"choices":[{"delta":{"reasoning_content":"So."}}]}"#;
const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
const LENGTH: &str = r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}"#;
const DONE: &str = "[DONE]";

#[test]
fn verdicts_have_their_names() {
    let all = [Verdict::Valid, Verdict::Degraded, Verdict::Unverifiable, Verdict::Invalid];
    assert_eq!(all.map(Verdict::name), ["valid", "degraded", "unverifiable", "invalid"]);
    assert!(all.is_sorted());
}
