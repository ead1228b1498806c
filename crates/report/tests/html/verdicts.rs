//! What the made-up run says beyond its cells: decisions, comparisons, levers, settings, episodes.

use inferometer_metrics::{
    Arrival, Bursts, Candidate, CellSummary, Certainty, Client, ColdStart, ColdStarts, Comparison, Decision,
    Fallback, GateOutcome, GateResult, Lever, Metric, Proportion, QuantilePoint, Rate, RetryAdvice, Setting,
    Settings, Spread, Standing, Statistic, Summary, name,
};

use super::fixture::{WORKLOAD, num};

/// Fills in what is not reckoned out of the samples.
pub(crate) fn fill(summary: &mut Summary) {
    summary.profiles = vec![
        decision(summary, "chat", Certainty::Proven, &["alder-small-8b"], "ttft_spread"),
        decision(
            summary,
            "production",
            Certainty::Provisional,
            &["alder-main-70b", "birch-main-70b"],
            name::LATENCY,
        ),
        decision(summary, "agent", Certainty::None, &[], name::COST_PER_USEFUL),
    ];
    summary.comparisons = comparisons();
    summary.levers = levers();
    summary.settings = ["alder-small-8b", "birch-small-8b", "alder-main-70b"].map(settings).to_vec();
    summary.gates = vec![outcome(
        "alder-small-8b.ttft_p95 > 1.1 * birch-small-8b.ttft_p95",
        GateResult::Unproven,
        300,
        None,
    )];
    summary.cells.push(cold_cell("alder-small-8b", 30.0, 0));
    summary.cells.push(cold_cell("dogwood-small-8b", 1020.0, 20));
    summary.cells.push(burst_cell());
    summary.warnings =
        vec!["dogwood reports 25 % more than its listed price: the price book may be stale".to_owned()];
}

fn rate(value: f64, lo: f64, hi: f64) -> Rate {
    Rate { value: num(value), lo: num(lo), hi: num(hi), note: None }
}

fn outcome(gate: &str, result: GateResult, n: u64, needed_n: Option<u64>) -> GateOutcome {
    GateOutcome { gate: gate.to_owned(), result, n, needed_n, ..GateOutcome::default() }
}

fn decision(
    summary: &Summary,
    profile: &str,
    certainty: Certainty,
    chosen: &[&str],
    headline: &str,
) -> Decision {
    let chosen: Vec<String> = chosen.iter().map(|name| (*name).to_owned()).collect();
    let lead = match certainty {
        Certainty::Proven => format!(
            "Take {}: it is shown to meet every constraint, and its first token is the steadiest.",
            chosen[0]
        ),
        Certainty::Provisional => format!(
            "Provisionally take {}: they are tied, and one constraint is not proven yet.",
            chosen.join(" or ")
        ),
        Certainty::None => "No target can be recommended: tool calls were not measured.".to_owned(),
    };
    let cells = summary.cells.iter().filter(|cell| cell.load == "c4");
    let mut candidates: Vec<Candidate> = cells.map(|cell| candidate(cell, certainty)).collect();
    candidates.sort_by_key(|candidate| !chosen.contains(&candidate.target));
    Decision {
        profile: profile.to_owned(),
        workload: WORKLOAD.to_owned(),
        load: "c4".to_owned(),
        certainty,
        chosen,
        headline: headline.to_owned(),
        order: vec!["the steadiest first token".to_owned(), "the lowest cost per useful answer".to_owned()],
        candidates: candidates.into_iter().take(8).collect(),
        p_not_best: num(0.031),
        fallback: (certainty != Certainty::None).then(|| Fallback {
            target: "dogwood-small-8b".to_owned(),
            reason: "another provider; of 12 blocks in which the first failed it failed in none".to_owned(),
        }),
        reasons: vec![
            lead,
            "Its TTFT p95 is 262 ms [251–284] over all attempts, and 300 of 300 requests ended within the limit.".to_owned(),
            "cedar-small-8b has the lower median, and is out for its tail: p95 1180 ms.".to_owned(),
        ],
        would_change: vec![
            "a price of birch-small-8b 40 % lower".to_owned(),
            "an error rate above 1 %: 299 requests without a failure are needed to rule it out".to_owned(),
        ],
        scope: "these 25 prompts, one hour, this vantage point; fewer than 3 windows".to_owned(),
        ..Decision::default()
    }
}

