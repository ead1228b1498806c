//! Summaries made by hand: what the report is shown.

use std::path::Path;

use inferometer_metrics::{
    Arrival, Cause, Ceiling, CellContext, CellSummary, Client, ClientHealth, Cost, Counts, GateOutcome,
    GateResult, Lateness, Metric, Num, Over, Proportion, QuantilePoint, Rate, Stability, Stalls, Summary,
    TailFigure, Throughput, Tokens, Validity, name,
};
use inferometer_record::{Manifest, State, Status};
use inferometer_report::{Format, RunView, render};
use serde_json::json;

pub(crate) fn num(value: f64) -> Option<Num> {
    Num::new(value)
}

/// A quantile; NaN is an open bound.
#[expect(clippy::unnecessary_wraps, reason = "every field that it fills is optional")]
pub(crate) fn point(value: f64, lo: f64, hi: f64, note: &str) -> Option<QuantilePoint> {
    let note = (!note.is_empty()).then(|| note.to_owned());
    Some(QuantilePoint { value: num(value), lo: num(lo), hi: num(hi), above: false, n_eff: None, note })
}

pub(crate) fn rate(value: f64, lo: f64, hi: f64) -> Rate {
    Rate { value: num(value), lo: num(lo), hi: num(hi), note: None }
}

pub(crate) fn proportion(count: u64, n: u64, lo: f64, hi: f64) -> Proportion {
    Proportion { count, n, value: num(count as f64 / n as f64), lo: num(lo), hi: num(hi) }
}

/// A time whose median is `p50` and whose tail grows with it.
pub(crate) fn times(n: u64, p50: f64) -> Metric {
    let p95 = if n < 60 {
        point(p50 * 1.4, p50 * 1.25, f64::NAN, "upper bound open: n too small")
    } else {
        point(p50 * 1.4, p50 * 1.3, p50 * 1.55, "")
    };
    Metric {
        unit: "ms".to_owned(),
        n,
        mean: num(p50 * 1.05),
        min: num(p50 * 0.9),
        max: num(p50 * 1.6),
        p50: point(p50, p50 * 0.97, p50 * 1.04, ""),
        p95,
        p99: point(p50 * 1.58, p50 * 1.4, f64::NAN, "upper bound open: n too small"),
        ..Metric::default()
    }
}

/// TTFT with its share over a limit.
fn ttft(n: u64, p50: f64) -> Metric {
    let share = proportion(3, n, 0.0102, 0.0845);
    let over = vec![
        Over { limit: num(500.0), share, unknown: 0 },
        Over { limit: num(1000.0), share: proportion(0, n, 0.0, 0.037), unknown: 0 },
    ];
    let tail = if n < 100 { num(1000.0).map(TailFigure::ShareOver) } else { Some(TailFigure::P99) };
    Metric { over, tail, ..times(n, p50) }
}

fn speed(n: u64, p50: f64) -> Metric {
    Metric {
        unit: "tokens/s".to_owned(),
        n,
        p05: point(p50 * 0.8, p50 * 0.7, p50 * 0.85, ""),
        p50: point(p50, p50 * 0.96, p50 * 1.02, ""),
        ..Metric::default()
    }
}

fn error_rate(failed: u64, n: u64, lo: f64, hi: f64) -> Metric {
    let value = num(failed as f64 / n as f64);
    Metric { unit: "ratio".to_owned(), n, value, lo: num(lo), hi: num(hi), ..Metric::default() }
}

/// A client that kept up.
pub(crate) fn good_client(n: u64) -> Client {
    let lag = Metric {
        p50: point(0.05, 0.04, 0.06, ""),
        p99: point(0.41, 0.3, 0.6, ""),
        max: num(0.62),
        n,
        ..Metric::default()
    };
    let wakeup_lateness = Lateness { n: 5120, p50_ms: Some(0.03), p99_ms: Some(0.35), max_ms: Some(0.9) };
    let ceiling = Ceiling {
        requests_per_s: Some(2000.0),
        events_per_s: Some(182_000.0),
        stamp_error_p99_ms: Some(1.27),
    };
    Client {
        valid: true,
        tolerance_ms: num(5.0),
        error_ms: num(0.35),
        schedule_lag: lag,
        late_starts: proportion(0, n, 0.0, 0.037),
        planned_starts: n,
        health: ClientHealth { wakeup_lateness, ceiling: Some(ceiling), ..ClientHealth::default() },
        ..Client::default()
    }
}

