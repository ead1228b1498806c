//! When a figure is not valid.

use inferometer_metrics::{Ceiling, CellContext, CellSummary, ClientHealth, Lateness, Num};
use inferometer_record::Status;

use crate::cell::{Attempt, answer, closed, healthy, open, sum_up};

/// A hundred requests at 100/s whose first token takes 100 ms (so that 5 ms are borne), `late` of them late by 6 ms.
fn run(context: CellContext, late: u64) -> CellSummary {
    let of = |i: u64| -> Attempt {
        let on_time = answer(i, 1_000 + i * 10, &[100], Some(1));
        if i < late { on_time.late(6) } else { on_time }
    };
    sum_up(context, (0..100).map(of))
}

fn check(health: ClientHealth, late: u64, reason: Option<&str>) {
    let client = run(CellContext { health, ..closed(1) }, late).client;
    assert_eq!(client.valid, reason.is_none(), "{:?}", client.reasons);
    if let Some(reason) = reason {
        assert!(client.reasons.len() == 1 && client.reasons[0].contains(reason), "{:?}", client.reasons);
    }
    assert_eq!(client.tolerance_ms.map(Num::get), Some(5.0));
    assert!(!client.valid || client.error_ms <= client.tolerance_ms, "{:?}", client.error_ms);
}

#[test]
fn each_reason_by_itself() {
    let lateness = |n, p99_ms, max_ms| ClientHealth {
        wakeup_lateness: Lateness { n, p50_ms: Some(0.1), p99_ms: Some(p99_ms), max_ms: Some(max_ms) },
        ..ClientHealth::default()
    };
    check(healthy(), 0, None);
    check(healthy(), 1, None);
    check(healthy(), 2, Some("2 of 100 planned starts"));
    check(ClientHealth { dropped_starts: 2, ..healthy() }, 0, Some("(2 dropped)"));
    check(ClientHealth { dropped_starts: u64::MAX, ..healthy() }, 0, Some("planned starts"));
    check(ClientHealth { planned_starts: Some(200), dropped_starts: 2, ..healthy() }, 0, None);
    check(lateness(1_000, 4.9, 80.0), 0, None);
    check(lateness(1_000, 5.1, 80.0), 0, Some("wake-up lateness p99 5.1 ms"));
    check(lateness(99, 4.9, 80.0), 0, Some("wake-up lateness max 80.0 ms"));
    check(ClientHealth { shard_cpu: vec![0.2, 0.91], ..healthy() }, 0, Some("91 % of its core"));
    check(ClientHealth { shard_cpu: vec![0.5, 0.9], ..healthy() }, 0, None);
    check(ClientHealth { channel_full: 1, ..healthy() }, 0, Some("was full 1 times"));
}

#[test]
fn our_own_lack_is_never_valid() {
    let cell = sum_up(closed(1), [answer(0, 0, &[], None).failed(Status::ClientLimit, 1)]);
    assert_eq!((cell.counts.cancelled, cell.counts.client_limit, cell.client.valid), (1, 1, false));
}

#[test]
fn c20_the_rate_is_held_against_the_plan() {
    let held = run(open(100.0), 0).client;
    assert_eq!((held.rate_held, held.asked_rate.map(Num::get)), (Some(true), Some(100.0)));
    assert_eq!(held.achieved_rate.map(Num::get), Some(100.0));
    let planned = ClientHealth { planned_rate: Some(110.0), ..healthy() };
    let drifted = run(CellContext { health: planned, ..open(110.0) }, 0).client;
    assert_eq!((drifted.rate_held, drifted.valid), (Some(false), false));
    assert_eq!(run(closed(4), 0).client.rate_held, None);
}

#[test]
fn client_error_beside_valid_figures() {
    assert_eq!(run(closed(1), 0).client.error_ms.map(Num::get), Some(0.4));
    // The self-check is of another moment: its stamp error is not this cell's, its ceiling is held against the rate.
    let checked = |requests_per_s| {
        let ceiling = Ceiling { requests_per_s, stamp_error_p99_ms: Some(80.0), ..Ceiling::default() };
        let health = ClientHealth { ceiling: Some(ceiling), ..healthy() };
        run(CellContext { health, ..closed(1) }, 0).client
    };
    let client = checked(Some(99.0));
    assert_eq!((client.error_ms.map(Num::get), client.valid), (Some(0.4), true));
    assert_eq!(client.notes, ["100 requests/s are more than the 99 up to which this machine was checked"]);
    assert!(checked(Some(100.5)).notes.is_empty() && checked(None).notes.is_empty());
    let unseen = run(CellContext { health: ClientHealth::default(), ..closed(1) }, 0).client;
    assert_eq!((unseen.error_ms, unseen.valid), (None, false), "not known is neither 0 nor passed");
    assert_eq!(unseen.reasons, ["the client's wake-up lateness was not recorded"]);
}

#[test]
fn a_health_that_is_no_number_stays_readable() {
    let health = ClientHealth {
        shard_cpu: vec![f64::NAN, 0.5],
        steal_share: Some(f64::NAN),
        ..ClientHealth::default()
    };
    let text = serde_json::to_string(&CellContext { health, ..closed(1) }).unwrap();
    let read: CellContext = serde_json::from_str(&text).unwrap();
    assert_eq!((read.health.shard_cpu, read.health.steal_share), (vec![0.5], None));
}
