//! Decisions, levers and settings of runs whose truth is planted.

use inferometer_metrics::{
    Arrival, CellContext, Certainty, Decision, GateResult, Profile, ProfileKind, Study, Summary, TargetInfo,
    summarize,
};
use inferometer_record::{Manifest, Sample, State, Status, Verdict};

use crate::cell::{Attempt, answer, closed};

/// What is true of a target.
#[derive(Clone, Copy)]
struct Truth {
    name: &'static str,
    provider: &'static str,
    model: &'static str,
    /// Median TTFT, ms; each block adds its own 0 to 9 %.
    ttft_ms: u64,
    /// Every so many blocks one is ten times as slow; 0 is never.
    slow_every: u64,
    /// Every so many blocks one fails; 0 is never.
    fails_every: u64,
    /// Every so many blocks one answer is of no use; 0 is never.
    useless_every: u64,
    cost: &'static str,
}

const PLAIN: Truth = Truth {
    name: "plain",
    provider: "p",
    model: "m",
    ttft_ms: 200,
    slow_every: 0,
    fails_every: 0,
    useless_every: 0,
    cost: "0.001",
};

fn is_one(block: u64, every: u64) -> bool {
    every > 0 && block % every == every / 2
}

fn attempt(truth: &Truth, index: u64, block: u64) -> Attempt {
    let noise = block * 7_919 % 10 + index % 2;
    let slow = if is_one(block, truth.slow_every) { 10 } else { 1 };
    let ttft = truth.ttft_ms * (100 + noise) / 100 * slow;
    let start = block * 20_000 + index * 100;
    let attempt = answer(block, start, &[ttft, ttft + 400, ttft + 800], Some(20)).with(|sample| {
        sample.block = u32::try_from(block).ok();
        sample.cost_usd = Some(truth.cost.to_owned());
        sample.cost_source = Some("plan".to_owned());
        if is_one(block, truth.useless_every) {
            sample.verdict = Some(Verdict::Invalid);
        }
    });
    if is_one(block, truth.fails_every) { attempt.failed(Status::HttpError, 50) } else { attempt }
}

fn context(truth: &Truth) -> CellContext {
    let [target, workload, load] = [truth.name, "w", "c1"].map(str::to_owned);
    CellContext { target, workload, load, ..closed(1) }
}

fn study(truths: &[Truth], profiles: Vec<Profile>) -> Study {
    let info = |truth: &Truth| TargetInfo {
        name: truth.name.to_owned(),
        provider: truth.provider.to_owned(),
        model: truth.model.to_owned(),
        ..TargetInfo::default()
    };
    Study { targets: truths.iter().map(info).collect(), profiles, seed: 7, ..Study::default() }
}

fn run(study: &Study, contexts: &[CellContext], samples: Vec<(String, Attempt)>) -> Summary {
    let cells = contexts.iter().map(|context| serde_json::to_value(context).unwrap()).collect();
    let manifest = Manifest {
        state: State::Complete,
        cells,
        study: serde_json::to_value(study).unwrap(),
        ..Manifest::default()
    };
    let samples = samples.into_iter().map(|(target, Attempt { mut sample, events })| {
        (sample.workload, sample.load) = ("w".to_owned(), "c1".to_owned());
        sample.target = target;
        inferometer_metrics::fill(&mut sample, &events, &|_, _| 0);
        let events = inferometer_metrics::events_of(&sample, &events);
        (sample, events)
    });
    let summary = summarize(&manifest, samples).unwrap();
    let json = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&json).unwrap(), summary, "reads back as something else");
    summary
}

/// The run of these targets, `n` blocks each.
fn of(truths: &[Truth], n: u64, profile: &Profile) -> Summary {
    let attempts = truths.iter().enumerate().flat_map(|(index, truth)| {
        (0..n).map(move |block| (truth.name.to_owned(), attempt(truth, index as u64, block)))
    });
    let contexts: Vec<CellContext> = truths.iter().map(context).collect();
    run(&study(truths, vec![profile.clone()]), &contexts, attempts.collect())
}

