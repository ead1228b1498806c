//! Targets held against each other on made samples whose truth is known.

use inferometer_metrics::{
    Arrival, CellContext, Comparison, Profile, ProfileKind, Standing, Statistic, Study, Summary, TargetInfo,
    name, summarize,
};
use inferometer_record::{Manifest, Sample, State, Status, Verdict};
use inferometer_stats::SplitMix;
use inferometer_stats::special::normal_quantile;

use crate::cell::{Attempt, MS, answer, healthy};

/// What is true of a target.
#[derive(Clone, Copy)]
struct Truth {
    name: &'static str,
    /// TTFT is so many times the block's own slowness.
    slow: f64,
    /// Standard deviation of ln TTFT beside the block's.
    noise: f64,
    failing: f64,
    useless: f64,
    cost: f64,
}

const PLAIN: Truth = Truth { name: "a", slow: 1.0, noise: 0.2, failing: 0.0, useless: 0.1, cost: 0.001 };

/// One block of one target: the block's slowness is shared, the rest its own.
fn attempt(truth: &Truth, index: u64, block: u32, shared: f64, random: &mut SplitMix) -> Attempt {
    let mut normal = || normal_quantile(random.unit());
    let ttft = 200.0 * truth.slow * (0.3 * shared + truth.noise * normal()).exp();
    let ttft_us = (ttft * 1e3) as u64;
    let start_ms = u64::from(block) * 20_000 + index * 5_000;
    let seq = u64::from(block);
    let (is_failing, is_useless) = (random.unit() < truth.failing, random.unit() < truth.useless);
    let attempt = answer(seq, start_ms, &[0, 300], Some(2)).with(|sample| {
        sample.block = Some(block);
        sample.cost_usd = Some(format!("{:.9}", truth.cost * (0.8 + 0.4 * random.unit())));
        sample.cost_source = Some("plan".to_owned());
        if is_useless {
            sample.verdict = Some(Verdict::Invalid);
        }
        sample.end_ns = sample.start_ns.map(|start| start + ttft_us * 1_000 + 300 * MS);
    });
    let mut attempt = if is_failing { attempt.failed(Status::HttpError, 20) } else { attempt };
    if is_failing {
        attempt.events.clear();
    }
    for (place, event) in (0_u64..).zip(&mut attempt.events) {
        event.at_ns = start_ms * MS + ttft_us * 1_000 + place * 300 * MS;
    }
    attempt
}

fn context(truth: &Truth) -> CellContext {
    let [target, workload, load] = [truth.name, "chat", "c1"].map(str::to_owned);
    let arrival = Arrival::Closed { slots: 1 };
    CellContext { target, workload, load, arrival, health: healthy(), ..CellContext::default() }
}

fn samples(truths: &[Truth], blocks: u32, seed: u64) -> Vec<Sample> {
    let mut random = SplitMix::new(seed);
    let mut samples = Vec::new();
    for block in 0..blocks {
        let shared = normal_quantile(random.unit());
        for (index, truth) in (0_u64..).zip(truths) {
            let Attempt { mut sample, events } = attempt(truth, index, block, shared, &mut random);
            (sample.target, sample.workload, sample.load) =
                (truth.name.to_owned(), "chat".to_owned(), "c1".to_owned());
            inferometer_metrics::fill(&mut sample, &events, &|_, _| 0);
            samples.push(sample);
        }
    }
    samples
}

fn summary(truths: &[Truth], kinds: &[ProfileKind], samples: Vec<Sample>) -> Summary {
    let profiles = kinds.iter().map(|kind| Profile { kind: *kind, ..Profile::default() }).collect();
    summary_of(truths, Study { profiles, seed: 7, ..Study::default() }, samples)
}

fn summary_of(truths: &[Truth], study: Study, samples: Vec<Sample>) -> Summary {
    summary_in(&truths.iter().map(context).collect::<Vec<_>>(), study, samples)
}

