//! Single things that must be said, each where its cause is there.

use inferometer_metrics::{CellSummary, Drift, Goodput, Num, Over, Rate, Steady, TailFigure, name};
use inferometer_report::Format;

use crate::fixture::{Run, cause, healthy, num, point, proportion, rate, times};

/// The page of a healthy cell to which `change` was done says `said`.
fn check(change: impl Fn(&mut CellSummary), said: &str) {
    let mut cell = healthy(4, 60, 412.0);
    change(&mut cell);
    let shown = Run::new(vec![cell]).render(Format::Table, 200, false);
    assert!(shown.contains(said), "no {said:?} in\n{shown}");
}

#[test]
fn goodput() {
    let goodput = Goodput {
        objectives: "ttft:300 tpot:20".to_owned(),
        attainment: Some([Num::new(0.9).unwrap(), Num::new(0.95).unwrap()]),
        share: proportion(54, 60, 0.799, 0.953),
        per_second: num(1.72),
        met: 54,
        missed: 3,
        unknown: 3,
        excluded: 2,
    };
    let with = |goodput: Goodput| move |cell: &mut CellSummary| cell.goodput = Some(goodput.clone());
    check(with(goodput.clone()), "90.0 % to 95.0 % met ttft:300 tpot:20 (54 of 60) · 1.72 good requests/s");
    check(with(goodput.clone()), "3 could not be evaluated · 2 cut by the run, left out");
    let plain = Goodput { unknown: 0, attainment: Some([Num::new(0.9).unwrap(); 2]), ..goodput.clone() };
    check(with(plain), "90.0 % [79.9–95.3] met");
    check(with(Goodput { attainment: None, ..goodput }), "no request to judge by ttft:300 tpot:20");
}

#[test]
fn money() {
    check(
        |cell| {
            cell.cost.lower_bound = true;
            cell.cost.unknown = 3;
            cell.cost.per_useful_usd = Rate { hi: None, ..rate(0.000_126, 0.000_121, 0.0) };
        },
        "≥ $0.0126 for 60 attempts · ≥ $0.000126 [≥ 0.000121] per useful answer",
    );
    check(
        |cell| cell.cost.per_useful_usd = Rate { lo: num(0.0042), ..Rate::default() },
        "no useful answer: ≥ $0.00420 for one",
    );
    check(|cell| cell.cost.waste_share = num(0.25), "25.0 % spent on answers of no use");
    check(|cell| cell.cost.residual_usd = Some("-0.0001".to_owned()), "its figure − ours: $-0.0001");
}

#[test]
fn times_and_tails() {
    let set = |name: &'static str, p50: f64| {
        move |cell: &mut CellSummary| drop(cell.metrics.insert(name.to_owned(), times(60, p50)))
    };
    check(set(name::TTFT_SCHED, 2010.0), "└ from plan  2010 ms");
    check(set(name::TTFT_FIRST_TRY, 2400.0), "└ first try  2400 ms");
    check(set(name::TTFA, 900.0), "TTFA      900 ms");
    check(
        |cell| {
            let ttft = cell.metrics.get_mut(name::TTFT).unwrap();
            ttft.tail = Some(TailFigure::ShareOver(Num::new(2500.0).unwrap()));
            ttft.over = vec![Over { limit: num(2500.0), share: proportion(3, 60, 0.017, 0.137), unknown: 1 }];
        },
        "TTFT over 2.5 s: 5.00 % [1.70–13.7] (3 of 60, 1 more unknown)",
    );
    check(
        |cell| {
            let p50 = &mut cell.metrics.get_mut(name::TTFT).unwrap().p50;
            *p50 = point(30_000.0, 20_000.0, f64::NAN, "> value: censored; max of n");
            p50.as_mut().unwrap().above = true;
            p50.as_mut().unwrap().n_eff = num(12.5);
        },
        "> 30.0 s  [≥ 20.0] max of 60",
    );
    check(
        |cell| cell.metrics.get_mut(name::TTFT).unwrap().p95.as_mut().unwrap().n_eff = num(12.5),
        "requests close in time are alike, so that fewer count: TTFT p95 12.5",
    );
    check(
        |cell| {
            cell.stalls.count = 4;
            cell.stalls.streams = proportion(3, 60, 0.017, 0.137);
            cell.stalls.longest_ms = num(1234.0);
        },
        "3 of 60 streams had gaps of 500 ms or more · 5.00 % [1.70–13.7] · longest 1234 ms",
    );
    // A warning of the cell says that it drifts: the facts do not say it again.
    check(|cell| cell.stability.drift = Some(Drift { found: true, ..Drift::default() }), "p95/p50 1.40");
}