fn decision(truths: &[Truth], n: u64, profile: &Profile) -> Decision {
    let mut summary = of(truths, n, profile);
    assert_eq!(summary.profiles.len(), 1);
    summary.profiles.remove(0)
}

fn profile(kind: ProfileKind) -> Profile {
    Profile { kind, ..Profile::default() }
}

/// Who is chosen, how surely, and what a reason says.
fn check(decision: &Decision, certainty: Certainty, chosen: &[&str], said: &[&str]) {
    assert_eq!(
        (decision.certainty, decision.chosen.iter().map(String::as_str).collect::<Vec<_>>()),
        (certainty, chosen.to_vec()),
        "{:#?}",
        decision.reasons
    );
    for said in said {
        let all = || decision.reasons.iter().chain(&decision.would_change);
        assert!(all().any(|reason| reason.contains(said)), "no {said:?} in {:#?}", all().collect::<Vec<_>>());
    }
}

#[test]
fn a_fast_target_that_fails_loses() {
    let failing = Truth { name: "fast", ttft_ms: 100, fails_every: 25, ..PLAIN };
    let decided = decision(&[failing, PLAIN], 300, &profile(ProfileKind::Chat));
    check(
        &decided,
        Certainty::Proven,
        &["plain"],
        &[
            "Take plain: it is shown to hold all that chat needs.",
            "fast is out: it fails more than 2 % of its requests (12 of 300).",
            "It rests on 1 time window, fewer than 3",
        ],
    );
    assert_eq!(decided.candidates[1].target, "fast");
    assert_eq!(decided.fallback, None, "one that is shown to fail is no fallback");
}

#[test]
fn too_few_requests_make_it_provisional_and_say_how_many_it_takes() {
    let slow = Truth { name: "slow", ttft_ms: 900, ..PLAIN };
    let decided = decision(&[slow, PLAIN], 40, &profile(ProfileKind::Chat));
    check(
        &decided,
        Certainty::Provisional,
        &["plain"],
        &[
            "Take plain for now",
            "that error_rate>2% is false (n = 40 of 149)",
            "149 requests instead of 40, for error_rate>2%, if no further one is bad.",
        ],
    );
    assert!(decided.p_not_best.is_some_and(|p| p.get() < 0.01), "{:?}", decided.p_not_best);
    assert_eq!(decided.fallback.map(|fallback| fallback.target).as_deref(), Some("slow"));
}

#[test]
fn equals_are_a_set_and_the_cheaper_of_two_alike_is_taken() {
    let twin = Truth { name: "twin", ..PLAIN };
    let decided = decision(&[PLAIN, twin], 300, &profile(ProfileKind::Chat));
    check(&decided, Certainty::Proven, &["plain", "twin"], &["they cannot be told apart"]);
    let cheap = Truth { name: "cheap", cost: "0.0004", ..PLAIN };
    let decided = decision(&[PLAIN, cheap], 300, &profile(ProfileKind::Chat));
    check(
        &decided,
        Certainty::Proven,
        &["cheap"],
        &["cheap and plain are not told apart by TTFT p95; cost per useful answer decides: cheap $0.000400"],
    );
    assert_eq!(decided.candidates[0].target, "cheap");
}

#[test]
fn who_is_cheap_only_because_of_useless_answers_is_not_cheap() {
    let useless = Truth { name: "useless", cost: "0.0008", useless_every: 3, ..PLAIN };
    let decided = decision(
        &[useless, PLAIN],
        300,
        &Profile { limits: vec!["ttft_p95>5s".parse().unwrap()], ..profile(ProfileKind::Agent) },
    );
    check(&decided, Certainty::Provisional, &["plain"], &["not measured: tool_calls<95%"]);
    let [plain, _] = decided.candidates.as_slice() else { panic!("two targets") };
    assert!(plain.is_pareto);
}

