//! Verdicts on answers as servers send them.

use inferometer_wire::{Decoder, Dialect, End, Head};

use crate::{Expect, Verdict, judge};

/// Judges a chat answer with the events given, each the inside of a data line.
fn check_end(status: u16, events: &[&str], end: End, verdict: Verdict, flags: &[&str]) {
    let head = Head { status, content_type: Some("text/event-stream"), streaming: true };
    let mut decoder = Decoder::new(Dialect::Chat, head);
    for event in events {
        decoder.feed(format!("data: {event}\n\n").as_bytes(), &mut |_| {});
    }
    let answer = decoder.finish(end, &mut |_| {});
    let judgement = judge(&answer, &Expect { streaming: true, max_tokens: Some(3) });
    assert_eq!((judgement.verdict, judgement.flags.as_slice()), (verdict, flags), "{events:?}");
}

fn check(events: &[&str], verdict: Verdict, flags: &[&str]) {
    check_end(200, events, End::Eof, verdict, flags);
}

const TEXT: &str = r#"{"choices":[{"delta":{"content":"map"}}]}"#;
const REASONING: &str = r#"{"choices":[{"delta":{"reasoning_content":"so"}}]}"#;
const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
const LENGTH: &str = r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}"#;
const DONE: &str = "[DONE]";

#[test]
fn transport() {
    use Verdict::{Invalid, Unverifiable};
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
fn termination() {
    use Verdict::{Degraded, Valid};
    check(&[TEXT, STOP, USAGE, DONE], Valid, &[]);
    check(&[TEXT, LENGTH], Degraded, &["capped"]);
    check(&[TEXT, DONE], Degraded, &["no_finish_reason"]);
    check(&[TEXT, USAGE, DONE], Degraded, &["capped"]);
    check(&[TEXT, r#"{"choices":[{"delta":{},"finish_reason":"sunset"}]}"#], Degraded, &["finish_unknown"]);
    check(
        &[TEXT, r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#],
        Degraded,
        &["content_filtered"],
    );
    check_end(200, &[TEXT, STOP], End::Broken, Valid, &[]);
}

#[test]
fn content() {
    use Verdict::{Invalid, Valid};
    check(&[STOP, DONE], Invalid, &["empty"]);
    check(&[DONE], Invalid, &["empty", "no_finish_reason"]);
    check(&[r#"{"choices":[{"delta":{"content":" \n"}}]}"#, STOP], Invalid, &["whitespace_only"]);
    check(&[REASONING, LENGTH], Invalid, &["reasoning_only", "capped"]);
    check(&[REASONING, STOP], Invalid, &["reasoning_only"]);
    check(&[REASONING, TEXT, STOP], Valid, &[]);
    check(
        &[r#"{"choices":[{"delta":{"content":"<think>so"}}]}"#, LENGTH],
        Invalid,
        &["reasoning_only", "capped"],
    );
    check(&[r#"{"choices":[{"delta":{"content":"<think>so</think>map"}}]}"#, STOP], Valid, &[]);
    check(&[STOP, USAGE], Invalid, &["empty", "output_invisible"]);
}

#[test]
fn other_channels_are_answers() {
    for delta in [
        r#"{"tool_calls":[{"index":0,"function":{"name":"lookup","arguments":"{}"}}]}"#,
        r#"{"refusal":"no"}"#,
        r#"{"audio":{"data":"AAAA"}}"#,
    ] {
        check(&[&format!(r#"{{"choices":[{{"delta":{delta}}}]}}"#), STOP], Verdict::Valid, &[]);
    }
}

#[test]
fn one_answer_among_choices_is_enough() {
    let second = r#"{"choices":[{"index":1,"delta":{"content":"map"},"finish_reason":"stop"}]}"#;
    check(&[STOP, second], Verdict::Valid, &[]);
}

#[test]
fn verdicts_have_their_names() {
    let all = [Verdict::Valid, Verdict::Degraded, Verdict::Unverifiable, Verdict::Invalid];
    assert_eq!(all.map(Verdict::name), ["valid", "degraded", "unverifiable", "invalid"]);
    assert!(all.is_sorted());
}
