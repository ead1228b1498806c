//! What stands in answers.

use super::*;
use Verdict::{Degraded, Invalid, Valid};

#[test]
fn nothing_in_the_answer() {
    check(&[STOP, DONE], Invalid, &["empty"]);
    check(&[&content(" \n"), STOP], Invalid, &["whitespace_only"]);
    check(&[REASONING, LENGTH], Invalid, &["reasoning_only", "capped"]);
    check(&[REASONING, STOP], Invalid, &["reasoning_only"]);
    check(&[REASONING, TEXT, STOP], Valid, &[]);
    check(&[&content("<think>so"), LENGTH], Invalid, &["reasoning_only", "capped"]);
    check(&[STOP, USAGE], Invalid, &["empty", "output_invisible"]);
}

#[test]
fn hidden_reasoning_has_not_vanished() {
    let hidden = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,"completion_tokens_details":{"reasoning_tokens":3}}}"#;
    check(&[STOP, hidden], Invalid, &["reasoning_only"]);
}

#[test]
fn other_channels_are_answers() {
    check(&[&calls(&[("look", "{}", "")]), STOP], Valid, &[]);
    check(&[r#"{"choices":[{"delta":{"audio":{"data":"AAAA"}}}]}"#, STOP], Valid, &[]);
}

#[test]
fn one_answer_among_choices_is_enough() {
    let second = r#"{"choices":[{"index":1,"delta":{"content":"map"},"finish_reason":"stop"}]}"#;
    check(&[STOP, second], Valid, &[]);
}

#[test]
fn loops() {
    let phrase = "I will now think about it. ".repeat(12);
    let wander = "The first step is to see what is there and then to go on with it, step by step. ".repeat(6);
    let blank = format!("{{\"a\": 1{}", "\n".repeat(700));
    let stale = (0..200)
        .map(|n| ["Wait, let me check that number again: ", &(n % 4).to_string(), ". "].concat())
        .collect::<String>();
    for text in [&phrase, &wander, &blank, &stale] {
        Asked::default().gives_text(&format!("So. {text}"), Invalid, &["loop"]);
    }
    Asked::default().gives(&[&reasoning(&phrase), LENGTH], Invalid, &["reasoning_only", "loop", "capped"]);
    Asked::prompt("Repeat 'I will now think about it.' twelve times").gives_text(&phrase, Valid, &[]);
}

#[test]
fn what_repeats_by_nature_is_no_loop() {
    let rows = (1..30).map(|n| format!("| {n} | {} | {} |\n", n * n, n * n * n));
    let table = format!("| n | n² | n³ |\n|---|----|----|\n{}", rows.collect::<String>());
    let poem = "The snow came down on the little town,\nOn the roofs and the sleeping lane;\nThe snow came down \
                and the lamps burned brown,\nAnd the snow came down again.\n\nLa la la, la la la,\nLa la la, la la la!";
    let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==";
    let rule = format!("Title\n{}", "-".repeat(300));
    let form = "north by west lies the old harbour, where small boats wait for wind and tide. Each morning the pilot reads \
                his charts, counts the buoys and sets out. "
        .repeat(20);
    for text in [&table, poem, base64, &rule, &form, "ha ha ha ha ha ha", "1, 2, 3, 4, 5, 6, 7, 8"] {
        let judgement = Asked::default().judge(&[&content(text), STOP, DONE]);
        assert!(!judgement.flags.contains(&"loop"), "{text}: {judgement:?}");
    }
}

#[test]
fn one_thing_over_and_over() {
    Asked::default().gives_text(&"!".repeat(100), Invalid, &["degenerate"]);
    let judgement = Asked::default().judge(&[&content(&"the ".repeat(100)), STOP]);
    assert!(judgement.flags.contains(&"degenerate"), "{judgement:?}");
    Asked::prompt("Write ! a hundred times").gives_text(&"!".repeat(100), Valid, &[]);
    Asked::default().gives_text(&"!".repeat(20), Valid, &[]);
}

#[test]
fn json_that_was_asked_for() {
    let asked = || Asked::parameters(json!({"response_format": {"type": "json_object"}}));
    asked().gives_text("{\"a\": 1}", Valid, &[]);
    asked().gives_text("```json\n{\"a\": 1}\n```", Degraded, &["json_wrapped"]);
    asked().gives_text("Here you are: {\"a\": 1}", Degraded, &["json_wrapped"]);
    asked().gives(&[&content("{\"a\": "), LENGTH], Invalid, &["json_truncated", "capped"]);
    asked().gives_text("There is none.", Invalid, &["json_invalid"]);
    Asked::default().gives_text("Here you are: {\"a\": ", Valid, &[]);
}

#[test]
fn json_against_its_schema() {
    let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "format": "date"}}});
    let format = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}});
    let asked = || Asked::parameters(json!({"response_format": format}));
    asked().gives_text("{\"a\": \"x\"}", Valid, &[]);
    asked().gives_text("{\"b\": 1}", Invalid, &["schema_invalid"]);
    asked().gives_text("```\n{\"b\": 1}\n```", Invalid, &["schema_invalid", "json_wrapped"]);
}

#[test]
fn replacement_characters() {
    Asked::default().gives_text("na\u{FFFD}ve", Degraded, &["replacement_character"]);
    Asked::prompt("What is \u{FFFD}?").gives_text("\u{FFFD} stands for what is none.", Valid, &[]);
    Asked::default().gives(&[&content("naive\u{FFFD}"), LENGTH], Degraded, &["capped"]);
}

#[test]
fn languages() {
    let english = "Describe the life of a lighthouse keeper in two sentences.";
    let chinese = "灯塔看守人住在海边的灯塔里，每天晚上点亮灯光，为过往的船只指引方向。";
    Asked::prompt(english).gives_text(chinese, Degraded, &["language_wrong"]);
    Asked::prompt("Translate into Chinese: the keeper lights the lamp.").gives_text(chinese, Valid, &[]);
    let mixed =
        |run: &str| format!("The keeper lights the lamp and {run} watches the sea from the tower all night.");
    Asked::prompt(english).gives_text(&mixed("ประภาคาร"), Degraded, &["foreign_script"]);
    for run in ["(灯台守人)", "\"灯台守人\"", "李明", "αβγδ"] {
        Asked::prompt(english).gives_text(&mixed(run), Valid, &[]);
    }
    let german = Asked::check(Check::Language("de".into()));
    german.gives_text(&mixed("so"), Invalid, &["language_wrong", "task_wrong"]);
    german.gives_text("Der Wärter zündet die Lampe an und sieht auf das Meer.", Valid, &[]);
    german.gives_text("Ja!", Valid, &[]);
}

#[test]
fn prompts_that_come_back() {
    let prompt = "Describe the life of a lighthouse keeper in two sentences.";
    Asked::prompt(prompt).gives_text(&format!("{prompt} He"), Degraded, &["prompt_echo"]);
    Asked::prompt(prompt).gives_text("Describe it? He lights the lamp.", Valid, &[]);
    Asked::prompt("What is a map?").gives_text("What is a map? It is a drawing.", Valid, &[]);
    Asked::prompt(prompt).gives_text("### Instruction:\nSo", Degraded, &["prompt_echo"]);
}
