//! Anthropic's Messages.

use inferometer_wire::request::{Ask, Message, Prompt, TokenField, body};
use inferometer_wire::{Auth, Dialect, Identity, endpoint};
use serde_json::{Value, json};

use crate::common::{Scenario, named_events};

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"c","stop_reason":null,"usage":{"input_tokens":25,"output_tokens":1}}}"#;
const TEXT: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const A: &str = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#;
const BC: &str = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" bc"}}"#;
const STOP: &str = r#"{"type":"content_block_stop","index":0}"#;
const DELTA: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}}"#;
const END: &str = r#"{"type":"message_stop"}"#;

fn events(data: &[&str]) -> Scenario {
    Scenario { dialect: Dialect::Messages, ..named_events(data) }
}

#[test]
fn w82_usage_at_both_ends_is_merged_and_never_added() {
    let answer = events(&[START, TEXT, A, BC, STOP, DELTA, END]).check("a1 a3", "complete", "");
    assert_eq!(answer.transcript.content, "a bc");
    assert!(answer.finish_is_own, "end_turn is this dialect's own word");
    assert_eq!((answer.model.as_deref(), answer.id.as_deref()), (Some("c"), Some("msg_1")));
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input, usage.output), (Some(25), Some(15)));
    // The cache stands beside the input.
    let cached = START.replace(
        r#""input_tokens":25"#,
        r#""input_tokens":25,"cache_read_input_tokens":100,"cache_creation_input_tokens":10"#,
    );
    let usage = events(&[&cached, TEXT, A, STOP, DELTA, END]).check("a1", "complete", "").usage.unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.cache_write), (Some(135), Some(100), Some(10)));
    assert_eq!((usage.identity, usage.normal().input_uncached), (Identity::Disjoint, Some(25)));
    // A repeated input in the last event is the same one.
    let repeated = DELTA.replace(r#""output_tokens":15"#, r#""input_tokens":25,"output_tokens":15"#);
    let usage = events(&[START, TEXT, A, STOP, &repeated, END]).check("a1", "complete", "").usage.unwrap();
    assert_eq!((usage.input, usage.output), (Some(25), Some(15)));
}

#[test]
fn w83_structure_is_no_output_but_a_tool_s_name_is() {
    events(&[START, TEXT, STOP, DELTA, END]).check("", "complete", "output_invisible");
    let tool = r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}"#;
    let empty =
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#;
    let first = r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#;
    let last =
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#;
    let delta = DELTA.replace("end_turn", "tool_use");
    let answer = events(&[START, TEXT, A, STOP, tool, empty, first, last, &delta, END]).check(
        "a1 t4 t5 t2",
        "complete",
        "",
    );
    let call = &answer.transcript.tools[0];
    assert_eq!((call.id.as_str(), call.name.as_str(), call.arguments.as_str()), ("t1", "look", r#"{"a":1}"#));
}

#[test]
fn w84_signatures_are_no_output() {
    let thinking = r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#;
    let so = r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"so"}}"#;
    let signature =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"AAAA"}}"#;
    let redacted = r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"AAAA"}}"#;
    let answer = events(&[START, thinking, so, signature, STOP, redacted, A, DELTA, END]).check(
        "r2 o o a1",
        "complete",
        "",
    );
    assert_eq!(answer.transcript.reasoning, "so");
}

#[test]
fn w85_pings_are_signs_of_life() {
    let ping = r#"{"type":"ping"}"#;
    events(&[ping, START, ping, TEXT, A, STOP, DELTA, END]).check("k k a1", "complete", "");
    let named = "event: ping\ndata:\n\n";
    let whole = events(&[START, TEXT, A, STOP, DELTA, END]);
    let body = [named.as_bytes(), &whole.body].concat();
    Scenario { body, ..whole }.check("k a1", "complete", "");
}

#[test]
fn w86_an_error_after_200() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    events(&[START, TEXT, A, error]).check("a1", "stream_error overloaded_error Overloaded", "");
    let refused =
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: Field required"}}"#;
    let refused = Scenario { status: 400, body: refused.into(), ..events(&[]) };
    refused.check("", "http_error invalid_request_error max_tokens: Field required", "");
}

