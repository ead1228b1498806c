use inferometer_record::{Sample, Status};

use super::*;
use crate::Num;

const MS: u64 = 1_000_000;

/// An attempt of an episode: its role, when it starts and what it waits for the first token, ms; infinite: refused.
fn row(block: u32, role: &str, start_ms: u64, ttft_ms: f64, connect_ms: Option<f64>) -> Row {
    let is_ok = ttft_ms.is_finite();
    let sample = Sample {
        block: Some(block),
        role: Some(role.to_owned()),
        attempt: 1,
        is_final: true,
        start_ns: Some(start_ms * MS),
        sent_ns: Some(start_ms * MS + MS),
        end_ns: Some((start_ms + 1_000) * MS),
        status: if is_ok { Status::Ok } else { Status::HttpError },
        http_status: Some(if is_ok { 200 } else { 429 }),
        ttft_ms: Some(ttft_ms).filter(|_| is_ok),
        connect_ms,
        ..Sample::default()
    };
    Row::new(&sample, None, None, is_ok)
}

/// Twenty gaps on fresh connections; the first request waits `penalty` ms longer on the server's side.
fn check_cold(penalty: impl Fn(u32) -> f64, seen: u64, said: &str) {
    let gap = |i: u32| {
        let at = u64::from(i) * 10_000;
        let warm = 100.0 + f64::from(i);
        [
            row(i, role::COLD_FRESH, at, warm + 40.0 + penalty(i), Some(40.0)),
            row(i, role::WARM_FRESH, at + 2_000, warm + 20.0, Some(20.0)),
        ]
    };
    let rows: Vec<Row> = (0..20).flat_map(gap).collect();
    let found = cold_starts(&rows, 4.0);
    assert_eq!((found.fresh.n, found.fresh.seen.count), (20, seen));
    assert_eq!(found.fresh.detail, said);
    assert_eq!(found.kept.n, 0);
    assert_eq!(found.either, found.fresh, "nothing else is known");
    assert!(found.kept.detail.starts_with("not measured: no gap of 4 s"), "{}", found.kept.detail);
    assert_eq!(found.fresh.connect.p50.and_then(|p50| p50.value), Num::new(40.0));
}

#[test]
fn cold_starts_leave_the_connection_out() {
    check_cold(
        |_| 1_000.0,
        20,
        "the first request after 4 s waits +1000 ms [1000, 1000] longer than a warm one, n = 20",
    );
    check_cold(|_| -1.0, 0, "none seen up to 4 s, n = 20 (difference -1 ms [-1, -1])");
    check_cold(
        |i| if i % 2 == 0 { 50.0 } else { -5.0 },
        10,
        "not told apart from none at 4 s, n = 20 (difference -5 ms [-5, 50]; 10 slower than 95 % of the warm ones)",
    );
}

#[test]
fn few_gaps_of_either_state_are_enough_for_an_interval() {
    let rows: Vec<Row> = (0..3)
        .flat_map(|i| {
            let at = u64::from(i) * 10_000;
            [
                row(i, role::COLD_FRESH, at, 1_140.0, Some(40.0)),
                row(i, role::WARM_FRESH, at + 2_000, 100.0 + f64::from(i), None),
                row(i, role::COLD_KEPT, at + 6_000, 1_101.0, None),
                row(i, role::WARM_KEPT, at + 8_000, 101.0, None),
            ]
        })
        .collect();
    let found = cold_starts(&rows, 4.0);
    let interval = |start: &ColdStart| {
        let p50 = start.penalty.p50.clone().unwrap();
        (start.n, p50.lo.map(Num::get), p50.hi.map(Num::get))
    };
    assert_eq!(interval(&found.fresh), (3, None, None));
    assert_eq!(interval(&found.either), (6, Some(998.0), Some(1_000.0)));
}

/// Ten bursts of four whose requests wait `felt` ms; one burst in five has a request refused if `is_refused`. TTFT is
/// back after `back` recovery requests, a second apart.
fn burst_of(felt: f64, is_refused: bool, back: Option<u64>) -> Bursts {
    let episode = |i: u32| {
        let at = u64::from(i) * 100_000;
        let mut rows = vec![row(i, role::REST, at, 100.0, None)];
        rows.extend((0..4).map(|k| {
            let is_refused = is_refused && i.is_multiple_of(5) && k == 0;
            let ttft = if is_refused { f64::INFINITY } else { felt };
            row(i, role::BURST, at + 10_000 + k, ttft, None)
        }));
        rows.extend((1..=5).map(|k| {
            let ttft = if back.is_some_and(|back| k >= back) { 90.0 } else { 300.0 };
            row(i, role::RECOVERY, at + 10_000 + k * 1_000, ttft, None)
        }));
        rows
    };
    let rows: Vec<Row> = (0..10).flat_map(episode).collect();
    bursts(&rows, 4)
}

/// Value, lower and upper bound of the recovery of [`burst_of`], and what is said of it.
fn check_recovery(found: &Bursts, recovery: [Option<f64>; 3], note: Option<&str>) {
    let rate = &found.recovery;
    assert_eq!([rate.value, rate.lo, rate.hi], recovery.map(|ms| ms.and_then(Num::new)));
    assert_eq!(rate.note.as_deref(), note);
}

#[test]
fn bursts_and_the_way_back() {
    let found = burst_of(500.0, true, Some(3));
    assert_eq!((found.n, found.refused.count, found.refused.n, found.failed.count), (10, 2, 40, 0));
    assert_eq!(found.sent_within.max, Num::new(3.0));
    check_recovery(&found, [Some(3_000.0); 3], None);
    let all = found.ttft.all_attempts.unwrap_or_default();
    assert_eq!((found.ttft.n, all.n, all.max), (38, 40, Some(Num::INFINITY)));
    check_recovery(
        &burst_of(500.0, true, None),
        [None, Some(6_000.0), None],
        Some("after 10 of 10 bursts it was not back while it was watched"),
    );
}

/// The first request after a burst is sent when the burst has ended: when it is quick, nobody saw how long it took.
#[test]
fn a_burst_that_is_not_felt_has_no_way_back() {
    check_recovery(
        &burst_of(500.0, true, Some(1)),
        [None, None, Some(1_000.0)],
        Some("a bound: the first request after it was quick already, n = 10 bursts"),
    );
    check_recovery(
        &burst_of(95.0, false, Some(1)),
        [None; 3],
        Some("not felt in 10 of 10 bursts: they waited no longer than at rest"),
    );
    check_recovery(
        &burst_of(95.0, true, Some(1)),
        [None, None, Some(1_000.0)],
        Some("not felt in 8 of 10 bursts: they waited no longer than at rest"),
    );
}

#[test]
fn without_an_episode_nothing_is_claimed() {
    let empty = bursts(&[], 4);
    assert_eq!((empty.n, empty.refused.value, empty.recovery.value), (0, None, None));
    assert!(cold_starts(&[], f64::NAN).fresh.detail.starts_with("not measured"));
    let roles = [None, Some(role::BURST), Some(role::COLD_KEPT), Some(role::REST), Some(role::WARM_FRESH)];
    assert_eq!(roles.map(is_ordinary), [true, true, true, false, false]);
}
