//! Transport and envelope.

use inferometer_wire::End;

use super::*;
use Verdict::{Degraded, Invalid, Unverifiable, Valid};

fn check_end(status: u16, events: &[&str], end: End, verdict: Verdict, flags: &[&str]) {
    let judgement = judge(&answer_of(status, events, end), &Expect::default());
    assert_eq!((judgement.verdict, judgement.flags.as_slice()), (verdict, flags), "{events:?}");
}

#[test]
fn transport() {
    check_end(429, &[], End::Eof, Invalid, &["http_error"]);
    check(&[TEXT, r#"{"error":{"message":"stopped"}}"#, DONE], Invalid, &["stream_error"]);
    check(&[TEXT, r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#], Invalid, &["stream_error"]);
    check(&[TEXT], Invalid, &["truncated"]);
    check(&[TEXT, "{oops", STOP], Invalid, &["protocol"]);
    check_end(200, &[TEXT], End::Broken, Invalid, &["broken"]);
    check_end(200, &[TEXT], End::Cut, Unverifiable, &["cut"]);
    check_end(200, &[], End::Cut, Unverifiable, &["cut"]);
}

#[test]
fn a_stream_with_a_finish_reason_is_whole() {
    check(&[TEXT, STOP], Valid, &[]);
    check_end(200, &[TEXT, STOP], End::Broken, Valid, &[]);
}

#[test]
fn chunks_without_choices_are_no_error() {
    let azure = r#"{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#;
    check(&[azure, TEXT, STOP, USAGE, DONE], Valid, &[]);
}

#[test]
fn a_stream_that_carries_nothing() {
    check(
        &[r#"{"choices":[{"delta":{"role":"assistant"}}]}"#, DONE],
        Invalid,
        &["no_delta", "empty", "no_finish_reason"],
    );
    check(&[STOP, DONE], Invalid, &["empty"]);
}

#[test]
fn bytes_that_are_no_utf8() {
    let event = |content: &[u8]| {
        [b"data: {\"choices\":[{\"delta\":{\"content\":\"", content, b"\"},\"finish_reason\":\"stop\"}]}\n\n"]
            .concat()
    };
    let judged = |pieces: &[&[u8]]| {
        let head = Head { status: 200, content_type: None, streaming: true };
        let mut decoder = Decoder::new(Dialect::Chat, head);
        for piece in pieces {
            decoder.feed(piece, &mut |_| {});
        }
        judge(&decoder.finish(End::Eof, &mut |_| {}), &Expect::default())
    };
    assert_eq!(judged(&[&event(b"so \xff it is")]).flags, ["invalid_utf8"]);
    let whole = event("né".as_bytes());
    let cut = whole.len() / 2 - 12;
    for cut in cut..whole.len() {
        assert_eq!(judged(&[&whole[..cut], &whole[cut..]]).verdict, Valid, "cut at {cut}");
    }
}

#[test]
fn models_that_differ() {
    let check = |asked, echoed: &str, flags: &[&str]| {
        let event = json!({"model": echoed, "choices": [{"delta": {"content": "map"}}]}).to_string();
        Asked { model: asked, ..Asked::default() }.gives(&[&event, STOP], Valid, flags);
    };
    check("gpt-4.1", "claude-sonnet-4", &["model_differs"]);
    check("mistral-7b-instruct-v0.3", "ministral-3-14b-2512", &["model_differs"]);
    check("gpt-4.1", "gpt-4.1-mini-2025-04-14", &["model_differs"]);
    check("gpt-4.1", "gpt-4.1-2025-04-14", &[]);
    check("gpt-4-0613", "gpt-4", &[]);
    check("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b-instruct", &[]);
    check("deepseek/deepseek-r1:free", "deepseek-r1", &[]);
    check("claude-sonnet-latest", "claude-sonnet-4-20250514", &[]);
    check("qwen3", "/models/qwen3-0.6b.gguf", &[]);
    check("", "gpt-4.1", &[]);
}

#[test]
fn counts_that_do_not_add_up() {
    let check = |events: &[&str], flags: &[&str]| Asked::default().gives(events, Valid, flags);
    check(&[TEXT, STOP, &usage(7, 3, 11)], &["usage_arithmetic"]);
    check(&[TEXT, STOP, &usage(7, 3, 10)], &[]);
    let additive = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":15,"completion_tokens_details":{"reasoning_tokens":5}}}"#;
    check(&[TEXT, STOP, additive], &[]);
}

#[test]
fn counts_that_are_not_what_was_said() {
    let check = |counted, stated, reasoned: bool, flags: &[&str]| {
        let asked = Asked { counted: Some(counted), ..Asked::default() };
        let thought = if reasoned { REASONING } else { TEXT };
        asked.gives(&[thought, TEXT, STOP, &usage(7, stated, 7 + stated)], Valid, flags);
    };
    check(19_503, 197, false, &["usage_mismatch"]);
    check(197, 19_503, false, &["usage_mismatch"]);
    check(197, 19_503, true, &[]);
    check(100, 60, false, &[]);
    check(100, 250, false, &[]);
    check(1, 20, false, &[]);
}

#[test]
fn more_than_was_asked_for() {
    let asked = Asked { max_tokens: Some(3), ..Asked::default() };
    asked.gives(&[TEXT, LENGTH, &usage(7, 9, 16)], Degraded, &["capped", "cap_exceeded"]);
    asked.gives(&[TEXT, STOP, &usage(7, 4, 11)], Valid, &[]);
    let outside = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":9,"total_tokens":16,"completion_tokens_details":{"reasoning_tokens":6}}}"#;
    asked.gives(&[REASONING, TEXT, STOP, outside], Valid, &[]);
}

/// An event that adds `text`, with log probabilities of `tokens`, JSON in each.
fn with_logprobs(delta: &Value, tokens: &[&str]) -> String {
    let tokens: Vec<Value> = tokens.iter().map(|token| serde_json::from_str(token).unwrap()).collect();
    json!({"choices": [{"delta": delta, "logprobs": {"content": tokens}}]}).to_string()
}

#[test]
fn logprobs_of_another_text() {
    let text = |text: &str, tokens: &[&str]| with_logprobs(&json!({"content": text}), tokens);
    let differs: &[&str] = &["logprob_text_differs"];
    check(&[&text("a map", &[r#"{"token":"a"}"#, r#"{"token":" map"}"#]), STOP], Valid, &[]);
    check(&[&text("a map", &[r#"{"token":"a"}"#, r#"{"token":" cat"}"#]), STOP], Valid, differs);
    check(&[&text("a map", &[r#"{"token":"a"}"#, "null"]), STOP], Valid, differs);
    check(&[&text("map", &[r#"{"token":"map"}"#, r#"{"token":"map"}"#]), STOP], Valid, differs);
    check(&[&text("a", &[r#"{"token":"a"}"#]), &content(" map"), STOP], Valid, differs);
    let judgement = Asked::default().judge(&[&text("a map", &[r#"{"token":"a cat"}"#]), STOP]);
    let why = "logprob_text_differs: the text goes on with 'map', its tokens with 'cat'";
    assert_eq!(judgement.evidence, [why]);
}

#[test]
fn logprobs_of_more_than_the_text() {
    let text = |text: &str, tokens: &[&str]| with_logprobs(&json!({"content": text}), tokens);
    let map = text("map", &[r#"{"token":"map"}"#]);
    // `null` and tokens of the reasoning (sglang#26778), in its events and as the head of the answer's.
    let so = |tokens: &[&str]| with_logprobs(&json!({"reasoning_content": "So, map."}), tokens);
    check(&[&so(&["null"]), &map, STOP], Valid, &[]);
    check(&[&so(&[r#"{"token":"So"}"#]), &map, STOP], Valid, &[]);
    let all = text("map", &[r#"{"token":"So, map."}"#, r#"{"token":"</think>"}"#, r#"{"token":"map"}"#]);
    check(&[REASONING, &all, STOP], Valid, &[]);
    // Control tokens, the white space around, half a character at the limit.
    check(&[&text("map", &[r#"{"token":"map"}"#, r#"{"token":"<|im_end|>"}"#]), STOP], Valid, &[]);
    check(&[&text("a < b", &[r#"{"token":"\n a"}"#, r#"{"token":" < b"}"#]), STOP], Valid, &[]);
    check(
        &[&text("a", &[r#"{"token":"a"}"#, r#"{"token":"x","bytes":[195]}"#]), LENGTH],
        Degraded,
        &["capped"],
    );
    let stopped = Asked::parameters(json!({"stop": ["END"]}));
    stopped.gives(&[&text("map", &[r#"{"token":"map"}"#, r#"{"token":" END"}"#]), STOP], Valid, &[]);
}

#[test]
fn logprobs_that_cannot_be_read_are_unavailable() {
    let half = with_logprobs(&json!({"content": "ä"}), &[r#"{"token":"\ufffd","bytes":null}"#]);
    check(&[&half, STOP], Valid, &["logprob_text_unavailable"]);
    let joined = [r#"{"token":"\ufffd","bytes":[195]}"#, r#"{"token":"\ufffd","bytes":[164]}"#];
    check(&[&with_logprobs(&json!({"content": "ä"}), &joined), STOP], Valid, &[]);
}
