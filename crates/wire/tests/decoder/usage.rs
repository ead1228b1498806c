//! W27 to W39: what the server counted.

use inferometer_wire::{Answer, Identity, Normal, UsageSource};

use crate::common::{A, B, DONE, STOP, USAGE, events};

/// Checks input, output and reasoning of a stream with these events after one piece of content.
#[track_caller]
fn check(data: &[&str], seen: &str, flags: &str, counts: [Option<u64>; 3]) -> Answer {
    let stream: Vec<&str> = [A].iter().chain(data).copied().collect();
    let answer = events(&stream).check(seen, "complete", flags);
    let usage = answer.usage.as_ref();
    let found = usage.map(|usage| [usage.input, usage.output, usage.reasoning]);
    assert_eq!(found.unwrap_or_default(), counts, "{data:?}");
    answer
}

/// A usage chunk with these counts.
fn chunk(usage: &str) -> String {
    format!(r#"{{"choices":[],"usage":{{{usage}}}}}"#)
}

#[test]
fn w27_usage_only_last_chunk() {
    let answer = check(&[STOP, USAGE, DONE], "a1", "", [Some(9), Some(5), None]);
    let usage = answer.usage.unwrap();
    assert_eq!(usage.verbatim.get(), r#"{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}"#);
    assert_eq!((usage.source, usage.identity), (UsageSource::Server, Identity::Inclusive));
}

#[test]
fn w28_usage_chunk_without_choices() {
    let bare = r#"{"object":"chat.completion.chunk","usage":{"prompt_tokens":9,"completion_tokens":5}}"#;
    check(&[STOP, bare], "a1", "", [Some(9), Some(5), None]);
}

#[test]
fn w29_usage_on_the_last_content_chunk() {
    let last = r#"{"choices":[{"delta":{"content":"c"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":5}}"#;
    check(&[B, last], "a1 a3 a1", "", [Some(9), Some(5), None]);
}

#[test]
fn w30_usage_beside_an_empty_delta() {
    let beside = r#"{"choices":[{"index":0,"delta":{}}],"usage":{"prompt_tokens":9,"completion_tokens":5}}"#;
    check(&[STOP, beside], "a1", "", [Some(9), Some(5), None]);
}

#[test]
fn w31_running_usage_in_every_chunk() {
    let piece = |total: u64| {
        format!(
            r#"{{"choices":[{{"delta":{{"content":"a"}}}}],"usage":{{"prompt_tokens":40,"completion_tokens":{total}}}}}"#
        )
    };
    let (first, second, third) = (piece(10), piece(50), piece(100));
    let answer = events(&[&first, &second, &third, STOP]).check("a1/10 a1/40 a1/50", "complete", "");
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input, usage.output), (Some(40), Some(100)));
}

#[test]
fn w32_groq_extension() {
    let extension = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"queue_time":0.1,"prompt_tokens":40,"completion_tokens":100}}}"#;
    let answer = check(&[extension], "a1", "", [Some(40), Some(100), None]);
    assert_eq!(answer.usage.unwrap().source, UsageSource::ServerExt);
    assert!(answer.server_timing.unwrap().get().contains("queue_time"));
    let standard = chunk(r#""prompt_tokens":40,"completion_tokens":100"#);
    let answer = check(&[extension, &standard], "a1", "", [Some(40), Some(100), None]);
    assert_eq!(answer.usage.unwrap().source, UsageSource::Server);
}

#[test]
fn w33_usage_not_last() {
    let empty = r#"{"choices":[{"index":0,"delta":{}}]}"#;
    check(&[STOP, USAGE, empty, DONE], "a1", "", [Some(9), Some(5), None]);
    check(&[USAGE, STOP, empty], "a1", "", [Some(9), Some(5), None]);
}

