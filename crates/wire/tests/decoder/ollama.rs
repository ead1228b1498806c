//! Ollama's native dialect.

use inferometer_wire::request::{Ask, Prompt, TokenField, body};
use inferometer_wire::{Dialect, Identity, endpoint};
use serde_json::{Value, json};

use crate::common::{Scenario, bytes};

const END: &str = r#"{"model":"m","created_at":"x","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":9,"prompt_eval_count":7,"prompt_eval_duration":2,"eval_count":3}"#;

fn lines(lines: &[&str]) -> Scenario {
    let body: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
    Scenario { dialect: Dialect::Ollama, content_type: "application/x-ndjson", ..bytes(body) }
}

fn said(message: &str) -> String {
    format!(r#"{{"model":"m","created_at":"x","message":{{"role":"assistant",{message}}},"done":false}}"#)
}

#[test]
fn w88_lines_are_events_and_the_last_one_counts() {
    let (thinks, a, b) =
        (said(r#""content":"","thinking":"so""#), said(r#""content":"a""#), said(r#""content":" bc""#));
    let answer = lines(&[&thinks, &a, &b, END]).check("r2 a1 a3", "complete", "");
    assert_eq!((answer.transcript.content.as_str(), answer.transcript.reasoning.as_str()), ("a bc", "so"));
    assert_eq!(answer.model.as_deref(), Some("m"));
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.identity), (Some(7), Some(3), Identity::Inclusive));
    assert_eq!(usage.verbatim.get(), r#"{"eval_count":3,"prompt_eval_count":7}"#);
    assert_eq!(answer.server_timing.unwrap().get(), r#"{"prompt_eval_duration":2,"total_duration":9}"#);
}

#[test]
fn ends() {
    let a = said(r#""content":"a""#);
    lines(&[&a]).check("a1", "truncated", "");
    lines(&[&a, r#"{"error":"out of memory"}"#]).check("a1", "stream_error - out of memory", "");
    let cut = Scenario { body: format!("{a}\n{{\"model\":").into_bytes(), ..lines(&[]) };
    cut.check("a1", "truncated", "");
    lines(&[&a, "nonsense", END]).check("a1", "protocol malformed_event", "");
    let capped = END.replace("stop", "length");
    lines(&[&a, &capped]).check("a1", "complete", "capped");
    let refused = Scenario { status: 404, ..lines(&[r#"{"error":"model 'm' not found"}"#]) };
    refused.check("", "http_error - model 'm' not found", "");
}

#[test]
fn tool_calls_come_whole() {
    let calls = said(
        r#""content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}},{"function":{"name":"f","arguments":{}}}]"#,
    );
    let answer = lines(&[&calls, END]).check("t11", "complete", "");
    let calls: Vec<_> =
        answer.transcript.tools.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(calls, [("f", r#"{"a":1}"#), ("f", "{}")]);
}

#[test]
fn a_whole_answer_is_one_line() {
    let whole = END.replace(r#""content":"""#, r#""content":"abc""#);
    let answer = Scenario { streaming: false, ..lines(&[&whole]) }.check("", "complete", "");
    assert_eq!(answer.transcript.content, "abc");
    assert!(!answer.streamed);
}

#[test]
fn what_is_sent() {
    let prompt = Prompt::Text("hi".to_owned());
    let parameters = json!({"seed": 7, "stop": ["x"], "response_format": {"type": "json_object"}});
    let ask = Ask {
        dialect: Dialect::Ollama,
        model: "m",
        prompt: &prompt,
        stream: true,
        max_tokens: Some(8),
        token_field: TokenField::MaxTokens,
        temperature: Some(0.0),
        include_usage: true,
        parameters: parameters.as_object(),
        extra: None,
    };
    let sent: Value = serde_json::from_slice(&body(&ask).unwrap()).unwrap();
    let right = json!({
        "model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": true, "format": "json",
        "options": {"num_predict": 8, "temperature": 0.0, "seed": 7, "stop": ["x"]},
    });
    assert_eq!(sent, right);
    let parameters = json!({"logprobs": true});
    let refused = body(&Ask { parameters: parameters.as_object(), ..ask }).unwrap_err();
    assert_eq!(refused.what, "logprobs");
    for base in ["http://h:11434", "http://h:11434/api", "http://h:11434/api/chat"] {
        assert_eq!(
            endpoint(base, Dialect::Ollama, "m", true).as_deref(),
            Ok("http://h:11434/api/chat"),
            "{base}"
        );
    }
}
