//! Cases of rate limits: told in each dialect's own headers, read in one form, and kept where a run is to keep them.

use inferometer_sim::Config;

use crate::harness::{Bench, Outcome, report};

/// Requests a second that the provider lets in for ever, and at once.
const RATE: f64 = 10.0;
const BURST: u64 = 5;

fn bench() -> Bench {
    let config = format!(
        "[[model]]\nname = \"m\"\nttft = \"5ms\"\nrate = \"flood\"\ntokens = 3\n\
         limit = {{ requests_per_s = {RATE}, burst = {BURST} }}\n"
    );
    Bench::with(Config::from_toml(&config).unwrap())
}

fn throttled(run: &Outcome) -> usize {
    run.measured().filter(|sample| sample.has_flag("throttled")).count()
}

/// Without the key most of a batch is refused; with it nothing is, and it goes on at the rate that is let in.
#[test]
fn a_batch_keeps_under_the_limits_that_are_told() {
    let bench = bench();
    let free = bench.measure("m", "-n 40 -c 4");
    assert!(throttled(&free) > 20, "{}", throttled(&free));
    assert_eq!(free.count("throttled"), throttled(&free) as u64);
    assert_eq!(free.count("rate_limited"), free.count("http_error"));

    for (dialect, extra) in [("chat", ""), ("responses", ""), ("messages", "--osl 8")] {
        let bench = self::bench();
        let run =
            bench.measure("m", &format!("-n 40 -c 4 --respect-rate-limits --dialect {dialect} {extra}"));
        assert_eq!((run.count("ok"), throttled(&run)), (40, 0), "{dialect}: {}", run.stderr);
        // What is let in at once comes on top; a reset is told to the millisecond, and waits are no shorter than that.
        let seconds = run.value("throughput/window_s").unwrap();
        let rate = (40.0 - BURST as f64) / seconds;
        assert!((RATE * 0.4..RATE * 1.1).contains(&rate), "{dialect}: {rate} requests a second");
        let cell = run.cell();
        let told = &cell["limits"][0];
        assert_eq!(
            (told["kind"].as_str(), told["limit"].as_u64()),
            (Some("requests"), Some(BURST)),
            "{told}"
        );
        assert_eq!(told["lowest"].as_u64(), Some(0), "{told}");
        let (paced, total) = (cell["pacing"]["attempts"].as_u64(), cell["pacing"]["total_s"].as_f64());
        assert!(paced.unwrap() >= 5 && total.unwrap() > 1.0, "{cell}");
        let waits = run.measured().filter(|sample| sample.count("paced_ns").is_some());
        assert_eq!(Some(waits.count() as u64), paced);
        let shown = report(&run.dir, "md").replace('\u{a0}', " ");
        assert!(shown.contains("told: 5 requests; lowest left 0 %"), "{dialect}: {shown}");
    }
}

/// What tells nothing is not held back, and nothing is made up.
#[test]
fn a_provider_that_tells_nothing_has_no_limits() {
    let bench = Bench::new();
    let run = bench.measure("c28", "-n 8 --respect-rate-limits");
    let cell = run.cell();
    assert_eq!((run.count("issued"), cell.get("limits"), cell.get("pacing")), (8, None, None));
    let bench = self::bench();
    let run = bench.measure("m", "-n 10 -c 2 --dialect ollama");
    assert!(run.cell().get("limits").is_none());
    assert!(report(&run.dir, "md").contains("not told in any answer"));
}

/// An open load keeps its own time: to wait would be our lateness.
#[test]
fn an_open_load_is_not_paced() {
    let bench = Bench::new();
    let left = bench.run("c28", "-n 2 --request-rate 5 --respect-rate-limits").refused();
    assert_eq!(left.ended.code, Some(2), "{}", left.ended.stderr);
    let stderr = &left.ended.stderr;
    assert!(stderr.contains("--request-rate") && stderr.contains("--respect-rate-limits"), "{stderr}");
}
