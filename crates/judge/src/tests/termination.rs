//! How answers end.

use super::*;
use Verdict::{Degraded, Invalid, Valid};

#[test]
fn finish_reasons() {
    check(&[TEXT, STOP, USAGE, DONE], Valid, &[]);
    check(&[TEXT, LENGTH], Degraded, &["capped"]);
    check(&[TEXT, DONE], Degraded, &["no_finish_reason"]);
    check(&[TEXT, USAGE, DONE], Degraded, &["capped"]);
    check(&[TEXT, &finish("sunset")], Degraded, &["finish_unknown"]);
    check(&[TEXT, &finish("content_filter")], Degraded, &["content_filtered"]);
    check(&[TEXT, &finish("model_length")], Degraded, &["capped", "finish_nonstandard"]);
    check(&[TEXT, &finish("eos_token")], Valid, &["finish_nonstandard"]);
}

#[test]
fn the_limit_is_the_end_of_a_task() {
    Asked::check(Check::Contains("map".into())).gives(&[TEXT, LENGTH], Invalid, &["capped"]);
    Asked::check(Check::NotEmpty).gives(&[TEXT, LENGTH], Degraded, &["capped"]);
}

#[test]
fn stopped_by_the_limit_whatever_is_said() {
    let asked = Asked { max_tokens: Some(12), ..Asked::default() };
    let check = |text: &str, tokens, verdict, flags: &[&str]| {
        asked.gives(&[&content(text), STOP, &usage(7, tokens, 7 + tokens)], verdict, flags);
    };
    check("The sky is blue. That is so because the", 12, Degraded, &["cap_as_stop"]);
    check("The sky is blue. That is so because of air.", 12, Valid, &[]);
    check("The sky is blue. That is so because the", 11, Valid, &[]);
    check("one two three four five six seven", 12, Valid, &[]);
}

#[test]
fn tool_calls_and_their_finish_reason() {
    let tools = json!([{"function": {"name": "look"}}]);
    let call = calls(&[("look", "{}", "a")]);
    let offered = Asked::parameters(json!({"tools": tools}));
    offered.gives(&[&call, &finish("tool_calls")], Valid, &[]);
    offered.gives(&[&call, STOP], Degraded, &["finish_tool_mismatch"]);
    offered.gives(&[TEXT, &finish("tool_calls")], Degraded, &["finish_tool_mismatch"]);
    let named = json!({"type": "function", "function": {"name": "look"}});
    for choice in [json!("required"), named] {
        Asked::parameters(json!({"tools": tools, "tool_choice": choice})).gives(&[&call, STOP], Valid, &[]);
    }
}

#[test]
fn stop_strings() {
    let asked = Asked::parameters(json!({"stop": ["\nQ:", "END"]}));
    asked.gives_text("So it is.\nQ: And now?", Degraded, &["stop_leaked"]);
    asked.gives_text("So it is.", Valid, &[]);
    let reported = r#"{"choices":[{"delta":{},"finish_reason":"stop_sequence","stop_sequence":"END"}]}"#;
    asked.gives(&[TEXT, reported], Valid, &["finish_nonstandard"]);
}

#[test]
fn refusals() {
    let refused = r#"{"choices":[{"delta":{"refusal":"I will not."}}]}"#;
    check(&[refused, STOP], Invalid, &["refusal"]);
    check(&[TEXT, refused, STOP], Degraded, &["refusal"]);
    check(&[TEXT, &finish("refusal")], Invalid, &["refusal", "finish_nonstandard"]);
    Asked::default().gives_text("I'm sorry, but I can't help with that.", Valid, &["refusal_phrase"]);
    let speech = "He said it plainly and at once, and nobody in the room could have misheard him, for the windows were \
                  shut, the clock had been stopped since the morning, and even the dog lay still under the old table: \
                  I cannot help with that.";
    Asked::default().gives_text(speech, Valid, &[]);
}
