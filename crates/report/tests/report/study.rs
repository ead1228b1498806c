//! What a person sees of several targets that were compared.

use inferometer_metrics::{
    Bursts, Candidate, CellSummary, Certainty, ColdStart, ColdStarts, Comparison, Decision, Fallback,
    GateResult, Lever, Metric, Num, Rate, RetryAdvice, Setting, Settings, Spread, Standing, Statistic, Study,
    TargetInfo, name,
};
use inferometer_report::Format;

use crate::fixture::{Run, dead, gate, healthy, num, point, proportion, rate, times};

/// The targets: name, provider, model, median TTFT.
const TARGETS: [(&str, &str, &str, f64); 4] = [
    ("acme-small", "acme", "small", 180.0),
    ("bolt-small", "bolt", "small", 240.0),
    ("acme-large", "acme", "large", 900.0),
    ("bolt-large", "bolt", "large", 640.0),
];

fn cell(target: &str, p50: f64) -> CellSummary {
    let mut cell = healthy(4, 300, p50);
    for metric in [name::TTFT, name::LATENCY] {
        let metric = cell.metrics.entry(metric.to_owned()).or_default();
        metric.all_attempts = Some(Box::new(metric.clone()));
    }
    cell.target = target.to_owned();
    cell.workload = "chat".to_owned();
    cell.cost.parts_usd = [("input", "0.0046"), ("output", "0.0050"), ("reasoning", "0.0030")]
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .into();
    cell.cost.reasoning_share = num(0.238);
    cell.cost.waste_share = num(0.04);
    cell.cost.per_month_usd = rate(126.0, 121.0, 132.0);
    cell.tokens.usage_identities = [("inclusive".to_owned(), 290), ("additive".to_owned(), 10)].into();
    cell
}

fn decision() -> Decision {
    let candidate =
        |(target, _, _, p50): (&str, &str, &str, f64), result: GateResult, is_pareto: bool| Candidate {
            target: target.to_owned(),
            constraints: vec![
                gate("error_rate>2%", result, 300, Some(149), "0 of 300 on the bad side"),
                gate("ttft_p95>2s", GateResult::Met, 300, Some(59), "0 of 300 on the bad side"),
                gate("e2el_p99>30s", GateResult::Unproven, 200, Some(299), "0 of 200 on the bad side"),
                gate("burst_error_rate>5%", GateResult::Unproven, 0, None, "not measured: no burst was made"),
            ],
            headline: rate(p50 * 1.4, p50 * 1.3, p50 * 1.55),
            headline_unit: "ms".to_owned(),
            cost_per_useful_usd: rate(0.000_126, 0.000_121, 0.000_132),
            ttft_p95_ms: point(p50 * 1.4, p50 * 1.3, p50 * 1.55, ""),
            is_pareto,
            excluded: None,
        };
    let [a, b, c, d] = TARGETS;
    let mut gone = candidate(("gone", "", "", 1.0), GateResult::Unproven, false);
    gone.excluded = Some("nothing was measured: HTTP 404: no such model".to_owned());
    let text = |said: &[&str]| said.iter().map(|said| (*said).to_owned()).collect();
    Decision {
        profile: "chat".to_owned(),
        workload: "chat".to_owned(),
        load: "c4".to_owned(),
        certainty: Certainty::Provisional,
        chosen: vec!["acme-small".to_owned()],
        headline: "time_to_first_token_p95".to_owned(),
        order: text(&["TTFT p95", "cost per useful answer", "typical TTFT"]),
        candidates: vec![
            candidate(a, GateResult::Met, true),
            candidate(b, GateResult::Met, false),
            candidate(d, GateResult::Met, false),
            candidate(c, GateResult::Missed, false),
            gone,
        ],
        p_not_best: num(0.012),
        fallback: Some(Fallback {
            target: "bolt-small".to_owned(),
            reason: "another provider (bolt); both failed in 0 of 300 blocks".to_owned(),
        }),
        reasons: text(&[
            "Take acme-small for now: it is the best candidate, but not all that chat needs is proven.",
            "acme-small has TTFT p95 252 ms [234–279]; next comes bolt-small with 336 ms [312–372].",
            "It rests on 1 time window, fewer than 3: at another hour it may be otherwise.",
        ]),
        would_change: text(&["299 requests instead of 200, for e2el_p99>30s, if no further one is bad."]),
        scope: "These prompts (chat under c4), these hours (1 time window), this vantage point.".to_owned(),
        time_windows: 1,
    }
}