fn candidate(cell: &CellSummary, certainty: Certainty) -> Candidate {
    let all = cell.metrics.get(name::TTFT).map(|ttft| ttft.all_attempts.as_deref().unwrap_or(ttft));
    let p95 = all.and_then(|metric| metric.p95.clone());
    let is_slow = p95.as_ref().and_then(|p95| p95.value).is_some_and(|ms| ms.get() > 1500.0);
    let ttft = if is_slow { GateResult::Missed } else { GateResult::Met };
    let errors = match cell.counts.failed {
        0 => GateResult::Met,
        1 | 2 => GateResult::Unproven,
        _ => GateResult::Missed,
    };
    let tools = GateOutcome {
        detail: "not measured".to_owned(),
        ..outcome("tool_calls<95%", GateResult::Unproven, 0, None)
    };
    let mut constraints =
        vec![outcome("ttft_p95>1500ms", ttft, 300, None), outcome("error_rate>1%", errors, 300, Some(473))];
    constraints.extend((certainty == Certainty::None).then_some(tools));
    Candidate {
        target: cell.target.clone(),
        constraints,
        headline: cell.stability.spread_ms.clone(),
        headline_unit: "ms".to_owned(),
        cost_per_useful_usd: cell.cost.per_useful_usd.clone(),
        ttft_p95_ms: p95,
        is_pareto: cell.target.contains("small") && !cell.target.contains("cedar"),
        ..Candidate::default()
    }
}

/// Two targets, a figure and what of it, its difference, p, the verdict, and the profile of its family.
type Row =
    (&'static str, &'static str, &'static str, Statistic, [f64; 3], f64, Standing, Option<&'static str>);

const ALDER: &str = "alder-small-8b";
const BIRCH: &str = "birch-small-8b";
const CEDAR: &str = "cedar-small-8b";
const DOGWOOD: &str = "dogwood-small-8b";

const COMPARISONS: [Row; 6] = [
    (ALDER, BIRCH, name::TTFT, Statistic::P95, [55.0, 31.0, 80.0], 0.0004, Standing::Worse, Some("chat")),
    (
        ALDER,
        CEDAR,
        name::TTFT,
        Statistic::P95,
        [-910.0, -1100.0, -650.0],
        1e-9,
        Standing::Better,
        Some("chat"),
    ),
    (
        ALDER,
        DOGWOOD,
        name::TTFT,
        Statistic::P95,
        [-120.0, -160.0, -70.0],
        1e-5,
        Standing::Better,
        Some("chat"),
    ),
    (BIRCH, DOGWOOD, name::TTFT, Statistic::Typical, [0.53, 0.51, 0.56], 1e-12, Standing::Better, None),
    (ALDER, BIRCH, name::LATENCY, Statistic::Typical, [1.02, 0.97, 1.06], 0.41, Standing::Equivalent, None),
    (
        ALDER,
        CEDAR,
        name::ERROR_RATE,
        Statistic::Share,
        [0.003, -0.009, 0.019],
        0.3,
        Standing::NotDistinguishable,
        None,
    ),
];

fn comparisons() -> Vec<Comparison> {
    COMPARISONS.into_iter().map(comparison).collect()
}

fn comparison((a, b, metric, statistic, [value, lo, hi], p, verdict, family): Row) -> Comparison {
    let unit = match statistic {
        Statistic::P95 => "ms",
        Statistic::Share => "share",
        _ => "ratio",
    };
    Comparison {
        workload: WORKLOAD.to_owned(),
        load: "c4".to_owned(),
        a: a.to_owned(),
        b: b.to_owned(),
        metric: metric.to_owned(),
        statistic,
        unit: unit.to_owned(),
        family: family.map(str::to_owned),
        n: 300,
        value: rate(value, lo, hi),
        p: num(p),
        p_holm: family.and_then(|_| num((p * 6.0).min(1.0))),
        verdict,
        needed_n: (verdict == Standing::NotDistinguishable).then_some([900, 1_700]),
        notes: Vec::new(),
    }
}

fn levers() -> Vec<Lever> {
    let spread = |model: &str, lowest: f64, highest: f64| Spread {
        model: model.to_owned(),
        lowest: num(lowest).map(|value| (format!("dogwood-{model}"), value)),
        highest: num(highest).map(|value| (format!("alder-{model}"), value)),
        ratio: num(highest / lowest),
    };
    let lever = |figure: &str, within: f64, across: f64, models| Lever {
        workload: WORKLOAD.to_owned(),
        load: "c4".to_owned(),
        figure: figure.to_owned(),
        models,
        within_model: num(within),
        across_models: num(across),
        notes: vec![format!("without the-silent-one: nothing of its {figure} is known")],
    };
    vec![
        lever(
            name::COST_PER_USEFUL,
            1.66,
            212.0,
            vec![spread("small-8b", 0.000_018, 0.000_03), spread("think-r1", 0.003, 0.006)],
        ),
        lever(name::TTFT, 1.9, 4.7, vec![spread("small-8b", 190.0, 361.0)]),
    ]
}

