//! Checks over several answers, from a simulator's bytes to the warning that a user reads.

use crate::harness::{Bench, report};

/// What the check `id` of the first cell came to after a run against `model`: its state and its words. What was found
/// is said in the terminal's report too.
#[track_caller]
fn check(id: &str, model: &str, arguments: &str, state: &str) -> String {
    let bench = Bench::new();
    let outcome = bench.run(model, arguments).arg("--no-preflight").done(&bench);
    let checks = outcome.summary["cells"][0]["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["id"] == id).unwrap();
    assert_eq!(check["state"], state, "{check}");
    let why = check["why"].as_str().unwrap().to_owned();
    let said = report(&outcome.dir, "md").contains(&format!("{id}: "));
    assert_eq!(said, state == "found", "{check}");
    why
}

/// A script whose odd answers have `odd` for their events and the even ones `even`.
fn script(odd: &str, even: &str) -> String {
    let answer = |when: &str, event: &str| format!("{when}: 5 answer data: {event}⏎⏎; fin, U(7,2), D");
    format!("script:{} | {}", answer("odd", odd), answer("even", even))
}

/// An event that adds `map`, with these fields before its choices and in its choice.
fn event(fields: &str, in_choice: &str) -> String {
    format!(r#"{{{fields}"choices":[{{"index":0,{in_choice}"delta":{{"content":"map"}}}}]}}"#)
}

const RUN: &str = "--requests 8 --concurrency 1";

#[test]
fn a_model_that_changes() {
    let named = |name: &str| event(&format!(r#""model":"{name}","#), "");
    let why = check("model.echo", &script(&named("m-7b"), &named("m-70b")), RUN, "found");
    assert!(why.contains("m-7b (4 of 8)") && why.contains("m-70b (4 of 8)"), "{why}");
    check("model.echo", &script(&named("m-7b"), &named("m-7b-2026-01-02")), RUN, "passed");
}

#[test]
fn answers_that_come_again() {
    let answer = |id: &str| event(&format!(r#""id":"{id}","#), "");
    // Two ids, each borne by the same text four times over: what a cache of responses gives.
    let why = check("replay", &script(&answer("a"), &answer("b")), RUN, "found");
    assert!(why.starts_with("6 of 8 answers bear the id of an earlier one"), "{why}");
    // One id for all is a poor one and no proof.
    check("replay", &script(&answer("a"), &answer("a")), RUN, "unavailable");
}

#[test]
fn log_probabilities_of_another_text() {
    let spelt = |token: &str| event("", &format!(r#""logprobs":{{"content":[{{"token":"{token}"}}]}},"#));
    check("logprob.text", &script(&spelt("map"), &spelt("cat")), RUN, "found");
    check("logprob.text", &script(&spelt("map"), &spelt("map")), RUN, "passed");
    check("logprob.text", "w01", RUN, "unavailable");
}

#[test]
fn prompts_that_are_cut() {
    // Whatever is sent, the server counts 300 tokens of it.
    let cut = "script:5,10 T · fin, U(300,2), D";
    let grows = "--requests 20 --concurrency 1 --seed 7 --isl 3000 --isl-stddev 1500";
    check("input.truncated", cut, grows, "found");
    check("input.truncated", cut, "--requests 8 --concurrency 1 --isl 200", "unavailable");
}