#[test]
fn evidence_that_nobody_gathered_is_not_measured() {
    let decided = decision(&[PLAIN], 300, &profile(ProfileKind::Production));
    check(
        &decided,
        Certainty::Provisional,
        &["plain"],
        &[
            "not measured: availability<99%, burst_error_rate>5%, burst_ttft_p95>5s",
            "A measurement for burst_error_rate>5%: not measured: no burst was made.",
            "No run measures availability, nor do several pooled: production is at best provisional.",
            "A measurement for availability<99%: not measured: it takes probes over days",
        ],
    );
    let unmeasured = |decided: &Decision| {
        let of = decided.candidates[0].constraints.iter().filter(|outcome| outcome.is_unmeasured);
        of.map(|outcome| outcome.gate.clone()).collect::<Vec<_>>()
    };
    assert_eq!(unmeasured(&decided), ["availability<99%", "burst_error_rate>5%", "burst_ttft_p95>5s"]);
    let decided = decision(&[PLAIN], 300, &profile(ProfileKind::Rag));
    check(&decided, Certainty::Provisional, &["plain"], &["the prompts have 7 tokens at the median"]);
    assert_eq!(unmeasured(&decided), ["ttft_p95>5s"], "it has a value, but none of long prompts");
    let decided = decision(&[PLAIN], 300, &profile(ProfileKind::Batch));
    check(&decided, Certainty::Proven, &["plain"], &[]);
}

#[test]
fn what_has_no_valid_figures_is_never_chosen() {
    let fast = Truth { name: "fast", ttft_ms: 100, ..PLAIN };
    let truths = [fast, PLAIN];
    let mut contexts: Vec<CellContext> = truths.iter().map(context).collect();
    contexts[0].health.shard_cpu = vec![0.97];
    contexts.push(CellContext {
        gap: Some("HTTP 400: no such model".to_owned()),
        ..context(&Truth { name: "gone", ..PLAIN })
    });
    let attempts = truths.iter().enumerate().flat_map(|(index, truth)| {
        (0..60).map(move |block| (truth.name.to_owned(), attempt(truth, index as u64, block)))
    });
    let summary = run(&study(&truths, vec![profile(ProfileKind::Chat)]), &contexts, attempts.collect());
    check(
        &summary.profiles[0],
        Certainty::Provisional,
        &["plain"],
        &[
            "fast is out: its figures are not valid: a shard used 97 % of its core",
            "gone is out: nothing was measured: HTTP 400: no such model.",
        ],
    );
}

#[test]
fn where_all_miss_nobody_is_recommended() {
    let slow = Truth { name: "slow", ttft_ms: 9_000, ..PLAIN };
    let slower = Truth { name: "slower", ttft_ms: 12_000, ..PLAIN };
    let decided = decision(&[slower, slow], 100, &profile(ProfileKind::Chat));
    check(
        &decided,
        Certainty::None,
        &[],
        &["every target is shown to miss something that chat needs; the best of them is slow"],
    );
    let none = Profile { workload: Some("other".to_owned()), ..profile(ProfileKind::Chat) };
    check(&decision(&[PLAIN], 100, &none), Certainty::None, &[], &["nothing was measured"]);
}

