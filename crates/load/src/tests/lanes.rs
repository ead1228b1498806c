//! Lanes side by side: order, pairs, lag, limits, slices, goals, refusals.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use inferometer_plan::{Arrival, Pattern, Precision};
use inferometer_record::{Phase, Sample, Status};
use inferometer_workload::Cache;

use super::closed;
use super::stage::{Played, Stage, answers, count, dead, time};

/// Which targets each block has samples of.
fn blocks(played: &Played) -> BTreeMap<u32, Vec<String>> {
    let mut blocks: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let mut samples: Vec<&Sample> = played.samples.iter().collect();
    samples.sort_by_key(|sample| sample.start_ns);
    for sample in samples {
        blocks.entry(sample.block.unwrap()).or_default().push(sample.target.clone());
    }
    blocks
}

fn ids_are_unique(played: &Played) {
    let ids: BTreeSet<u64> = played.samples.iter().map(|sample| sample.request).collect();
    assert_eq!(ids.len(), played.samples.len());
}

#[test]
fn a_block_is_one_prompt_to_every_target_in_random_order() {
    let play = |order_seed| {
        let scripts = vec![answers(|_| 100), answers(|_| 200), answers(|_| 300)];
        let mut stage = Stage::new(closed(1), count(40), scripts).interleaved(false);
        stage.blocks.as_mut().unwrap().order_seed = order_seed;
        stage.play()
    };
    let played = play(7);
    ids_are_unique(&played);
    let (orders, again, other) = (blocks(&played), blocks(&play(7)), blocks(&play(8)));
    assert_eq!(orders.len(), 40);
    assert!(orders.values().all(|order| order.len() == 3));
    assert!(orders.values().collect::<BTreeSet<_>>().len() >= 5, "{orders:?}");
    assert_eq!(orders, again);
    assert_ne!(orders, other);
    // One target at a time, the same text to all, and the block is the prompt's number.
    let mut spans: Vec<_> = played.samples.iter().map(|s| (s.start_ns, s.end_ns)).collect();
    spans.sort();
    assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    assert!(played.bodies(0) == played.bodies(1) && played.bodies(1) == played.bodies(2));
    assert_eq!(played.bodies(0).iter().collect::<BTreeSet<_>>().len(), 40);
    assert!(played.samples.iter().all(|sample| sample.seq == u64::from(sample.block.unwrap())));
    assert!(
        played
            .contexts
            .iter()
            .all(|cell| cell.slices.len() == 40 && cell.missing == 0 && cell.limited_by_count)
    );
    // Kept alive over all blocks.
    assert!(played.seen.iter().all(|seen| seen.connections.borrow().iter().all(|n| *n == 0)));
}

#[test]
fn a_dead_target_costs_the_others_no_pair() {
    for together in [false, true] {
        let scripts = vec![answers(|_| 100), dead(), answers(|_| 200)];
        let mut stage = Stage::new(closed(1), count(30), scripts).interleaved(together);
        stage.plan.protocol.timeouts.total = Duration::from_secs(120);
        let played = stage.play();
        for (target, ok, missing) in [("a", 30, 0), ("b", 0, 29), ("c", 30, 0)] {
            let place = usize::from(target.as_bytes()[0] - b'a');
            let right = (played.of(target).len() as u64 + missing, played.contexts[place].missing);
            assert_eq!(right, (30, missing), "{target}, together: {together}");
            assert_eq!(played.of(target).iter().filter(|s| s.status == Status::Ok).count(), ok);
        }
        // It held the others up for as long as patience lasts, once.
        let mut starts: Vec<_> = played.of("a").iter().map(|s| s.start_ns.unwrap()).collect();
        starts.dedup();
        let longest = starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        assert!((29_000..32_000).contains(&(longest / 1_000_000)), "together: {together}: {longest}");
        assert!(played.took < Duration::from_secs(125), "{:?}", played.took);
    }
}

/// One that hangs for a while has its turns when it is back, as far as it does not lag too far.
#[test]
fn a_target_that_comes_back_catches_up() {
    let scripts = vec![answers(|_| 1_000), answers(|n| if n == 5 { 36_500 } else { 1_000 })];
    let played = Stage::new(closed(1), count(40), scripts).interleaved(false).play();
    let (behind, cell) = (played.of("b"), &played.contexts[1]);
    assert_eq!((behind.len() as u64 + cell.missing, played.of("a").len()), (40, 40));
    // Six seconds beyond patience: six blocks, of which the oldest three are more than three behind.
    assert!((2..=4).contains(&cell.missing), "{}", cell.missing);
    let paired = |block| behind.iter().any(|sample| sample.block == Some(block));
    assert!((13..40).all(paired) && !paired(6));
}

