//! Tool calls.

use super::*;
use Verdict::{Degraded, Invalid, Valid};

fn offered() -> Asked {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    Asked::parameters(json!({"tools": [
        {"type": "function", "function": {"name": "weather", "parameters": schema}},
        {"type": "function", "function": {"name": "time", "parameters": {"type": "object"}}},
    ]}))
}

fn check(said: &[(&str, &str, &str)], verdict: Verdict, flags: &[&str]) {
    offered().gives(&[&calls(said), &finish("tool_calls")], verdict, flags);
}

#[test]
fn calls_that_can_be_executed() {
    check(&[("weather", r#"{"city":"Bern"}"#, "a")], Valid, &[]);
    check(&[("weather", r#"{"city":"Bern"}"#, "a"), ("weather", r#"{"city":"Basel"}"#, "b")], Valid, &[]);
    check(&[("time", "", "a")], Valid, &["tool_arguments_empty"]);
}

#[test]
fn calls_that_cannot() {
    check(&[("weather", r#"{"city":"Be"#, "a")], Invalid, &["tool_arguments_cut"]);
    check(&[("weather", r#"{"city":"Bern"}{"city":"Basel"}"#, "a")], Invalid, &["tool_calls_merged"]);
    check(&[("weather", "{city: Bern}", "a")], Invalid, &["tool_arguments_invalid"]);
    check(&[("weather", r#"{"town":"Bern"}"#, "a")], Invalid, &["tool_arguments_schema"]);
    check(&[("weather", "", "a")], Invalid, &["tool_arguments_schema", "tool_arguments_empty"]);
    check(&[("wether", r#"{"city":"Bern"}"#, "a")], Invalid, &["tool_unknown"]);
    check(&[("weather", r#"{"city":"Bern"}"#, "")], Degraded, &["tool_id_missing"]);
    let twice = ("weather", r#"{"city":"Bern"}"#, "a");
    check(&[twice, ("weather", r#"{"city":"Bern"}"#, "b")], Degraded, &["tool_call_doubled"]);
}
