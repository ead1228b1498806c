//! `--keep-text`: prompts and answers beside the samples, without a secret in them.

use inferometer_sim::Config;
use inferometer_sim::config::Scenario;

use crate::bench::{Bench, json, lines};

/// The model says the key that it was sent, and calls a tool with it.
const TALKATIVE: &str = r#"1 T"Your key is sk-s3cr3t-key" · 2 R" hm" · 3 fin, U(7,3), D"#;

fn bench() -> Bench {
    let talkative = Scenario { name: "talkative".to_string(), script: TALKATIVE.to_string() };
    Bench::with(Config { scenarios: vec![talkative], ..Config::default() })
}

#[test]
fn texts_are_kept_on_request() {
    let bench = bench();
    let ended = bench.command(
        &["--model", "talkative", "-H", "X-Key: sk-s3cr3t-key"],
        "-n 3 --warmup 1 --keep-text --out run",
    );
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let run = bench.dir.path().join("run");
    let (samples, texts) = (lines(&run.join("samples.jsonl")), lines(&run.join("texts.jsonl")));
    assert_eq!(texts.len(), 5, "preflight, a warm-up and three requests");
    for (sample, text) in samples.iter().zip(&texts) {
        assert_eq!([&text["request"], &text["attempt"]], [&sample["request"], &sample["attempt"]]);
        assert!(!text["prompt"].as_str().unwrap().is_empty());
        let said = serde_json::json!([{"content": "Your key is [redacted]", "reasoning": " hm"}]);
        assert_eq!(text["answers"], said);
    }
    assert_eq!(json(&run.join("run.json"))["plan"]["protocol"]["keep_text"], true);
}

#[test]
fn texts_are_not_kept_unasked() {
    let bench = bench();
    assert_eq!(bench.run("talkative", "-n 1 --warmup 0 --out run").code, Some(0));
    assert!(!bench.dir.path().join("run/texts.jsonl").exists());
}
