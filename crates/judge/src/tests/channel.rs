//! Reasoning, tags, tokens and calls on their channels.

use super::*;
use Verdict::{Degraded, Invalid, Valid};

#[test]
fn reasoning_that_broke_off() {
    check(&[&reasoning("So we have"), STOP], Invalid, &["reasoning_unfinished", "reasoning_only"]);
    check(&[&reasoning("So we have it."), STOP], Invalid, &["reasoning_only"]);
    check(&[&content("<think>So we have it."), STOP], Invalid, &["reasoning_unfinished", "reasoning_only"]);
    check(&[&reasoning("So we have"), LENGTH], Invalid, &["reasoning_only", "capped"]);
    check(&[&reasoning("So we have"), TEXT, STOP], Valid, &[]);
}

#[test]
fn answers_filed_as_reasoning() {
    let off = Asked::parameters(json!({"reasoning_effort": "none"}));
    off.gives(&[&reasoning("It is 4."), STOP], Invalid, &["reasoning_misfiled", "reasoning_only"]);
    off.gives(&[&reasoning("It is 4."), TEXT, STOP], Valid, &[]);
    let right = Asked::check(Check::Number { value: 4.0, within: 0.0 });
    right.gives(&[&reasoning("It is 4."), TEXT, STOP], Valid, &["task_wrong", "answer_in_reasoning"]);
    right.gives(&[&reasoning("It is 4."), &content("4"), STOP], Valid, &[]);
}

#[test]
fn think_tags() {
    let check = |text: &str, flags: &[&str]| {
        let verdict = if flags.is_empty() { Valid } else { Degraded };
        Asked::default().gives_text(text, verdict, flags);
    };
    check("so</think>map", &["think_tag_leaked"]);
    check("<think>so</think>map", &["think_tag_leaked"]);
    check("[THINK]so[/THINK]map", &["think_tag_leaked"]);
    check("Reasoning stands between `<think>` and `</think>`.", &[]);
    Asked::prompt("What does </think> mean?").gives_text("The tag </think> ends thought.", Valid, &[]);
    let agreed = Asked { think_tags: true, ..Asked::default() };
    agreed.gives_text("<think>so</think>map", Valid, &[]);
    agreed.gives_text("<think>so</think>map</think>", Degraded, &["think_tag_leaked"]);
}

#[test]
fn control_tokens() {
    let check = |text: &str, flags: &[&str]| {
        let verdict = if flags.is_empty() { Valid } else { Degraded };
        Asked::default().gives_text(text, verdict, flags);
    };
    check("So it is.<|im_end|>", &["special_token_leaked"]);
    check("<｜tool▁sep｜> so", &["special_token_leaked"]);
    check("[INST] so [/INST]", &["special_token_leaked"]);
    check("So it is.</s>", &["special_token_leaked"]);
    check("<s>old</s> new", &[]);
    check("Pipe it: a <| b |> c", &[]);
    check("a <|> b <|", &[]);
    check("The token `<|im_end|>` ends a turn.", &[]);
    Asked::prompt("What is <|im_end|>?").gives_text("<|im_end|> ends a turn.", Valid, &[]);
    let call = calls(&[("cart<|channel|>commentary", "{}", "a")]);
    Asked::default().gives(&[&call, STOP], Invalid, &["special_token_leaked"]);
}

#[test]
fn calls_as_text() {
    let tools = || json!({"tools": [{"function": {"name": "look"}}]});
    let marked = "<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool_call>";
    let bare = "{\"name\": \"look\", \"arguments\": {\"at\": 1}}";
    for text in [marked, bare] {
        Asked::parameters(tools()).gives_text(text, Invalid, &["tool_text_leaked"]);
        Asked::default().gives_text(text, Valid, &[]);
    }
    Asked::parameters(tools()).gives_text("{\"name\": \"Anna\", \"arguments\": []}", Valid, &[]);
    let json = json!({"tools": tools()["tools"], "response_format": {"type": "json_object"}});
    Asked::parameters(json).gives_text(bare, Valid, &[]);
}
