//! Cases of few samples, and of numbers that are none.

use serde_json::Value;

use crate::harness::{Bench, assert_ms};

#[test]
fn c26_quantiles_of_few_are_order_statistics() {
    let bench = Bench::new();
    let run = bench.measure("c26", "-n 10 -c 1");
    let mut ttft: Vec<f64> = run.measured().map(|sample| sample.number("ttft_ms").unwrap()).collect();
    ttft.sort_by(f64::total_cmp);
    let metric = run.metric("time_to_first_token");
    assert_eq!(metric["n"], 10);
    // Nearest rank ⌈p·n⌉.
    for (name, rank, right) in [("p50", 5, 50.0), ("p90", 9, 90.0), ("p95", 10, 100.0), ("p99", 10, 100.0)] {
        let point = &metric[name];
        assert_eq!(point["value"].as_f64(), Some(ttft[rank - 1]), "{name}");
        assert_ms(name, point["value"].as_f64(), right);
        let is_max = point["note"].as_str().is_some_and(|note| note.contains("max of"));
        assert_eq!(is_max, matches!(name, "p95" | "p99"), "{name}: {point}");
    }
    bench.server.reset();
    let one = bench.measure("c26", "-n 1");
    let metric = one.metric("time_to_first_token");
    let only = one.measured().next().unwrap().number("ttft_ms");
    for name in ["p50", "p90", "p95", "p99", "p999"] {
        assert_eq!(metric[name]["value"].as_f64(), only, "{name} of one");
    }
}

#[test]
fn c28_no_number_is_null_not_nan() {
    let bench = Bench::new();
    // That every file is strict JSON with nothing negative is held of every run.
    let run = bench.measure("c28", "-n 5 -c 1");
    assert_eq!((run.code, run.count("ok")), (0, 5));
    let tpot = run.metric("time_per_output_token");
    assert_eq!((&tpot["n"], &tpot["p50"], &tpot["mean"]), (&0.into(), &Value::Null, &Value::Null));
    assert!(run.measured().all(|sample| sample.field("tpot_ms").is_null()));
    assert!(run.cell()["client"]["asked_rate"].is_null(), "no limit is no number");
    let speed = run.metric("output_token_throughput_per_user");
    assert_eq!((&speed["n"], &speed["p50"]), (&0.into(), &Value::Null));
}
