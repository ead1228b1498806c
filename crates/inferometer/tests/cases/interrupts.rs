//! Cases of a run that is cut: by a signal, by two, by a kill.

use std::path::Path;
use std::time::Duration;

use inferometer_clock::block_until;
use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Bench, Left, Outcome, Started, now, report, strict, wait_until};

/// A run of C01 that has answered something and has two requests in flight.
fn under_way(bench: &Bench) -> Started {
    let run = bench.run("c18", "-n 200 -c 2 --no-preflight").start();
    wait_until("some have ended", || bench.server.truth().requests.len() >= 4);
    rest();
    run
}

/// Lets what has just ended be read and what follows it begin; an answer of C01 takes three times as long.
fn rest() {
    block_until(now() + Duration::from_millis(150));
}

/// Interrupted once, it reports at once, all of what it saw, and blames nobody.
#[track_caller]
fn check_once(signal: Signal, code: i32) {
    let bench = Bench::new();
    let run = under_way(&bench);
    run.signal(signal);
    let signalled = now();
    let ended = run.end();
    let took = (now() - signalled).as_secs_f64();
    assert!(took < 2.0, "report after {took} s");
    let run = Outcome::read(ended, &bench);
    assert_eq!((run.code, &run.summary["interrupted"]), (code, &true.into()));
    assert_eq!(run.manifest["state"], "interrupted");
    assert_eq!((run.count("failed"), run.count("cancelled")), (0, 2));
    assert!(run.count("ok") >= 4);
    assert_eq!(run.measured().count() as u64, run.count("ok") + 2, "a line each");
    assert_eq!(run.truth.counters.requests, run.count("issued"), "and each was seen by the server");
    assert!(run.cell()["failures"].as_array().unwrap().is_empty());
}

#[test]
fn c18_sigint_leaves_a_report() {
    check_once(Signal::INT, 130);
}

#[test]
fn c18_sigterm_leaves_a_report() {
    check_once(Signal::TERM, 143);
}

#[test]
fn c18_the_second_signal_ends_at_once() {
    let bench = Bench::new();
    let run = under_way(&bench);
    run.signal(Signal::INT);
    run.signal(Signal::INT);
    let signalled = now();
    let ended = run.end();
    let took = (now() - signalled).as_secs_f64();
    assert!(took < 1.0, "ended after {took} s");
    assert_eq!(ended.ended.code, Some(130), "{}", ended.ended.stderr);
    // Whole lines, or a torn last one: what is there can be read and reported.
    let summary = summary(&ended.out);
    assert_eq!(summary["interrupted"], true);
    assert!(summary["cells"][0]["counts"]["ok"].as_u64().unwrap() >= 1, "{summary}");
}

#[test]
fn c18_a_preflight_and_a_warm_up_can_be_interrupted() {
    for arguments in ["-n 2", "-n 2 --no-preflight --warmup 1"] {
        let bench = Bench::new();
        let run = bench.run("s01", arguments).start();
        wait_until("one is in flight", || bench.server.truth().counters.in_flight == 1);
        run.signal(Signal::INT);
        let signalled = now();
        let ended = run.end();
        let took = (now() - signalled).as_secs_f64();
        assert!(took < 2.0, "{arguments}: ended after {took} s");
        let run = Outcome::read(ended, &bench);
        assert_eq!(
            (run.code, &run.summary["interrupted"]),
            (130, &true.into()),
            "{arguments}: {}",
            run.stderr
        );
        assert_eq!((run.samples.len(), run.measured().count()), (1, 0), "{arguments}");
        assert_eq!(run.samples[0].status(), "cancelled");
    }
}

#[test]
fn c18_a_wait_for_the_next_try_can_be_interrupted() {
    let bench = Bench::new();
    let run = bench.run("c39", "-n 50 -c 3 --no-preflight --retries 3").start();
    wait_until("all wait for their second try", || bench.server.truth().requests.len() == 3);
    rest();
    run.signal(Signal::INT);
    let run = Outcome::read(run.end(), &bench);
    assert_eq!((run.code, run.count("issued")), (130, 3));
    // Each refusal was written as it came; what was cut is the next try, which never started.
    assert_eq!((run.count("cancelled"), run.count("failed"), run.measured().count()), (3, 0, 6));
    let refused = run.measured().filter(|sample| sample.status() == "http_error").count();
    assert_eq!(refused, 3);
}