#[test]
fn w34_usage_null_or_absent() {
    let null = r#"{"choices":[{"delta":{"content":" bc"}}],"usage":null}"#;
    assert!(check(&[null, STOP, DONE], "a1 a3", "", [None; 3]).usage.is_none());
    assert!(check(&[STOP, DONE], "a1", "", [None; 3]).usage.is_none());
    let empty = chunk(r#""prompt_tokens":null"#);
    assert!(check(&[STOP, &empty], "a1", "", [None; 3]).usage.is_none());
}

#[test]
fn w35_field_refused() {
    let body = r#"{"error":{"message":"Unknown field: stream_options","type":"invalid_request_error","param":"stream_options"}}"#;
    let scenario = crate::common::Scenario { status: 400, ..crate::common::bytes(body) };
    scenario.check("", "http_error invalid_request_error Unknown field: stream_options", "");
}

#[test]
fn w36_reasoning_added_on_top() {
    let so = r#"{"choices":[{"delta":{"reasoning_content":"so"}}]}"#;
    let additive = chunk(
        r#""prompt_tokens":21,"completion_tokens":0,"total_tokens":81,"completion_tokens_details":{"reasoning_tokens":60}"#,
    );
    let answer = check(&[so, STOP, &additive], "a1 r2", "reasoning_additive", [Some(21), Some(60), Some(60)]);
    assert_eq!(answer.usage.unwrap().identity, Identity::Additive);
    let inclusive = chunk(
        r#""prompt_tokens":21,"completion_tokens":70,"total_tokens":91,"completion_tokens_details":{"reasoning_tokens":60}"#,
    );
    check(&[so, STOP, &inclusive], "a1 r2", "", [Some(21), Some(70), Some(60)]);
    check(&[STOP, &inclusive], "a1", "hidden_reasoning", [Some(21), Some(70), Some(60)]);
    let tags = r#"{"choices":[{"index":1,"delta":{"content":"<think>so"}}]}"#;
    let stop = r#"{"choices":[{"index":1,"finish_reason":"stop"}]}"#;
    check(&[tags, STOP, stop, &inclusive], "a1 r9", "think_tags", [Some(21), Some(70), Some(60)]);
}

#[test]
fn w37_reasoning_inside_not_split() {
    let so = r#"{"choices":[{"delta":{"reasoning_content":"so"}}]}"#;
    for details in
        [r#","completion_tokens_details":{"reasoning_tokens":0}"#, r#","completion_tokens_details":null"#, ""]
    {
        let usage =
            chunk(&format!(r#""prompt_tokens":9,"completion_tokens":474,"total_tokens":483{details}"#));
        let answer = check(&[so, STOP, &usage], "a1 r2", "", [Some(9), Some(474), None]);
        let normal = answer.usage.unwrap().normal();
        assert_eq!((normal.output, normal.output_visible, normal.output_reasoning), (Some(474), None, None));
    }
}

#[track_caller]
fn check_normal(usage: &str, flags: &str, expected: [u64; 4]) {
    let usage = chunk(usage);
    let answer = events(&[A, STOP, &usage]).check("a1", "complete", flags);
    let Normal { input_uncached, cache_read, cache_write, output_visible, .. } =
        answer.usage.unwrap().normal();
    let found = [input_uncached, cache_read, cache_write, output_visible].map(Option::unwrap_or_default);
    assert_eq!(found, expected, "{usage}");
}

#[test]
fn w38_cached_tokens_inside_or_beside() {
    let openai = r#""prompt_tokens":10000,"completion_tokens":500,"total_tokens":10500,"prompt_tokens_details":{"cached_tokens":8000}"#;
    check_normal(openai, "", [2000, 8000, 0, 500]);
    let deepseek = r#""prompt_tokens":10000,"completion_tokens":500,"prompt_cache_hit_tokens":8000,"prompt_cache_miss_tokens":2000"#;
    check_normal(deepseek, "", [2000, 8000, 0, 500]);
    let anthropic = r#""input_tokens":25,"output_tokens":15,"cache_read_input_tokens":100,"cache_creation_input_tokens":50"#;
    check_normal(anthropic, "", [25, 100, 50, 15]);
    let too_many = r#""prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":12}"#;
    check_normal(too_many, "usage_clamped", [0, 12, 0, 5]);
}

#[test]
fn w39_zero_shrinking_or_negative_usage() {
    let zero = chunk(r#""prompt_tokens":0,"completion_tokens":0"#);
    check(&[&zero, STOP, USAGE], "a1", "", [Some(9), Some(5), None]);
    check(&[USAGE, STOP, &zero], "a1", "usage_nonmonotonic", [Some(9), Some(5), None]);
    let smaller = chunk(r#""prompt_tokens":9,"completion_tokens":4,"total_tokens":13"#);
    check(&[USAGE, STOP, &smaller], "a1", "usage_nonmonotonic", [Some(9), Some(4), None]);
    for invalid in ["-1", "1.5", "\"7\"", "9007199254740993", "true"] {
        let usage = chunk(&format!(r#""prompt_tokens":{invalid},"completion_tokens":{invalid}"#));
        check(&[USAGE, STOP, &usage], "a1", "usage_invalid", [Some(9), Some(5), None]);
    }
    let odd = r#"{"choices":[],"usage":"none"}"#;
    check(&[STOP, odd], "a1", "usage_invalid", [None; 3]);
}

#[test]
fn costs_that_the_provider_states() {
    for (cost, expected) in [(r#""cost":1.2e-5"#, "0.000012"), (r#""cost":{"total_cost":0.0060}"#, "0.006")] {
        let usage = chunk(&format!(r#""prompt_tokens":9,"completion_tokens":5,{cost}"#));
        let answer = check(&[STOP, &usage], "a1", "", [Some(9), Some(5), None]);
        assert_eq!(answer.usage.unwrap().cost.as_deref(), Some(expected));
    }
}
