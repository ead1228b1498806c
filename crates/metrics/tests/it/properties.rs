//! What holds for any samples, also for ones that no honest file contains.

use inferometer_metrics::{
    Arrival, CellAccumulator, CellContext, CellSummary, Metric, Num, Rate, Stamped, Window, events_of, fill,
};
use inferometer_record::{Events, Phase, Sample, Status, Verdict};
use proptest::prelude::*;

use crate::cell::check_is_strict_json;

fn stamp() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![
        Just(None),
        (0..20_000_000_000_u64).prop_map(Some),
        (0..20_000_000_000_u64).prop_map(Some),
        any::<u64>().prop_map(Some)
    ]
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
    prop_oneof![Just(None), (0..500_u64).prop_map(Some), any::<u64>().prop_map(Some)]
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
    ) -> Sample {
        Sample {
            phase, request, attempt, is_final, status, verdict, flags,
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
        first_us in prop::option::of(prop_oneof![0..20_000_000_u64, any::<u64>()]),
        deltas_us in prop::collection::vec(prop_oneof![0..100_000_u64, 0..100_000_u64, any::<u64>()], 0..20),
        chars in prop::collection::vec(any::<u32>(), 0..20),
        tokens in prop::option::of(prop::collection::vec(any::<u32>(), 0..20)),
    ) -> Events {
        Events { first_us, deltas_us, chars, tokens, ..Events::default() }
    }
}

fn context() -> impl Strategy<Value = CellContext> {
    let arrival = prop::sample::select(vec![
        Arrival::Unknown,
        Arrival::Closed { slots: 0 },
        Arrival::Closed { slots: 3 },
        Arrival::Open { asked_rate: Some(f64::INFINITY) },
    ]);
    let window = prop::option::of((0..20_000_000_000_u64, 0..20_000_000_000_u64));
    (arrival, window).prop_map(|(arrival, window)| CellContext {
        arrival,
        window: window.map(|(from_ns, to_ns)| Window { from_ns, to_ns }),
        objectives: "ttft:300 tpot:20 e2el:5000 speed:5".parse().unwrap(),
        gates: [
            "ttft_p95>500ms",
            "speed_p05<20",
            "error_rate>1%",
            "goodput<95%",
            "throughput<5",
            "cost_per_useful>1",
        ]
        .map(|gate| gate.parse().unwrap())
        .to_vec(),
        ttft_limits_ms: vec![f64::NAN, 5.0],
        ..CellContext::default()
    })
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
    fn any_events_fill_a_sample(
        sample in sample(),
        stamped in prop::collection::vec(
            (prop_oneof![0..1_000_000_000_u64, any::<u64>()], any::<u32>(), prop::option::of(any::<u32>()), any::<u8>()),
            0..30,
        ),
        late in any::<u64>(),
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
