//! OpenAI's Responses.

use inferometer_wire::request::{Ask, Message, Prompt, TokenField, body};
use inferometer_wire::{Dialect, endpoint};
use serde_json::{Value, json};

use crate::common::{Scenario, named_events};

const CREATED: &str = r#"{"type":"response.created","response":{"id":"resp_1","object":"response","status":"in_progress","model":"o","output":[],"usage":null},"sequence_number":0}"#;
const ADDED: &str = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","content":[],"role":"assistant"},"sequence_number":1}"#;
const PART: &str = r#"{"type":"response.content_part.added","output_index":0,"part":{"type":"output_text","text":""},"sequence_number":2}"#;
const A: &str = r#"{"type":"response.output_text.delta","output_index":0,"delta":"a","sequence_number":3}"#;
const BC: &str =
    r#"{"type":"response.output_text.delta","output_index":0,"delta":" bc","sequence_number":4}"#;
const TEXT_DONE: &str =
    r#"{"type":"response.output_text.done","output_index":0,"text":"a bc","sequence_number":5}"#;
const ITEM_DONE: &str = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"a bc"}]},"sequence_number":6}"#;
const COMPLETED: &str = r#"{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","model":"o","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"a bc"}]}],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":16}},"sequence_number":7}"#;

fn events(data: &[&str]) -> Scenario {
    Scenario { dialect: Dialect::Responses, ..named_events(data) }
}

