//! What holds for any samples, also for ones that no honest file contains.

use inferometer_metrics::{
    Arrival, Ceiling, CellAccumulator, CellContext, CellSummary, ClientHealth, Condition, Lateness, Metric,
    Num, Profile, ProfileKind, Rate, Stamped, Study, Summary, Window, events_of, fill, summarize,
};
use inferometer_record::{Events, Manifest, Phase, Sample, Status, Verdict};
use proptest::prelude::*;

use crate::cell::check_is_strict_json;

fn stamp() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![
        Just(None),
        (0..20_000_000_000_u64).prop_map(Some),
        (0..20_000_000_000_u64).prop_map(Some),
        extreme().prop_map(Some)
    ]
}

/// Any number, and often one that no other can be added to.
fn extreme() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), u64::MAX - 3..=u64::MAX]
}

fn figure() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        Just(None),
        (0.0..5_000.0).prop_map(Some),
        (0.0..5_000.0).prop_map(Some),
        any::<f64>().prop_map(Some)
    ]
}

fn count() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![Just(None), (0..500_u64).prop_map(Some), extreme().prop_map(Some)]
}

prop_compose! {
    fn sample()(
        stamps in prop::array::uniform6(stamp()),
        figures in prop::array::uniform6(figure()),
        counts in prop::array::uniform6(count()),
        status in prop::sample::select(Status::ALL.to_vec()),
        phase in prop::sample::select(vec![Phase::Measure, Phase::Measure, Phase::Warmup, Phase::Preflight]),
        (request, attempt, is_final) in (0..50_u64, 0..4_u32, any::<bool>()),
        verdict in prop::sample::select(vec![None, Some(Verdict::Valid), Some(Verdict::Degraded)]),
        flags in prop::collection::vec("coalesced|not_streamed|hidden_reasoning|capped", 0..3),
        cost in prop::option::of("[0-9]{1,30}(\\.[0-9]{1,30})?|-1|x"),
        role in prop::option::of("(cold|warm)_(fresh|kept)|rest|burst|recovery"),
        (block, segment) in (prop::option::of(0..5_u32), prop_oneof![6 => Just(0_u32), 1 => 0..3_u32]),
    ) -> Sample {
        Sample {
            role, block, segment, phase, request, attempt, is_final, status, verdict, flags,
            sched_ns: stamps[0], start_ns: stamps[1], first_ns: stamps[2], last_ns: stamps[3], end_ns: stamps[4],
            sent_ns: stamps[5],
            ttft_ms: figures[0], ttfa_ms: figures[1], tpot_ms: figures[2], request_latency_ms: figures[3],
            schedule_lag_ms: figures[4], stall_share: figures[5],
            output_tokens: counts[0], input_tokens: counts[1], cache_read_tokens: counts[2],
            reasoning_tokens: counts[3], gap_max_ns: counts[4], output_chars: counts[5].unwrap_or(0),
            chunks: counts[0].unwrap_or(0), stalls: counts[1].map(|n| n as u32), cost_usd: cost,
            ..Sample::default()
        }
    }
}

prop_compose! {
    fn events()(
        first_us in prop::option::of(prop_oneof![0..20_000_000_u64, extreme()]),
        deltas_us in prop::collection::vec(prop_oneof![0..100_000_u64, 0..100_000_u64, extreme()], 0..20),
        chars in prop::collection::vec(any::<u32>(), 0..20),
        tokens in prop::option::of(prop::collection::vec(any::<u32>(), 0..20)),
    ) -> Events {
        Events { first_us, deltas_us, chars, tokens, ..Events::default() }
    }
}

prop_compose! {
    fn lateness()(n in count(), figures in prop::array::uniform3(figure())) -> Lateness {
        let [p50_ms, p99_ms, max_ms] = figures.map(finite);
        Lateness { n: n.unwrap_or(0), p50_ms, p99_ms, max_ms }
    }
}

/// JSON has no other.
fn finite(figure: Option<f64>) -> Option<f64> {
    figure.filter(|figure| figure.is_finite())
}

