//! Each exit status, and which goes first where several hold: signal, 2, 1, 3, 5, 6, 4.

use std::process::{Child, Stdio};

use inferometer_clock::{Clock, block_until};
use inferometer_sim::{Config, Model};
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, json, quick};
use crate::support::{Ended, inferometer};

/// A model that keeps a client waiting for half a second, and one that always fails.
fn bench() -> Bench {
    let slow = Model { ttft: "500ms".parse().unwrap(), ..quick("slow") };
    Bench::with(Config { models: vec![quick("sim"), slow], ..Config::default() })
}

/// What a run with `arguments` ends with.
#[track_caller]
fn check(bench: &Bench, model: &str, arguments: &str, code: i32) {
    let ended = bench.run(model, &format!("--warmup 0 {arguments}"));
    assert_eq!(ended.code, Some(code), "{arguments}: {}\n{}", ended.stderr, ended.stdout);
}

#[test]
fn done_and_gates() {
    let bench = bench();
    check(&bench, "sim", "-n 3", 0);
    check(&bench, "sim", "-n 200 -c 4 --fail-if ttft_p95>60s", 0);
    check(&bench, "sim", "-n 60 -c 4 --fail-if ttft_p95>0.1ms", 4);
    check(&bench, "sim", "-n 60 -c 4 --fail-if ttft_p95>60s --fail-if ttft_p50>0.1ms", 4);
}

/// Three answers prove nothing of a 95th percentile. That is a failure only where the user is strict; whether this
/// machine was fast enough for the other thing that `--strict` asks, its own report says.
#[test]
fn a_gate_without_proof() {
    let bench = bench();
    check(&bench, "sim", "-n 3 --fail-if ttft_p95>60s", 0);
    let ended = bench.run("sim", "-n 3 --warmup 0 --strict --out strict --fail-if ttft_p95>60s");
    let summary = json(&bench.dir.path().join("strict/summary.json"));
    assert_eq!(summary["cells"][0]["gates"][0]["result"], "unproven");
    let valid = summary["cells"][0]["client"]["valid"].as_bool().unwrap();
    assert_eq!(ended.code, Some(if valid { 4 } else { 6 }), "{}", ended.stderr);
}

/// What no answer could prove is said before one is asked for.
#[test]
fn a_gate_that_n_cannot_prove_is_named() {
    let bench = bench();
    let named = |load: &str| {
        let gates = "--fail-if ttft_p95>60s --fail-if error_rate>5% --fail-if ttft_p50>60s --fail-if rps<0.1";
        let ended = bench.run("sim", &format!("--warmup 0 {load} {gates}"));
        let (before, _) = ended.stderr.split_once("asking ").expect(&ended.stderr);
        let lines = before.lines().filter(|line| line.starts_with("gate "));
        lines.map(String::from).collect::<Vec<_>>()
    };
    let p95 = "gate ttft_p95>60s: 25 requests cannot prove it, 59 could if none is over";
    let errors = "gate error_rate>5%: 25 requests cannot prove it, 59 could if none counts against it";
    assert_eq!(named("-n 25"), [p95, errors]);
    assert_eq!(named("-n 59 -c 4"), [""; 0]);
    assert_eq!(named("--duration 100ms"), [""; 0], "n is not known");
    let sweep = named("-n 4 -c 1,2");
    assert_eq!(sweep.len(), 6, "{sweep:?}");
    assert_eq!(sweep[2], "gate ttft_p50>60s at c1: 4 requests cannot prove it, 5 could if none is over");
}

/// Ten a second through one place that takes half a second each: the rate is not held, whatever the machine.
#[test]
fn a_result_that_is_not_valid() {
    let bench = bench();
    let load = "-n 6 --request-rate 10 -c 1";
    check(&bench, "slow", load, 0);
    check(&bench, "slow", &format!("{load} --strict"), 6);
    check(&bench, "slow", &format!("{load} --strict --fail-if ttft_p50>1ms"), 6);
    check(&bench, "slow", &format!("{load} --fail-if ttft_p50>1ms"), 4);
}

#[test]
fn nothing_succeeded() {
    let bench = bench();
    check(&bench, "unknown", "-n 5 --no-preflight", 5);
    check(&bench, "unknown", "-n 5 --no-preflight --strict --fail-if error_rate>1%", 5);
}

#[test]
fn what_never_ran() {
    let bench = bench();
    check(&bench, "unknown", "-n 5", 3);
    check(&bench, "unknown", "-n 5 --requests 0", 2);
    check(&bench, "unknown", "--out /dev/null/run", 1);
    // Arguments go before the folder, the folder before the preflight.
    check(&bench, "unknown", "--out /dev/null/run --temperature 99", 2);
}

/// A signal, once the run has sent a request.
fn interrupted(bench: &Bench, signal: Signal, arguments: &str) -> Ended {
    bench.server.reset();
    let mut command = inferometer(bench.dir.path());
    command.args(["run", "-u", &bench.server.base_url(), "-m", "slow", "--warmup", "0", "--no-preflight"]);
    command.args(arguments.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child: Child = command.spawn().unwrap();
    let clock = Clock::monotonic();
    while bench.server.truth().counters.requests == 0 {
        block_until(clock.now() + std::time::Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn a_signal_goes_first_and_leaves_a_report() {
    let bench = bench();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let out = format!("run{code}");
        let load = format!("-c 2 --duration 60s --out {out} --strict --fail-if error_rate<1%");
        let ended = interrupted(&bench, signal, &load);
        assert_eq!(ended.code, Some(code), "{}", ended.stderr);
        assert!(ended.stdout.contains("interrupted"), "{}", ended.stdout);
        let run = bench.dir.path().join(out);
        assert_eq!(json(&run.join("run.json"))["state"], "interrupted");
        assert!(run.join("summary.json").exists());
    }
}
