//! The checks of workloads and datasets.

use super::*;

fn grade(check: Check, events: &[&str]) -> (Option<bool>, String) {
    let grade = Grader::new(check).expect("a check").grade(&answer_of(200, events, End::Eof));
    (grade.passed, grade.reasons.join("; "))
}

/// Grades a text; `None` is passed, else part of the reason.
fn check_text(check: &Check, text: &str, wrong: Option<&str>) {
    let (passed, reasons) = grade(check.clone(), &[&content(text), STOP]);
    assert_eq!(passed, Some(wrong.is_none()), "{check:?} of {text}: {reasons}");
    assert!(reasons.contains(wrong.unwrap_or_default()), "{check:?} of {text}: {reasons}");
}

#[test]
fn texts() {
    check_text(&Check::Equals("Bern".into()), " Bern\n", None);
    check_text(&Check::Equals("Bern".into()), "Bern.", Some("not 'Bern': 'Bern.'"));
    check_text(&Check::Contains("Bern".into()), "It is Bern.", None);
    check_text(&Check::Contains("Bern".into()), "It is Basel.", Some("lacks 'Bern': 'It is Basel.'"));
    check_text(&Check::Regex("(?i)^bern$".into()), "BERN", None);
    check_text(&Check::Regex("^Bern$".into()), "Berne", Some("does not match"));
    check_text(&Check::NotEmpty, "x", None);
    check_text(&Check::MaxLength(3), " abc ", None);
    check_text(&Check::MaxLength(3), "äöüß", Some("4 characters, 3 allowed"));
    check_text(&Check::Language("en".into()), "It is the best of all that there is.", None);
    check_text(&Check::Equals("4".into()), "<think>2+2</think>4", None);
}

#[test]
fn numbers() {
    let near = |value, within| Check::Number { value, within };
    check_text(&near(42.0, 0.0), "6 × 7 = 42.", None);
    check_text(&near(42.0, 0.5), "about 42.4", None);
    check_text(&near(42.0, 0.1), "about 42.4", Some("42.4 is not within 0.1 of 42"));
    check_text(&near(42.0, 0.0), "I do not know.", Some("no number"));
}

#[test]
fn json() {
    let schema = || Check::JsonSchema(json!({"type": "object", "required": ["a"]}));
    check_text(&schema(), "{\"a\": 1}", None);
    check_text(&schema(), "```json\n{\"a\": 1}\n```", None);
    check_text(&schema(), "{\"b\": 1}", Some("at the root: "));
    check_text(&schema(), "{\"a\": ", Some("JSON that is cut"));
    check_text(&schema(), "none", Some("no JSON"));
    Asked::check(schema()).gives_text("```\n{\"a\": 1}\n```", Verdict::Degraded, &["json_wrapped"]);
}

#[test]
fn tool_calls() {
    let check = |name: &str, arguments: Value, wrong: Option<&str>| {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let said = calls(&[("time", "", "a"), ("weather", r#"{"city":"Bern","days":3}"#, "b")]);
        let (passed, reasons) = grade(Check::ToolCall { name: name.into(), arguments }, &[&said, STOP]);
        assert_eq!(passed, Some(wrong.is_none()), "{reasons}");
        assert!(reasons.contains(wrong.unwrap_or_default()), "{reasons}");
    };
    check("weather", json!({}), None);
    check("weather", json!({"city": "Bern", "days": 3.0}), None);
    check("weather", json!({"city": "Basel"}), Some("'city' is \"Bern\", not \"Basel\""));
    check("weather", json!({"unit": "C"}), Some("'unit' is missing"));
    check("time", json!({}), None);
    check("clock", json!({}), Some("does not call clock, calls time, weather"));
}

#[test]
fn all_and_any() {
    let has = |part: &str| Check::Contains(part.into());
    check_text(&Check::All(vec![has("a"), has("b")]), "ab", None);
    check_text(&Check::All(vec![has("a"), has("b")]), "ac", Some("lacks 'b'"));
    check_text(&Check::Any(vec![has("a"), has("b")]), "b", None);
    check_text(&Check::Any(vec![has("a"), has("b")]), "c", Some("lacks 'a': 'c'; lacks 'b': 'c'"));
}

#[test]
fn what_did_not_come_whole_or_is_too_short_is_not_graded() {
    assert_eq!(grade(Check::NotEmpty, &[TEXT]), (None, String::new()));
    assert_eq!(grade(Check::Language("en".into()), &[TEXT, STOP]), (None, String::new()));
    assert_eq!(grade(Check::NotEmpty, &[STOP]), (Some(false), "blank".to_owned()));
}

#[test]
fn checks_that_cannot_run_say_why() {
    let check = |check: Check, said: &[&str]| {
        let error = Grader::new(check).expect_err("refused").to_string();
        assert!(said.iter().all(|part| error.contains(part)), "{error}");
    };
    check(Check::Regex("[a-".into()), &["'[a-' is no regular expression: unclosed character class"]);
    check(Check::Regex("(a{1000}){1000}".into()), &["too large once compiled"]);
    check(Check::JsonSchema(json!({"type": "strin"})), &["no JSON schema, at /type", "strin"]);
    check(Check::Number { value: f64::NAN, within: 0.0 }, &["finite"]);
    check(Check::Number { value: 1.0, within: -1.0 }, &["0 or more as 'within'"]);
    check(Check::Contains(String::new()), &["names no text"]);
    check(Check::ToolCall { name: " ".into(), arguments: Map::new() }, &["names no tool"]);
    check(Check::Language("klingon".into()), &["'klingon'", "de, el, en"]);
    check(Check::All(vec![]), &["'all' lists no check"]);
    let deep = (0..20).fold(Check::NotEmpty, |inner, _| Check::Any(vec![inner]));
    check(deep, &["nest deeper than 16"]);
}

#[test]
fn checks_are_written_and_read_alike() {
    for text in [
        r#"{"equals":"a"}"#,
        r#"{"number":{"value":1.0,"within":0.0}}"#,
        r#"{"json_schema":{"type":"object"}}"#,
        r#"{"tool_call":{"name":"f","arguments":{}}}"#,
        r#""not_empty""#,
        r#"{"all":[{"language":"en"},{"any":[{"max_length":9},{"regex":"a"}]}]}"#,
    ] {
        let check: Check = serde_json::from_str(text).expect(text);
        assert_eq!(serde_json::to_string(&check).expect(text), text);
    }
    assert!(serde_json::from_str::<Check>(r#"{"equal":"a"}"#).is_err());
}
