//! A run that goes on where another process left it.

use std::collections::BTreeSet;
use std::time::Duration;

use inferometer_plan::{Arrival, Pattern, Stop};
use inferometer_record::{Sample, Status};

use super::closed;
use super::stage::{Played, Stage, answers, count, time};
use crate::past::Past;

/// Two targets under `arrival`, cut after `secs`, and then gone on with.
fn twice(arrival: &Arrival, stop: Stop, secs: u64, together: bool) -> (Played, Played) {
    let stage = || {
        let scripts = vec![answers(|_| 300), answers(|_| 400)];
        Stage::new(arrival.clone(), stop, scripts).interleaved(together)
    };
    let mut first = stage();
    first.cut_after = Some(Duration::from_secs(secs));
    let first = first.play();
    let mut second = stage();
    first.samples.iter().for_each(|sample| second.past.note(sample));
    (first, second.play())
}

fn measured(played: &Played, target: &str) -> BTreeSet<u64> {
    let ended = |sample: &&&Sample| sample.is_final && !sample.status.is_cancelled();
    played.of(target).iter().filter(ended).map(|sample| sample.seq).collect()
}

#[test]
fn only_what_is_missing_is_sent() {
    let open = Arrival::Open { rate: 4.0, pattern: Pattern::Poisson, cap: None };
    for (arrival, together) in
        [(closed(1), false), (closed(3), true), (closed(3), false), (open.clone(), false), (open, true)]
    {
        let (first, second) = twice(&arrival, count(60), 7, together);
        for target in ["a", "b"] {
            let (before, after) = (measured(&first, target), measured(&second, target));
            let what = format!("{target}, {arrival}, {together}");
            assert!(before.is_disjoint(&after), "{what}");
            assert_eq!(before.union(&after).count(), 60, "{what}");
            assert_eq!(second.of(target).len(), after.len(), "{what}: nothing else is sent");
        }
        let ids = |played: &Played| played.samples.iter().map(|s| s.request).collect::<BTreeSet<_>>();
        assert!(ids(&first).is_disjoint(&ids(&second)), "{arrival}");
        let last = first.samples.iter().filter_map(|s| s.end_ns).max();
        let begins = second.samples.iter().filter_map(|s| s.sched_ns).min();
        assert!(begins > last, "one line of time: {last:?}, {begins:?}");
        assert!(second.samples.iter().all(|sample| sample.segment == 1));
        for cell in &second.contexts {
            let (window, slices) = (cell.window.unwrap(), &cell.slices);
            let all =
                first.samples.iter().chain(&second.samples).filter(|sample| sample.target == cell.target);
            let is_inside = |sample: &Sample| {
                sample.start_ns.is_none_or(|at| {
                    window.contains(at)
                        && (slices.is_empty() || slices.iter().any(|slice| slice.contains(at)))
                })
            };
            assert!(all.clone().all(is_inside), "{arrival}, {together}: {window:?} {slices:?}");
            assert!(slices.windows(2).all(|pair| pair[0].to_ns < pair[1].from_ns));
        }
    }
}

#[test]
fn time_goes_on_where_it_stopped() {
    let (first, second) = twice(&closed(2), time(20), 15, true);
    assert!(first.samples.iter().any(|sample| sample.status == Status::Cancelled));
    assert!((4_500..6_000).contains(&second.took.as_millis()), "{:?}", second.took);
}

/// An episode that was cut is not played again under its number: another takes its place.
#[test]
fn broken_episodes_are_replaced() {
    let arrival = Arrival::Burst { size: 4, rest: Duration::from_secs(5) };
    let (first, second) = twice(&arrival, count(3), 18, false);
    for target in ["a", "b"] {
        let blocks =
            |played: &Played| played.of(target).iter().filter_map(|s| s.block).collect::<BTreeSet<_>>();
        assert!(blocks(&first).is_disjoint(&blocks(&second)));
        let whole = |played: &Played| {
            let of = played.of(target);
            let bursts = |block| {
                of.iter().filter(move |s| s.block == Some(block) && s.role.as_deref() == Some("burst"))
            };
            (0..9).filter(|block| bursts(*block).filter(|s| s.status == Status::Ok).count() == 4).count()
        };
        assert_eq!(whole(&first) + whole(&second), 3, "{target}");
    }
}

#[test]
fn a_run_that_is_whole_sends_nothing() {
    let (first, second) = twice(&closed(1), count(5), 60, false);
    assert_eq!((first.samples.len(), second.samples.len()), (10, 0));
    assert!(Past::default().tail() == inferometer_record::Tail::default());
}