/// What misses something, what is not valid and what gave no answer are three things.
#[test]
fn where_nobody_is_recommended_the_reason_is_the_true_one() {
    let gone = Truth { name: "gone", ..PLAIN };
    let slow = Truth { name: "slow", ttft_ms: 9_000, ..PLAIN };
    let decided = |truths: &[Truth], is_valid: bool| {
        let mut contexts: Vec<CellContext> = truths.iter().map(context).collect();
        contexts[0].health.shard_cpu = if is_valid { Vec::new() } else { vec![0.97] };
        let gap = Some("does a server listen there?".to_owned());
        contexts.push(CellContext { gap, ..context(&gone) });
        let attempts = truths
            .iter()
            .flat_map(|truth| (0..100).map(move |block| (truth.name.to_owned(), attempt(truth, 0, block))));
        let mut all = truths.to_vec();
        all.push(gone);
        run(&study(&all, vec![profile(ProfileKind::Chat)]), &contexts, attempts.collect()).profiles.remove(0)
    };
    let not_valid = decided(&[PLAIN], false);
    check(
        &not_valid,
        Certainty::None,
        &[],
        &["what was measured is not valid", "gone is out: nothing was measured: does a server listen there?"],
    );
    assert!(not_valid.reasons.iter().all(|reason| !reason.contains("?.")), "{:?}", not_valid.reasons);
    check(
        &decided(&[slow], true),
        Certainty::None,
        &[],
        &["slow is shown to miss something that chat needs, and of gone no figure can be used."],
    );
    let silent = decision(&[Truth { fails_every: 1, ..PLAIN }], 10, &profile(ProfileKind::Chat));
    check(&silent, Certainty::None, &[], &["no target gave an answer"]);
}

#[test]
fn the_fallback_fails_at_other_times() {
    let main = Truth { name: "main", provider: "x", fails_every: 50, ..PLAIN };
    let sister = Truth { name: "sister", provider: "x", ttft_ms: 400, ..PLAIN };
    let together = Truth { name: "together", provider: "y", ttft_ms: 400, fails_every: 50, ..PLAIN };
    let apart = Truth { name: "apart", provider: "z", ttft_ms: 500, ..PLAIN };
    let limits = vec!["error_rate>10%".parse().unwrap()];
    let decided =
        decision(&[main, sister, together, apart], 200, &Profile { limits, ..profile(ProfileKind::Chat) });
    check(&decided, Certainty::Proven, &["main"], &[]);
    let fallback = decided.fallback.unwrap();
    assert_eq!(
        (fallback.target.as_str(), fallback.reason.as_str()),
        ("apart", "another provider (z); both failed in 0 of 200 blocks")
    );
}

#[test]
fn levers_of_provider_and_model() {
    let truth = |name, model, ttft_ms, cost| Truth { name, model, ttft_ms, cost, ..PLAIN };
    let truths = [
        truth("a-small", "small", 100, "0.001"),
        truth("b-small", "small", 200, "0.001"),
        truth("a-large", "large", 300, "0.020"),
        truth("b-large", "large", 400, "0.080"),
    ];
    let levers = of(&truths, 30, &profile(ProfileKind::Chat)).levers;
    let [cost, ttft] = levers.as_slice() else { panic!("{levers:?}") };
    let pair = |lever: &inferometer_metrics::Lever| {
        [lever.within_model, lever.across_models].map(|ratio| (ratio.unwrap().get() * 10.0).round() / 10.0)
    };
    assert_eq!((cost.figure.as_str(), pair(cost)), ("cost_per_useful", [2.5, 20.0]));
    assert_eq!((ttft.figure.as_str(), pair(ttft)), ("time_to_first_token", [1.7, 3.0]));
    assert_eq!(cost.models[0].lowest.as_ref().unwrap().0, "a-large");
    assert_eq!(cost.models[0].ratio.unwrap().get(), 4.0);
}

/// Those that are left out for one reason are named together.
#[test]
fn who_is_in_no_lever_is_said_once() {
    let truths = ["a", "b", "c", "d"].map(|name| Truth { name, ..PLAIN });
    let attempts = truths.iter().zip(0..).flat_map(|(truth, index)| {
        (0..30).map(move |block| {
            let attempt = attempt(truth, index, block).with(|sample| {
                if block >= 28 + index {
                    (sample.cost_usd, sample.cost_source) = (None, None);
                }
            });
            (truth.name.to_owned(), attempt)
        })
    });
    let contexts: Vec<CellContext> = truths.iter().map(context).collect();
    let summary = run(&study(&truths, vec![profile(ProfileKind::Rag)]), &contexts, attempts.collect());
    assert_eq!(
        summary.levers[0].notes,
        ["without a and b: their costs are lower bounds (2 of 30 and 1 of 30 attempts of unknown cost)"]
    );
}

