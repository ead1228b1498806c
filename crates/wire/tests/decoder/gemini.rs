//! Gemini's native dialect.

use inferometer_wire::request::{Ask, Prompt, TokenField, body};
use inferometer_wire::{Auth, Dialect, Identity, endpoint};
use serde_json::{Value, json};

use crate::common::{Scenario, bytes};

/// Events as Gemini frames them: lines end in CRLF (W59).
fn events(events: &[String]) -> Scenario {
    let body: String = events.iter().flat_map(|event| ["data: ", event, "\r\n\r\n"]).collect();
    Scenario { dialect: Dialect::Gemini, ..bytes(body) }
}

fn parts(parts: &str) -> String {
    format!(
        r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"index":0}}],"modelVersion":"g","responseId":"r"}}"#
    )
}

fn last(reason: &str) -> String {
    format!(
        r#"{{"candidates":[{{"content":{{"parts":[{{"text":"c"}}],"role":"model"}},"finishReason":"{reason}","index":0}}],"usageMetadata":{{"promptTokenCount":9,"candidatesTokenCount":3,"thoughtsTokenCount":5,"totalTokenCount":17}}}}"#
    )
}

#[test]
fn w90_thoughts_are_reasoning_and_stand_beside_the_output() {
    let thought = parts(r#"{"text":"so","thought":true}"#);
    let running = parts(r#"{"text":"ab"}"#).replace(
        r#""modelVersion""#,
        r#""usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"thoughtsTokenCount":5,"totalTokenCount":16},"modelVersion""#,
    );
    let answer =
        events(&[thought, running, last("STOP")]).check("r2 a2 a1", "complete", "reasoning_additive");
    assert_eq!((answer.transcript.content.as_str(), answer.transcript.reasoning.as_str()), ("abc", "so"));
    assert_eq!((answer.model.as_deref(), answer.id.as_deref()), (Some("g"), Some("r")));
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.reasoning), (Some(9), Some(8), Some(5)));
    assert_eq!((usage.identity, usage.normal().output_visible), (Identity::Additive, Some(3)));
}

#[test]
fn w12_calls_come_whole_and_without_an_index() {
    let calls = parts(
        r#"{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"AAAA"},{"functionCall":{"name":"f","args":{}}}"#,
    );
    let answer =
        events(&[calls, last("STOP")]).check("t11 a1", "complete", "hidden_reasoning reasoning_additive");
    let calls: Vec<_> = answer.transcript.tools.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(calls, [r#"{"a":1}"#, "{}"]);
    events(&[parts(r#"{"text":"","thoughtSignature":"AAAA"}"#)]).check("o", "truncated", "");
}

#[test]
fn ends() {
    let a = parts(r#"{"text":"a"}"#);
    let check = |last: String, events_right: &str, outcome: &str, flags: &str| {
        events(&[a.clone(), last]).check(events_right, outcome, flags);
    };
    check(last("MAX_TOKENS"), "a1 a1", "complete", "capped hidden_reasoning reasoning_additive");
    check(last("SAFETY"), "a1 a1", "complete", "content_filtered hidden_reasoning reasoning_additive");
    check(
        last("MALFORMED_FUNCTION_CALL"),
        "a1 a1",
        "stream_error error -",
        "hidden_reasoning reasoning_additive",
    );
    check(
        r#"{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}"#.into(),
        "a1",
        "stream_error 503 overloaded",
        "",
    );
    events(std::slice::from_ref(&a)).check("a1", "truncated", "");
    events(&[r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#.into()]).check(
        "",
        "complete",
        "content_filtered",
    );
    // Asked without alt=sse, it answers with one array, in pieces.
    let array = Scenario { dialect: Dialect::Gemini, ..bytes(format!("[{a}\n,\n{}]", last("STOP"))) };
    array.check("", "protocol json_array", "not_streamed");
    let cut = array.body.len() - 1;
    Scenario { body: array.body[..cut].into(), ..array }.check("", "truncated", "");
    let refused = r#"{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}"#;
    let refused = Scenario { status: 400, dialect: Dialect::Gemini, ..bytes(refused) };
    refused.check("", "http_error 400 API key not valid", "");
}

#[test]
fn a_whole_answer() {
    let whole = Scenario { streaming: false, content_type: "application/json", ..events(&[]) };
    let answer = Scenario { body: last("STOP").into_bytes(), ..whole }.check(
        "",
        "complete",
        "hidden_reasoning reasoning_additive",
    );
    assert_eq!(answer.transcript.content, "c");
}

#[test]
fn what_is_sent_and_where() {
    let prompt = Prompt::Text("hi".to_owned());
    let parameters = json!({
        "seed": 7, "stop": "x", "tool_choice": "required",
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    });
    let ask = Ask {
        dialect: Dialect::Gemini,
        model: "g",
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
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"type": "object"}}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
        "generationConfig": {"maxOutputTokens": 8, "temperature": 0.0, "seed": 7, "stopSequences": ["x"]},
    });
    assert_eq!(sent, right);
    let check = |base: &str, stream, right: &str| {
        assert_eq!(endpoint(base, Dialect::Gemini, "models/g", stream).as_deref(), Ok(right), "{base}");
    };
    check("https://h", true, "https://h/v1beta/models/g:streamGenerateContent?alt=sse");
    check("https://h/v1beta/models/g", true, "https://h/v1beta/models/g:streamGenerateContent?alt=sse");
    check("https://h/v1/", false, "https://h/v1/models/g:generateContent");
    check(
        "https://h/v1beta/models/other:generateContent",
        true,
        "https://h/v1beta/models/g:streamGenerateContent?alt=sse",
    );
    assert_eq!(Dialect::Gemini.auth(), Auth::Header("x-goog-api-key"));
}
