//! Cases of failures and of ends: what failed is counted, and in no other figure.

use std::net::TcpListener;

use crate::harness::{Bench, Sample, assert_ms, is_quiet, now, report};

#[test]
fn c12_an_error_in_the_stream_is_no_success() {
    let bench = Bench::new();
    let run =
        bench.run("c12", "-n 50 -c 25 --no-preflight").arg("--fail-if").arg("error_rate>10%").done(&bench);
    assert_eq!((run.count("ok"), run.count("stream_error"), run.code), (30, 20, 4));
    for sample in run.with_status("stream_error") {
        assert_eq!(sample.count("http_status"), Some(200));
        assert_eq!(sample.text("error_code"), "500");
        assert_eq!(sample.text("error_message"), "engine stopped");
        assert_eq!(sample.count("chunks"), Some(3));
        assert!(sample.field("request_latency_ms").is_null());
    }
    assert_eq!(run.metric("request_latency")["n"], 30);
    assert_eq!(run.value("tokens/output"), Some(150.0));
    assert_eq!(run.value("tokens/partial"), Some(60.0));
    assert_eq!(run.cell()["failures"][0]["count"], 20);
    // Where every attempt counts, the failed ones are at infinity.
    assert_eq!(run.metric("request_latency")["all_attempts"]["p90"]["value"], "inf");
}

/// An address at which nobody listens.
fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[test]
fn c14_what_was_never_answered_has_no_rate() {
    let bench = Bench::new();
    let url = closed();
    let run = bench.run_at(&url, "c14", "-n 60 -c 4 --no-preflight").done(&bench);
    assert_eq!((run.count("ok"), run.count("transport"), run.code), (0, 60, 5));
    assert_eq!(run.value("throughput/request_throughput/value"), Some(0.0));
    assert_eq!(run.value("throughput/output_token_throughput/value"), Some(0.0));
    for name in ["time_to_first_token", "time_per_output_token", "request_latency"] {
        let metric = run.metric(name);
        assert_eq!(metric["n"], 0, "{name}");
        for figure in ["mean", "std", "min", "max", "p50", "p99"] {
            assert!(metric[figure].is_null(), "{name} {figure}: {}", metric[figure]);
        }
    }
    let failures = run.cell()["failures"].as_array().unwrap();
    assert_eq!((failures.len(), &failures[0]["count"]), (1, &60.into()));
    let shown = report(&run.dir, "table");
    assert_eq!(shown.matches("refused the connection").count(), 1, "the first cause once:\n{shown}");
    assert!(shown.contains("60 ×"), "with its count:\n{shown}");
}

#[test]
fn c16_a_time_limit_keeps_what_was_in_flight() {
    let bench = Bench::new();
    let run = bench.measure("c16", "-c 10 --duration 2950ms --grace 0s --ramp 0s");
    assert_eq!((run.count("ok"), run.count("cancelled"), run.count("failed")), (0, 10, 0));
    assert_eq!(run.metric("request_latency")["n"], 0);
    assert_eq!(run.cell()["throughput"]["includes_unfinished"], true);
    // One that came when the time was over, but before its stream was cut, is in no rate.
    let over_ns = run.cell()["window"]["to_ns"].as_u64().unwrap();
    let in_time = |sample: &Sample| {
        sample.count("chunks").unwrap() - u64::from(sample.count("last_ns") >= Some(over_ns))
    };
    let seen: u64 = run.measured().map(in_time).sum();
    // 29 from each; where others take the processor, the last of them may come too late.
    assert!((260..=290).contains(&seen), "{seen} of 29 from each of ten streams");
    assert_eq!(run.value("throughput/output_tokens"), Some(seen as f64));
    let rate = run.value("throughput/output_token_throughput/value").unwrap();
    assert!((rate - seen as f64 / 2.95).abs() < 0.5, "{rate} tokens/s of {seen} tokens in 2.95 s");
    let notes = run.cell()["throughput"].to_string();
    assert!(notes.contains("unfinished"), "{notes}");
}

#[test]
fn s01_a_server_that_never_answers_hangs_nobody() {
    let bench = Bench::new();
    let started = now();
    let run = bench.measure("s01", "-c 10 --duration 1s --grace 500ms");
    let took = (now() - started).as_secs_f64();
    assert!(took < 5.0, "took {took} s for 1.5");
    assert_eq!((run.count("issued"), run.count("cancelled"), run.count("failed")), (10, 10, 0));
    let run = bench.measure("s01", "-n 4 -c 4 --first-token-timeout 300ms");
    assert_eq!((run.count("timeout"), run.code), (4, 5));
    for sample in run.measured() {
        assert_eq!(sample.text("error_code"), "first_token_timeout");
        let waited = sample.count("end_ns").unwrap() - sample.count("start_ns").unwrap();
        assert_ms("timeout", Some(waited as f64 / 1e6), 300.0);
    }
    // Censored at the limit: more than 300 ms is all that is known.
    let p50 = &run.metric("time_to_first_token")["all_attempts"]["p50"];
    assert_eq!(p50["above"], true, "{p50}");
}