/// Three targets that differ by cost, of which the cheapest has one attempt of unknown cost, or is not valid.
#[test]
fn what_is_a_bound_or_not_valid_is_in_no_lever() {
    let truth = |name, cost| Truth { name, cost, ..PLAIN };
    let truths = [truth("a", "0.001"), truth("b", "0.002"), truth("c", "0.004")];
    let check = |is_bound: bool, is_void: bool, within: [f64; 2], note: &str| {
        let attempts = truths.iter().zip(0..).flat_map(|(truth, index)| {
            let is_unknown = move |block| is_bound && truth.name == "a" && block == 29;
            (0..30).map(move |block| {
                let attempt = attempt(truth, index, block).with(|sample| {
                    if is_unknown(block) {
                        (sample.cost_usd, sample.cost_source) = (None, None);
                    }
                });
                (truth.name.to_owned(), attempt)
            })
        });
        let mut contexts: Vec<CellContext> = truths.iter().map(context).collect();
        contexts[0].health.channel_full = u64::from(is_void);
        let summary = run(&study(&truths, vec![profile(ProfileKind::Rag)]), &contexts, attempts.collect());
        let [cost, ttft] = summary.levers.as_slice() else { panic!("{:?}", summary.levers) };
        let found = [cost, ttft].map(|lever| (lever.within_model.unwrap().get() * 10.0).round() / 10.0);
        assert_eq!(found, within, "{cost:?}");
        assert_eq!(cost.notes.join("; "), note);
        assert_eq!(ttft.notes.is_empty(), !is_void);
        let [decision] = summary.profiles.as_slice() else { panic!("{:?}", summary.profiles) };
        let front = |name: &str| decision.candidates.iter().find(|c| c.target == name).unwrap().is_pareto;
        assert_eq!((front("a"), front("b")), (!is_bound && !is_void, is_bound || is_void), "{decision:?}");
        assert_eq!(decision.p_not_best.is_none(), is_bound, "{decision:?}");
    };
    check(false, false, [4.0, 1.0], "");
    check(true, false, [2.0, 1.0], "without a: its cost is a lower bound (1 of 30 attempts of unknown cost)");
    check(false, true, [2.0, 1.0], "without a: its figures are not valid");
}

/// How a target's costs are known.
#[derive(Clone, Copy)]
enum Costs {
    Known,
    /// One attempt is without.
    Bounded,
}

/// The decision between targets that differ by what they cost and by how that is known.
fn by_cost(targets: &[(Truth, Costs)]) -> Decision {
    let is_unknown = |costs: Costs, block| matches!(costs, Costs::Bounded) && block == 299;
    let attempts = targets.iter().zip(0..).flat_map(|((truth, costs), index)| {
        (0..300).map(move |block| {
            let attempt = attempt(truth, index, block).with(|sample| {
                // Costs that never vary cannot be resampled.
                sample.cost_usd = Some(format!("{}{}", truth.cost, (block * 7 + index * 3) % 10));
                if is_unknown(*costs, block) {
                    (sample.cost_usd, sample.cost_source) = (None, None);
                }
            });
            (truth.name.to_owned(), attempt)
        })
    });
    let truths: Vec<Truth> = targets.iter().map(|(truth, _)| *truth).collect();
    let contexts: Vec<CellContext> = truths.iter().map(context).collect();
    // Batch has the fewest constraints; of targets of one pace only the cost decides.
    let study = study(&truths, vec![profile(ProfileKind::Batch)]);
    run(&study, &contexts, attempts.collect()).profiles.remove(0)
}