/// A cell of `n` requests at `slots` in flight where all is well.
pub(crate) fn healthy(slots: u32, n: u64, p50: f64) -> CellSummary {
    let metrics = [
        (name::TTFT, ttft(n, p50)),
        (name::TTFA, ttft(n, p50)),
        (name::LATENCY, times(n, p50 * 6.0)),
        (name::TPOT, times(n, 20.0)),
        (name::SPEED, speed(n, 50.0)),
        (name::SPEED_E2E, speed(n, 41.0)),
        (name::ERROR_RATE, error_rate(0, n, 0.0, 0.037)),
    ];
    CellSummary {
        target: "gemma-3-270m@127.0.0.1:8080".to_owned(),
        workload: "builtin".to_owned(),
        load: format!("c{slots}"),
        counts: Counts { issued: n, ok: n, useful: n, attempts: n, warmup: 3, ..Counts::default() },
        metrics: metrics.map(|(name, metric)| (name.to_owned(), metric)).into(),
        stability: Stability {
            spread_ms: rate(p50 * 0.4, p50 * 0.25, p50 * 0.6),
            p95_over_p50: rate(1.4, 1.24, 1.61),
            bimodal: Some(false),
            ..Stability::default()
        },
        stalls: Stalls { streams: proportion(0, n, 0.0, 0.037), ..Stalls::default() },
        tokens: Tokens {
            input: Some(n * 123),
            output: Some(n * 100),
            requests_with_usage: n,
            counted_output: Some(n * 97),
            per_chunk: num(1.0),
            characters: n * 412,
            ..Tokens::default()
        },
        throughput: Throughput {
            window_s: num(54.3),
            output_token_throughput: rate(183.0, 170.4, 195.2),
            request_throughput: rate(1.83, 1.7, 1.95),
            output_tokens: num(n as f64 * 100.0),
            sources: vec!["server".to_owned()],
            ..Throughput::default()
        },
        cost: Cost {
            total_usd: Some("0.0126".to_owned()),
            priced: n,
            per_useful_usd: rate(0.000_126, 0.000_121, 0.000_132),
            per_1000_answers_usd: num(0.126),
            ..Cost::default()
        },
        validity: Validity { useful: proportion(n, n, 0.963, 1.0), valid: n, ..Validity::default() },
        client: good_client(n),
        ..CellSummary::default()
    }
}

/// Some requests fail: ok-only figures beside those of all attempts.
pub(crate) fn failing() -> CellSummary {
    let mut cell = healthy(16, 94, 412.0);
    cell.counts = Counts {
        issued: 100,
        failed: 5,
        cancelled: 1,
        http_error: 4,
        timeout: 1,
        attempts: 104,
        retries: 4,
        rate_limited: 3,
        stale_reconnects: 2,
        capped: 20,
        empty: 4,
        useful: 90,
        ..cell.counts
    };
    cell.metrics.insert(name::ERROR_RATE.to_owned(), error_rate(5, 99, 0.0217, 0.113));
    let failed = Metric {
        max: Some(Num::INFINITY),
        n: 99,
        p95: point(f64::INFINITY, 601.0, f64::INFINITY, ""),
        notes: vec!["4 at infinity: failed".to_owned()],
        ..times(99, 415.0)
    };
    for metric in [name::TTFT, name::LATENCY] {
        cell.metrics.entry(metric.to_owned()).or_default().all_attempts = Some(Box::new(failed.clone()));
    }
    cell.validity = Validity {
        useful: proportion(90, 99, 0.836, 0.951),
        valid: 90,
        invalid: 4,
        flags: [("capped".to_owned(), 20), ("empty".to_owned(), 4)].into(),
        ..Validity::default()
    };
    cell.failures = vec![
        cause(Status::HttpError, Some(429), "rate_limit_exceeded", "Rate limit reached for requests", 3),
        cause(Status::HttpError, Some(503), "overloaded", "the model is overloaded, try again later", 1),
        cause(Status::Timeout, None, "first_token_timeout", "no first token within 30 s", 1),
    ];
    cell.warnings = vec![
        "p95 rests on few requests: for a p95 interval of two sides send 200 (--requests 200)".to_owned(),
    ];
    cell
}