prop_compose! {
    fn health()(
        (wakeup_lateness, connection_wait) in (lateness(), lateness()),
        shard_cpu in prop::collection::vec(figure(), 0..4),
        counts in prop::array::uniform3(count()),
        figures in prop::array::uniform6(figure()),
        is_checked in any::<bool>(),
    ) -> ClientHealth {
        let [steal_share, clock_step_ms, planned_rate, requests_per_s, events_per_s, stamp_error_p99_ms] =
            figures.map(finite);
        ClientHealth {
            wakeup_lateness,
            connection_wait,
            shard_cpu: shard_cpu.into_iter().filter_map(finite).collect(),
            steal_share,
            clock_step_ms,
            planned_starts: counts[0],
            dropped_starts: counts[1].unwrap_or(0),
            planned_rate,
            channel_full: counts[2].unwrap_or(0),
            ceiling: is_checked.then_some(Ceiling { requests_per_s, events_per_s, stamp_error_p99_ms }),
        }
    }
}

fn arrival() -> impl Strategy<Value = Arrival> {
    prop_oneof![
        Just(Arrival::Unknown),
        (0..4_u32).prop_map(|slots| Arrival::Closed { slots }),
        any::<u32>().prop_map(|slots| Arrival::Closed { slots }),
        figure().prop_map(|asked_rate| Arrival::Open { asked_rate }),
        Just(Arrival::Open { asked_rate: Some(f64::INFINITY) }),
        figure().prop_map(|gap_s| Arrival::ColdStart {
            gap_s: gap_s.and_then(|s| finite(Some(s))).unwrap_or(4.0)
        }),
        any::<u32>().prop_map(|size| Arrival::Burst { size }),
    ]
}

fn span((from, to): (Option<u64>, Option<u64>)) -> Window {
    Window { from_ns: from.unwrap_or(0), to_ns: to.unwrap_or(u64::MAX) }
}

prop_compose! {
    fn context()(
        arrival in arrival(),
        window in prop::option::of((stamp(), stamp())),
        slices in prop::collection::vec((stamp(), stamp()), 0..4),
        (all_slots_finished_ns, first_idle_ns) in (stamp(), stamp()),
        ttft_limits_ms in prop::collection::vec(any::<f64>(), 0..3),
        said in prop::array::uniform4(any::<bool>()),
        health in health(),
    ) -> CellContext {
        let gates = ["ttft_p95>500ms", "speed_p05<20", "error_rate>1%", "goodput<95%", "throughput<5", "cost_per_useful>1"];
        let [limited_by_count, degraded_is_useful, no_events, cache_busted] = said;
        CellContext {
            arrival, all_slots_finished_ns, first_idle_ns, health, ttft_limits_ms,
            limited_by_count, degraded_is_useful, no_events, cache_busted,
            window: window.map(span),
            slices: slices.into_iter().map(span).collect(),
            objectives: "ttft:300 tpot:20 e2el:5000 speed:5".parse().unwrap(),
            gates: gates.map(|gate| gate.parse().unwrap()).to_vec(),
            ..CellContext::default()
        }
    }
}

fn quantiles_rise(metric: &Metric) -> bool {
    let points = [&metric.p50, &metric.p90, &metric.p95, &metric.p99, &metric.p999];
    let values: Vec<f64> =
        points.into_iter().flatten().filter_map(|point| point.value.map(Num::get)).collect();
    let inside = points.into_iter().flatten().all(|point| {
        point.lo.is_none_or(|lo| Some(lo) <= point.value) && point.hi.is_none_or(|hi| Some(hi) >= point.value)
    });
    values.is_sorted() && inside && metric.all_attempts.as_deref().is_none_or(quantiles_rise)
}

fn is_inside(rate: &Rate) -> bool {
    // ∞ − ∞ is no value, and may have bounds.
    let Some(value) = rate.value else { return true };
    rate.lo.is_none_or(|lo| lo <= value) && rate.hi.is_none_or(|hi| hi >= value)
}

fn check(summary: &CellSummary) -> Result<(), TestCaseError> {
    let counts = &summary.counts;
    prop_assert_eq!(counts.ok + counts.failed + counts.cancelled, counts.issued);
    prop_assert_eq!(Status::ALL.iter().map(|status| counts.of(*status)).sum::<u64>(), counts.issued);
    prop_assert!(counts.useful <= counts.ok && counts.issued <= counts.attempts);
    if let (Some(peak), Some(mean)) = (summary.throughput.peak, summary.throughput.mean) {
        prop_assert!(peak.get() >= mean.get() * (1.0 - 1e-9));
    }
    let steady = summary.throughput.steady.iter();
    let rates = steady.flat_map(|steady| [&steady.output_token_throughput, &steady.request_throughput]);
    let stability = &summary.stability;
    let spreads = [&stability.spread_ms, &stability.p95_over_p50, &stability.all_attempts_spread_ms];
    for rate in rates.chain(spreads) {
        prop_assert!(is_inside(rate), "{:?}", rate);
    }
    for (name, metric) in &summary.metrics {
        prop_assert!(quantiles_rise(metric), "{}: {:?}", name, metric);
    }
    Ok(())
}