fn settings(target: &str) -> Settings {
    let value = |name: &str, value: f64, unit: &str, evidence: &str| Setting {
        name: name.to_owned(),
        value: num(value),
        unit: unit.to_owned(),
        evidence: evidence.to_owned(),
        confidence: "95 %, n = 300".to_owned(),
    };
    let advice = |class: &str, seen: u64, advice: &str| RetryAdvice {
        class: class.to_owned(),
        seen,
        advice: advice.to_owned(),
    };
    Settings {
        target: target.to_owned(),
        workload: WORKLOAD.to_owned(),
        values: vec![
            value("first_token_timeout", 1840.0, "ms", "twice the upper bound of TTFT p99"),
            value("idle_timeout", 2100.0, "ms", "twice the longest gap of 24,000"),
            value("total_timeout", 6900.0, "ms", "twice the upper bound of latency p99"),
            value("max_tokens", 320.0, "tokens", "the longest useful answer, and a quarter"),
            value("max_concurrency", 8.0, "requests", "the knee of the ladder"),
            Setting {
                evidence: "no load of cold starts".to_owned(),
                value: None,
                ..value("keep_warm_interval", 1.0, "ms", "")
            },
        ],
        retry: vec![advice("5xx", 12, "once, after 500 ms, then the fallback"), advice("429", 0, "not seen")],
    }
}

fn times(n: u64, p50: f64) -> Metric {
    let point = |value: f64, lo: f64, hi: f64| {
        Some(QuantilePoint {
            value: num(value),
            lo: num(lo),
            hi: num(hi),
            above: false,
            n_eff: None,
            note: None,
        })
    };
    Metric {
        unit: "ms".to_owned(),
        n,
        p50: point(p50, p50 * 0.9, p50 * 1.1),
        p95: point(p50 * 1.5, p50 * 1.2, f64::NAN),
        max: num(p50 * 1.6),
        ..Metric::default()
    }
}

fn proportion(count: u64, n: u64, lo: f64, hi: f64) -> Proportion {
    Proportion { count, n, value: num(count as f64 / n as f64), lo: num(lo), hi: num(hi) }
}

fn episode(target: &str, load: &str, arrival: Arrival) -> CellSummary {
    let client = Client { valid: true, error_ms: num(0.2), ..Client::default() };
    CellSummary {
        target: target.to_owned(),
        workload: WORKLOAD.to_owned(),
        load: load.to_owned(),
        arrival,
        client,
        ..CellSummary::default()
    }
}

fn cold_cell(target: &str, penalty: f64, seen: u64) -> CellSummary {
    let cold = |connect: f64| ColdStart {
        n: 20,
        cold_ttft: times(20, 190.0 + penalty),
        warm_ttft: times(20, 190.0),
        penalty: times(20, penalty),
        connect: if connect > 0.0 { times(20, connect) } else { Metric::default() },
        seen: proportion(seen, 20, seen as f64 / 20.0 * 0.83, (seen as f64 / 20.0).max(0.16)),
        failed: 0,
        detail: if seen > 0 {
            "a cold start of 1020 ms after 4 s of rest".to_owned()
        } else {
            "none seen up to 4 s, n = 20".to_owned()
        },
    };
    let cold_starts = ColdStarts { gap_s: 4.0, fresh: cold(38.0), kept: cold(0.0), ..ColdStarts::default() };
    CellSummary {
        cold_starts: Some(cold_starts),
        ..episode(target, "coldstart", Arrival::ColdStart { gap_s: 4.0 })
    }
}

fn burst_cell() -> CellSummary {
    let bursts = Bursts {
        size: 32,
        n: 10,
        sent_within: times(10, 2.1),
        rest_ttft: times(10, 280.0),
        ttft: Metric {
            all_attempts: Some(Box::new(Metric { p95: times(320, 900.0).p95, ..times(320, 900.0) })),
            ..times(288, 610.0)
        },
        refused: proportion(32, 320, 0.072, 0.138),
        failed: proportion(0, 320, 0.0, 0.012),
        recovery: rate(2400.0, 1900.0, 3100.0),
        notes: vec!["all of a burst sent within 5 ms".to_owned()],
    };
    CellSummary {
        bursts: Some(bursts),
        ..episode("dogwood-small-8b", "burst32", Arrival::Burst { size: 32 })
    }
}
