//! Cases of keys: in no file and in no output, whichever way they came, and whoever repeats them.

use inferometer_sim::Config;

use crate::harness::{Bench, Left, Measure, report};

const KEY: &str = "sk-live-0a1b2c3d4e5f6a7b8c9d";

/// The ways to hand over a key.
const WAYS: [&str; 9] = [
    "flag",
    "variable",
    "authorization",
    "header",
    "short header",
    "body",
    "escaped in the body",
    "deep in the body",
    "proxy",
];

fn with_key(measure: Measure, way: &str) -> Measure {
    match way {
        "flag" => measure.arg("--api-key").arg(KEY),
        "variable" => measure.env("PROVIDER_KEY", KEY).arg("--api-key-env").arg("PROVIDER_KEY"),
        "authorization" => measure.arg("-H").arg(format!("Authorization: Bearer {KEY}")),
        "short header" => measure.arg(format!("-Hx-me:{KEY}")),
        "body" => measure.arg("--extra").arg(format!(r#"{{"api_key":"{KEY}"}}"#)),
        "escaped in the body" => {
            measure.arg(format!(r#"--extra={{"apiKey":"{}"}}"#, KEY.replace('-', "\\u002d")))
        }
        "deep in the body" => {
            measure.arg("--extra").arg(format!(r#"{{"sources":[{{"auth":{{"of":["{KEY}"]}}}}]}}"#))
        }
        // The provider is excepted from it: only the credentials are in the environment.
        "proxy" => {
            measure.env("https_proxy", format!("http://me:{KEY}@127.0.0.1:9")).env("no_proxy", "127.0.0.1")
        }
        _ => measure.arg(format!("--header=x-api-key: {KEY}")),
    }
}

/// The key is nowhere in what a run printed or left behind.
#[track_caller]
fn assert_absent(what: &str, left: &Left) {
    for text in [&left.ended.stdout, &left.ended.stderr] {
        assert!(!text.contains(KEY), "{what}: the key is printed: {text}");
    }
    let files: Vec<_> = std::fs::read_dir(&left.out).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 3, "{what}: {}", left.ended.stderr);
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        // Nor most of it, as from a text that was cut.
        assert!(!text.contains(&KEY[..KEY.len() - 4]), "{what}: the key is in {}: {text}", path.display());
    }
    for format in ["table", "json", "md", "csv"] {
        let shown = report(&left.out, format);
        assert!(!shown.contains(KEY), "{what}: the key is in the report: {shown}");
    }
}

#[test]
fn s07_a_key_is_nowhere() {
    // Without the key there is no answer: where all is well, it was sent.
    let bench = Bench::with(Config { require_key: Some(KEY.to_owned()), ..Config::default() });
    for way in ["flag", "variable", "authorization"] {
        let ended = with_key(bench.run("c28", "-n 2 --keep-text"), way).refused();
        assert_eq!(ended.ended.code, Some(0), "{way}: {}", ended.ended.stderr);
        assert_absent(way, &ended);
    }
}

#[test]
fn s07_a_key_in_the_address_is_nowhere() {
    let bench = Bench::new();
    let address = bench.server.base_url();
    let ended = bench.run_at(&format!("{address}/v1?api-key={KEY}"), "c28", "-n 2 --keep-text").refused();
    assert_eq!(ended.ended.code, Some(0), "{}", ended.ended.stderr);
    assert_absent("query", &ended);
    let userinfo = address.replace("//", &format!("//me:{KEY}@"));
    let ended = bench.run_at(&userinfo, "c28", "-n 2").refused();
    assert_eq!(ended.ended.code, Some(2), "{}", ended.ended.stderr);
    assert!(!ended.ended.stderr.contains(KEY), "{}", ended.ended.stderr);
}

#[test]
fn s07_a_refused_key_is_not_shown() {
    let bench = Bench::with(Config { require_key: Some("another".to_owned()), ..Config::default() });
    for way in WAYS {
        let ended = with_key(bench.run("c28", "-n 2"), way).refused();
        assert_eq!(ended.ended.code, Some(3), "{way}: {}", ended.ended.stderr);
        assert_absent(way, &ended);
    }
}

#[test]
fn s07_a_key_that_the_server_repeats_is_taken_out() {
    let delta = r#"{"choices":[{"index":0,"delta":{"content":"KEY"}}]}"#;
    let echoes = [
        r#"http 401 x-ratelimit-of=KEY · raw {"error":{"message":"no such key: KEY","code":"KEY"}}"#.to_owned(),
        "http 500 content-type=text/html · raw <p>KEY</p>".to_owned(),
        // Where a message is cut to its greatest length, the key may be cut with it.
        r#"http 400 · raw {"error":{"message":"⟨78*2040⟩KEY"}}"#.to_owned(),
        format!("100 {delta} · fin(KEY), U(7,1), D"),
        r#"100 T · {"error":{"message":"KEY","type":"KEY"}}, D"#.to_owned(),
        r#"100 {"id":"KEY","model":"KEY","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"completion_tokens":1,"note":"KEY"},"timings":{"of":"KEY"}} · D"#.to_owned(),
        r#"100 raw data: {"choices":[{"delta":{"content":"KEY⏎⏎"#.to_owned(),
    ];
    for echo in echoes {
        // Under a name of its own: the key is in no argument but where it is given as one.
        let bench = bench_with(&echo);
        for way in ["flag", "header", "body", "proxy"] {
            let ended = with_key(bench.run("echo", "-n 2 --no-preflight --keep-text"), way).refused();
            assert_absent(&format!("{way}: {echo}"), &ended);
            let told =
                ["samples.jsonl", "texts.jsonl"].map(|name| std::fs::read_to_string(ended.out.join(name)));
            let told = told.map(Result::unwrap).concat();
            assert!(told.contains("[redacted]"), "{way}: {echo}: the key came back: {told}");
        }
    }
}

/// A simulator whose model `echo` does what `script` says, with the key where it says KEY.
fn bench_with(script: &str) -> Bench {
    let mut config = Config::default();
    let script = script.replace("KEY", KEY);
    config.scenarios.push(inferometer_sim::config::Scenario { name: "echo".to_owned(), script });
    Bench::with(config)
}
