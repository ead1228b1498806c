//! Amazon Bedrock's Converse.

use inferometer_wire::request::{Ask, Prompt, TokenField, body};
use inferometer_wire::{Auth, Dialect, Finish, Identity, MAX_EVENT, endpoint, models_address};
use serde_json::{Value, json};

use crate::common::{Scenario, binary_event, bytes, message};

const STOP: (&str, &str) = ("messageStop", r#"{"p":"abc","stopReason":"end_turn"}"#);
const USAGE: (&str, &str) = (
    "metadata",
    r#"{"metrics":{"latencyMs":812},"p":"ab","usage":{"inputTokens":9,"outputTokens":5,"totalTokens":14}}"#,
);

fn stream(messages: &[Vec<u8>]) -> Scenario {
    let content_type = "application/vnd.amazon.eventstream";
    Scenario { dialect: Dialect::Bedrock, content_type, ..bytes(messages.concat()) }
}

fn events(events: &[(&str, &str)]) -> Scenario {
    stream(&framed(events))
}

fn framed(events: &[(&str, &str)]) -> Vec<Vec<u8>> {
    events.iter().map(|(name, payload)| binary_event(name, payload)).collect()
}

fn exception(kind: &str, payload: &str) -> Vec<u8> {
    message(&[(":exception-type", kind), (":message-type", "exception")], payload.as_bytes())
}

fn delta(delta: &str) -> (&'static str, String) {
    ("contentBlockDelta", format!(r#"{{"contentBlockIndex":0,"delta":{delta},"p":"abcdefghijk"}}"#))
}

#[test]
fn blocks_are_told_as_they_come() {
    let (kind, thought) = delta(r#"{"reasoningContent":{"text":"so"}}"#);
    let (_, signed) = delta(r#"{"reasoningContent":{"signature":"AAAA"}}"#);
    let (_, hidden) = delta(r#"{"reasoningContent":{"redactedContent":"AAAA"}}"#);
    let (_, text) = delta(r#"{"text":"a b"}"#);
    let call = r#"{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t1","name":"f"}}}"#;
    let input = |json: &str| {
        json!({"contentBlockIndex": 1, "delta": {"toolUse": {"input": json}}, "p": "abc"}).to_string()
    };
    let answer = events(&[
        ("messageStart", r#"{"p":"abcd","role":"assistant"}"#),
        (kind, &thought),
        (kind, &signed),
        (kind, &hidden),
        (kind, &text),
        ("contentBlockStop", r#"{"contentBlockIndex":0,"p":"a"}"#),
        ("contentBlockStart", call),
        (kind, &input("{\"q\":")),
        (kind, &input("1}")),
        ("contentBlockStop", r#"{"contentBlockIndex":1}"#),
        ("messageStop", r#"{"stopReason":"tool_use"}"#),
        USAGE,
    ])
    .check("r2 o o a3 t1 t5 t2", "complete", "");
    assert_eq!((answer.transcript.content.as_str(), answer.transcript.reasoning.as_str()), ("a b", "so"));
    let [tool] = &answer.transcript.tools[..] else { panic!("{:?}", answer.transcript.tools) };
    assert_eq!((tool.id.as_str(), tool.name.as_str(), tool.arguments.as_str()), ("t1", "f", "{\"q\":1}"));
    assert_eq!(answer.finish, Some(Finish::ToolCalls));
    assert_eq!(answer.server_timing.unwrap().get(), r#"{"latencyMs":812}"#);
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.identity), (Some(9), Some(5), Identity::Inclusive));
}

/// What is cached stands beside the input; a later message without counts takes none away.
#[test]
fn w89_counts() {
    let (kind, text) = delta(r#"{"text":"a"}"#);
    let usage = r#"{"usage":{"inputTokens":4,"outputTokens":5,"totalTokens":121,"cacheReadInputTokens":100,"cacheWriteInputTokens":12}}"#;
    let times = ("metadata", r#"{"metrics":{"latencyMs":812}}"#);
    let check = |order: &[(&str, &str)]| {
        let answer = events(order).check("a1", "complete", "");
        let usage = answer.usage.expect("counts came");
        assert_eq!((usage.input, usage.output, usage.identity), (Some(116), Some(5), Identity::Disjoint));
        assert_eq!((usage.cache_read, usage.cache_write), (Some(100), Some(12)));
    };
    check(&[(kind, &text), STOP, ("metadata", usage), times]);
    check(&[(kind, &text), ("metadata", usage), times, STOP]);
    check(&[(kind, &text), ("metadata", usage), STOP, times]);
    check(&[(kind, &text), STOP, times, ("metadata", usage)]);
}

/// An exception in place of an event ends the answer, whatever came before it.
#[test]
fn w89_exceptions_are_errors_of_the_stream() {
    let (kind, text) = delta(r#"{"text":"a"}"#);
    let with = |last: Vec<u8>| stream(&[binary_event(kind, &text), last]);
    let slow = exception("throttlingException", r#"{"message":"Too many tokens"}"#);
    with(slow.clone()).check("a1", "stream_error throttlingException Too many tokens", "");
    stream(&[slow]).check("", "stream_error throttlingException Too many tokens", "");
    let model = r#"{"message":"m","originalStatusCode":500,"originalMessage":"o"}"#;
    with(exception("modelStreamErrorException", model)).check(
        "a1",
        "stream_error modelStreamErrorException m",
        "",
    );
    with(exception("internalServerException", "")).check("a1", "stream_error internalServerException -", "");
    let error = [(":message-type", "error"), (":error-code", "500"), (":error-message", "gone")];
    with(message(&error, b"")).check("a1", "stream_error 500 gone", "");
    // After the finish reason too: the answer is not what it seems.
    let late = [framed(&[(kind, &text), STOP]).concat(), exception("serviceUnavailableException", "{}")];
    stream(&late).check("a1", "stream_error serviceUnavailableException {}", "");
}

#[test]
fn ends() {
    let (kind, text) = delta(r#"{"text":"a"}"#);
    let begun = (kind, text.as_str());
    events(&[begun]).check("a1", "truncated", "");
    events(&[begun, USAGE]).check("a1", "truncated", "");
    stream(&[]).check("", "truncated", "");
    for (reason, flags) in [
        ("end_turn", ""),
        ("stop_sequence", ""),
        ("max_tokens", "capped"),
        ("model_context_window_exceeded", "capped"),
        ("guardrail_intervened", "content_filtered"),
        ("content_filtered", "content_filtered"),
    ] {
        let stop = format!(r#"{{"stopReason":"{reason}"}}"#);
        let answer = events(&[begun, ("messageStop", &stop), USAGE]).check("a1", "complete", flags);
        assert!(answer.finish_is_own, "{reason}");
    }
    let stop = r#"{"stopReason":"malformed_model_output"}"#;
    events(&[begun, ("messageStop", stop), USAGE]).check("a1", "stream_error error -", "");
    events(&[begun, (kind, "nonsense"), STOP]).check("a1", "protocol malformed_event", "");
    // The counts are cut off: the answer is not.
    let mut cut = events(&[begun, STOP, USAGE]);
    cut.body.pop();
    cut.check("a1", "complete", "unterminated_event");
    let refused =
        Scenario { status: 400, ..bytes(r#"{"message":"The provided model identifier is invalid."}"#) };
    Scenario { dialect: Dialect::Bedrock, ..refused }.check(
        "",
        "http_error - The provided model identifier is invalid.",
        "",
    );
}

/// What is not as it was sent is never an answer, and never a plausible error either.
#[test]
fn damage() {
    let (kind, text) = delta(r#"{"text":"a"}"#);
    let whole = [(kind, text.as_str()), STOP, USAGE];
    let first = framed(&whole)[0].len();
    for at in 0..first {
        let mut scenario = events(&whole);
        scenario.body[at] ^= 4;
        scenario.check("", "protocol bad_crc", "");
    }
    let mut text = events(&[]);
    text.body = b"upstream connect error".to_vec();
    let plain = Scenario { content_type: "text/plain", ..text };
    plain.check("", "protocol not_a_stream", "");
    let lengths = [u32::try_from(MAX_EVENT + 1).unwrap().to_be_bytes(), [0; 4]].concat();
    let prelude = [&lengths[..], &crc32fast::hash(&lengths).to_be_bytes()].concat();
    stream(&[prelude]).check("", "protocol event_too_large", "event_too_large");
}

#[test]
fn an_event_of_300_kib() {
    let long = "x".repeat(300 << 10);
    let (kind, text) = delta(&json!({ "text": long }).to_string());
    let scenario = events(&[(kind, &text), STOP, USAGE]);
    for size in [usize::MAX, 1460, 16 << 10] {
        assert_eq!(scenario.run(size).1.transcript.content, long, "{size}");
    }
}

#[test]
fn a_whole_answer() {
    let whole = r#"{"metrics":{"latencyMs":5},"output":{"message":{"content":[
        {"reasoningContent":{"reasoningText":{"text":"so","signature":"AA"}}},{"reasoningContent":{"redactedContent":"AA"}},
        {"text":"abc"},{"toolUse":{"toolUseId":"t","name":"f","input":{"q":1}}}],"role":"assistant"}},
        "stopReason":"tool_use","usage":{"inputTokens":9,"outputTokens":5,"totalTokens":14}}"#;
    let asked = Scenario { streaming: false, dialect: Dialect::Bedrock, ..bytes(whole) };
    let answer = Scenario { content_type: "application/json", ..asked }.check("", "complete", "");
    let said = &answer.transcript;
    assert_eq!((said.content.as_str(), said.reasoning.as_str()), ("abc", "so"));
    assert_eq!((said.tools[0].name.as_str(), said.tools[0].arguments.as_str()), ("f", "{\"q\":1}"));
    assert_eq!(answer.usage.unwrap().output, Some(5));
    assert_eq!(answer.server_timing.unwrap().get(), r#"{"latencyMs":5}"#);
    let nothing = Scenario { streaming: false, dialect: Dialect::Bedrock, ..bytes(r#"{"Output":{}}"#) };
    nothing.check("", "protocol not_an_answer", "");
}

#[test]
fn what_is_sent() {
    let prompt = Prompt::Text("hi".to_owned());
    let sent = |parameters: Value, extra: Value| {
        let ask = Ask {
            dialect: Dialect::Bedrock,
            model: "m",
            prompt: &prompt,
            stream: true,
            max_tokens: Some(8),
            token_field: TokenField::MaxTokens,
            temperature: Some(0.0),
            include_usage: true,
            parameters: parameters.as_object(),
            extra: extra.as_object(),
        };
        body(&ask).map(|body| serde_json::from_slice::<Value>(&body).unwrap()).map_err(|error| error.what)
    };
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
    let function = json!({"name": "f", "description": "d", "parameters": schema});
    let mut wishes = json!({
        "stop": ["x"], "top_p": 0.5, "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
    });
    let extra =
        json!({"additionalModelRequestFields": {"top_k": 4}, "inferenceConfig": {"temperature": 1.0}});
    let mut right = json!({
        "messages": [{"role": "user", "content": [{"text": "hi"}]}],
        "inferenceConfig": {"maxTokens": 8, "temperature": 1.0, "topP": 0.5, "stopSequences": ["x"]},
        "toolConfig": {
            "tools": [{"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": schema}}}],
            "toolChoice": {"tool": {"name": "f"}},
        },
        "additionalModelRequestFields": {"top_k": 4},
    });
    assert_eq!(sent(wishes.clone(), extra.clone()), Ok(right.clone()));
    for (choice, said) in [("auto", json!({"auto": {}})), ("required", json!({"any": {}}))] {
        wishes["tool_choice"] = json!(choice);
        right["toolConfig"]["toolChoice"] = said;
        assert_eq!(sent(wishes.clone(), extra.clone()), Ok(right.clone()));
    }
    let form =
        json!({"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}});
    let sent_form = sent(form, json!({"outputConfig": {"effort": "low"}})).unwrap();
    let config = &sent_form["outputConfig"];
    assert_eq!((&config["effort"], &config["textFormat"]["type"]), (&json!("low"), &json!("json_schema")));
    let said = config["textFormat"]["structure"]["jsonSchema"]["schema"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(said).unwrap(), schema);
    let refused = |parameters: Value| sent(parameters, json!({})).unwrap_err();
    for (name, value) in [
        ("seed", json!(1)),
        ("top_k", json!(4)),
        ("tool_choice", json!("none")),
        ("response_format", json!({"type": "json_object"})),
    ] {
        assert_eq!(refused(json!({ name: value })), name);
    }
}

#[test]
fn where_it_is_asked() {
    let model = "anthropic.claude-sonnet-4-5-20250929-v1:0";
    let check = |base: &str, stream, right: &str| {
        let right = format!("https://h/{right}");
        assert_eq!(endpoint(base, Dialect::Bedrock, model, stream).as_deref(), Ok(right.as_str()), "{base}");
    };
    let path = "model/anthropic.claude-sonnet-4-5-20250929-v1%3A0";
    for base in
        ["https://h", "https://h/", "https://h/model/other/converse", "https://h/model/o/converse-stream"]
    {
        check(base, true, &format!("{path}/converse-stream"));
        check(base, false, &format!("{path}/converse"));
    }
    check("https://h/gateway", true, &format!("gateway/{path}/converse-stream"));
    let arn = "arn:aws:bedrock:us-east-1:1:application-inference-profile/x";
    assert_eq!(
        endpoint("https://h", Dialect::Bedrock, arn, false).as_deref(),
        Ok(
            "https://h/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fx/converse"
        )
    );
    assert_eq!(models_address("https://h/model/m/converse", Dialect::Bedrock), None);
    assert_eq!(Dialect::Bedrock.auth(), Auth::Bearer);
}
