//! Cases of bytes and addresses.

use crate::harness::{Bench, assert_ms};

#[test]
fn c35_every_legal_shape_of_an_event_stream() {
    let bench = Bench::new();
    let (plain, odd) = (bench.measure("c01", "-n 3 -c 3"), bench.measure("c35", "-n 3 -c 3"));
    odd.check_stamps("c35", odd.measured());
    for (plain, odd) in plain.measured().zip(odd.measured()) {
        for name in [
            "status",
            "finish_reason",
            "input_tokens",
            "output_tokens",
            "chunks",
            "output_chars",
            "first_chunk_tokens",
            "counted_output_tokens",
            "tokens_source",
            "usage_identity",
            "error_message",
            "verdict",
        ] {
            assert_eq!(plain.field(name), odd.field(name), "{name}");
        }
        assert_ms("ttft", odd.number("ttft_ms"), 400.0);
        assert_ms("tpot", odd.number("tpot_ms"), 20.0);
        assert_eq!(plain.count("keepalives"), Some(0));
        assert!(odd.count("keepalives").unwrap() > 0);
        let further: Vec<_> = odd.flags().difference(&plain.flags()).copied().collect();
        assert!(further.iter().all(|flag| ["unterminated_event", "zero_gap"].contains(flag)), "{further:?}");
    }
}

#[test]
fn c37_every_form_of_base_url_reaches_the_endpoint() {
    let bench = Bench::new();
    let check = |suffix: &str, path: &str| {
        bench.server.reset();
        let url = format!("{}{suffix}", bench.server.base_url());
        let run = bench.run_at(&url, "c20", "-n 2 -c 1 --no-preflight").done(&bench);
        assert_eq!(run.count("ok"), 2, "{suffix}: {}", run.stderr);
        let paths: Vec<_> = run.truth.counters.paths.keys().collect();
        assert_eq!(paths, [path], "{suffix}");
        assert!(run.stderr.contains(path), "{suffix}: the final address is said: {}", run.stderr);
    };
    let plain = "/v1/chat/completions";
    for suffix in ["", "/", "/v1", "/v1/", "/v1/chat/completions"] {
        check(suffix, plain);
    }
    for suffix in ["/gw/openai/v1", "/gw/openai/v1/", "/gw/openai/v1/chat/completions"] {
        check(suffix, "/gw/openai/v1/chat/completions");
    }
    for suffix in ["?api-version=x", "/v1?api-version=x", "/v1/chat/completions?api-version=x"] {
        check(suffix, "/v1/chat/completions?api-version=x");
    }
}

#[test]
fn c37_a_404_names_the_final_address() {
    let bench = Bench::new();
    let url = format!("{}/elsewhere/v1", bench.server.base_url());
    let refused = bench.run_at(&url, "c20", "-n 2").refused();
    assert_eq!(refused.ended.code, Some(3), "{}", refused.ended.stderr);
    let address = format!("{url}/chat/completions");
    assert!(
        refused.ended.stderr.contains(&address) && refused.ended.stderr.contains("404"),
        "{}",
        refused.ended.stderr
    );
    let truth = bench.server.truth();
    assert_eq!((truth.counters.requests, truth.counters.paths.values().sum::<u64>()), (0, 1), "no load");
}
