//! The steady part, and the stability of the first token.

use inferometer_metrics::{CellContext, Num, Summary, Window, name, summarize};
use inferometer_record::{Manifest, Phase, State, Status};

use crate::cell::{Attempt, MS, answer, closed, metric, open, sum_up, window_ms};

#[test]
fn closed_loop_leaves_out_ramp_and_drain() {
    // Four slots of 100 ms; the first requests take longer, and the last one runs alone.
    let mut attempts: Vec<Attempt> = (0..4).map(|i| answer(i, i, &[300], Some(10))).collect();
    attempts.extend((0..160).map(|i| answer(4 + i, 310 + i / 4 * 100, &[100], Some(10))));
    attempts.push(answer(200, 4_310, &[900], Some(10)));
    let steady = sum_up(closed(4), attempts.clone()).throughput.steady.unwrap();
    assert_eq!(steady.rule, "closed_loop");
    assert!((303..=320).contains(&(steady.window.from_ns / MS)), "{steady:?}");
    assert!(steady.window.to_ns <= 5_210 * MS);
    assert!(steady.output_token_throughput.lo.is_some() && steady.request_throughput.hi.is_some());
    let told =
        CellContext { all_slots_finished_ns: Some(1_000 * MS), first_idle_ns: Some(3_000 * MS), ..closed(4) };
    let steady = sum_up(told, attempts.clone()).throughput.steady.unwrap();
    assert_eq!(steady.window, Window { from_ns: 1_000 * MS, to_ns: 3_000 * MS });
    assert_eq!(steady.output_token_throughput.value, Num::new(400.0));
    assert!(
        sum_up(closed(4), attempts.into_iter().take(20)).throughput.steady.is_none(),
        "under 20 requests left"
    );
}

#[test]
fn open_loop_by_mser5() {
    // A ramp of 20 slow first tokens, then 100 ms plus noise.
    let of = |i: u64| {
        let ttft = if i < 20 { 2_000 - i * 90 } else { 100 + i * 37 % 11 };
        answer(i, i * 50, &[ttft], Some(10))
    };
    let context = CellContext { window: Some(window_ms(0, 10_000)), ..open(20.0) };
    let steady = sum_up(context, (0..200).map(of)).throughput.steady.unwrap();
    assert_eq!(steady.rule, "mser5");
    assert!((900..=1_500).contains(&(steady.window.from_ns / MS)), "{steady:?}");
}

/// A closed loop of `slots` that begin `step_ms` apart and ask, until `until_ms`, again as soon as an answer of
/// `life_ms` has come.
fn ramped(slots: u64, step_ms: u64, life_ms: u64, until_ms: u64) -> Vec<Attempt> {
    let of_slot = |slot: u64| {
        let starts = (slot * step_ms..until_ms).step_by(life_ms as usize);
        starts.map(move |at| answer(slot + at * slots, at, &[life_ms], Some(1)))
    };
    (0..slots).flat_map(of_slot).collect()
}

#[test]
fn a_ramp_is_not_steady() {
    // The first slots have had sixteen answers of 20 ms each when the last one begins at 315 ms.
    let attempts = ramped(64, 5, 20, 2_000);
    let steady = sum_up(closed(64), attempts.clone()).throughput.steady.unwrap();
    assert_eq!(steady.window.from_ns, 335 * MS, "the last slot's first answer");
    let rate = steady.request_throughput.value.unwrap().get();
    assert!((rate / 3_200.0 - 1.0).abs() < 0.01, "{rate} of 64 slots at 50/s each");
    // The last slot's first attempt fails and is tried again: it has begun all the same.
    let mut retried = attempts;
    let last = retried.iter_mut().find(|attempt| attempt.sample.request == 63 + 315 * 64).unwrap();
    (last.sample.attempt, last.sample.start_ns, last.sample.sched_ns) = (2, Some(325 * MS), Some(325 * MS));
    let first = answer(last.sample.request, 315, &[], None).failed(Status::HttpError, 5);
    retried.push(first.with(|sample| sample.is_final = false));
    let steady = sum_up(closed(64), retried).throughput.steady.unwrap();
    assert_eq!(steady.window.from_ns, 335 * MS);
    assert!(sum_up(closed(65), ramped(64, 5, 20, 2_000)).throughput.steady.is_none(), "65 never began");
}

