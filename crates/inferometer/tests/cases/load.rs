//! Cases of the load itself: sent when planned, measured from when planned, capped by nobody.

use crate::harness::{Bench, Outcome, is_quiet};

/// Sends that a plan makes, in seconds from the first.
fn sends(run: &Outcome) -> Vec<f64> {
    let mut sends: Vec<u64> = run.measured().map(|sample| sample.count("sched_ns").unwrap()).collect();
    sends.sort_unstable();
    sends.iter().map(|at| (at - sends[0]) as f64 / 1e9).collect()
}

#[test]
fn c20_the_rate_does_not_drift() {
    let bench = Bench::new();
    let n = if is_quiet() { 2_000 } else { 400 };
    let run = bench.measure("c20", &format!("--request-rate 200 --arrival constant -n {n}"));
    assert_eq!(run.count("ok"), n);
    for (place, at) in sends(&run).iter().enumerate() {
        assert!((at - place as f64 / 200.0).abs() < 2e-6, "send {place} planned at {at}");
    }
    let span = (n - 1) as f64 / 200.0;
    assert_eq!(run.value("client/asked_rate"), Some(200.0));
    let achieved = run.value("client/achieved_rate").unwrap();
    let lag = run.cell()["client"]["schedule_lag"]["p99"]["value"].as_f64().unwrap();
    let mut arrivals: Vec<u64> = run.truth.requests.iter().map(|record| record.read_ns).collect();
    arrivals.sort_unstable();
    assert_eq!(arrivals.len() as u64, n);
    let arrived = (arrivals.last().unwrap() - arrivals[0]) as f64 / 1e9;
    // A busy machine is late by a constant, whatever the length of the run: what drifts is late by a share of it.
    let slack = if is_quiet() { 0.01 * span } else { 0.25 };
    assert!((arrived - span).abs() < slack, "the server saw them over {arrived} s, planned were {span}");
    assert!((achieved / 200.0 - 1.0).abs() < slack / span, "{achieved}/s");
    assert!(lag < if is_quiet() { 5.0 } else { 250.0 }, "schedule lag p99 {lag} ms");
}

#[test]
fn c22_a_freeze_is_felt_by_all_who_were_planned_in_it() {
    // Ten times as dense and a tenth as long, where nobody waits for the whole.
    let (bench, scale) = (Bench::new(), if is_quiet() { 1.0 } else { 0.2 });
    let model = format!("script:freeze {}..{} · 10 T, fin, U(7,1), D", 3_000.0 * scale, 5_000.0 * scale);
    let rate = 20.0 / scale;
    let run = bench.measure(&model, &format!("--request-rate {rate} --arrival constant -n 200"));
    assert_eq!(run.count("ok"), 200);
    for (place, at) in sends(&run).iter().enumerate() {
        assert!((at - place as f64 / rate).abs() < 2e-6, "sent on plan: {place} at {at}");
    }
    let quantile = |metric: &str, name: &str| run.metric(metric)[name]["value"].as_f64().unwrap();
    let planned = "request_latency_from_schedule";
    let slack = if is_quiet() { 60.0 } else { 90.0 };
    for (name, right) in [("p50", 10.0), ("p90", 10.0 + 1_000.0 * scale), ("p99", 10.0 + 1_900.0 * scale)] {
        let value = quantile(planned, name);
        assert!((value - right).abs() < slack, "{name} from the plan: {value}, not {right}");
    }
    let max = run.metric(planned)["max"].as_f64().unwrap();
    assert!((max - 10.0 - 2_000.0 * scale).abs() < slack, "max from the plan: {max}");
    assert_eq!(run.metric("request_latency")["n"], 200, "from the send, under its own name");
    let frozen = run.measured().filter(|sample| sample.number("request_latency_ms").unwrap() > slack);
    let frozen = frozen.count();
    assert!((30..=48).contains(&frozen), "{frozen} were planned inside the freeze, not 40");
}

#[test]
fn c24_no_hidden_cap_on_connections() {
    let bench = Bench::new();
    let run = bench.measure("c24", "-n 400 -c 200 --ramp 0s");
    assert_eq!(run.count("ok"), 400);
    assert_eq!(run.truth.counters.peak_concurrent, 200);
    assert_eq!(run.truth.counters.connections, 200);
    let start = run.measured().map(|sample| sample.count("start_ns").unwrap()).min().unwrap();
    let end = run.measured().map(|sample| sample.count("end_ns").unwrap()).max().unwrap();
    let wall = (end - start) as f64 / 1e9;
    assert!(
        (2.0..if is_quiet() { 2.3 } else { 4.0 }).contains(&wall),
        "two rounds of a second took {wall} s"
    );
    // Two hundred at one instant: half of them stand in the queue of one core, the reader's or the server's.
    run.check_stamps_within(25, "c24", run.measured());
}