fn delta(kind: &str) -> String {
    format!(r#"{{"type":"response.{kind}.delta","output_index":1,"delta":"xy","sequence_number":9}}"#)
}

#[test]
fn w77_which_events_are_output() {
    let check = |kind: &str, right: &str| {
        events(&[CREATED, &delta(kind)]).check(right, "truncated", "");
    };
    check("output_text", "a2");
    check("reasoning_text", "r2");
    check("reasoning_summary_text", "r2");
    check("refusal", "a2");
    check("function_call_arguments", "t2");
    check("audio.transcript", "a2");
    check("audio", "a0");
    check("sunset", "a2");
    assert_eq!(events(&[CREATED, &delta("sunset"), &delta("output_text")]).run(1).1.ignored, 1);
    events(&[CREATED, ADDED, PART, r#"{"type":"response.sunset"}"#]).check("", "truncated", "");
}

#[test]
fn w78_terminals() {
    let check = |last: &str, outcome: &str, flags: &str| {
        events(&[CREATED, ADDED, PART, A, last]).check("a1", outcome, flags);
    };
    check(COMPLETED, "complete", "hidden_reasoning");
    let incomplete = |reason: &str| {
        COMPLETED.replace("response.completed", "response.incomplete").replace(
            r#""status":"completed""#,
            &format!(r#""status":"incomplete","incomplete_details":{{"reason":"{reason}"}}"#),
        )
    };
    check(&incomplete("max_output_tokens"), "complete", "capped hidden_reasoning");
    check(&incomplete("content_filter"), "complete", "content_filtered hidden_reasoning");
    let failed = r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"m"}}}"#;
    check(failed, "stream_error server_error m", "");
    check(
        r#"{"type":"response.cancelled","response":{"status":"cancelled"}}"#,
        "stream_error cancelled the response ended as cancelled",
        "",
    );
    // What the event says of the end stands where the response does not.
    check(r#"{"type":"response.failed"}"#, "stream_error failed the response ended as failed", "");
    check(
        r#"{"type":"response.failed","response":{"error":{"code":"c","message":"m"}}}"#,
        "stream_error c m",
        "",
    );
    check(r#"{"type":"response.completed"}"#, "complete", "");
    check(r#"{"type":"response.incomplete"}"#, "complete", "finish_unknown");
    check(r#"{"type":"completed","response":{"status":"completed"}}"#, "truncated", "");
    events(&[CREATED, ADDED, PART, A]).check("a1", "truncated", "");
}

#[test]
fn w79_done_events_tell_again_what_came() {
    let answer = events(&[CREATED, ADDED, PART, A, BC, TEXT_DONE, ITEM_DONE, COMPLETED]).check(
        "a1 a3",
        "complete",
        "hidden_reasoning",
    );
    assert_eq!(answer.transcript.content, "a bc");
    // Told for the first time, it is new.
    let answer = events(&[CREATED, COMPLETED]).check("a4/7", "complete", "hidden_reasoning");
    assert_eq!(answer.transcript.content, "a bc");
}

#[test]
fn w62_the_kind_may_stand_in_the_event_s_name_alone() {
    let whole = events(&[CREATED, A, BC, COMPLETED]);
    let text = String::from_utf8(whole.body.clone()).unwrap();
    let unnamed = ["created", "output_text.delta", "completed"]
        .iter()
        .fold(text, |text, kind| text.replace(&format!("\"type\":\"response.{kind}\","), ""));
    Scenario { body: unnamed.into_bytes(), ..whole }.check("a1 a3", "complete", "hidden_reasoning");
}

#[test]
fn w80_usage_comes_with_the_end() {
    let answer = events(&[CREATED, A, COMPLETED]).check("a1", "complete", "hidden_reasoning");
    let usage = answer.usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.reasoning, usage.cache_read),
        (Some(9), Some(7), Some(3), Some(4))
    );
    assert_eq!((answer.model.as_deref(), answer.id.as_deref()), (Some("o"), Some("resp_1")));
}

#[test]
fn w81_an_error_at_the_top() {
    let error = r#"{"type":"error","code":"400","message":"m","sequence_number":5}"#;
    events(&[CREATED, A, error]).check("a1", "stream_error 400 m", "");
    let refused = r#"{"error":{"message":"m","type":"invalid_request_error","code":"model_not_found"}}"#;
    Scenario { status: 404, body: refused.into(), ..events(&[]) }.check(
        "",
        "http_error model_not_found m",
        "",
    );
}

#[test]
fn a_function_is_called() {
    let added = r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c","name":"look","arguments":""}}"#;
    let done = r#"{"type":"response.function_call_arguments.done","output_index":1,"arguments":"xy"}"#;
    let answer = events(&[CREATED, added, &delta("function_call_arguments"), done, COMPLETED]).check(
        "t4 t2",
        "complete",
        "hidden_reasoning",
    );
    let call = &answer.transcript.tools[0];
    assert_eq!((call.id.as_str(), call.name.as_str(), call.arguments.as_str()), ("c", "look", "xy"));
    assert_eq!(answer.finish_reason.as_deref(), Some("tool_calls"));
}

#[test]
fn a_whole_response() {
    let whole = r#"{"id":"r","object":"response","status":"completed","model":"o","error":null,"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"so"}]},{"type":"message","content":[{"type":"output_text","text":"abc"}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}],"usage":{"input_tokens":9,"output_tokens":5,"total_tokens":14}}"#;
    let whole =
        Scenario { streaming: false, body: whole.into(), content_type: "application/json", ..events(&[]) };
    let unfinished = whole.body.clone();
    let unfinished = String::from_utf8(unfinished).unwrap().replace("completed", "in_progress");
    Scenario { body: unfinished.into(), ..whole.clone() }.check(
        "",
        "stream_error in_progress the response ended as in_progress",
        "",
    );
    Scenario { body: r#"{"object":"response"}"#.into(), ..whole.clone() }.check(
        "",
        "protocol not_an_answer",
        "",
    );
    let answer = whole.check("", "complete", "");
    let said = &answer.transcript;
    assert_eq!(
        (said.content.as_str(), said.reasoning.as_str(), said.tools[0].name.as_str()),
        ("abc", "so", "f")
    );
    assert_eq!(
        (answer.finish_reason.as_deref(), answer.usage.unwrap().output),
        (Some("tool_calls"), Some(5))
    );
}

#[test]
fn what_is_sent_and_where() {
    let message = |role: &str, content: &str| Message { role: role.into(), content: content.into() };
    let prompt = Prompt::Messages(vec![message("system", "brief"), message("user", "hi")]);
    let parameters = json!({
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": true}},
    });
    let ask = Ask {
        dialect: Dialect::Responses,
        model: "o",
        prompt: &prompt,
        stream: true,
        max_tokens: Some(8),
        token_field: TokenField::MaxTokens,
        temperature: None,
        include_usage: true,
        parameters: parameters.as_object(),
        extra: None,
    };
    let sent: Value = serde_json::from_slice(&body(&ask).unwrap()).unwrap();
    let right = json!({
        "model": "o", "instructions": "brief", "input": [{"role": "user", "content": "hi"}], "stream": true,
        "store": false, "max_output_tokens": 8,
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": true}},
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": false}],
    });
    assert_eq!(sent, right);
    let parameters = json!({"stop": "x"});
    assert_eq!(body(&Ask { parameters: parameters.as_object(), ..ask }).unwrap_err().what, "stop");
    for base in ["https://h", "https://h/v1", "https://h/v1/responses"] {
        assert_eq!(
            endpoint(base, Dialect::Responses, "o", true).as_deref(),
            Ok("https://h/v1/responses"),
            "{base}"
        );
    }
}