#[test]
fn together_lanes_keep_near_each_other() {
    let scripts = vec![answers(|_| 50), answers(|_| 200)];
    let played = Stage::new(closed(4), count(80), scripts).interleaved(true).play();
    ids_are_unique(&played);
    assert_eq!((played.of("a").len(), played.of("b").len()), (80, 80));
    assert!(played.contexts.iter().all(|cell| cell.missing == 0 && cell.slices.is_empty()));
    assert!(played.samples.iter().all(|s| u64::from(s.block.unwrap()) == s.seq / 4));
    let sorted = |place| played.bodies(place).into_iter().collect::<BTreeSet<_>>();
    assert_eq!(sorted(0), sorted(1));
    for sample in played.of("a") {
        let slowest = played.of("b").iter().filter(|s| s.start_ns <= sample.start_ns).map(|s| s.block).max();
        assert!(sample.block <= slowest.flatten().map(|block| block + 4), "{:?}", sample.block);
    }
    assert_eq!(played.seen.iter().map(|seen| seen.peak.get()).collect::<Vec<_>>(), [4, 4]);
}

/// A target that waits for a slower one is told apart from one that is as slow.
#[test]
fn what_slots_wait_for_others_is_kept() {
    let check = |arrival, together, after_ms: [u64; 2], right: [Option<f64>; 2]| {
        let scripts = after_ms.into_iter().map(|after| answers(move |_| after)).collect();
        let played = Stage::new(arrival, count(400), scripts).interleaved(together).play();
        let held: Vec<_> = played.contexts.iter().map(|cell| cell.held_share).collect();
        let is_near = |(held, right): (&Option<f64>, Option<f64>)| match (held, right) {
            (Some(held), Some(right)) => (held - right).abs() < 0.04,
            (held, right) => *held == right,
        };
        assert!(held.iter().zip(right).all(is_near), "{after_ms:?}: {held:?}");
    };
    // At the pace of the slow one, a quarter of the fast one's time is its target's.
    check(closed(4), true, [50, 200], [Some(0.75), Some(0.0)]);
    check(closed(4), true, [200, 200], [Some(0.0), Some(0.0)]);
    check(closed(4), false, [50, 200], [None, None]);
    let open = Arrival::Open { rate: 20.0, pattern: Pattern::Constant, cap: None };
    check(open, true, [50, 200], [None, None]);
}

#[test]
fn slices_are_each_target_s_own_time() {
    let constant = Arrival::Open { rate: 2.0, pattern: Pattern::Constant, cap: None };
    for (arrival, n) in [(closed(2), 100), (constant, 50)] {
        let scripts = vec![answers(|_| 500), answers(|_| 500)];
        let played = Stage::new(arrival, time(25), scripts).interleaved(false).play();
        let mut spans = Vec::new();
        for (place, target) in ["a", "b"].into_iter().enumerate() {
            let (samples, cell) = (played.of(target), &played.contexts[place]);
            assert!(samples.len().abs_diff(n) <= 4, "{target}: {} of {n}", samples.len());
            assert_eq!((cell.slices.len(), cell.limited_by_count), (3, false));
            let blocks: BTreeSet<_> = samples.iter().map(|sample| sample.block.unwrap()).collect();
            assert_eq!(blocks, BTreeSet::from([0, 1, 2]));
            assert!(samples.iter().all(|s| s.status == Status::Ok), "none is cut at a slice's end");
            for sample in &samples {
                let at = sample.start_ns.unwrap();
                assert!(cell.slices.iter().any(|slice| slice.contains(at)));
            }
            spans.extend(cell.slices.iter().map(|slice| (slice.from_ns, slice.to_ns)));
        }
        spans.sort_unstable();
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{spans:?}");
    }
}

/// An open load is one schedule, whose slices are the same for every target.
#[test]
fn an_open_load_pairs_its_starts() {
    let poisson = Arrival::Open { rate: 5.0, pattern: Pattern::Poisson, cap: None };
    for together in [false, true] {
        let scripts = vec![answers(|_| 10), answers(|_| 400)];
        let played = Stage::new(poisson.clone(), count(120), scripts).interleaved(together).play();
        let pairs = |target: &str| {
            let of = played.of(target);
            of.iter().map(|s| (s.seq, s.block, s.prompt_id.clone())).collect::<Vec<_>>()
        };
        assert_eq!((pairs("a"), pairs("a").len()), (pairs("b"), 120));
        let lag = played.samples.iter().filter_map(|s| s.schedule_lag_ms).fold(0.0, f64::max);
        assert!(lag < 0.1, "{lag}");
    }
}

