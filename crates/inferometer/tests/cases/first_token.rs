//! Cases of the first token: what is one, and what is none.

use crate::harness::{Bench, assert_ms, tolerance_ms};

const N: &str = "n";

#[test]
fn c01_the_role_is_no_token() {
    let bench = Bench::new();
    let run = bench.measure("c01", "-n 5 -c 1");
    assert_eq!((run.code, run.count("ok")), (0, 5));
    run.check_stamps("c01", run.measured());
    for sample in run.measured() {
        assert_ms("ttft", sample.number("ttft_ms"), 400.0);
        assert_eq!(sample.field("ttfa_ms"), sample.field("ttft_ms"));
        let byte = sample.count("byte_ns").unwrap() - sample.count("start_ns").unwrap();
        assert_ms("first byte", Some(byte as f64 / 1e6), 50.0);
        assert_eq!(sample.count("output_tokens"), Some(5));
        assert_eq!(sample.count("chunks"), Some(5));
        // The formula to the bit, whatever the times were: N − k₁ = 4.
        let streamed = sample.count("last_ns").unwrap() - sample.count("first_ns").unwrap();
        assert_eq!(sample.number("tpot_ms"), Some(streamed as f64 / 1e6 / 4.0));
        assert_ms("tpot", sample.number("tpot_ms"), 20.0);
        assert!(sample.has_flag("first_chunk_estimated"));
    }
    // Four gaps of five events each: the time to the first token is none.
    assert_eq!(run.metric("inter_chunk_latency")[N], 5 * 4);
    assert_ms("gap p50", run.metric("inter_chunk_latency")["p50"]["value"].as_f64(), 20.0);
    for name in ["time_to_first_token", "time_per_output_token", "request_latency"] {
        assert_eq!(run.metric(name)[N], 5, "{name}");
    }
    for sample in run.measured() {
        assert!(sample.count("gap_max_ns").unwrap() < (20.0 + tolerance_ms()) as u64 * 1_000_000);
    }
}

#[test]
fn c03_an_absent_first_answer_is_absent_not_zero() {
    let bench = Bench::new();
    let run = bench.measure("c03", "-n 40 -c 8");
    assert_eq!((run.count("ok"), run.count("capped")), (40, 20));
    run.check_stamps("c03", run.measured());
    let ttft = run.metric("time_to_first_token");
    assert_eq!(ttft[N], 40);
    assert_ms("least ttft", ttft["min"].as_f64(), 300.0);
    let answer = run.metric("time_to_first_output_token");
    assert_eq!(answer[N], 20);
    assert_ms("least answer time", answer["min"].as_f64(), 300.0);
    for sample in run.measured() {
        let is_capped = sample.has_flag("capped");
        assert_eq!(sample.field("ttfa_ms").is_null(), is_capped);
        assert_eq!(sample.field("answer_ns").is_null(), is_capped);
        assert_eq!(sample.count("output_tokens"), Some(if is_capped { 3 } else { 2 }));
    }
    for (name, metric) in run.cell()["metrics"].as_object().unwrap() {
        assert!(metric[N].is_u64(), "{name} without its n");
    }
}

#[test]
fn c05_an_empty_answer_has_no_first_token() {
    let bench = Bench::new();
    let run = bench.measure("c05", "-n 20 -c 5");
    assert_eq!((run.code, run.count("ok"), run.count("empty")), (0, 20, 4));
    let ttft = run.metric("time_to_first_token");
    assert_eq!(ttft[N], 16);
    assert_ms("least ttft", ttft["min"].as_f64(), 400.0);
    assert_eq!(run.metric("time_per_output_token")[N], 16);
    assert_eq!(run.metric("request_latency")[N], 20);
    let empty: Vec<_> = run.measured().filter(|sample| sample.count("output_tokens") == Some(0)).collect();
    assert_eq!(empty.len(), 4);
    for sample in empty {
        for name in ["ttft_ms", "ttfa_ms", "tpot_ms", "first_ns", "answer_ns", "last_ns"] {
            assert!(sample.field(name).is_null(), "{name}");
        }
        assert_ms("latency", sample.number("request_latency_ms"), 40.0);
        assert_eq!(sample.count("chunks"), Some(0));
    }
}