fn comparison(a: &str, b: &str, verdict: Standing, family: Option<&str>) -> Comparison {
    Comparison {
        workload: "chat".to_owned(),
        load: "c4".to_owned(),
        a: a.to_owned(),
        b: b.to_owned(),
        metric: name::TTFT.to_owned(),
        statistic: if family.is_some() { Statistic::P95 } else { Statistic::Typical },
        unit: if family.is_some() { "ms" } else { "ratio" }.to_owned(),
        family: family.map(str::to_owned),
        n: 300,
        value: if family.is_some() { rate(-84.0, -130.0, -41.0) } else { rate(0.75, 0.71, 0.79) },
        p: num(0.0004),
        p_holm: family.and_then(|_| num(0.0024)),
        verdict,
        needed_n: (verdict == Standing::NotDistinguishable).then_some([800, 1_400]),
        notes: vec!["the same model at the same address: an A/A".to_owned()],
    }
}

fn settings() -> Settings {
    let setting = |name: &str, value: f64, unit: &str, confidence: &str| Setting {
        name: name.to_owned(),
        value: num(value),
        unit: unit.to_owned(),
        evidence: "upper bound of p99 of 300 useful answers (c4)".to_owned(),
        confidence: confidence.to_owned(),
    };
    Settings {
        target: "acme-small".to_owned(),
        workload: "chat".to_owned(),
        values: vec![
            setting("first_token_timeout", 290.0, "ms", "fair, n = 300"),
            setting("total_timeout", 12_000.0, "ms", "low, n = 300"),
            setting("max_tokens", 240.0, "tokens", "fair, n = 300"),
            setting("max_concurrency", 8.0, "requests", "fair"),
        ],
        retry: vec![RetryAdvice {
            class: "429".to_owned(),
            seen: 12,
            advice: "wait as long as Retry-After says".to_owned(),
        }],
    }
}

fn lever() -> Lever {
    let named = |name: &str, value: f64| Some((name.to_owned(), Num::new(value)?));
    Lever {
        workload: "chat".to_owned(),
        load: "c4".to_owned(),
        figure: name::COST_PER_USEFUL.to_owned(),
        models: vec![Spread {
            model: "small".to_owned(),
            lowest: named("acme-small", 0.1),
            highest: named("bolt-small", 0.2),
            ratio: num(2.0),
        }],
        within_model: num(2.0),
        across_models: num(40.0),
        notes: vec!["without bolt-large: its figures are not valid".to_owned()],
    }
}

fn episodes() -> Vec<CellSummary> {
    let start = ColdStart {
        n: 20,
        cold_ttft: times(20, 1_180.0),
        warm_ttft: times(20, 180.0),
        penalty: times(20, 1_000.0),
        seen: proportion(20, 20, 0.84, 1.0),
        detail: "the first request after 4 s waits +1000 ms [970, 1040] longer than a warm one, n = 20"
            .to_owned(),
        ..ColdStart::default()
    };
    let mut cold = cell("acme-small", 180.0);
    cold.load = "coldstart".to_owned();
    cold.cold_starts =
        Some(ColdStarts { gap_s: 4.0, fresh: start.clone(), kept: start, ..ColdStarts::default() });
    let mut burst = cell("acme-small", 180.0);
    burst.load = "burst".to_owned();
    let all = Box::new(times(200, 420.0));
    burst.bursts = Some(Bursts {
        size: 20,
        n: 10,
        sent_within: Metric { max: num(3.1), ..Metric::default() },
        rest_ttft: times(10, 180.0),
        ttft: Metric { all_attempts: Some(all), ..times(180, 400.0) },
        refused: proportion(20, 200, 0.066, 0.149),
        failed: proportion(0, 200, 0.0, 0.019),
        recovery: rate(2_100.0, 1_900.0, 2_600.0),
        notes: vec!["only 4 requests at rest: when it is back to that is little sure".to_owned()],
    });
    vec![cold, burst]
}