#[test]
fn c18_what_an_open_load_had_not_sent_is_nothing_it_dropped() {
    let bench = Bench::new();
    let run = bench.run("c24", "-n 500 --request-rate 40 --arrival constant --no-preflight").start();
    wait_until("some are in flight", || bench.server.truth().counters.requests >= 20);
    run.signal(Signal::INT);
    let run = Outcome::read(run.end(), &bench);
    assert_eq!((run.code, run.count("failed")), (130, 0));
    assert_eq!(run.count("issued"), run.count("ok") + run.count("cancelled"));
    let (issued, seen) = (run.count("issued"), run.truth.counters.requests);
    assert!(
        seen <= issued && issued - seen <= 2,
        "{issued} issued, {seen} seen: sent as we were cut at most"
    );
    assert_eq!(run.cell()["client"]["health"]["dropped_starts"], 0);
}

#[test]
fn c18_what_a_sweep_had_measured_stays() {
    let bench = Bench::new();
    let run = bench.run("c28", "-n 8 -c 4,2,1 --no-preflight").start();
    // Eight of the first load, and some of the second.
    wait_until("the second load is under way", || bench.server.truth().requests.len() >= 11);
    run.signal(Signal::TERM);
    let run = Outcome::read(run.end(), &bench);
    assert_eq!((run.code, &run.summary["interrupted"]), (143, &true.into()));
    let ok: Vec<_> = run.cells().map(|cell| cell["counts"]["ok"].as_u64().unwrap()).collect();
    assert!(ok.len() == 2 && ok[0] == 8 && (3..8).contains(&ok[1]), "{ok:?}");
}

/// The report of a folder, made again, as JSON.
#[track_caller]
fn summary(dir: &Path) -> Value {
    strict(&report(dir, "json"))
}

#[test]
fn a_kill_loses_at_most_the_last_second() {
    let bench = Bench::new();
    let run = bench.run("c28", "-n 2000 -c 4 --no-preflight").start();
    wait_until("a good many have ended", || bench.server.truth().requests.len() >= 80);
    run.signal(Signal::KILL);
    let killed = now().as_nanos();
    let Left { ended, out } = run.end();
    assert_eq!(ended.code, None);
    let answered = bench.server.settled(Duration::from_secs(5));
    let old = answered.requests.iter().filter(|record| record.end_ns + 1_200_000_000 < killed).count();
    let text = std::fs::read_to_string(out.join("samples.jsonl")).unwrap();
    let whole = text.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count();
    assert!(old >= 20 && whole >= old, "{whole} lines of the {old} that had ended a second before the kill");
    assert!(!out.join("summary.json").exists());
    let summary = summary(&out);
    assert_eq!((&summary["state"], &summary["interrupted"]), (&"running".into(), &true.into()));
    let cell = &summary["cells"][0];
    assert_eq!((cell["counts"]["ok"].as_u64(), &cell["counts"]["failed"]), (Some(whole as u64), &0.into()));
    let table = report(&out, "table");
    assert!(table.contains("incomplete"), "{table}");
    // Made again, it is the same: nothing but the folder goes in.
    assert_eq!(self::summary(&out), summary);
}

/// What was cut is gone on with: nothing is lost, nothing is sent twice, and what nobody can vouch for is said.
#[test]
fn a_run_that_was_cut_goes_on() {
    for signal in [Signal::KILL, Signal::INT] {
        let (bench, arguments) = (Bench::new(), "-n 120 -c 4 --no-preflight");
        let run = bench.run("c28", arguments).start();
        wait_until("a good many have ended", || bench.server.truth().requests.len() >= 40);
        // What has ended is on the disk.
        block_until(now() + Duration::from_secs(1));
        run.signal(signal);
        let left = run.end();
        bench.server.settled(Duration::from_secs(5));
        let run = bench.run("c28", arguments).resume(&left.out).done(&bench);
        assert_eq!((run.code, run.count("ok")), (0, 120), "{signal:?}: {}", run.stderr);
        let of_both = |segment: u64| run.measured().filter(move |s| s.count("segment") == Some(segment));
        assert!(of_both(0).count() >= 40 && of_both(1).count() >= 1, "{signal:?}");
        let segments = run.manifest["segments"].as_array().unwrap();
        let told: Vec<bool> = segments.iter().map(|segment| segment["used_ns"].is_u64()).collect();
        assert_eq!(told, [signal == Signal::INT, true], "{signal:?}");
        let unseen = "before the run went on: the client's wake-up lateness was not recorded";
        let reasons = run.cell()["client"]["reasons"].as_array().unwrap();
        assert_eq!(reasons.contains(&unseen.into()), signal == Signal::KILL, "{reasons:?}");
    }
}