/// The steady requests per second of a load at `gap_ms` whose answers take what `latency_ms` says, within 1 % of what
/// was asked.
fn check_open_rate(context: CellContext, requests: u64, gap_ms: u64, latency_ms: impl Fn(u64) -> u64) {
    let of = |i: u64| answer(i, i * gap_ms, &[latency_ms(i)], Some(10));
    let steady = sum_up(context, (0..requests).map(of)).throughput.steady.unwrap();
    let (rate, asked) = (steady.request_throughput.value.unwrap().get(), 1e3 / gap_ms as f64);
    assert!((rate / asked - 1.0).abs() <= 0.01, "{rate} is not {asked}: {steady:?}");
    assert!(steady.window.to_ns <= (requests - 1) * gap_ms * MS, "ends in the drain: {steady:?}");
}

#[test]
fn a_steady_open_load_has_neither_filling_nor_drain() {
    let by_count = || CellContext { limited_by_count: true, ..open(50.0) };
    check_open_rate(by_count(), 100, 20, |_| 1_000);
    check_open_rate(by_count(), 2_000, 20, |i| 100 + i * 7_919 % 1_900);
    let whole = Some(window_ms(0, 10_000));
    check_open_rate(CellContext { window: whole, ..open(50.0) }, 500, 20, |_| 1_000);
    // A window that ends while requests still start.
    let short = Some(window_ms(0, 5_000));
    check_open_rate(CellContext { window: short, ..open(50.0) }, 500, 20, |_| 1_000);
}

#[test]
fn drift_modes_and_wide_tails() {
    let cell = |ttft: fn(u64) -> u64| {
        let attempts: Vec<Attempt> = (0..200).map(|i| answer(i, i * 5_000, &[ttft(i)], Some(1))).collect();
        let stability = sum_up(closed(1), attempts).stability;
        (stability.drift.unwrap().found, stability.bimodal.unwrap(), stability.wide_tail)
    };
    assert_eq!(cell(|i| 100 + i * 7_919 % 23), (false, false, false));
    assert!(cell(|i| 100 + i + i * 7_919 % 23).0);
    assert!(cell(|i| if i * 7_919 % 23 < 11 { 100 + i * 31 % 9 } else { 1_000 + i * 31 % 90 }).1);
    assert!(cell(|i| if i * 7_919 % 23 < 4 { 3_000 + i } else { 100 + i * 31 % 9 }).2);
}

#[test]
fn a_tail_is_never_better_than_the_median() {
    let attempts = (0..10).map(|i| answer(i, i * 500, &[100 + i * 7 % 10], Some(1)));
    let stability = sum_up(closed(1), attempts).stability;
    assert_eq!(stability.spread_ms.lo, Num::new(0.0));
    assert_eq!(stability.p95_over_p50.lo, Num::new(1.0));
}

#[test]
fn what_is_outside_the_window_is_outside_the_figures() {
    let context = CellContext { window: Some(window_ms(1_000, 2_000)), ..closed(1) };
    let warm = answer(0, 900, &[50, 150], Some(2)).with(|sample| sample.phase = Phase::Warmup);
    let cell = sum_up(
        context,
        [warm, answer(1, 1_100, &[100, 800], Some(4)), answer(2, 1_900, &[50, 200], Some(6))],
    );
    assert_eq!(cell.throughput.output_tokens, Num::new(8.0), "1 of the warm-up, 4, and 3 of the last");
    assert_eq!(cell.throughput.request_throughput.value, Num::new(1.0));
    assert_eq!((metric(&cell, name::TTFT).n, cell.counts.warmup, cell.counts.issued), (2, 1, 2));
}

#[test]
fn without_events_tokens_count_at_the_end() {
    let context = CellContext { no_events: true, window: Some(window_ms(0, 1_000)), ..closed(1) };
    let cell = sum_up(context, [answer(0, 0, &[100, 900], Some(4)), answer(1, 500, &[100, 900], Some(4))]);
    assert_eq!(cell.throughput.output_tokens, Num::new(4.0));
    assert!(cell.throughput.notes[0].contains("2 attempts without recorded events"));
    assert!(!cell.metrics.contains_key(name::CHUNK_GAP) && !cell.metrics.contains_key(name::SPEED_CHARS));
}

