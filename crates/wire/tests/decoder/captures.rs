//! Raw answers of a real llama.cpp server, byte by byte. Skipped with a line where the captures are absent.

use std::path::PathBuf;

use inferometer_wire::{Answer, Dialect, End, Event, EventTokens, Spelling};

use crate::common::{Scenario, bytes, describe};

/// The status, content type and body of a captured answer; `None` where the captures are absent.
fn capture(name: &str) -> Option<Scenario> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/captures/llama-cpp");
    let path = folder.join(format!("{name}.txt"));
    let Ok(raw) = std::fs::read(&path) else {
        println!("skipped: no capture at {}", path.display());
        return None;
    };
    let at = raw.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = std::str::from_utf8(&raw[..at]).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let is_stream = head.contains("text/event-stream");
    let content_type = if is_stream { "text/event-stream" } else { "application/json; charset=utf-8" };
    Some(Scenario { status, content_type, streaming: is_stream, ..bytes(&raw[at + 4..]) })
}

/// Replays a capture whole and byte by byte.
#[track_caller]
fn replay(scenario: &Scenario, outcome: &str, flags: &str) -> Answer {
    let (seen, _) = scenario.run(usize::MAX);
    let answer = scenario.check(&crate::common::notation(&seen), outcome, flags);
    let chars: usize = seen
        .iter()
        .map(|event| match event {
            Event::Output(output) => output.chars as usize,
            _ => 0,
        })
        .sum();
    if answer.streamed {
        let said = |text: &str| text.chars().count();
        let all = answer.transcripts().map(|t| {
            said(&t.content)
                + t.tools.iter().map(|tool| said(&tool.name) + said(&tool.arguments)).sum::<usize>()
        });
        assert_eq!(chars, all.sum::<usize>());
    }
    answer
}

/// Checks input, output and cached tokens, the finish reason, how the text begins, and the number of output events.
#[track_caller]
fn check(name: &str, flags: &str, counts: [u64; 3], finish: &str, begins: &str, outputs: usize) {
    let Some(mut scenario) = capture(name) else { return };
    if name.starts_with("completions") {
        scenario.dialect = Dialect::Completions;
    }
    let answer = replay(&scenario, "complete", flags);
    let usage = answer.usage.as_ref().unwrap();
    assert_eq!([usage.input, usage.output, usage.cache_read], counts.map(Some), "{name}");
    assert_eq!(answer.finish_reason.as_deref(), Some(finish), "{name}");
    assert!(answer.transcript.content.starts_with(begins), "{name}: {:?}", answer.transcript.content);
    assert_eq!(scenario.run(usize::MAX).0.len(), outputs, "{name}");
    assert_eq!(answer.model.as_deref(), Some("gemma-3-270m"));
    let timing: serde_json::Value = serde_json::from_str(answer.server_timing.unwrap().get()).unwrap();
    assert_eq!(timing["predicted_n"].as_u64(), usage.output, "{name}");
}

#[test]
fn streams() {
    check("stream-normal", "", [13, 6, 0], "stop", "List three colours. 衣装", 5);
    check("stream-json-schema", "", [13, 60, 8], "stop", "{\n                    \"name\": \"black\"", 36);
    check("stream-max-tokens", "capped", [13, 8, 8], "length", "List three colours. 衣装\nPurchase a", 8);
    check("stream-unicode", "capped", [25, 16, 1], "length", "Repeat: 😀 naïve 你好 🇫🇷 😀 naïve 你好 🇫🇷", 16);
    check("stream-n2", "capped", [13, 5, 1], "length", "Select three colours.", 10);
    check("completions-stream", "capped", [4, 6, 1], "length", " a great place to swim,", 6);
}

#[test]
fn whole_answers() {
    check(
        "nonstream",
        "capped",
        [13, 12, 8],
        "length",
        "List three colours. 衣装\nPurchase a pair of shoes.",
        0,
    );
    check("nonstream-logprobs", "capped logprobs", [13, 3, 8], "length", "List three colours", 0);
    check("nonstream-tools-required", "capped", [556, 60, 555], "length", "", 0);
}

#[test]
fn tools() {
    for (name, cached) in [("auto", 555), ("named", 555), ("required", 0)] {
        let name = format!("stream-tools-{name}");
        check(&name, "capped", [556, 60, cached], "length", "", 14);
        let Some(scenario) = capture(&name) else { return };
        let tools = scenario.run(usize::MAX).1.transcript.tools;
        assert!(!tools.is_empty());
        for tool in tools {
            assert_eq!(
                (tool.name.as_str(), tool.arguments.as_str()),
                ("get_weather", r#"{"city": "Paris"}"#)
            );
        }
    }
}

#[test]
fn logprobs_count_tokens() {
    check("stream-logprobs", "capped logprobs", [13, 6, 8], "length", "List three colours. 衣装\n", 6);
    let Some(scenario) = capture("stream-logprobs") else { return };
    let (seen, answer) = scenario.run(usize::MAX);
    assert_eq!(answer.event_tokens, Some(EventTokens::Logprobs));
    let spelling = Spelling::Bytes(answer.transcript.content.into_bytes());
    assert_eq!(answer.transcript.spelling, spelling);
    let tokens = seen.iter().map(|event| match event {
        Event::Output(output) => output.tokens.unwrap_or(0),
        _ => 0,
    });
    assert_eq!(tokens.sum::<u32>(), 6);
}

#[test]
fn no_usage() {
    let Some(scenario) = capture("stream-no-usage") else { return };
    let answer = replay(&scenario, "complete", "capped");
    assert!(answer.usage.is_none());
    assert_eq!(answer.transcript.content, "List three colours. 衣装\nPurchase a");
}

#[test]
fn errors() {
    for (name, outcome) in [
        ("error-404", "http_error 404 File Not Found"),
        ("error-no-messages", "http_error 400 'messages' is required"),
        (
            "error-too-long",
            "http_error 400 request (6409 tokens) exceeds the available context size (2048 tokens), try increasing it",
        ),
        (
            "error-bad-type",
            "http_error 400 Field 'max_tokens': [json.exception.type_error.302] type must be number, but is string",
        ),
        (
            "embeddings",
            "http_error 501 This server does not support embeddings. Start it with `--embeddings`",
        ),
        ("health", "protocol not_an_answer"),
    ] {
        let Some(scenario) = capture(name) else { return };
        assert_eq!(describe(&replay(&scenario, outcome, "").outcome), outcome);
    }
}

#[test]
fn cut_by_the_client() {
    let Some(scenario) = capture("stream-client-cancel") else { return };
    let scenario = Scenario { end: End::Cut, ..scenario };
    let answer = replay(&scenario, "cut", "");
    assert!(answer.usage.is_none());
    assert_eq!(scenario.run(usize::MAX).0.len(), 12);
}