fn summary_in(contexts: &[CellContext], study: Study, samples: Vec<Sample>) -> Summary {
    let manifest = Manifest {
        state: State::Complete,
        cells: contexts.iter().map(|context| serde_json::to_value(context).unwrap()).collect(),
        study: serde_json::to_value(study).unwrap(),
        ..Manifest::default()
    };
    summarize(&manifest, samples.into_iter().map(|sample| (sample, None))).unwrap()
}

fn found<'a>(summary: &'a Summary, metric: &str, statistic: Statistic) -> Option<&'a Comparison> {
    summary.comparisons.iter().find(|c| c.metric == metric && c.statistic == statistic)
}

/// The verdict on `PLAIN` against `other`, with the truth inside the interval.
fn check(other: Truth, blocks: u32, metric: &str, statistic: Statistic, verdict: Standing, truth: f64) {
    let truths = [PLAIN, Truth { name: "b", ..other }];
    let summary = summary(&truths, &[], samples(&truths, blocks, 1));
    let comparison = found(&summary, metric, statistic).unwrap();
    let is_inside = comparison.value.lo.is_none_or(|lo| lo.get() <= truth)
        && comparison.value.hi.is_none_or(|hi| hi.get() >= truth);
    assert!(comparison.verdict == verdict && is_inside, "not {verdict:?} about {truth}: {comparison:?}");
    let tells = matches!(verdict, Standing::NotDistinguishable);
    assert!(comparison.needed_n.is_none() || tells, "{comparison:?}");
}

#[test]
fn verdicts_on_planted_truths() {
    use Standing::{Better, Equivalent, NotDistinguishable, Worse};
    let slower = Truth { slow: 1.25, ..PLAIN };
    check(slower, 60, name::TTFT, Statistic::Typical, Better, 0.8);
    check(Truth { slow: 0.8, ..PLAIN }, 60, name::TTFT, Statistic::Typical, Worse, 1.25);
    check(PLAIN, 200, name::TTFT, Statistic::Typical, Equivalent, 1.0);
    check(
        Truth { slow: 1.02, noise: 0.5, ..PLAIN },
        25,
        name::TTFT,
        Statistic::Typical,
        NotDistinguishable,
        1.0 / 1.02,
    );
    check(Truth { noise: 1.0, ..PLAIN }, 300, name::TTFT, Statistic::P95, Better, -900.0);
    check(Truth { failing: 0.2, ..PLAIN }, 300, name::ERROR_RATE, Statistic::Share, Better, -0.2);
    check(Truth { useless: 0.4, ..PLAIN }, 100, name::USEFUL_RATE, Statistic::Share, Better, 0.3);
    check(
        Truth { cost: 0.003, ..PLAIN },
        60,
        name::COST_PER_USEFUL,
        Statistic::CostPerUseful,
        Better,
        1.0 / 3.0,
    );
    check(Truth { useless: 1.0, ..PLAIN }, 60, name::COST_PER_USEFUL, Statistic::CostPerUseful, Better, 0.0);
    // One that fails a tenth of its requests and is else as quick is not the quicker one.
    check(Truth { failing: 0.1, ..PLAIN }, 300, name::LATENCY, Statistic::P95, Better, f64::NEG_INFINITY);
}

#[test]
fn what_cannot_be_told_says_how_many_would_tell() {
    let truths = [PLAIN, Truth { name: "b", slow: 1.1, noise: 0.6, ..PLAIN }];
    let summary = summary(&truths, &[], samples(&truths, 25, 3));
    let comparison = found(&summary, name::TTFT, Statistic::Typical).unwrap();
    let [low, high] = comparison.needed_n.unwrap();
    assert!(comparison.verdict == Standing::NotDistinguishable && low > 25 && high > low, "{comparison:?}");
    assert!(found(&summary, name::TTFT, Statistic::P99).is_none());
}