#[test]
fn a_run_is_summed_up_from_its_folder() {
    let mut manifest = Manifest { run_id: "r".into(), state: State::Complete, ..Manifest::default() };
    let context = CellContext { target: "a".into(), load: "c1".into(), ..closed(1) };
    manifest.cells.push(serde_json::to_value(&context).unwrap());
    let of = |target: &str, seq| {
        let sample = answer(seq, seq * 100, &[50], Some(1)).sample;
        (inferometer_record::Sample { target: target.into(), load: "c1".into(), ..sample }, None)
    };
    let samples = [of("a", 0), of("b", 1), of("a", 2)];
    let summary = summarize(&manifest, samples.clone().into_iter()).unwrap();
    let issued: Vec<(&str, u64)> =
        summary.cells.iter().map(|c| (c.target.as_str(), c.counts.issued)).collect();
    assert_eq!(issued, [("a", 2), ("b", 1)]);
    assert!(!summary.interrupted && summary.warnings.is_empty());
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
    manifest.state = State::Running;
    assert!(summarize(&manifest, samples.into_iter()).unwrap().interrupted);
    manifest.cells.push(serde_json::json!({"gates": ["nonsense"]}));
    assert!(summarize(&manifest, std::iter::empty()).is_err());
}

#[test]
fn a_run_that_its_preflight_stopped_says_why() {
    let refused = answer(0, 0, &[], None).failed(Status::HttpError, 5).with(|sample| {
        (sample.phase, sample.target, sample.http_status) = (Phase::Preflight, "a".into(), Some(401));
        sample.error_message = Some("no such key".into());
    });
    let manifest = Manifest { state: State::Interrupted, ..Manifest::default() };
    let warnings = |attempts: &[&Attempt]| {
        let samples = attempts.iter().map(|attempt| (attempt.sample.clone(), None));
        summarize(&manifest, samples).unwrap().warnings
    };
    assert_eq!(warnings(&[&refused]), ["the preflight of a failed: http_error HTTP 401: no such key"]);
    // A preflight that was only warned of did not stop the run.
    assert!(warnings(&[&refused, &answer(1, 10, &[50], Some(1))]).is_empty());
    let answered = answer(0, 0, &[50], Some(1)).with(|sample| sample.phase = Phase::Preflight);
    assert!(warnings(&[&answered]).is_empty());
}

/// A server in step: `slots` answers of 40 tokens at once, each of `life_ms`, again and again.
fn in_step(slots: u64, life_ms: u64, requests: u64) -> Vec<Attempt> {
    let first_ms = life_ms * 3 / 10;
    let events: Vec<u64> = (0..40).map(|i| first_ms + i * (life_ms - first_ms) / 39).collect();
    (0..requests).map(|i| answer(i, i / slots * life_ms, &events, Some(40))).collect()
}

/// The rates of a server in step are within one of its steps of the truth, inside their own interval, and without one
/// where the batches cannot make it.
fn check_in_step(slots: u64, life_ms: u64, requests: u64, interval: [bool; 2]) {
    let cell = sum_up(closed(slots as u32), in_step(slots, life_ms, requests));
    let steady = cell.throughput.steady.unwrap();
    let truth = slots as f64 * 1e3 / life_ms as f64;
    let one_step = slots as f64 / (requests - 2 * slots) as f64;
    for (rate, truth) in
        [(&steady.output_token_throughput, truth * 40.0), (&steady.request_throughput, truth)]
    {
        let value = rate.value.unwrap().get();
        assert!((value / truth - 1.0).abs() <= one_step, "{value} is not {truth}: {slots}, {life_ms}");
        let (lo, hi) = (rate.lo.map_or(value, Num::get), rate.hi.map_or(value, Num::get));
        assert!(lo <= value && value <= hi, "{rate:?}");
        assert!(rate.lo.is_none() || (lo <= truth && truth <= hi), "{rate:?} without {truth}");
        assert_eq!(rate.note.is_some(), rate.lo.is_none(), "{rate:?}");
    }
    let found = [&steady.output_token_throughput, &steady.request_throughput].map(|rate| rate.lo.is_some());
    assert_eq!(found, interval, "{slots} slots of {life_ms} ms: {steady:?}");
}

#[test]
fn a_rate_lies_in_its_own_interval() {
    check_in_step(4, 275, 64, [true, true]);
    check_in_step(1, 280, 100, [true, true]);
    check_in_step(3, 1_000, 299, [true, true]);
    check_in_step(8, 410, 1_200, [true, true]);
    // Three batches of a request's length are no ten.
    check_in_step(16, 550, 80, [false, false]);
    // Each of ten batches of two seconds holds 20 answers: alike by their length, not by the server's steadiness.
    check_in_step(2, 200, 2 * (1 + 100 + 1), [false, false]);
}

