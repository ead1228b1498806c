//! What was typed, and what it means.

use clap::Parser;
use serde_json::{Value, json};

use super::*;

#[derive(Parser)]
struct Typed {
    #[command(flatten)]
    flags: RunFlags,
}

const SEED: u64 = 7;

/// The plan that a command line means, whose environment has one key.
fn resolve(typed: &[&str]) -> Result<Plan, Error> {
    let target = ["run", "--url", "http://h", "--model", "org/m"];
    let flags = Typed::try_parse_from(target.iter().chain(typed)).unwrap().flags;
    flags.resolve(|name| (name == "KEY").then(|| "sk-s3cr3t-key".to_string()), SEED)
}

/// The plan as `run.json` has it.
fn plan(typed: &str) -> Value {
    let typed: Vec<&str> = typed.split_whitespace().collect();
    serde_json::to_value(resolve(&typed).unwrap()).unwrap()
}

#[test]
fn loads() {
    let closed = |slots: u32, ramp_s: f64| json!({"kind": "closed", "slots": slots, "ramp_s": ramp_s});
    let open = |rate: f64, pattern: Value, cap: Option<u32>| json!({"kind": "open", "rate": rate, "pattern": pattern, "cap": cap});
    let check = |typed: &str, right: &[(&str, Value)]| {
        let plan = plan(typed);
        let loads = plan["loads"].as_array().unwrap().iter();
        let read: Vec<_> =
            loads.map(|load| (load["name"].as_str().unwrap(), load["arrival"].clone())).collect();
        assert_eq!(read, right, "{typed}");
    };
    check("", &[("c1", closed(1, 0.0))]);
    check("-c 1,4", &[("c1", closed(1, 0.0)), ("c4", closed(4, 0.015))]);
    check("-c 1000", &[("c1000", closed(1000, 1.0))]);
    check("-c 64 --ramp 0", &[("c64", closed(64, 0.0))]);
    let poisson = json!("poisson");
    check(
        "--request-rate 5,10",
        &[("poisson-5", open(5.0, poisson.clone(), None)), ("poisson-10", open(10.0, poisson.clone(), None))],
    );
    check("--request-rate 5 -c 2", &[("poisson-5-c2", open(5.0, poisson, Some(2)))]);
    let even = open(0.5, json!("constant"), None);
    check("--request-rate 0.5 --arrival constant", &[("constant-0.5", even)]);
    let gamma = |burstiness: f64| open(5.0, json!({"gamma": {"burstiness": burstiness}}), None);
    check("--request-rate 5 --arrival gamma", &[("gamma1-5", gamma(1.0))]);
    check("--request-rate 5 --burstiness 0.25", &[("gamma0.25-5", gamma(0.25))]);
}

#[test]
fn stops() {
    let check = |typed: &str, requests: Value, duration_s: Value| {
        let right = json!({"requests": requests, "duration_s": duration_s});
        assert_eq!(plan(typed)["loads"][0]["stop"], right, "{typed}");
    };
    check("", json!(100), Value::Null);
    check("-c 64", json!(256), Value::Null);
    check("--request-rate 5", json!(100), Value::Null);
    check("-n 7", json!(7), Value::Null);
    check("--duration 1.5m", Value::Null, json!(90.0));
    check("-n 7 --duration 30", json!(7), json!(30.0));
}

#[test]
fn protocol() {
    let typed = "--warmup 1 --retries 2 --timeout 60s --idle-timeout 500ms --grace 5 --cache as-is --seed 9";
    let right = json!({
        "warmup": 1, "retries": 2, "seed": 9, "cache": "as-is", "grace_s": 5.0, "keep_text": false,
        "blocks": null, "precision": null,
        "timeouts": {"connect_s": 10.0, "first_token_s": null, "idle_s": 0.5, "total_s": 60.0},
    });
    assert_eq!(plan(typed)["protocol"], right);
    assert_eq!(plan("")["protocol"]["seed"], SEED);
    assert_eq!(plan("--keep-text")["protocol"]["keep_text"], true);
}

#[test]
fn names() {
    let plan = plan("--isl 500 --osl 100");
    assert_eq!(plan["name"], "org-m");
    assert_eq!(plan["targets"][0]["name"], "org/m@h");
    assert_eq!(plan["targets"][0]["url"], "http://h/v1/chat/completions");
    assert_eq!(plan["workloads"][0]["name"], "isl500-osl100");
}

/// A key is sent, named by where it came from, and stands in nothing that is written.
#[test]
fn keys() {
    for typed in [
        ["--api-key-env", "KEY"],
        ["--api-key", "sk-s3cr3t-key"],
        ["-H", "X-Key: sk-s3cr3t-key"],
        ["-H", "Authorization: Basic sk-s3cr3t-key"],
    ] {
        let plan = resolve(&typed).unwrap();
        let (_, value) = &plan.targets[0].headers[0];
        assert!(value.to_str().unwrap().contains("sk-s3cr3t-key"), "{typed:?}");
        assert!(value.is_sensitive());
        let written = serde_json::to_string(&plan).unwrap() + &format!("{plan:?}");
        assert!(!written.contains("s3cr3t"), "{written}");
        assert_eq!(plan.secrets.redact("it was sk-s3cr3t-key!"), "it was [redacted]!");
    }
    assert_eq!(plan("--api-key-env KEY")["targets"][0]["key_source"], "KEY");
}

/// Hidden from everyone but whom it is for.
#[test]
fn a_key_in_the_body_is_sent_and_not_shown() {
    let typed = r#"{"sources":[{"key":"sk-of-the-body"}],"top_p":1}"#;
    let plan = resolve(&["--extra", typed]).unwrap();
    assert_eq!(plan.targets[0].extra["sources"][0]["key"], "sk-of-the-body");
    assert_eq!(plan.secrets.redact("no such key: sk-of-the-body"), "no such key: [redacted]");
    let shown = serde_json::to_value(&plan).unwrap();
    assert_eq!(shown["targets"][0]["extra"], json!({"sources": [{"key": "[redacted]"}], "top_p": 1}));
}