/// Ten targets are a family of 45: at 0.05/45 the rank bounds of a p95 close at 133 only, whatever the difference.
#[test]
fn no_n_is_promised_at_which_a_p95_is_not_even_bounded() {
    let names: Vec<&'static str> = vec!["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let truths: Vec<Truth> = names
        .into_iter()
        .zip(0..)
        .map(|(name, i)| Truth { name, slow: 1.0 + 0.15 * f64::from(i), ..PLAIN })
        .collect();
    let summary = summary(&truths, &[ProfileKind::Chat], samples(&truths, 90, 1));
    let mut promised = 0;
    for comparison in summary.comparisons.iter().filter(|c| c.family.is_some()) {
        assert_eq!(comparison.verdict, Standing::NotDistinguishable, "{comparison:?}");
        let Some([low, high]) = comparison.needed_n else { continue };
        promised += 1;
        assert!(low >= 133 && high >= low, "{comparison:?}");
    }
    assert!(promised > 0 && promised < 45, "{promised}");
}

#[test]
fn a_headline_is_a_family_and_the_rest_explores() {
    let truths =
        [PLAIN, Truth { name: "b", cost: 0.0012, ..PLAIN }, Truth { name: "c", cost: 0.002, ..PLAIN }];
    let summary = summary(&truths, &[ProfileKind::Rag], samples(&truths, 60, 1));
    let (family, rest): (Vec<_>, Vec<_>) = summary.comparisons.iter().partition(|c| c.family.is_some());
    let named: Vec<_> = family.iter().map(|c| (c.a.as_str(), c.b.as_str(), c.metric.as_str())).collect();
    let cost = name::COST_PER_USEFUL;
    assert_eq!(named, [("a", "b", cost), ("a", "c", cost), ("b", "c", cost)]);
    assert!(family.iter().all(|c| c.p_holm >= c.p && c.p_holm.is_some()), "{family:?}");
    assert!(!rest.is_empty() && rest.iter().all(|c| c.p_holm.is_none()));
    assert!(family.iter().all(|c| c.notes.iter().any(|note| note == "resampled over 60 prompts")));
}

#[test]
fn what_is_too_much_to_compare_is_said() {
    let names: Vec<String> = (0..33).map(|i| format!("t{i}")).collect();
    let mut all = samples(&[PLAIN], 1, 1);
    let one = all.remove(0);
    all.extend(names.iter().map(|name| Sample { target: name.clone(), ..one.clone() }));
    let summary = summary(&[], &[], all);
    let typical = |c: &&Comparison| c.metric == name::TTFT && c.statistic == Statistic::Typical;
    assert_eq!(summary.comparisons.iter().filter(typical).count(), 500);
    assert_eq!(summary.warnings, ["28 pairs of targets were not compared: 500 are the most"]);
}

#[test]
fn the_same_address_and_model_are_shown_as_an_a_a() {
    let truths = [PLAIN, Truth { name: "b", ..PLAIN }];
    let info = |name: &str, url: &str| TargetInfo {
        name: name.to_owned(),
        model: "m".to_owned(),
        url: Some(url.to_owned()),
        ..TargetInfo::default()
    };
    for (url, is_same) in [("http://one/v1", true), ("http://two/v1", false)] {
        let targets = vec![info("a", "http://one/v1"), info("b", url)];
        let summary = summary_of(&truths, Study { targets, ..Study::default() }, samples(&truths, 30, 1));
        let typical = found(&summary, name::TTFT, Statistic::Typical).unwrap();
        assert_eq!(typical.notes.iter().any(|note| note.starts_with("an A/A")), is_same, "{typical:?}");
    }
}

