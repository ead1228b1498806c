//! A plan over real llama.cpp servers and a simulated one: which is named the faster, and what two names of the same
//! server come to.
//!
//! Two servers share this machine's cores, so that they are asked in turns.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "support/real.rs"]
mod real;
#[path = "support/script.rs"]
mod script;
mod support;

use std::path::Path;

use inferometer_sim::{Config, Model, Running, Server};
use serde_json::Value;

use real::RealServer;
use script::missing;
use support::{Ended, inferometer};

/// Slower to its first token than either real server, and known to be.
const SIM_TTFT: &str = "3s";

/// Short prompts to all; a few with a passage to the real ones, which read some 40 tokens a second on one thread.
const WORK: &str = r#"
[[workload]]
name = "short"
isl = 60
max_tokens = 4

[[workload]]
name = "passage"
kind = "rag"
isl = 512
max_tokens = 8

[[load]]
name = "one"
concurrency = 1
requests = 12
workloads = ["short"]

[[load]]
name = "few"
concurrency = 1
requests = 2
workloads = ["passage"]
targets = ["quick", "slow"]

[protocol]
warmup = 1
seed = 7
interleave = "turns"

[profile.chat]
workload = "short"
load = "one"
"#;

/// A quick server, the same again under another name, a slow one, and a simulated one that is slower still.
fn plan(quick: &RealServer, slow: &RealServer, sim: &Running) -> String {
    let target = |name: &str, provider: &str, url: &str, model: &str| {
        format!(
            "[[target]]\nname = \"{name}\"\nprovider = \"{provider}\"\nurl = \"{url}\"\nmodel = \"{model}\"\n\
             price = \"input=0.02,output=0.04\"\n\n"
        )
    };
    let real = |server: &RealServer| format!("http://{}", server.host);
    [
        target("quick", "two threads", &real(quick), &quick.model),
        target("quick-again", "two threads", &real(quick), &quick.model),
        target("slow", "one thread", &real(slow), &slow.model),
        target("simulated", "simulator", &sim.base_url(), "sim"),
        WORK.to_owned(),
    ]
    .concat()
}

fn run(dir: &Path, plan: &str) -> Value {
    std::fs::write(dir.join("plan.toml"), plan).unwrap();
    let mut command = inferometer(dir);
    let ended: Ended = command.args(["run", "plan.toml", "--out", "out"]).output().unwrap().into();
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stderr, ended.stdout);
    serde_json::from_str(&std::fs::read_to_string(dir.join("out/summary.json")).unwrap()).unwrap()
}

/// The comparison of the typical time to first token of `a` with that of `b`.
fn typical<'a>(summary: &'a Value, a: &str, b: &str) -> &'a Value {
    let is_it = |found: &&Value| {
        found["a"] == a
            && found["load"] == "one"
            && found["b"] == b
            && found["metric"] == "time_to_first_token"
            && found["statistic"] == "typical"
    };
    let found = summary["comparisons"].as_array().unwrap().iter().find(is_it);
    found.unwrap_or_else(|| panic!("{a} and {b} are not compared: {}", summary["comparisons"]))
}

#[test]
fn the_faster_of_two_real_servers_is_named() {
    if let Some(reason) = missing("real-server") {
        println!("skipped: {reason}");
        return;
    }
    let (quick, slow) = (RealServer::start(2, 2), RealServer::start(1, 1));
    let model = Model { ttft: SIM_TTFT.parse().unwrap(), ..Model::default() };
    let sim = Server::start(Config::single(model)).unwrap();
    let summary = run(quick.dir.path(), &plan(&quick, &slow, &sim));

    let cells = summary["cells"].as_array().unwrap();
    for (load, targets, requests) in [("one", 4, 12), ("few", 2, 2)] {
        let of_load = cells.iter().filter(|cell| cell["load"] == load);
        let ok: Vec<_> = of_load.map(|cell| cell["counts"]["ok"].as_u64().unwrap()).collect();
        assert_eq!(ok, vec![requests; targets], "{load}");
    }
    // Where the servers left the client no time, a cell is not valid and no verdict comes of it; its figures stay.
    let is_valid = |target: &str| {
        let of_target = |cell: &&Value| cell["target"] == target && cell["load"] == "one";
        cells.iter().find(of_target).unwrap()["client"]["valid"] == true
    };
    for (faster, slower) in [("quick", "slow"), ("quick-again", "slow"), ("slow", "simulated")] {
        let found = typical(&summary, faster, slower);
        assert!(found["value"]["hi"].as_f64().unwrap() < 1.0, "{found}");
        assert!(!is_valid(faster) || !is_valid(slower) || found["verdict"] == "better", "{found}");
    }
    // An A/A: shown, not asserted; that it seldom cries wolf is proved on virtual time.
    let same = typical(&summary, "quick", "quick-again");
    println!("the same server twice: {} {}", same["verdict"], same["value"]);
    let quick: Vec<_> = ["quick", "quick-again"].into_iter().filter(|target| is_valid(target)).collect();
    if quick.is_empty() || !is_valid("slow") {
        println!("skipped: what is decided on real servers: too little time was left for the client");
        return;
    }
    let decision = &summary["profiles"][0];
    let chosen = decision["candidates"][0]["target"].as_str().unwrap();
    assert!(quick.contains(&chosen), "{decision}");
    println!("decided on real servers: {chosen}");
}
