//! The binary through a LiteLLM proxy: another's implementation of each dialect, with a server behind it.
//!
//! `scripts/litellm` starts the proxy; behind it stands the real llama.cpp server where that is installed, else the
//! simulator. Everything is small: the real one makes about 20 tokens a second.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "support/script.rs"]
mod script;
mod support;

use std::path::Path;

use inferometer_sim::{Config, Running, Server};
use serde_json::Value;

use script::Started;
use support::{Ended, inferometer};

/// LiteLLM raises a lower limit to it, in responses and messages.
const TOKENS: u64 = 16;

const SIM: &str = "[[model]]\nname = 'sim'\nttft = '20ms'\nrate = 50\n";

/// What stands behind the proxy.
enum Behind {
    Real(Started),
    Simulated(Running),
}

impl Behind {
    fn start(real: bool) -> Self {
        if real {
            return Self::Real(Started::start("real-server", &["--slots", "2", "--threads", "1"]));
        }
        Self::Simulated(Server::start(Config::from_toml(SIM).unwrap()).unwrap())
    }

    /// Its base URL, and its model.
    fn address(&self) -> (String, &str) {
        match self {
            Self::Real(server) => (server.url.clone(), &server.model),
            Self::Simulated(server) => (format!("{}/v1", server.base_url()), "sim"),
        }
    }
}

fn run(proxy: &Started, dir: &Path, dialect: &str, model: &str) -> (Ended, Vec<Value>) {
    let out = dir.join(format!("{dialect} {model}"));
    let mut command = inferometer(dir);
    command.args(["run", "--url", &proxy.url, "--model", model, "--dialect", dialect]);
    command.args(["-n", "2", "-c", "1", "--warmup", "0", "--osl", &TOKENS.to_string(), "--out"]).arg(&out);
    let ended: Ended = command.output().unwrap().into();
    let samples = std::fs::read_to_string(out.join("samples.jsonl")).unwrap();
    (ended, samples.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Every request was answered with a text that came bit by bit, and was counted by the server.
fn assert_answered(proxy: &Started, dir: &Path, dialect: &str) {
    let (ended, samples) = run(proxy, dir, dialect, &proxy.model);
    assert_eq!(ended.code, Some(0), "{dialect}: {}\n{}", ended.stderr, ended.stdout);
    let phases: Vec<_> = samples.iter().map(|sample| sample["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["preflight", "measure", "measure"], "{dialect}");
    for sample in &samples {
        let number = |field: &str| sample[field].as_u64().unwrap_or_else(|| panic!("no {field} in {sample}"));
        assert_eq!((&sample["status"], &sample["http_status"]), (&"ok".into(), &200.into()), "{sample}");
        assert_eq!(sample["tokens_source"], "server", "{sample}");
        assert!((1..=TOKENS).contains(&number("output_tokens")) && number("input_tokens") > 0, "{sample}");
        assert!(number("output_chars") > 0 && number("chunks") > 1, "{sample}");
        assert!(number("first_ns") < number("last_ns") && number("last_ns") <= number("end_ns"), "{sample}");
    }
}

/// The proxy's own refusal stops the run before it starts, with its words.
fn assert_refused(proxy: &Started, dir: &Path, dialect: &str) {
    let (ended, samples) = run(proxy, dir, dialect, "nobody");
    assert_eq!(ended.code, Some(3), "{dialect}: {}", ended.stderr);
    for said in ["Invalid model name passed in model=nobody", "is 'nobody' a model of this server?"] {
        assert!(ended.stderr.contains(said), "{dialect}: {}", ended.stderr);
    }
    let [sample] = &samples[..] else { panic!("{dialect}: {samples:?}") };
    assert_eq!((&sample["status"], &sample["http_status"]), (&"http_error".into(), &400.into()), "{sample}");
}

#[test]
fn every_dialect_that_the_proxy_speaks() {
    if let Some(reason) = script::missing("litellm") {
        println!("skipped: LiteLLM's proxy: {reason}");
        return;
    }
    let no_real_server = script::missing("real-server");
    if let Some(reason) = &no_real_server {
        println!("skipped: the real server behind LiteLLM's proxy (the simulator is): {reason}");
    }
    let behind = Behind::start(no_real_server.is_none());
    let (url, model) = behind.address();
    let proxy = Started::start("litellm", &["--url", &url, "--model", model]);
    let dir = tempfile::tempdir().unwrap();
    for dialect in ["chat", "completions", "responses", "messages"] {
        assert_answered(&proxy, dir.path(), dialect);
        assert_refused(&proxy, dir.path(), dialect);
    }
}