/// Two slots of 100 ms answers in `slices` slices of 1 s, each followed by 9 s that belong to other targets.
fn sliced(slices: u64) -> (CellContext, Vec<Attempt>) {
    let slice = |i: u64| {
        let from = i * 10_000;
        (0..20).map(move |k| answer(i * 20 + k, from + k / 2 * 100, &[100], Some(10)))
    };
    let attempts = (0..slices).flat_map(slice).collect();
    let windows = (0..slices).map(|i| window_ms(i * 10_000, i * 10_000 + 1_000)).collect();
    let window = Some(window_ms(0, (slices - 1) * 10_000 + 1_000));
    (CellContext { window, slices: windows, ..closed(2) }, attempts)
}

#[test]
fn only_the_time_inside_slices_counts() {
    let (context, attempts) = sliced(5);
    let throughput = sum_up(context.clone(), attempts.clone()).throughput;
    assert_eq!(throughput.window_s, Num::new(5.0));
    assert_eq!(throughput.output_token_throughput.value, Num::new(200.0), "20 answers of 10 tokens a second");
    assert_eq!(throughput.request_throughput.value, Num::new(20.0));
    // The last two answers of a slice come on its last instant, where the next bucket begins.
    assert_eq!(throughput.mean, Num::new(180.0), "over full buckets inside slices");
    assert_eq!(throughput.buckets.unwrap().full, 5);
    let steady = throughput.steady.unwrap();
    assert_eq!(steady.request_throughput.value, Num::new(20.0));
    assert!(throughput.notes.iter().any(|note| note.starts_with("in 5 slices")), "{:?}", throughput.notes);
    let mut last_is_short = context;
    last_is_short.slices[4] = window_ms(40_000, 40_050);
    assert_eq!(sum_up(last_is_short, attempts).throughput.steady, None, "one slice has no steady part");
}

/// One request in flight, in turn with other targets: each slice is one answer of 100 to 140 ms and 10 tokens.
#[test]
fn a_single_slot_is_steady_in_all_of_its_slices() {
    let life = |i: u64| 100 + i % 5 * 10;
    let attempts = (0..100).map(|i| answer(i, i * 1_000, &[50, life(i)], Some(10)));
    let slices = (0..100).map(|i| window_ms(i * 1_000, i * 1_000 + life(i))).collect();
    let context = CellContext { window: Some(window_ms(0, 99_200)), slices, ..closed(1) };
    let throughput = sum_up(context, attempts).throughput;
    let steady = throughput.steady.unwrap();
    assert_eq!(throughput.window_s, Num::new(12.0));
    for (rate, value) in [
        (steady.request_throughput, 100.0 / 12.0),
        (steady.output_token_throughput, 1_000.0 / 12.0),
        (steady.useful_token_throughput, 1_000.0 / 12.0),
    ] {
        let found = [rate.lo, rate.value, rate.hi].map(|bound| bound.unwrap().get());
        assert!((found[1] - value).abs() < 1e-6 && found[0] < value && value < found[2], "{found:?}");
    }
}

#[test]
fn parts_of_a_resumed_run_that_overlap_say_nothing_per_second() {
    let part = |segment: u32| {
        (0..30).map(move |i| answer(i, i * 100, &[100], Some(10)).with(|s| s.segment = segment))
    };
    let throughput = sum_up(closed(1), part(0).chain(part(1))).throughput;
    assert_eq!((throughput.window_s, throughput.output_token_throughput.value), (None, None));
    assert!(throughput.steady.is_none() && throughput.buckets.is_none());
    assert!(throughput.notes[0].contains("overlap"), "{:?}", throughput.notes);
}

/// What a target does that waits for slower ones is not what it can do: said, and in no comparison.
#[test]
fn a_rate_that_others_held_back_is_not_the_target_s() {
    let check = |held_share, is_held: bool| {
        let context = CellContext { held_share, ..closed(4) };
        let throughput = sum_up(context, ramped(4, 5, 100, 2_000)).throughput;
        let notes: Vec<_> = throughput.notes.iter().filter(|note| note.contains("held back")).collect();
        assert_eq!(notes.len(), usize::from(is_held), "{held_share:?}: {notes:?}");
        assert_eq!(
            (throughput.steady.is_none(), throughput.useful_token_throughput.is_none()),
            (is_held, is_held)
        );
        assert!(throughput.output_token_throughput.value.is_some());
    };
    check(None, false);
    check(Some(0.05), false);
    check(Some(0.44), true);
}
