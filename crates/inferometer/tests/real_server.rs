//! The binary against a real llama.cpp server, whose own counters and timings are held against ours.
//!
//! `scripts/real-server` starts it; `docs/real-server.md` tells its quirks. It makes about 20 tokens a second, so that
//! everything here is small, and one test, so that nothing else asks it meanwhile.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "support/real.rs"]
mod real;
#[path = "support/script.rs"]
mod script;
mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use serde_json::Value;

use real::RealServer;
use script::missing;
use support::{Ended, inferometer};

/// Components of a vector of gemma-3-270m.
const WIDTH: u64 = 640;

/// Tokens, as the server counts them.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    /// Prompt tokens, cached ones among them.
    prompt: u64,
    cached: u64,
    predicted: u64,
}

/// What a run left.
struct Run {
    samples: Vec<Value>,
    summary: Value,
}

/// The server's own counts so far.
fn counts(server: &RealServer) -> Counts {
    let mut connection = TcpStream::connect(&server.host).unwrap();
    write!(connection, "GET /metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.host)
        .unwrap();
    let mut page = String::new();
    connection.read_to_string(&mut page).unwrap();
    let of = |name: &str| {
        let line = page.lines().find_map(|line| line.strip_prefix(&format!("llamacpp:{name} ")));
        line.unwrap_or_else(|| panic!("no {name} in {page}")).trim().parse().unwrap()
    };
    Counts {
        prompt: of("prompt_tokens_total") + of("prompt_tokens_cached_total"),
        cached: of("prompt_tokens_cached_total"),
        predicted: of("tokens_predicted_total"),
    }
}

/// A run, and that its tokens in all phases are what the server says it has worked on meanwhile.
fn run(server: &RealServer, name: &str, arguments: &str) -> Run {
    let before = counts(server);
    let out = server.dir.path().join(name);
    let mut command = inferometer(server.dir.path());
    command.args(["run", "--url", &format!("http://{}", server.host), "--model", &server.model]);
    // Answers as long as asked, whatever the model would say.
    command.args(["--extra", r#"{"ignore_eos":true}"#]).args(arguments.split_whitespace());
    let ended: Ended = command.arg("--out").arg(&out).output().unwrap().into();
    assert_eq!(ended.code, Some(0), "{name}: {}\n{}", ended.stderr, ended.stdout);
    let run = Run::read(&out);
    let after = counts(server);
    let worked = Counts {
        prompt: after.prompt - before.prompt,
        cached: after.cached - before.cached,
        predicted: after.predicted - before.predicted,
    };
    let told = Counts {
        prompt: run.total("input_tokens"),
        cached: run.total("cache_read_tokens"),
        predicted: run.total("output_tokens"),
    };
    assert_eq!(told, worked, "{name}");
    run
}

impl Run {
    fn read(dir: &Path) -> Self {
        let text = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
        let samples = text("samples.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Self { samples, summary: serde_json::from_str(&text("summary.json")).unwrap() }
    }

    fn of(&self, phase: &str) -> impl Iterator<Item = &Value> {
        self.samples.iter().filter(move |sample| sample["phase"] == phase)
    }

    /// The sum of a field over all phases.
    fn total(&self, field: &str) -> u64 {
        self.samples.iter().map(|sample| sample[field].as_u64().unwrap_or_else(|| panic!("{sample}"))).sum()
    }

    /// Every request was answered, with `tokens` tokens each.
    fn check(&self, warmups: usize, requests: usize, tokens: u64) {
        let phases = ["preflight", "warmup", "measure"].map(|phase| self.of(phase).count());
        assert_eq!(phases, [1, warmups, requests]);
        for sample in &self.samples {
            assert_eq!((&sample["status"], &sample["final"]), (&"ok".into(), &true.into()), "{sample}");
            assert_eq!(sample["output_tokens"], tokens, "{sample}");
            assert_eq!(sample["tokens_source"], "server", "{sample}");
        }
        let counts = &self.summary["cells"][0]["counts"];
        assert_eq!([&counts["issued"], &counts["ok"], &counts["failed"]], [requests, requests, 0]);
    }
}

/// A field of a sample, in ms.
fn ms(sample: &Value, field: &str) -> f64 {
    sample[field].as_f64().unwrap_or_else(|| panic!("no {field} in {sample}")) / 1e6
}

/// What the server says that it took to the first token, against what we saw of it. The first token is sampled in the
/// prompt's own pass, so that the prompt alone is the lower bound, and prompts have to be long for a predicted token
/// not to matter.
fn assert_first_token(sample: &Value) {
    let seen = ms(sample, "first_ns") - ms(sample, "sent_ns");
    let timing = |name: &str| sample["server_timing"][name].as_f64().unwrap();
    let (prompt, token) = (timing("prompt_ms"), timing("predicted_per_token_ms"));
    let told = prompt + token;
    assert!((seen - told).abs() <= (0.1 * told).max(20.0), "seen {seen} ms, told {prompt} + {token} ms");
    assert!(seen >= prompt - 1.0, "seen {seen} ms, before the prompt's {prompt} ms were over");
}

fn alone(server: &RealServer) {
    let run = run(server, "alone", "-n 5 -c 1 --warmup 1 --isl 200 --osl 12");
    run.check(1, 5, 12);
    run.of("measure").for_each(assert_first_token);
    // The server announces that it keeps connections and closes each after its stream. Whether that was seen in time
    // or a request met the closed connection and was sent again, none was lost, and each had a connection of its own.
    for sample in run.of("measure") {
        assert_eq!(sample["conn_reused"], false, "{sample}");
        assert!(sample["stale_reconnects"].as_u64().unwrap() <= 1, "{sample}");
        assert!(!sample["connect_ns"].is_null(), "{sample}");
    }
}

/// The server speaks OpenAI's newer dialect and Anthropic's too, over the same model.
fn other_dialects(server: &RealServer) {
    for dialect in ["responses", "messages"] {
        run(server, dialect, &format!("--dialect {dialect} -n 3 -c 1 --warmup 1 --osl 12")).check(1, 3, 12);
    }
}

fn two_at_once(server: &RealServer) {
    let run = run(server, "two", "-n 6 -c 2 --warmup 2 --osl 12");
    run.check(2, 6, 12);
    let overlap = run.of("measure").zip(run.of("measure").skip(1)).any(|(one, next)| {
        let end = ms(one, "end_ns");
        (ms(next, "start_ns")..ms(next, "end_ns")).contains(&end)
    });
    assert!(overlap, "two were under way at once");
}

/// Whole answers: no token of theirs has a time, and their connections are kept.
fn whole(server: &RealServer) {
    let run = run(server, "whole", "-n 2 -c 1 --warmup 1 --osl 8 --no-stream");
    run.check(1, 2, 8);
    for sample in run.of("measure") {
        assert_eq!([&sample["ttft_ms"], &sample["tpot_ms"]], [&Value::Null, &Value::Null], "{sample}");
        assert!(sample["request_latency_ms"].as_f64().unwrap() > 0.0);
        assert_eq!(sample["conn_reused"], true, "{sample}");
    }
}

fn completions(server: &RealServer) {
    let run = run(server, "completions", "-n 2 -c 1 --warmup 0 --osl 8 --dialect completions");
    run.check(0, 2, 8);
    for sample in run.of("measure") {
        assert!(sample["ttft_ms"].as_f64().unwrap() > 0.0, "{sample}");
    }
}

/// Vectors: as many components as the model is wide, and the tokens that the server says it has read.
fn embeddings(server: &RealServer) {
    let out = server.dir.path().join("embeddings");
    let mut command = inferometer(server.dir.path());
    command.args(["run", "--url", &format!("http://{}", server.host), "--model", &server.model]);
    command.args("--dialect embeddings -n 4 -c 1 --warmup 1 --out".split_whitespace()).arg(&out);
    let ended: Ended = command.output().unwrap().into();
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stderr, ended.stdout);
    let run = Run::read(&out);
    assert_eq!(run.of("measure").count(), 4);
    for sample in &run.samples {
        assert_eq!([&sample["status"], &sample["verdict"]], ["ok", "valid"], "{sample}");
        assert_eq!(sample["dimensions"], WIDTH, "{sample}");
        assert_eq!(sample["input_tokens"], sample["usage"]["total_tokens"], "{sample}");
        let counted = sample["counted_input_tokens"].as_u64().unwrap();
        let told = sample["input_tokens"].as_u64().unwrap();
        assert!(told >= counted / 2 && told <= counted * 2, "{sample}");
        assert_eq!([&sample["ttft_ms"], &sample["output_tokens"]], [&Value::Null, &Value::Null], "{sample}");
        assert!(sample["request_latency_ms"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(run.summary["cells"][0]["dimensions"], serde_json::json!([WIDTH]));
}

#[test]
fn what_is_told_is_what_the_server_did() {
    if let Some(reason) = missing("real-server") {
        println!("skipped: {reason}");
        return;
    }
    let server = RealServer::start(2, 1);
    alone(&server);
    two_at_once(&server);
    other_dialects(&server);
    whole(&server);
    completions(&server);
    drop(server);
    embeddings(&RealServer::with(1, 1, &["--embeddings"]));
}