#[test]
fn a_cost_that_is_only_a_bound_wins_no_rank_by_it() {
    use Costs::{Bounded, Known};
    let of = |name, cost| Truth { name, cost, ..PLAIN };
    let (cheap, mid, dear) = (of("cheap", "0.001"), of("mid", "0.002"), of("dear", "0.004"));
    let bound = "Of cheap only a lower bound of the cost is known (1 of 300 attempts are without one): by cost it is \
                 tied, not ahead.";
    let case = |targets: &[(Truth, Costs)], certainty, chosen: &[&str], said: &[&str]| {
        let decided = by_cost(targets);
        check(&decided, certainty, chosen, said);
        decided
    };
    case(
        &[(cheap, Known), (mid, Known)],
        Certainty::Proven,
        &["cheap"],
        &["cost per useful answer decides: cheap"],
    );
    // Cheaper as far as is known: no winner, and not behind what is known to be dearer either.
    let tied = case(
        &[(cheap, Bounded), (mid, Known), (dear, Known)],
        Certainty::Provisional,
        &["mid", "cheap"],
        &[
            "Take mid or cheap for now: all that batch needs is shown to hold, but not what cheap costs.",
            "cost per useful answer decides: mid $0.00245 [",
            "cheap at least $0.00145 [≥ 0.00",
            bound,
            "The cost of 1 attempt of cheap, that is a price and a usage for each.",
        ],
    );
    assert_eq!((tied.p_not_best, tied.candidates[2].target.as_str()), (None, "dear"));
    // A bound can lose: what is at least dearer than another is dearer.
    let lost = case(&[(dear, Bounded), (mid, Known)], Certainty::Proven, &["mid"], &["dear at least $0.004"]);
    assert!(lost.reasons.iter().all(|said| !said.contains("lower bound")), "{:?}", lost.reasons);
    // Nothing is known between two bounds.
    let both = case(&[(mid, Bounded), (cheap, Bounded)], Certainty::Provisional, &["cheap", "mid"], &[bound]);
    assert_eq!(both.p_not_best, None);
    // Alone there is nothing that its cost could have put it out of.
    case(&[(cheap, Bounded)], Certainty::Proven, &["cheap"], &[]);
}

/// The value and evidence of a setting of the first target.
fn check_setting(summary: &Summary, name: &str, value: Option<f64>, said: &str) {
    let setting = summary.settings[0].values.iter().find(|setting| setting.name == name).unwrap();
    assert_eq!(setting.value.map(inferometer_metrics::Num::get), value, "{setting:?}");
    let shown = format!("{} · {}", setting.evidence, setting.confidence);
    assert!(shown.contains(said), "no {said:?} in {shown}");
}

#[test]
fn settings_come_from_the_tails() {
    let few = of(&[PLAIN], 40, &profile(ProfileKind::Chat));
    check_setting(
        &few,
        "first_token_timeout",
        Some(1_000.0),
        "2 × the largest, 218 ms of 40 useful answers (c1), raised to what one lost packet may take",
    );
    check_setting(&few, "first_token_timeout", Some(1_000.0), "would have cut 0 of them (at most 7.22 %)");
    check_setting(&few, "max_tokens", Some(40.0), "low: too few answers to bound p99, n = 40");
    check_setting(&few, "max_concurrency", None, "only one load was measured, 1 in flight");
    let many = of(&[Truth { fails_every: 100, ..PLAIN }], 600, &profile(ProfileKind::Chat));
    check_setting(&many, "total_timeout", Some(1_100.0), "upper bound of p99 of 594 useful answers");
    check_setting(&many, "idle_timeout", Some(1_000.0), "fair: p99.9 is not bounded, n = 594");
}