#[test]
fn pairs_are_of_one_place_and_prompt() {
    let truths = [PLAIN, Truth { name: "b", ..PLAIN }];
    let mut all = samples(&truths, 40, 1);
    // Ten blocks are missing from the second, and of ten more it was asked another prompt.
    all.retain(|sample| sample.target == "a" || sample.block >= Some(10));
    for sample in all.iter_mut().filter(|sample| sample.target == "b" && sample.block < Some(20)) {
        sample.prompt_id.push('x');
    }
    let summary = summary(&truths, &[], all);
    let comparison = found(&summary, name::TTFT, Statistic::Typical).unwrap();
    assert_eq!((comparison.n, comparison.notes.len()), (20, 1), "{comparison:?}");
}

/// Slices of several slots end at a time: the quick target is further on in each than the slow one.
#[test]
fn slices_of_several_slots_lose_no_pairs() {
    let truths = [PLAIN, Truth { name: "b", slow: 2.0, ..PLAIN }];
    let check = |change: fn(&mut Sample), pairs: Option<u64>| {
        let mut all = samples(&truths, 60, 1);
        for sample in &mut all {
            sample.block =
                Some(u32::try_from(sample.seq).unwrap() / if sample.target == "a" { 12 } else { 5 });
            change(sample);
        }
        let summary = summary(&truths, &[], all);
        let typical = found(&summary, name::TTFT, Statistic::Typical);
        assert_eq!(typical.map(|c| c.n), pairs, "{typical:?}");
    };
    check(|_| (), Some(60));
    // Of two runs, what stands at the same place is no pair: by their names, or by their time windows.
    check(|sample| sample.run_id.clone_from(&sample.target), None);
    check(|sample| sample.window = Some(sample.target.clone()), None);
    check(|sample| sample.run_id = format!("run {}", sample.seq % 2), Some(60));
}

#[test]
fn targets_that_did_not_take_turns_are_marked() {
    let truths = [PLAIN, Truth { name: "b", ..PLAIN }];
    let check = |blocks: fn(&Sample) -> Option<u32>, is_together: bool, is_marked: bool| {
        let mut all = samples(&truths, 40, 1);
        for sample in &mut all {
            sample.block = blocks(sample);
            if is_together {
                sample.end_ns = sample.end_ns.map(|end| end + 10_000 * MS);
            }
        }
        let summary = summary(&truths, &[], all);
        let is_note = |note: &String| note.starts_with("measured one after the other");
        assert!(!summary.comparisons.is_empty());
        for comparison in &summary.comparisons {
            assert_eq!(comparison.notes.iter().any(is_note), is_marked, "{comparison:?}");
        }
        let is_said = |warning: &String| warning.starts_with("1 pair of targets was measured one after");
        assert_eq!(summary.warnings.iter().filter(|w| is_said(w)).count(), usize::from(is_marked));
    };
    check(|sample| Some(u32::try_from(sample.seq).unwrap() / 8), false, false);
    check(|sample| Some(u32::try_from(sample.seq).unwrap() / 10), false, true);
    check(|_| None, false, true);
    check(|sample| Some(u32::try_from(sample.seq).unwrap() / 10), true, false);
    check(|_| None, true, false);
}

#[test]
fn what_is_not_valid_is_told_apart_from_nothing() {
    let truths =
        [PLAIN, Truth { name: "b", slow: 3.0, cost: 0.01, ..PLAIN }, Truth { name: "c", slow: 3.0, ..PLAIN }];
    let mut contexts: Vec<CellContext> = truths.iter().map(context).collect();
    contexts[1].health.channel_full = 3;
    let profiles = vec![Profile { kind: ProfileKind::Rag, ..Profile::default() }];
    let study = Study { profiles, seed: 7, ..Study::default() };
    let summary = summary_in(&contexts, study, samples(&truths, 60, 1));
    let note = "not valid: b: the channel to the writer was full 3 times";
    for comparison in &summary.comparisons {
        let is_of_b = comparison.a == "b" || comparison.b == "b";
        assert_eq!(comparison.notes.iter().any(|found| found == note), is_of_b, "{comparison:?}");
        let is_silent = comparison.verdict == Standing::NotDistinguishable && comparison.needed_n.is_none();
        assert!(is_silent || !is_of_b, "{comparison:?}");
        assert!(!is_of_b || comparison.p_holm.is_none_or(|p| p.get() == 1.0), "{comparison:?}");
    }
    assert!(summary.comparisons.iter().any(|c| c.b == "c" && c.verdict == Standing::Better));
}

