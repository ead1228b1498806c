//! Cost over all attempts, and of a useful answer.

use inferometer_metrics::{CellSummary, Cost};
use inferometer_record::{Phase, Status, Verdict};

use crate::cell::{Attempt, answer, closed, sum_up};

fn priced(seq: u64, cost: &str) -> Attempt {
    answer(seq, seq * 100, &[50], Some(1)).with(|sample| {
        sample.cost_usd = Some(cost.to_owned());
        sample.cost_source = Some("flag".to_owned());
    })
}

fn cost(attempts: Vec<Attempt>) -> Cost {
    let cell: CellSummary = sum_up(closed(1), attempts);
    cell.cost
}

fn number(value: Option<inferometer_metrics::Num>) -> Option<f64> {
    value.map(inferometer_metrics::Num::get)
}

#[test]
fn c33_sums_are_exact() {
    let cost = cost((0..10).map(|i| priced(i, "0.0048")).collect());
    assert_eq!((cost.total_usd.as_deref(), cost.lower_bound), (Some("0.048"), false));
    assert_eq!(number(cost.per_useful_usd.value), Some(0.0048));
    assert_eq!(
        (number(cost.per_useful_usd.lo), number(cost.per_useful_usd.hi)),
        (Some(0.0048), Some(0.0048))
    );
    assert_eq!((number(cost.per_1000_answers_usd), number(cost.waste_share)), (Some(4.8), Some(0.0)));
}

#[test]
fn waste_costs_too() {
    let mut attempts: Vec<Attempt> = (0..8).map(|i| priced(i, "0.01")).collect();
    attempts.push(priced(8, "0.01").with(|sample| sample.verdict = Some(Verdict::Invalid)));
    attempts.push(priced(9, "0.01").failed(Status::Truncated, 50));
    let cost = cost(attempts);
    assert_eq!((number(cost.per_useful_usd.value), number(cost.waste_share)), (Some(0.0125), Some(0.2)));
    assert!(number(cost.per_useful_usd.hi).unwrap() > 0.0125);
}

#[test]
fn an_unknown_cost_makes_a_lower_bound() {
    let refused = answer(8, 800, &[], None).failed(Status::HttpError, 5);
    let never_sent =
        answer(9, 900, &[], None).failed(Status::Transport, 5).with(|sample| sample.sent_ns = None);
    let mut attempts: Vec<Attempt> = (0..8).map(|i| priced(i, "0.01")).collect();
    attempts.push(never_sent);
    let known = cost(attempts.clone());
    assert_eq!((known.lower_bound, known.priced, known.unknown), (false, 9, 0));
    attempts.push(refused);
    let partly = cost(attempts);
    assert_eq!((partly.lower_bound, partly.unknown, partly.total_usd.as_deref()), (true, 1, Some("0.08")));
    assert_eq!(partly.per_useful_usd.hi, None);
}

#[test]
fn none_useful_has_only_a_lower_bound() {
    let useless = |i| priced(i, "0.01").with(|sample| sample.verdict = Some(Verdict::Invalid));
    let cost = cost((0..20).map(useless).collect());
    assert_eq!((cost.per_useful_usd.value, cost.per_useful_usd.hi), (None, None));
    let bound = number(cost.per_useful_usd.lo).unwrap();
    assert!((bound - 0.01 / (1.0 - 0.05_f64.powf(1.0 / 20.0))).abs() < 1e-9, "{bound}");
    assert_eq!(cost.per_useful_usd.note.as_deref(), Some("none useful"));
}

#[test]
fn warm_up_and_reported_costs_stand_apart() {
    let warm = priced(0, "0.5").with(|sample| sample.phase = Phase::Warmup);
    let reported = priced(1, "0.01").with(|sample| sample.cost_reported_usd = Some("0.012".to_owned()));
    let cost = cost(vec![warm, reported, priced(2, "-1"), priced(3, "NaN")]);
    assert_eq!((cost.total_usd.as_deref(), cost.warmup_usd.as_deref()), (Some("0.01"), Some("0.5")));
    assert_eq!((cost.reported_usd.as_deref(), cost.residual_usd.as_deref()), (Some("0.012"), Some("0.002")));
    assert_eq!((cost.priced, cost.unknown), (1, 2));
}

/// By the attempts that have both costs, never against one that has only one of them.
#[test]
fn a_price_list_that_is_out_of_date_is_said() {
    let check = |ours: &str, reported: &str, right: Option<&str>| {
        let tells =
            |attempt: Attempt| attempt.with(|sample| sample.cost_reported_usd = Some(reported.to_owned()));
        let unknown = answer(3, 300, &[50], Some(1));
        let attempts = vec![tells(priced(0, ours)), tells(priced(1, ours)), priced(2, "7"), tells(unknown)];
        let warnings = sum_up(closed(1), attempts).warnings;
        let said: Vec<_> = warnings.iter().filter(|warning| warning.starts_with("price_differs: ")).collect();
        assert_eq!(said.len(), usize::from(right.is_some()), "{ours}, {reported}: {said:?}");
        assert!(said.iter().all(|said| said.contains(right.unwrap_or_default())), "{said:?}");
    };
    check("0.010", "0.0125", Some("25.0 % more than"));
    check("0.010", "0.0080", Some("20.0 % less than"));
    check("0.010", "0.0101", None);
    check("0.010", "0.0100", None);
    check("0", "0.01", None);
}