pub(crate) fn cause(status: Status, http: Option<u16>, code: &str, message: &str, count: u64) -> Cause {
    let (code, message) = (Some(code.to_owned()), Some(message.to_owned()));
    Cause { status, http_status: http, code, message, count, first_request: 17 }
}

/// Nothing came back.
pub(crate) fn dead() -> CellSummary {
    CellSummary {
        target: "m@127.0.0.1:9".to_owned(),
        workload: "builtin".to_owned(),
        load: "c4".to_owned(),
        counts: Counts { issued: 60, failed: 60, transport: 60, attempts: 60, ..Counts::default() },
        metrics: [(name::ERROR_RATE.to_owned(), error_rate(60, 60, 0.94, 1.0))].into(),
        failures: vec![cause(
            Status::Transport,
            None,
            "connection_refused",
            "127.0.0.1:9: connection refused",
            60,
        )],
        cost: Cost { unknown: 60, ..Cost::default() },
        client: Client { valid: true, ..Client::default() },
        ..CellSummary::default()
    }
}

/// The client was too slow.
pub(crate) fn not_valid() -> CellSummary {
    let mut cell = healthy(256, 100, 101.0);
    cell.client.valid = false;
    cell.client.reasons = vec![
        "23 of 1000 planned starts were later than 5.0 ms (2 dropped): at most 1 % may be".to_owned(),
        "a shard used 97 % of its core: at most 90 % may be".to_owned(),
    ];
    cell.client.late_starts = proportion(23, 1000, 0.0154, 0.0342);
    cell.client.asked_rate = num(200.0);
    cell.client.planned_rate = num(199.6);
    cell.client.achieved_rate = num(183.1);
    cell.client.rate_held = Some(false);
    cell
}

pub(crate) fn gate(
    typed: &str,
    result: GateResult,
    n: u64,
    needed: Option<u64>,
    detail: &str,
) -> GateOutcome {
    let is_unmeasured = detail.starts_with("not measured");
    let (gate, detail) = (typed.to_owned(), detail.to_owned());
    GateOutcome { gate, result, is_unmeasured, n, needed_n: needed, detail, ..GateOutcome::default() }
}

/// A run of these cells.
pub(crate) struct Run {
    pub(crate) summary: Summary,
    pub(crate) manifest: Manifest,
}

impl Run {
    pub(crate) fn new(cells: Vec<CellSummary>) -> Self {
        let context = |cell: &CellSummary| {
            let slots = cell.load.trim_start_matches('c').parse().unwrap_or(1);
            let (target, workload, load) = (cell.target.clone(), cell.workload.clone(), cell.load.clone());
            let context = CellContext {
                target,
                workload,
                load,
                arrival: Arrival::Closed { slots },
                ..CellContext::default()
            };
            serde_json::to_value(context).unwrap_or_default()
        };
        let targets: Vec<_> = cells
            .iter()
            .map(|cell| json!({"name": cell.target, "price": "input=1,output=1", "insecure": false}))
            .collect();
        let plan = json!({"name": "test", "protocol": {"seed": 42}, "targets": targets});
        let contexts = cells.iter().map(context).collect();
        let summary = Summary {
            schema: 1,
            run_id: "20261130T101500Z-test".to_owned(),
            state: State::Complete,
            cells,
            ..Summary::default()
        };
        Run { summary, manifest: Manifest { plan, cells: contexts, ..Manifest::default() } }
    }

    pub(crate) fn render(&self, format: Format, width: usize, color: bool) -> String {
        let view = RunView::new(&self.summary, &self.manifest, Some(Path::new("runs/20261130T101500Z-test")));
        render(&view, format, width, color)
    }
}