/// Everything that a study can say.
fn study() -> Run {
    let mut cells: Vec<CellSummary> = TARGETS.iter().map(|(name, _, _, p50)| cell(name, *p50)).collect();
    cells[1].counts.missing = 12;
    let mut gone = dead();
    (gone.target, gone.workload, gone.load) = ("gone".to_owned(), "chat".to_owned(), "c4".to_owned());
    gone.gap = Some("HTTP 404: no such model".to_owned());
    cells.push(gone);
    cells.extend(episodes());
    let mut run = Run::new(cells);
    let info = |(name, provider, model, _): (&str, &str, &str, f64)| TargetInfo {
        name: name.to_owned(),
        provider: provider.to_owned(),
        model: model.to_owned(),
        ..TargetInfo::default()
    };
    let study = Study { targets: TARGETS.into_iter().map(info).collect(), ..Study::default() };
    run.manifest.study = serde_json::to_value(study).unwrap();
    run.summary.profiles = vec![decision()];
    run.summary.comparisons = vec![
        comparison("acme-small", "bolt-small", Standing::Better, Some("chat")),
        comparison("acme-small", "acme-large", Standing::NotDistinguishable, Some("chat")),
        comparison("acme-small", "bolt-small", Standing::Better, None),
        comparison("acme-large", "bolt-large", Standing::Equivalent, None),
    ];
    run.summary.levers = vec![lever()];
    run.summary.settings = vec![settings()];
    run.summary.gates = vec![gate(
        "acme-small.ttft_p95 > 1.1 * bolt-small.ttft_p95",
        GateResult::Met,
        300,
        None,
        "difference −118 ms [−165, −70]",
    )];
    run
}

#[test]
fn a_study_at_80_and_120_columns() {
    for width in [80, 120] {
        insta::assert_snapshot!(format!("study_{width}"), study().render(Format::Table, width, false));
    }
}

#[test]
fn a_study_in_markdown_has_the_evidence() {
    let shown = study().render(Format::Md, 80, false);
    let part = shown.split("### acme-small · chat").next().unwrap_or_default();
    insta::assert_snapshot!("study_markdown", part);
    assert!(shown.contains("### bolt-large · chat"), "every cell stands below in full");
}

#[test]
fn no_line_is_wider_than_the_terminal_however_many_targets() {
    let mut run = study();
    let long = |i: usize| format!("a-target-with-quite-a-long-name-{i}");
    for i in 0..12 {
        run.summary.cells.push(cell(&long(i), 100.0 + i as f64));
        run.summary.profiles[0]
            .candidates
            .push(Candidate { target: long(i), ..decision().candidates[0].clone() });
        run.summary.settings.push(Settings { target: long(i), ..settings() });
    }
    run.summary.comparisons =
        (0..66).map(|i| comparison(&long(i / 12), &long(i % 12), Standing::Better, Some("chat"))).collect();
    for width in [80, 120] {
        let shown = run.render(Format::Table, width, false);
        let widest = shown.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= width, "{widest} columns of {width}");
        assert!(shown.lines().count() < 300, "{} lines", shown.lines().count());
        assert!(shown.contains("51 more comparisons in"), "{shown}");
        assert!(shown.contains("11 candidates more in"), "{shown}");
        let in_one_line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(in_one_line.contains("12 more targets and workloads in report.html"), "{shown}");
        assert!(!shown.contains("tokens/s per user p50"), "per-cell detail stays out of the terminal");
    }
}