/// Lanes that run at once have one schedule between them, and no instant at which all of them start.
#[test]
fn lanes_at_once_do_not_start_in_lock_step() {
    let ramp = Duration::from_millis(20);
    let even = Arrival::Open { rate: 25.0, pattern: Pattern::Constant, cap: None };
    let cold = Arrival::ColdStart { gap: Duration::from_secs(60) };
    for (arrival, apart) in [(Arrival::Closed { slots: 4, ramp }, 5), (even, 10), (cold, 5)] {
        let scripts = (0..4).map(|_| answers(|_| 1_000)).collect();
        let played = Stage::new(arrival.clone(), count(4), scripts).interleaved(true).play();
        let first = |role| matches!(role, None | Some("cold_fresh"));
        let starts = played.samples.iter().filter(|s| s.block == Some(0) && first(s.role.as_deref()));
        let mut starts: Vec<u64> = starts.filter_map(|sample| sample.start_ns).collect();
        starts.sort_unstable();
        assert!(starts.len() >= 4, "{arrival}: {starts:?}");
        let least = starts.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap();
        assert!(least.abs_diff(apart * 1_000_000) < 100_000, "{arrival}: {least} ns apart");
    }
}

#[test]
fn a_target_s_own_limit_is_kept() {
    let open = Arrival::Open { rate: 50.0, pattern: Pattern::Constant, cap: None };
    for (arrival, peaks) in [(closed(6), [6, 2]), (open, [25, 2])] {
        let scripts = vec![answers(|_| 500), answers(|_| 500)];
        let mut stage = Stage::new(arrival, count(60), scripts).interleaved(true);
        stage.plan.targets[1].concurrency_limit = Some(2);
        let played = stage.play();
        let seen: Vec<u32> = played.seen.iter().map(|seen| seen.peak.get()).collect();
        assert!(seen[0].abs_diff(peaks[0]) <= 1 && seen[1] == peaks[1], "{seen:?}");
    }
}

#[test]
fn all_stop_together_once_the_figure_is_known() {
    for together in [false, true] {
        let noisy = |n: u64| 1_000 + n * 37 % 200;
        let scripts = vec![answers(noisy), answers(|n| 2_000 + n * 53 % 400)];
        let mut stage = Stage::new(closed(1), count(1_000), scripts).interleaved(together);
        stage.plan.protocol.precision = Some(Precision { figure: "ttft_p50".to_string(), goal: 0.05 });
        let played = stage.play();
        let n = (played.of("a").len(), played.of("b").len());
        assert!(n.0 == n.1 && [25, 50, 100].contains(&n.0), "{n:?}");
    }
}

/// Reported once, in its own words; the others go on.
#[test]
fn a_target_that_refuses_a_parameter_leaves_a_gap() {
    let refuses = Box::new(|_, pipe: super::Pipe| {
        Box::pin(pipe.refuse_with(400, "temperature is not supported")) as super::Scripted
    });
    let mut stage = Stage::new(closed(1), count(10), vec![answers(|_| 100), refuses]).interleaved(false);
    stage.plan.protocol.warmup = 3;
    let played = stage.play();
    let measured = |target| played.of(target).iter().filter(|s| s.phase == Phase::Measure).count();
    assert_eq!((measured("a"), measured("b")), (10, 0));
    assert_eq!(played.contexts[0].gap, None);
    let words = played.contexts[1].gap.as_deref().unwrap();
    assert!(words.contains("400") && words.contains("temperature is not supported"), "{words}");
}

#[test]
fn a_cut_ends_every_lane() {
    for together in [false, true] {
        let mut stage = Stage::new(closed(2), count(1_000), vec![answers(|_| 700), answers(|_| 900)]);
        stage.cut_after = Some(Duration::from_secs(5));
        let played = stage.interleaved(together).play();
        assert!(played.took < Duration::from_millis(5_100), "{:?}", played.took);
        let cut = played.samples.iter().filter(|s| s.status == Status::Cancelled).count();
        assert_eq!(cut, if together { 4 } else { 2 });
    }
}

/// Each prompt goes out once before the figures, the very same text; however long that takes, no trial is lost by it.
#[test]
fn a_warm_cache_has_seen_every_prompt() {
    for (requests, warmed, together) in [(10, 10, true), (10, 10, false), (60, 36, true)] {
        let scripts = vec![answers(|_| 500), answers(|_| 25_000)];
        let mut stage = Stage::new(closed(1), count(requests), scripts).interleaved(together);
        (stage.plan.protocol.cache, stage.plan.protocol.warmup) = (Cache::Warm, 2);
        let played = stage.play();
        let distinct = |bodies: &[String]| bodies.iter().cloned().collect::<BTreeSet<_>>();
        for (place, target) in ["a", "b"].into_iter().enumerate() {
            let (of, what) = (played.of(target), format!("{target}, {requests}, {together}"));
            let warm = of.iter().filter(|s| s.phase == Phase::Warmup).count();
            assert_eq!((warm, of.len()), (2 + warmed, 2 + warmed + requests as usize), "{what}");
            let bodies = played.bodies(place);
            let (before, measured) = bodies.split_at(2 + warmed);
            assert_eq!(distinct(&before[2..]), distinct(measured), "{what}");
            assert_eq!((distinct(measured).len(), played.contexts[place].missing), (warmed, 0), "{what}");
            let ids: BTreeSet<u64> = of.iter().map(|s| s.request).collect();
            assert_eq!(ids.len(), of.len(), "{what}");
        }
    }
}
