//! Whatever comes: no panic, bounded evidence, little time.

use super::*;

/// A check with every kind in it.
fn every_check() -> Check {
    let kinds = [
        r#"{"equals":"a"}"#,
        r#"{"contains":"a"}"#,
        r#"{"regex":"(a|b)*c$"}"#,
        r#"{"number":{"value":1}}"#,
        r##"{"json_schema":{"type":"object","additionalProperties":{"$ref":"#"}}}"##,
        r#"{"tool_call":{"name":"f"}}"#,
        r#""not_empty""#,
        r#"{"language":"en"}"#,
        r#"{"max_length":9}"#,
    ];
    Check::All(kinds.iter().map(|kind| serde_json::from_str(kind).expect(kind)).collect())
}

fn judge_all(transcript: inferometer_wire::Transcript, prompt: &str) -> Judgement {
    let mut answer = answer_of(200, &[TEXT, STOP, USAGE], End::Eof);
    answer.transcript = transcript;
    let parameters = json!({
        "tools": [{"function": {"name": "f", "parameters": {"type": "object"}}}],
        "response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}},
        "stop": ["END"],
    });
    let grader = Grader::new(every_check()).expect("a check");
    let expect = Expect {
        prompt,
        model: "m",
        max_tokens: Some(3),
        parameters: Parameters { prompt: parameters.as_object(), target: None },
        grader: Some(&grader),
        ..Expect::default()
    };
    let judgement = judge(&answer, &expect);
    let longest = judgement.evidence.iter().map(|words| words.chars().count()).max();
    assert!(longest.unwrap_or(0) <= crate::EVIDENCE_CHARS_MAX);
    judgement
}

fn said(text: &str, reasoning: &str, arguments: &str) -> inferometer_wire::Transcript {
    let call =
        inferometer_wire::ToolCall { id: String::new(), name: "f".into(), arguments: arguments.into() };
    inferometer_wire::Transcript {
        content: text.into(),
        reasoning: reasoning.into(),
        spelling: inferometer_wire::Spelling::Bytes(reasoning.as_bytes().to_vec()),
        tools: if arguments.is_empty() { Vec::new() } else { vec![call] },
        ..inferometer_wire::Transcript::default()
    }
}

#[test]
fn any_text_is_judged() {
    bolero::check!().with_type::<(String, String, String)>().with_iterations(1_000).for_each(
        |(text, reasoning, arguments)| {
            for lead in ["", "<think>", "```json\n{", "<|", "1,2"] {
                judge_all(said(&format!("{lead}{text}"), reasoning, arguments), arguments);
            }
        },
    );
}

#[test]
fn any_check_is_made_ready_or_refused() {
    bolero::check!().with_type::<String>().with_iterations(1_000).for_each(|text| {
        for check in [
            Check::Regex(text.clone()),
            Check::Language(text.clone()),
            Check::JsonSchema(json!({ text.as_str(): text, "pattern": text, "$ref": text })),
            Check::JsonSchema(serde_json::from_str(text).unwrap_or_default()),
        ] {
            let _ = Grader::new(check);
        }
    });
}

#[test]
fn ten_megabytes_are_judged_in_linear_time() {
    for (unit, megabytes) in
        [("<|", 10), ("[1]", 10), ("a b ", 10), ("{", 1), ("```", 1), ("\u{FFFD}", 1), ("1,", 1)]
    {
        let text = unit.repeat((megabytes << 20) / unit.len());
        judge_all(said(&text, "", ""), "short");
        judge_all(said("", &text, &text), "short");
    }
    for unit in ["\n", "</s>`", "<think>", "灯"] {
        judge_all(said(&unit.repeat((1 << 20) / unit.len()), "", ""), "short");
    }
}