#[test]
fn s01_a_complete_answer_ends_when_it_is_complete() {
    let bench = Bench::new();
    let finished = "script:100 T · fin, U(7,1)";
    // No [DONE] and no end of the body; then bytes that would go on for ever.
    for rest in ["hang", "600..9000/600 {\"choices\":[]} · hang", "D · hang"] {
        let started = now();
        let run = bench.measure(&format!("{finished} · {rest}"), "-n 2 -c 2");
        let took = (now() - started).as_secs_f64();
        assert!(took < 5.0, "{rest}: waited {took} s for what does not come");
        assert_eq!(run.count("ok"), 2, "{rest}");
        for sample in run.measured() {
            let after = sample.count("end_ns").unwrap() - sample.count("last_ns").unwrap();
            assert_ms("end after the last output", Some(after as f64 / 1e6), 0.0);
        }
        // Our own wait is in no rate.
        assert_ms(rest, run.value("throughput/window_s").map(|window| window * 1e3), 100.0);
    }
}

#[test]
fn s01_the_wait_for_the_rest_of_an_answer_is_nobody_s_idle_time() {
    let bench = Bench::new();
    // One slot, ten answers of 100 ms: about ten a second, whatever the server leaves open after each of them.
    for rest in ["hang", "D · hang"] {
        let run = bench.measure(&format!("script:100 T · fin, U(7,1) · {rest}"), "-n 10 -c 1");
        assert_eq!((run.count("ok"), run.count("issued"), run.code), (10, 10, 0), "{rest}");
        let mut samples: Vec<&Sample> = run.measured().collect();
        samples.sort_by_key(|sample| sample.count("request"));
        // What counts is when the server was asked: no answer's rest stands between it and the next request.
        for pair in samples.windows(2) {
            let [end, sched] = [pair[0].count("end_ns"), pair[1].count("sched_ns")].map(Option::unwrap);
            assert_ms("planned after the last answer", Some((sched as f64 - end as f64) / 1e6), 0.0);
        }
        for sample in &samples {
            assert_ms("latency", sample.number("request_latency_ms"), 100.0);
            assert_ms("schedule lag", sample.number("schedule_lag_ms"), 0.0);
        }
        let window = run.value("throughput/window_s").unwrap();
        let least = if is_quiet() { 9.0 } else { 6.0 };
        let rate = run.value("throughput/request_throughput/value").unwrap();
        assert!((least..=10.1).contains(&rate), "{rest}: {rate} requests/s over {window} s");
        let mut asked: Vec<u64> = run.truth.requests.iter().map(|record| record.read_ns).collect();
        asked.sort_unstable();
        let seen = 9.0 / ((asked[9] - asked[0]) as f64 / 1e9);
        assert!((least..=10.1).contains(&seen), "{rest}: the server saw {seen} requests/s");
    }
}

#[test]
fn s05_an_event_that_is_no_json_fails_its_request_alone() {
    let bench = Bench::new();
    let run = bench.measure("s05", "-n 40 -c 20");
    assert_eq!((run.count("ok"), run.count("protocol"), run.code), (38, 2, 0));
    for sample in run.with_status("protocol") {
        assert_eq!(sample.text("error_code"), "malformed_event");
        assert_eq!(sample.count("http_status"), Some(200));
    }
}

#[test]
fn c39_retries_are_visible() {
    let bench = Bench::new();
    let off = bench.measure("c39", "-n 6 -c 6");
    assert_eq!((off.count("http_error"), off.count("attempts"), off.count("rate_limited")), (6, 6, 6));
    assert_eq!(off.truth.counters.requests, 6);
    assert!(off.measured().all(|sample| sample.count("retry_after_ms") == Some(1_000)));
    bench.server.reset();
    let on = bench.measure("c39", "-n 6 -c 6 --retries 3");
    assert_eq!((on.count("ok"), on.count("attempts"), on.count("rate_limited")), (6, 18, 12));
    assert_eq!((on.count("issued"), on.count("retries")), (6, 12));
    assert_eq!((on.truth.counters.requests, on.truth.counters.distinct_prompts), (18, 6));
    for sample in on.measured() {
        let attempt = sample.count("attempt").unwrap();
        assert_eq!(sample.is_final(), attempt == 3);
        assert_eq!(sample.status(), if attempt == 3 { "ok" } else { "http_error" });
    }
    let p50 = |name| on.metric(name)["p50"]["value"].as_f64();
    assert_ms("from the last try", p50("time_to_first_token"), 400.0);
    assert_ms("from the first try", p50("time_to_first_token_from_first_try"), 2_400.0);
}
