//! Cases of what lies between tokens: a chunk is not a token.

use crate::harness::{Bench, Outcome, assert_ms};

/// What is noted beside the gaps between chunks.
fn gap_notes(run: &Outcome) -> Vec<String> {
    let notes = run.metric("inter_chunk_latency")["notes"].as_array().unwrap();
    notes.iter().map(|note| note.as_str().unwrap().to_owned()).collect()
}

#[test]
fn c07_a_chunk_is_not_a_token() {
    let bench = Bench::new();
    let run = bench.measure("c07", "-n 6 -c 3");
    assert_eq!(run.count("ok"), 6);
    run.check_stamps("c07", run.measured());
    for sample in run.measured() {
        assert_eq!(sample.count("output_tokens"), Some(20));
        assert_eq!(sample.count("chunks"), Some(5));
        assert_eq!(sample.count("first_chunk_tokens"), Some(4));
        assert!(sample.has_flag("first_chunk_estimated"));
        let streamed = sample.count("last_ns").unwrap() - sample.count("first_ns").unwrap();
        assert_eq!(sample.number("tpot_ms"), Some(streamed as f64 / 1e6 / 16.0));
        assert_ms("gap", sample.count("gap_p50_ns").map(|ns| ns as f64 / 1e6), 40.0);
    }
    assert_ms("tpot", run.metric("time_per_output_token")["p50"]["value"].as_f64(), 10.0);
    assert_ms("gap", run.metric("inter_chunk_latency")["p50"]["value"].as_f64(), 40.0);
    assert_eq!(run.value("tokens/per_chunk"), Some(4.0));
    // Per-token percentiles cannot be known, and this is said where the figures stand: of this cell, and of no cell
    // whose chunks are tokens.
    let said = "4.00 tokens per chunk: per-token percentiles cannot be known";
    assert_eq!(gap_notes(&run).iter().filter(|note| *note == said).count(), 1, "{:?}", gap_notes(&run));
    let single = gap_notes(&bench.measure("c01", "-n 2 -c 2"));
    assert!(!single.iter().any(|note| note.contains("per-token")), "{single:?}");
    for name in ["inter_token_latency", "itl"] {
        assert!(run.cell()["metrics"].get(name).is_none(), "{name}");
    }
}

#[test]
fn c10_the_peak_is_not_below_the_average() {
    let bench = Bench::new();
    let run = bench.measure("c10", "-n 16 -c 4");
    assert_eq!(run.count("ok"), 16);
    let total = 16.0 * 200.0;
    assert_eq!(run.value("tokens/output"), Some(total));
    let buckets = &run.cell()["throughput"]["buckets"];
    let sum: f64 = buckets["tokens"].as_array().unwrap().iter().map(|tokens| tokens.as_f64().unwrap()).sum();
    assert!((sum - total).abs() < 1e-6, "buckets hold {sum} of {total}");
    let (peak, mean) = (run.value("throughput/peak").unwrap(), run.value("throughput/mean").unwrap());
    assert!(peak >= mean, "peak {peak} below mean {mean}");
    // Both in tokens: neither is near the fifty chunks an answer has.
    let rate = run.value("throughput/output_token_throughput/value").unwrap();
    assert!((rate * run.value("throughput/window_s").unwrap() - total).abs() < 1e-6, "{rate}");
}