/// The verdict on the costs of `a` against `b`, of which the last attempt has no known cost.
fn check_bound(costs: [f64; 2], unknown: &[&str], expected: Option<Standing>) {
    let truths = [Truth { cost: costs[0], ..PLAIN }, Truth { name: "b", cost: costs[1], ..PLAIN }];
    let mut all = samples(&truths, 60, 1);
    for sample in all.iter_mut().filter(|s| s.seq == 59 && unknown.contains(&s.target.as_str())) {
        (sample.cost_usd, sample.cost_source) = (None, None);
    }
    let summary = summary(&truths, &[ProfileKind::Rag], all);
    let comparison = found(&summary, name::COST_PER_USEFUL, Statistic::CostPerUseful);
    assert_eq!(comparison.map(|c| c.verdict), expected, "{comparison:?}");
    if let Some(comparison) = comparison {
        let is_noted = |note: &String| note.ends_with("without a known cost, which counts as nothing");
        assert!(comparison.notes.iter().any(is_noted), "{comparison:?}");
        let open = if unknown == ["a"] { comparison.value.hi } else { comparison.value.lo };
        assert_eq!(open, None, "{comparison:?}");
        assert!(comparison.verdict != Standing::NotDistinguishable || comparison.p.unwrap().get() > 0.05);
    }
    let named = |target: &str| format!("{target} on chat, c1 (1 of 60 attempts of unknown cost)");
    let named: Vec<String> = unknown.iter().map(|target| named(target)).collect();
    let warning = format!("costs are compared only as far as lower bounds decide, for {}", named.join(", "));
    assert!(summary.warnings.contains(&warning), "{:?}", summary.warnings);
}

#[test]
fn a_cost_that_is_a_lower_bound_is_never_the_cheaper_one() {
    use Standing::{Better, NotDistinguishable, Worse};
    check_bound([0.001, 0.003], &["b"], Some(Better));
    check_bound([0.003, 0.001], &["a"], Some(Worse));
    check_bound([0.001, 0.003], &["a"], Some(NotDistinguishable));
    check_bound([0.003, 0.001], &["b"], Some(NotDistinguishable));
    check_bound([0.001, 0.001], &["b"], Some(NotDistinguishable));
    check_bound([0.001, 0.003], &["a", "b"], None);
}

/// The same target twice: at most one family in twenty may find a difference. 200 seeds, 10 expected; 21 or more have a
/// probability under 0.1 %.
#[test]
fn the_same_target_twice_is_seldom_told_apart() {
    let truths = [Truth { failing: 0.03, ..PLAIN }, Truth { name: "b", failing: 0.03, ..PLAIN }];
    let compared = [
        (name::TTFT, Statistic::P95),
        (name::COST_PER_USEFUL, Statistic::CostPerUseful),
        (name::TTFT, Statistic::Typical),
        (name::LATENCY, Statistic::Typical),
        (name::USEFUL_RATE, Statistic::Share),
    ];
    let mut rejected = [0; 5];
    for seed in 0..200 {
        let summary = summary(&truths, &[ProfileKind::Chat, ProfileKind::Rag], samples(&truths, 40, seed));
        for (count, (metric, statistic)) in rejected.iter_mut().zip(compared) {
            // Two 95th percentiles without end have no difference.
            let p = found(&summary, metric, statistic).and_then(|c| c.p_holm.or(c.p));
            *count += u32::from(p.is_some_and(|p| p.get() <= 0.05));
        }
    }
    assert!(rejected.iter().all(|rejected| *rejected <= 20), "of 200: {rejected:?}");
}