/// The advice after twelve gaps of 4 s on fresh connections, by what the first request waits longer.
fn check_keep_warm(penalty: impl Fn(u32) -> f64, value: Option<f64>, said: &str) {
    let load = |load: &str, arrival| CellContext { load: load.to_owned(), arrival, ..context(&PLAIN) };
    let contexts = [context(&PLAIN), load("rest", Arrival::ColdStart { gap_s: 4.0 })];
    let manifest = Manifest {
        state: State::Complete,
        cells: contexts.iter().map(|context| serde_json::to_value(context).unwrap()).collect(),
        study: serde_json::to_value(study(&[PLAIN], Vec::new())).unwrap(),
        ..Manifest::default()
    };
    let samples = (0..24).map(|i| {
        let warm = 200.0 + f64::from(i / 2);
        let (role, ttft) =
            if i % 2 == 0 { ("cold_fresh", warm + penalty(i / 2)) } else { ("warm_fresh", warm) };
        let mut sample = attempt(&PLAIN, 0, u64::from(i)).sample;
        (sample.block, sample.role, sample.ttft_ms) = (Some(i / 2), Some(role.to_owned()), Some(ttft));
        (sample.target, sample.workload, sample.load) =
            ("plain".to_owned(), "w".to_owned(), "rest".to_owned());
        (sample, None)
    });
    check_setting(&summarize(&manifest, samples).unwrap(), "keep_warm_interval", value, said);
}

#[test]
fn keeping_warm_is_called_needless_only_where_that_is_shown() {
    check_keep_warm(|_| 1_000.0, Some(2_000.0), "low, n = 12: half the shortest gap that was cold");
    check_keep_warm(|_| -1.0, None, "not needed up to that gap, n = 12: shown to be at most 10 % longer");
    let wide = |i: u32| if i.is_multiple_of(3) { 900.0 } else { -20.0 };
    check_keep_warm(wide, None, "not known (n = 12): neither a cold start nor less than 10 % is shown");
}

#[test]
fn retry_advice_only_for_what_was_seen() {
    let summary =
        of(&[Truth { fails_every: 10, useless_every: 20, ..PLAIN }], 100, &profile(ProfileKind::Chat));
    let seen: Vec<(&str, u64)> =
        summary.settings[0].retry.iter().map(|advice| (advice.class.as_str(), advice.seen)).collect();
    assert_eq!(seen, [("invalid answer", 5)], "an error without a status is of no class that can be retried");
}

#[test]
fn a_burst_is_evidence_for_production() {
    let mut contexts = vec![context(&PLAIN)];
    contexts.push(CellContext {
        load: "burst".to_owned(),
        arrival: Arrival::Burst { size: 4 },
        ..context(&PLAIN)
    });
    let manifest = Manifest {
        state: State::Complete,
        cells: contexts.iter().map(|context| serde_json::to_value(context).unwrap()).collect(),
        study: serde_json::to_value(study(&[PLAIN], vec![profile(ProfileKind::Production)])).unwrap(),
        ..Manifest::default()
    };
    let ordinary = (0..60).map(|block| ("c1", attempt(&PLAIN, 0, block).sample));
    let burst = (0..100).map(|i| {
        let sample = Sample {
            block: Some(i / 4),
            role: Some("burst".to_owned()),
            ..attempt(&PLAIN, 0, 100 + u64::from(i)).sample
        };
        ("burst", sample)
    });
    let samples = ordinary.chain(burst).map(|(load, mut sample)| {
        (sample.target, sample.workload, sample.load) = ("plain".to_owned(), "w".to_owned(), load.to_owned());
        sample.ttft_ms = Some(200.0);
        (sample, None)
    });
    let summary = summarize(&manifest, samples).unwrap();
    let [decided] = summary.profiles.as_slice() else { panic!("one workload") };
    let outcomes = &decided.candidates[0].constraints;
    let result = |gate: &str| outcomes.iter().find(|outcome| outcome.gate == gate).unwrap().result;
    assert_eq!(decided.load, "c1");
    assert_eq!(
        (result("burst_error_rate>5%"), result("burst_ttft_p95>5s")),
        (GateResult::Met, GateResult::Met)
    );
}

#[test]
fn the_document_shows_the_defaults() {
    let document = include_str!("../../../../docs/comparing.md");
    for kind in ProfileKind::ALL {
        let gates: Vec<String> = Profile::defaults(kind).iter().map(|gate| format!("`{gate}`")).collect();
        let row = format!("| `{}` | {} |", kind.name(), gates.join(", "));
        assert!(document.contains(&row), "no {row}");
    }
}