#[test]
fn w87_an_end_without_message_stop() {
    events(&[START, TEXT, A, STOP, DELTA]).check("a1", "complete", "");
    events(&[START, TEXT, A, STOP]).check("a1", "truncated", "");
    let unknown =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{}}}"#;
    let later = r#"{"type":"sunset"}"#;
    let answer = events(&[START, TEXT, A, unknown, later, STOP, DELTA, END]).check("a1", "complete", "");
    assert_eq!(answer.ignored, 2);
    let capped = DELTA.replace("end_turn", "max_tokens");
    events(&[START, TEXT, A, STOP, &capped, END]).check("a1", "complete", "capped");
    let refused = DELTA.replace("end_turn", "refusal");
    events(&[START, TEXT, A, STOP, &refused, END]).check("a1", "complete", "content_filtered");
}

#[test]
fn a_whole_message() {
    let whole = r#"{"id":"m","type":"message","role":"assistant","model":"c","content":[{"type":"thinking","thinking":"so","signature":"A"},{"type":"text","text":"abc"},{"type":"tool_use","id":"t","name":"f","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":9}}"#;
    let whole =
        Scenario { streaming: false, body: whole.into(), content_type: "application/json", ..events(&[]) };
    let answer = whole.check("", "complete", "");
    let said = &answer.transcript;
    assert_eq!((said.content.as_str(), said.reasoning.as_str()), ("abc", "so"));
    assert_eq!((said.tools[0].name.as_str(), said.tools[0].arguments.as_str()), ("f", r#"{"a":1}"#));
    assert_eq!(answer.usage.unwrap().output, Some(9));
    Scenario { body: r#"{"type":"message"}"#.into(), ..whole }.check("", "protocol not_an_answer", "");
}

#[test]
fn w62_the_kind_may_stand_in_the_event_s_name_alone() {
    let whole = events(&[START, TEXT, A, BC, STOP, DELTA, END]);
    let text = String::from_utf8(whole.body.clone()).unwrap();
    let kinds = ["message_start", "content_block_start", "content_block_delta", "message_delta"];
    let unnamed = kinds.iter().fold(text, |text, kind| text.replace(&format!("\"type\":\"{kind}\","), ""));
    Scenario { body: unnamed.into_bytes(), ..whole }.check("a1 a3", "complete", "");
}

#[test]
fn what_is_sent_and_where() {
    let message = |role: &str, content: &str| Message { role: role.into(), content: content.into() };
    let prompt = Prompt::Messages(vec![
        message("system", "brief"),
        message("user", "hi"),
        message("assistant", "yes"),
    ]);
    let parameters = json!({
        "stop": ["x"], "tool_choice": "required",
        "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}],
    });
    let ask = Ask {
        dialect: Dialect::Messages,
        model: "c",
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
        "model": "c", "system": "brief", "max_tokens": 8, "stream": true, "temperature": 0.0, "stop_sequences": ["x"],
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}],
        "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}}], "tool_choice": {"type": "any"},
    });
    assert_eq!(sent, right);
    let refused = |parameters: Value, max_tokens| {
        let ask = Ask { parameters: parameters.as_object(), max_tokens, ..ask };
        body(&ask).unwrap_err().what
    };
    assert_eq!(refused(json!({"seed": 7}), Some(8)), "seed");
    assert_eq!(refused(json!({"response_format": {"type": "json_object"}}), Some(8)), "response_format");
    assert_eq!(refused(json!({}), None), "max_tokens");
    for base in ["https://h", "https://h/v1", "https://h/v1/messages", "https://h/v1/chat/completions"] {
        assert_eq!(
            endpoint(base, Dialect::Messages, "c", true).as_deref(),
            Ok("https://h/v1/messages"),
            "{base}"
        );
    }
    assert_eq!(Dialect::Messages.auth(), Auth::Header("x-api-key"));
    assert_eq!(Dialect::Messages.headers(), [("anthropic-version", "2023-06-01")]);
}
