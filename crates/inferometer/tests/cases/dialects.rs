//! Cases of every dialect: what a broken stream ends as is the same in each, for it is the same that broke.

use inferometer_sim::Config;

use crate::harness::{Bench, Outcome};

const DIALECTS: [&str; 8] =
    ["chat", "completions", "azure", "responses", "messages", "gemini", "ollama", "bedrock"];

/// The text of one event that is longer than any buffer begins with.
const LONG: usize = 300 * 1024;

fn bench() -> Bench {
    let fault = |kind: &str| {
        format!(
            "[[model]]\nname = \"{kind}\"\nttft = \"5ms\"\nrate = 1000\ntokens = 9\n\
             fault = [{{ kind = \"{kind}\", share = 1, after_tokens = 3 }}]\n"
        )
    };
    let faults = ["stream_error", "truncate", "cut", "reset", "malformed", "empty"].map(fault).concat();
    let script = |name: &str, script: &str| format!("[[scenario]]\nname = \"{name}\"\nscript = '{script}'\n");
    let long = format!("5 T\"{}\" · 10 T\"end\", fin, U(3,2), D", "x".repeat(LONG));
    let scripts = [
        script("long", &long),
        script("minds", "5 T, T, fin, T, T, fin(length), U(3,4), D"),
        script("counts", "5 T, T, U(3,2), U(9,1), fin, U(3,4), D"),
    ];
    Bench::with(Config::from_toml(&(faults + &scripts.concat())).unwrap())
}

fn ask(bench: &Bench, dialect: &str, model: &str) -> Outcome {
    let url = match dialect {
        "azure" => format!("{}/openai?api-version=1", bench.server.base_url().trim_end_matches("/v1")),
        _ => bench.server.base_url().trim_end_matches("/v1").to_owned(),
    };
    let none = ["AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"];
    let run = bench.run_at(&url, model, &format!("-n 2 --no-preflight --max-tokens 500 --dialect {dialect}"));
    let run = none.into_iter().fold(run, |run, name| run.env(name, ""));
    let run = run.env("AWS_REGION", "us-east-1").env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
    run.env("AWS_SECRET_ACCESS_KEY", "k").env("HOME", bench.dir.path()).done(bench)
}

/// In each dialect each of two answers ends so: its status, its code (`*` for any), and words of its message.
fn check(bench: &Bench, model: &str, right: (&str, &str, &str), verdict: &str) {
    for dialect in DIALECTS {
        let run = ask(bench, dialect, model);
        assert_eq!(run.measured().count(), 2, "{model}, {dialect}: {}", run.stderr);
        for sample in run.measured() {
            let (status, code, said) =
                (sample.status(), sample.text("error_code"), sample.text("error_message"));
            assert_eq!(status, right.0, "{model}, {dialect}: {code} {said}");
            assert!(right.1 == "*" || code == right.1, "{model}, {dialect}: {code} {said}");
            assert!(said.contains(right.2), "{model}, {dialect}: {code} {said}");
            assert_eq!(sample.text("verdict"), verdict, "{model}, {dialect}");
        }
    }
}

#[test]
fn a_broken_answer_is_one_in_every_dialect() {
    let bench = bench();
    check(&bench, "stream_error", ("stream_error", "*", "engine stopped"), "invalid");
    check(
        &bench,
        "truncate",
        ("truncated", "truncated", "nothing that says the answer is complete"),
        "invalid",
    );
    check(&bench, "cut", ("transport", "body", "broke its answer off"), "invalid");
    check(&bench, "reset", ("transport", "body", "reset by peer"), "invalid");
    check(&bench, "malformed", ("protocol", "malformed_event", "{\""), "invalid");
    check(&bench, "empty", ("ok", "", ""), "invalid");
}

#[test]
fn an_event_of_300_kib_is_read_in_every_dialect() {
    let bench = bench();
    for dialect in DIALECTS {
        let run = ask(&bench, dialect, "long");
        for sample in run.measured() {
            assert_eq!((sample.status(), sample.count("output_tokens")), ("ok", Some(2)), "{dialect}");
            assert_eq!(sample.count("output_chars"), Some(LONG as u64 + 3), "{dialect}");
        }
    }
}

/// Those that say an end once can only change their mind over what they said before it.
#[test]
fn a_stream_that_changes_its_mind_is_no_success() {
    let bench = bench();
    for dialect in ["chat", "completions", "azure", "gemini"] {
        for sample in ask(&bench, dialect, "minds").measured() {
            assert_eq!(
                (sample.status(), sample.text("error_code")),
                ("protocol", "finish_changed"),
                "{dialect}"
            );
            let said = sample.text("error_message").to_lowercase();
            assert!(said.contains("it ended by ") && said.contains(", and then by "), "{dialect}: {said}");
            assert_eq!(sample.text("verdict"), "invalid", "{dialect}");
        }
    }
    for dialect in ["chat", "completions", "azure", "gemini"] {
        for sample in ask(&bench, dialect, "counts").measured() {
            assert!(sample.has_flag("usage_nonmonotonic"), "{dialect}: {:?}", sample.flags());
        }
    }
}
