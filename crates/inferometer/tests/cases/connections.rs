//! Connections and further tries: what they cost is seen, and blamed on nobody who did not cause it.

use std::time::Duration;

use inferometer_sim::Config;
use inferometer_sim::config::Connection;

use crate::harness::{Bench, Sample, assert_ms};

#[test]
fn w73_a_connection_that_the_server_closed_is_not_its_failure() {
    for connection in [Connection::CloseAfterStream, Connection::Close, Connection::KeepAlive] {
        let config =
            Config { connection, keep_alive_idle: Some(Duration::from_millis(30)), ..Config::default() };
        let bench = Bench::with(config);
        // Twelve a second, each answered at once: every connection rests beyond the server's patience.
        let run = bench.measure("c20", "-n 12 --request-rate 12 --arrival constant");
        assert_eq!((run.count("ok"), run.count("attempts"), run.code), (12, 12, 0), "{connection:?}");
        assert_eq!(run.truth.counters.requests, 12, "{connection:?}: nothing is asked twice");
        assert_eq!(run.truth.counters.connections, 12, "{connection:?}");
        let stale: u64 = run.measured().map(|sample| sample.count("stale_reconnects").unwrap()).sum();
        assert_eq!(run.count("stale_reconnects"), stale);
    }
}

#[test]
fn w74_the_cost_of_a_connection_stands_where_it_was_paid() {
    let bench = Bench::new();
    let check = |arguments: &str, connections: u64, reused: u64| {
        bench.server.reset();
        let run = bench.measure("c20", arguments);
        let of: Vec<u64> = run.truth.requests.iter().map(|record| record.connection).collect();
        let distinct = of.iter().collect::<std::collections::BTreeSet<_>>().len() as u64;
        assert_eq!((run.count("ok"), distinct), (6, connections), "{arguments}");
        for sample in run.measured() {
            let is_new = sample.field("conn_reused") == false;
            for name in ["connect_ns", "connect_ms"] {
                assert_eq!(sample.field(name).is_null(), !is_new, "{arguments}: {name} of {}", sample.0);
            }
        }
        assert_eq!(run.metric("time_to_first_token")["n"], 6);
        assert_eq!(run.metric("time_to_first_token_reused_connection")["n"], reused, "{arguments}");
    };
    check("-n 6 -c 1", 1, 5);
    check("-n 6 -c 1 --connection fresh", 6, 0);
}

#[test]
fn w57_a_further_try_waits_as_long_as_the_server_asked() {
    let bench = Bench::new();
    for (header, wait_ms) in [
        ("retry-after=1", 1_000.0),
        ("retry-after=0.3", 300.0),
        ("retry-after-ms=250", 250.0),
        (r#"retry-after="Wed, 21 Oct 2015 07:28:00 GMT""#, 0.0),
        // What cannot be read is no advice: half a second of our own.
        (r#"retry-after="soon""#, 500.0),
        ("x=1", 500.0),
    ] {
        let run = bench
            .measure(&format!("script:try<=1: http 429 {header} | else: case c20"), "-n 2 -c 2 --retries 2");
        assert_eq!((run.count("ok"), run.count("attempts")), (2, 4), "{header}");
        for request in 0..2 {
            let mut tries: Vec<&Sample> =
                run.measured().filter(|sample| sample.count("request") == Some(request)).collect();
            tries.sort_by_key(|sample| sample.count("attempt"));
            let waited = tries[1].count("start_ns").unwrap() - tries[0].count("end_ns").unwrap();
            assert_ms(header, Some(waited as f64 / 1e6), wait_ms);
        }
    }
}
