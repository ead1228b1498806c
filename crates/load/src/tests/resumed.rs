//! A run that goes on where another process left it.

use std::collections::BTreeSet;
use std::time::Duration;

use inferometer_clock::{Mono, Wall};
use inferometer_plan::{Arrival, Pattern, Plan, Precision, Stop};
use inferometer_record::{Manifest, RunReader, RunWriter, Sample, Segment, Status};

use super::closed;
use super::stage::{Played, Stage, answers, count, time};
use crate::past::Past;

/// Two targets under `arrival`, cut after `secs`, and then gone on with.
fn twice(arrival: &Arrival, stop: Stop, secs: u64, together: bool) -> (Played, Played) {
    let stage = || {
        let scripts = vec![answers(|_| 300), answers(|_| 400)];
        Stage::new(arrival.clone(), stop, scripts).interleaved(together)
    };
    cut_and_resumed(stage, secs)
}

/// A stage that is cut after `secs`, and the same stage behind what it left in its folder.
fn cut_and_resumed(stage: impl Fn() -> Stage, secs: u64) -> (Played, Played) {
    let mut first = stage();
    first.cut_after = Some(Duration::from_secs(secs));
    let first = first.play();
    let mut second = stage();
    second.past = left_by(&first, &second.plan, true);
    (first, second.play())
}

/// What is known of `played` from its folder. A process that was killed tells only its samples.
fn left_by(played: &Played, plan: &Plan, has_said: bool) -> Past {
    let dir = tempfile::tempdir().unwrap();
    let mut segment = Segment::new(Mono::default(), Wall::now());
    let mut manifest = Manifest::new("test", Wall::now());
    if has_said {
        segment.end(Mono::default() + played.took);
        manifest.cells =
            played.contexts.iter().map(|context| serde_json::to_value(context).unwrap()).collect();
    }
    manifest.segments.push(segment);
    let run = dir.path().join("run");
    let mut writer = RunWriter::create(Some(&run), dir.path(), "test", manifest, false).unwrap();
    for sample in &played.samples {
        writer.push(sample, None, Mono::default()).unwrap();
    }
    writer.flush().unwrap();
    Past::read(&RunReader::open(&run).unwrap(), plan).unwrap()
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

/// The goal is held against all trials, and at no more looks than one process would have taken.
#[test]
fn a_goal_sees_what_was_measured_before() {
    for together in [false, true] {
        let stage = || {
            let scripts = vec![answers(|n| 1_000 + n * 37 % 200), answers(|n| 1_000 + n * 53 % 200)];
            let mut stage = Stage::new(closed(1), count(1_000), scripts).interleaved(together);
            stage.plan.protocol.precision = Some(Precision { figure: "ttft_p50".to_string(), goal: 0.05 });
            stage
        };
        let trials = |played: &Played| measured(played, "a").len();
        let whole = stage().play();
        let n = trials(&whole);
        assert!([25, 50, 100].contains(&n) && n == measured(&whole, "b").len(), "{n}");
        // Cut after most of them, on the other side of the first look.
        let secs = (n as u64 - 5) * if together { 1 } else { 2 };
        let (first, second) = cut_and_resumed(stage, secs);
        assert!(trials(&first) > n / 2 && trials(&first) < n, "{} of {n}", trials(&first));
        assert_eq!(trials(&first) + trials(&second), n, "{together}");
        // And where it was reached, nothing more is sent.
        let mut third = stage();
        third.past = left_by(&whole, &third.plan, true);
        assert_eq!(third.play().samples.len(), 0);
    }
}

/// The waits of both processes, by their time.
#[test]
fn the_share_that_was_held_back_is_of_all_processes() {
    let stage = || {
        let scripts = vec![answers(|_| 300), answers(|_| 600)];
        Stage::new(closed(2), count(200), scripts).interleaved(true)
    };
    let whole = stage().play().contexts[0].held_share.unwrap();
    // Nearly all is done by the first process; the second alone, at its end, waits for nobody.
    let (first, second) = cut_and_resumed(stage, 55);
    let shares = [&first, &second].map(|played| played.contexts[0].held_share.unwrap());
    assert!(whole > 0.3 && shares.iter().all(|share| (share - whole).abs() < 0.1), "{whole}: {shares:?}");
}

#[test]
fn the_time_of_all_processes_is_the_run_s() {
    let stage = || {
        let mut stage = Stage::new(closed(1), count(1_000), vec![answers(|_| 300)]);
        stage.plan.budget.time = Some(Duration::from_secs(20));
        stage
    };
    let check = |has_said| {
        let mut first = stage();
        first.cut_after = Some(Duration::from_secs(15));
        let first = first.play();
        let mut second = stage();
        second.past = left_by(&first, &second.plan, has_said);
        let second = second.play();
        assert!((4_500..5_500).contains(&second.took.as_millis()), "{has_said}: {:?}", second.took);
        assert!(second.spent.unwrap().contains("20 s"));
        // Nothing is left.
        let mut third = stage();
        third.past = left_by(&stage().play(), &third.plan, has_said);
        assert_eq!(third.play().samples.len(), 0, "{has_said}");
    };
    check(true);
    // A kill costs no more than what came after its last sample.
    check(false);
}

#[test]
fn what_was_not_valid_stays_so() {
    let stage = || Stage::new(closed(1), count(60), vec![answers(|_| 300)]);
    let mut first = stage();
    first.cut_after = Some(Duration::from_secs(9));
    let mut first = first.play();
    let second = |first: &Played, has_said| {
        let mut second = stage();
        second.past = left_by(first, &second.plan, has_said);
        second.play().contexts.remove(0)
    };
    assert_eq!(second(&first, true).not_valid_before, Vec::<String>::new());
    first.contexts[0].health.channel_full = 7;
    let known = second(&first, true);
    assert!(known.not_valid_before[0].contains("full 7 times"), "{:?}", known.not_valid_before);
    assert_eq!(known.health.channel_full, 7);
    // One that was killed never said how it fared.
    first.contexts[0].health = inferometer_metrics::ClientHealth::default();
    assert!(second(&first, true).not_valid_before[0].contains("was not recorded"));
}
