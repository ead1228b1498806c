//! Cold starts and bursts, step by step.

use std::time::Duration;

use inferometer_metrics::role;
use inferometer_plan::Arrival;
use inferometer_record::Status;

use super::stage::{Stage, answers, count};

const GAP: Duration = Duration::from_secs(60);

fn roles(samples: &[&inferometer_record::Sample]) -> Vec<(Option<u32>, String, u64, Option<bool>)> {
    let of = |sample: &&inferometer_record::Sample| {
        (
            sample.block,
            sample.role.clone().unwrap(),
            sample.start_ns.unwrap() / 1_000_000_000,
            sample.conn_reused,
        )
    };
    samples.iter().map(of).collect()
}

/// Every request on the connection, and at the instant, that its role says; all targets sleep at the same time.
#[test]
fn cold_starts_come_after_idle_gaps_on_fresh_and_kept_connections() {
    let scripts = vec![answers(|_| 500), answers(|_| 500)];
    let played = Stage::new(Arrival::ColdStart { gap: GAP }, count(2), scripts).interleaved(false).play();
    let episode = |block, from: u64| {
        [
            (Some(block), role::COLD_FRESH.to_string(), from + 60, Some(false)),
            (Some(block), role::WARM_FRESH.to_string(), from + 60, Some(false)),
            (Some(block), role::COLD_KEPT.to_string(), from + 121, Some(true)),
            (Some(block), role::WARM_KEPT.to_string(), from + 121, Some(true)),
        ]
    };
    for target in ["a", "b"] {
        assert_eq!(roles(&played.of(target)), [episode(0, 0), episode(1, 122)].concat());
    }
    assert_eq!(*played.seen[0].connections.borrow(), [0, 1, 1, 1, 2, 3, 3, 3]);
    assert_eq!(played.bodies(0), played.bodies(1));
    assert!(played.took < Duration::from_secs(250), "both at once: {:?}", played.took);
}

#[test]
fn a_burst_is_sent_within_5_ms_from_rest_and_followed_until_it_is_over() {
    let arrival = Arrival::Burst { size: 20, rest: GAP };
    // Five at rest, then a burst; what follows it is slow until 3 s after the burst.
    let slow_for = |n: u64| {
        if n < 5 {
            100
        } else if n < 25 {
            2_000
        } else if n < 27 {
            800
        } else {
            90
        }
    };
    let played = Stage::new(arrival, count(2), vec![answers(slow_for)]).interleaved(false).play();
    let samples = played.of("a");
    let of = |role: &str, block| {
        let of_role =
            samples.iter().filter(move |s| s.role.as_deref() == Some(role) && s.block == Some(block));
        of_role.copied().collect::<Vec<_>>()
    };
    assert_eq!((of(role::REST, 0).len(), of(role::BURST, 0).len(), of(role::RECOVERY, 0).len()), (5, 20, 4));
    assert_eq!((of(role::REST, 1).len(), of(role::BURST, 1).len(), of(role::RECOVERY, 1).len()), (1, 20, 2));
    for block in [0, 1] {
        let mut sent: Vec<u64> =
            of(role::BURST, block).iter().map(|sample| sample.sent_ns.unwrap()).collect();
        sent.sort_unstable();
        assert!(sent[19] - sent[0] < 5_000_000, "{sent:?}");
        let rest = of(role::REST, block).iter().filter_map(|sample| sample.end_ns).max().unwrap();
        assert!(sent[0] - rest >= 60_000_000_000, "from rest");
        assert!(
            of(role::BURST, block).iter().all(|sample| sample.conn_reused == Some(true)),
            "opened before"
        );
    }
    assert_eq!(played.seen[0].peak.get(), 20);
    assert!(samples.iter().all(|sample| sample.status == Status::Ok));
}

#[test]
fn bursts_of_several_targets_take_turns() {
    let arrival = Arrival::Burst { size: 4, rest: GAP };
    let quicker = |n: u64| if n < 5 { 60 } else { 50 };
    let played =
        Stage::new(arrival, count(3), vec![answers(quicker), answers(quicker)]).interleaved(true).play();
    let mut spans = Vec::new();
    for target in ["a", "b"] {
        for block in 0..3 {
            let of = played.of(target);
            let of = || of.iter().filter(|s| s.block == Some(block) && s.role.as_deref() != Some(role::REST));
            assert!(of().count() >= 6);
            spans.push((of().filter_map(|s| s.start_ns).min(), of().filter_map(|s| s.end_ns).max()));
        }
    }
    spans.sort();
    assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{spans:?}");
    assert_eq!(played.bodies(0), played.bodies(1));
}