/// What was felt of a burst is a time, a bound, or nothing; n and the reason stand beside it.
#[test]
fn a_burst_that_was_not_felt_is_said_to_be_so() {
    let shown = |value: Option<f64>, hi: Option<f64>, note: &str| {
        let mut run = study();
        let bursts = run.summary.cells.last_mut().and_then(|cell| cell.bursts.as_mut()).unwrap();
        let [value, hi] = [value, hi].map(|ms| ms.and_then(Num::new));
        bursts.recovery = Rate { value, lo: None, hi, note: Some(note.to_owned()) };
        let page = run.render(Format::Md, 120, false);
        assert!(page.contains(note), "{page}");
        page
    };
    let note = "not felt in 10 of 10 bursts: they waited no longer than at rest";
    assert!(shown(None, None, note).contains("| not felt |"));
    let note = "a bound: the first request after it was quick already, n = 3 bursts";
    assert!(shown(None, Some(345.0), note).contains("| ≤ 345 ms |"));
    assert!(shown(Some(345.0), None, "3 bursts are too few for an interval").contains("| 345 ms |"));
}

/// A screen tells together who is out for one reason; the details give each its own.
#[test]
fn on_a_screen_those_that_are_out_alike_are_told_together() {
    let mut run = study();
    let out = |who: &str| format!("{who} is out: it fails more than 2 % of its requests (16 of 300).");
    run.summary.profiles[0].reasons.splice(2..2, ["a", "b", "c", "d"].map(out));
    let shown = run.render(Format::Table, 120, false);
    assert!(shown.contains("Out since it fails more than 2 % of its requests: a, b, c and d."), "{shown}");
    assert!(run.render(Format::Md, 120, false).contains("d is out: it fails"));
}

/// What lessens every cell alike, and what failed alike, is said once, with how many it is about.
#[test]
fn on_a_screen_what_is_alike_is_said_once() {
    let mut run = study();
    let cause = inferometer_metrics::Cause {
        status: inferometer_record::Status::HttpError,
        http_status: Some(503),
        code: Some("503".to_owned()),
        message: Some("busy".to_owned()),
        count: 3,
        first_request: 7,
    };
    for (at, cell) in run.summary.cells.iter_mut().take(4).enumerate() {
        (cell.client.valid, cell.client.reasons) = (false, vec![format!("a shard used 9{at} % of its core")]);
        cell.failures = vec![cause.clone()];
    }
    let shown = run.render(Format::Table, 120, false);
    let said = "NOT VALID (acme-small c4, bolt-small c4, acme-large c4 and 1 more), the first: a shard used 90 % of its";
    assert!(shown.contains(said) && shown.matches("NOT VALID").count() == 1, "{shown}");
    assert!(shown.contains("12 × http_error HTTP 503: busy (acme-small c4 3, "), "{shown}");
    let details = run.render(Format::Md, 120, false);
    assert_eq!(details.matches("NOT VALID: a shard").count(), 4, "each by itself in the details: {details}");
}

/// What one decision has said the next does not say again, but who is out of it.
#[test]
fn decisions_say_the_same_once() {
    let mut run = study();
    run.summary.profiles[0].reasons.push("a is out: nothing was asked.".to_owned());
    let mut second = run.summary.profiles[0].clone();
    second.profile = "agent".to_owned();
    run.summary.profiles.push(second);
    let shown = run.render(Format::Table, 120, false);
    let times = |said: &str| shown.matches(said).count();
    assert_eq!(
        (times("It rests on 1 time window"), times("this vantage point"), times("a is out")),
        (1, 1, 2)
    );
    assert_eq!(times("Take acme-small for now"), 2);
}

/// Many decisions are a table on a screen.
#[test]
fn many_decisions_are_a_table() {
    let mut run = study();
    run.summary.profiles = (0..5).map(|i| Decision { workload: format!("w{i}"), ..decision() }).collect();
    let shown = run.render(Format::Table, 120, false);
    assert!(shown.contains("decisions\n"), "{shown}");
    assert!(!shown.contains("changed by"), "their evidence is in the details");
    assert!(run.render(Format::Md, 120, false).contains("**changed by**"));
}