#[test]
fn tokens_and_rates() {
    check(
        |cell| {
            cell.tokens.requests_with_usage = 0;
            cell.tokens.requests_without_usage = 60;
        },
        "unknown: the server told no usage in 60 answers",
    );
    check(
        |cell| {
            cell.tokens.partial = num(61.4);
            cell.tokens.partial_source = vec!["events".to_owned()];
        },
        "61 more from requests that did not end ok (by events)",
    );
    check(
        |cell| {
            cell.throughput.includes_unfinished = true;
            cell.throughput.unfinished_tokens = num(490.0);
        },
        "includes 490 tokens of requests that did not end ok",
    );
    check(
        |cell| {
            cell.client.asked_rate = num(200.0);
            cell.client.achieved_rate = num(199.8);
            cell.client.rate_held = Some(true);
        },
        "rate in requests/s: asked 200 · achieved 200: held",
    );
    check(
        |cell| {
            cell.client.asked_rate = num(20.0);
            cell.client.planned_rate = num(26.4);
            cell.client.achieved_rate = num(26.41);
            cell.client.rate_held = Some(true);
        },
        "rate in requests/s: asked 20.0 · planned 26.4 (this seed's draw) · achieved 26.4: held",
    );
}

#[test]
fn a_steady_part_says_why_it_has_no_interval() {
    let without =
        |why: &str| Rate { note: Some(format!("no interval: {why}")), ..rate(9.0, f64::NAN, f64::NAN) };
    let steady = |tokens: Rate, requests: Rate| {
        move |cell: &mut CellSummary| {
            cell.throughput.steady = Some(Steady {
                rule: "closed_loop".to_owned(),
                requests: 20,
                output_token_throughput: tokens.clone(),
                request_throughput: requests.clone(),
                ..Steady::default()
            });
        }
    };
    check(
        steady(rate(9.0, 8.0, 10.0), without("alike")),
        "steady part 9.00 tokens/s [8.00–10.0] · 9.00 requests/s (20 requests, by closed loop)",
    );
    check(steady(rate(9.0, 8.0, 10.0), without("alike")), "steady part in requests/s: no interval: alike\n");
    check(steady(without("short"), without("short")), "  steady part: no interval: short\n");
}

#[test]
fn what_was_asked_for_is_no_fault() {
    let capped = |asked: bool| {
        move |cell: &mut CellSummary| {
            cell.counts.capped = 60;
            cell.validity.degraded = 60;
            cell.validity.degraded_is_useful = asked;
            let flags = [("capped", 60), ("first_chunk_estimated", 60), ("think_tags", 2), ("zero_gap", 1)];
            cell.validity.flags = flags.map(|(flag, n)| (flag.to_owned(), n)).into();
        }
    };
    check(capped(true), "3 warm-ups dropped\n            60 cut by the token limit (asked for)\n");
    check(capped(false), "60 cut by the token limit · 60 degraded\n");
    check(capped(false), "            flags: think_tags 2\n");
    check(
        |cell| {
            capped(true)(cell);
            cell.validity.degraded = 63;
        },
        "useful 100 % [96.3–100] (60 of 60) · 60 cut by the token limit (asked for) · 3 degraded",
    );
}

#[test]
fn a_long_message_is_cut_between_words_and_only_the_first_causes_are_shown() {
    let failed = |n: u64| cause(inferometer_record::Status::Protocol, None, "odd", &"word ".repeat(200), n);
    check(|cell| cell.failures = (1..=7).map(failed).collect(), "2 more causes in samples.jsonl");
    check(|cell| cell.failures = vec![failed(1)], "word … (first: request 17)");
}

#[test]
fn tokens_of_another_tool_are_not_called_the_servers() {
    let mut run = Run::new(vec![healthy(4, 100, 200.0)]);
    assert!(run.render(Format::Table, 120, false).contains("(the server's usage, "));
    run.manifest.environment = serde_json::json!({"imported_from": "aiperf"});
    let shown = run.render(Format::Table, 120, false);
    assert!(shown.contains("(counted by its client, ") && !shown.contains("the server's usage"), "{shown}");
}

#[test]
fn a_run_without_a_cell_says_why_and_nothing_of_figures() {
    let mut run = Run::new(Vec::new());
    run.summary.state = inferometer_record::State::Interrupted;
    run.summary.interrupted = true;
    run.summary.warnings = vec!["the preflight of a failed: http_error HTTP 401: no such key".to_owned()];
    let shown = run.render(Format::Table, 120, false);
    let said =
        "nothing was measured: the run has no cell.\nwarning: the preflight of a failed: http_error HTTP 401";
    assert!(shown.starts_with(said), "{shown}");
}