const PAIR_GATES: [&str; 4] = [
    "a.ttft_p95 > 1.1 * b.ttft_p95",
    "a.error_rate > b.error_rate",
    "b.cost_per_useful >= 2 * a.cost_per_useful",
    "a.useful_throughput < baseline.useful_throughput",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_samples_make_a_summary(
        context in context(),
        attempts in prop::collection::vec((sample(), prop::option::of(events())), 0..60),
    ) {
        let mut cell = CellAccumulator::new(context);
        for (sample, events) in &attempts {
            cell.push(sample, events.as_ref());
        }
        let summary = cell.finish();
        check(&summary)?;
        check_is_strict_json(&summary);
    }

    #[test]
    fn any_text_is_a_condition_or_an_error(
        text in "[ab.'\"/*<>= 0-9é]{0,12}|(a|'a b'|\"é\")?\\.?ttft_p9[59] ?[<>]=? ?(1\\.1 ?\\*)? ?(b|baseline)\\.(ttft_p95|useful)",
    ) {
        if let Ok(condition) = text.parse::<Condition>() {
            prop_assert_eq!(condition.to_string(), text.trim());
        }
    }

    #[test]
    fn any_events_fill_a_sample(
        sample in sample(),
        stamped in prop::collection::vec(
            (prop_oneof![0..1_000_000_000_u64, extreme()], any::<u32>(), prop::option::of(any::<u32>()), any::<u8>()),
            0..30,
        ),
        late in extreme(),
    ) {
        let event = |(at_ns, chars, tokens, bits): (u64, u32, Option<u32>, u8)| {
            Stamped { at_ns, chars, tokens, answer: bits & 1 > 0, tool: bits & 2 > 0 }
        };
        let stamped: Vec<Stamped> = stamped.into_iter().map(event).collect();
        let mut filled = Sample { tpot_ms: None, ..sample };
        fill(&mut filled, &stamped, &|_, _| late);
        prop_assert!(filled.flags.is_sorted());
        prop_assert!(filled.tpot_ms.is_none_or(|tpot| tpot > 0.0 && tpot.is_finite()));
        prop_assert!(filled.ttft_ms.is_none_or(|ttft| ttft >= 0.0));
        let recorded = events_of(&filled, &stamped).map(|events| events.deltas_us.len() as u64 + 1);
        prop_assert_eq!(recorded.unwrap_or(0), filled.chunks);
    }
}

proptest! {
    // Each case compares two whole cells.
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn any_two_targets_are_compared(
        context in context().boxed(),
        samples in prop::collection::vec((sample().boxed(), any::<bool>(), prop::option::of(0..6_u32), "[ab]"), 0..80),
        kinds in prop::sample::subsequence(ProfileKind::ALL.to_vec(), 0..5),
        (seed, gate) in (any::<u64>(), prop::sample::select(PAIR_GATES.to_vec())),
    ) {
        let profiles = kinds.into_iter().map(|kind| Profile { kind, ..Profile::default() }).collect();
        let pair_gates = vec![gate.parse().unwrap()];
        let study = Study { profiles, seed, pair_gates, ..Study::default() };
        let named = |target: &str| {
            serde_json::to_value(CellContext { target: target.to_owned(), ..context.clone() }).unwrap()
        };
        let manifest = Manifest {
            cells: ["a", "b"].map(named).to_vec(),
            study: serde_json::to_value(&study).unwrap(),
            ..Manifest::default()
        };
        let samples = samples.into_iter().map(|(mut sample, is_first, block, prompt)| {
            sample.target = if is_first { "a".to_owned() } else { "b".to_owned() };
            (sample.block, sample.prompt_id) = (block, prompt);
            (sample, None)
        });
        let summary = summarize(&manifest, samples).unwrap();
        for comparison in &summary.comparisons {
            prop_assert!(is_inside(&comparison.value), "{:?}", comparison);
            prop_assert!(comparison.p.is_some_and(|p| (0.0..=1.0).contains(&p.get())), "{:?}", comparison);
        }
        let json = serde_json::to_string(&summary).unwrap();
        prop_assert!(serde_json::from_str::<Summary>(&json).unwrap() == summary, "{}", json);
    }
}
