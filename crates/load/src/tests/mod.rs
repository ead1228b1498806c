//! Schedules, stop rules, limits and retries in virtual time: one shard against a provider behind in-memory pipes.

mod budget;
mod episodes;
mod lanes;
mod paced;
mod pipe;
mod resumed;
mod stage;
mod threads;

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use inferometer_clock::{Clock, Mono};
use inferometer_plan::{Arrival, Cell, Counts, Pattern, Plan, RunFlags, Span, Stop};
use inferometer_record::{Phase as PhaseKind, Sample, Status};
use inferometer_tokens::Tokenizer;
use inferometer_transport::{Options, Target};
use inferometer_workload::{Cache, Prompts, Source};
use tokio::task::{LocalSet, spawn_local};

use crate::Control;
use crate::appraise::Appraiser;
use crate::ask::Asker;
use crate::axis::Axis;
use crate::finished::Message;
use crate::phase::{self, Blocked, Numbers, Phase, Piece};
use crate::purse::Purse;
use crate::rules::ShardRules;
use crate::seat::Seat;
use crate::shard::ShardReport;
use pipe::{Pipe, Provider};

/// What came out of one shard's phase.
struct Outcome {
    samples: Vec<Sample>,
    report: ShardReport,
    arrivals: Vec<Duration>,
    peak: u32,
    took: Duration,
}

/// What is run, beside the script.
struct Setup {
    flags: RunFlags,
    arrival: Arrival,
    stop: Stop,
    connect: Duration,
    cut_after: Option<Duration>,
    think_tags: bool,
    is_paced: bool,
}

impl Setup {
    fn new(arrival: Arrival, requests: Option<u64>, duration: Option<Duration>) -> Self {
        let flags = RunFlags {
            url: Some("http://provider.test/v1".to_string()),
            model: Some("m".to_string()),
            concurrency: Some(Counts(vec![1])),
            grace: Some(Span(Duration::ZERO)),
            ..RunFlags::default()
        };
        let stop = Stop { requests, duration };
        Self {
            flags,
            arrival,
            stop,
            connect: Duration::ZERO,
            cut_after: None,
            think_tags: false,
            is_paced: false,
        }
    }

    /// Runs one shard in virtual time against `script`.
    fn run<F>(self, script: impl Fn(u64, Pipe) -> F + 'static) -> Outcome
    where
        F: Future<Output = Pipe> + 'static,
    {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            let (clock, timers) = Clock::virtual_time().with_timers();
            spawn_local(timers.run());
            let mut provider = Provider::new(&clock, script);
            provider.connect = self.connect;
            self.run_on(clock, provider).await
        })
    }

    async fn run_on(self, clock: Clock, provider: Provider) -> Outcome {
        let mut plan = self.flags.resolve(|_| None, 1).unwrap();
        plan.targets[0].think_tags = self.think_tags;
        let cell = plan.cells().next().unwrap();
        let prompts =
            Prompts::prepare(&Source::Builtin { output: None }, None, 1, "test", Cache::AsIs).unwrap();
        let (out, inbox) = sync_channel(100_000);
        let (seen, control) = (provider.seen.clone(), Control::default());
        let seat = Seat {
            lane: 0,
            index: 0,
            shards: 1,
            asker: Asker::new(cell, &prompts, Tokenizer::o200k()).unwrap(),
            target: Target::new(&cell.target.url, &Options::default()).unwrap(),
            rules: ShardRules::of(&plan, cell.target),
            out,
            control: control.clone(),
            live: Default::default(),
            purse: Arc::new(Purse::new(plan.budget, clock.now())),
            gate: self.is_paced.then(Arc::default),
        };
        let shard = seat.shard(&clock, provider).unwrap();
        let phase = Arc::new(Phase::new(Piece {
            kind: PhaseKind::Measure,
            apart: 0,
            arrival: self.arrival,
            seed: 1,
            numbers: Numbers { first: 0, stride: 1, lane: 0 },
            blocked: Blocked::Never,
            span: phase::Span {
                to: self.stop.requests,
                length: self.stop.duration,
                ..phase::Span::default()
            },
            done: Arc::default(),
            lead: ms(20),
            grace: Some(plan.protocol.grace),
            place: None,
        }));
        let origin = phase.origin(&clock);
        if let Some(after) = self.cut_after {
            let clock = clock.clone();
            tokio::task::spawn_local(async move {
                clock.sleep_until(origin + after).await;
                control.cut();
            });
        }
        let report = shard.run(phase).await.unwrap();
        let took = clock.now() - origin;
        let samples = appraise(&plan, cell, origin, inbox.try_iter());
        let arrivals = seen.arrivals.borrow().iter().map(|at| *at - origin).collect();
        Outcome { samples, report, arrivals, peak: seen.peak.get(), took }
    }
}

fn appraise(
    plan: &Plan,
    cell: Cell<'_>,
    origin: Mono,
    messages: impl Iterator<Item = Message>,
) -> Vec<Sample> {
    let (secrets, tokenizer) = (&plan.secrets, Tokenizer::o200k());
    let axis = Axis { origin, offset_ns: 0 };
    let appraiser = Appraiser { cell, secrets, run_id: "test", segment: 0, axis, tokenizer };
    let sample = |message| match message {
        Message::Ended(finished) => Some(appraiser.appraise(*finished).0),
        Message::IsRefused(..) | Message::IsPrecise { .. } => None,
    };
    messages.filter_map(sample).collect()
}

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn constant(rate: f64, cap: Option<u32>) -> Arrival {
    Arrival::Open { rate, pattern: Pattern::Constant, cap }
}

fn closed(slots: u32) -> Arrival {
    Arrival::Closed { slots, ramp: Duration::ZERO }
}

/// Largest schedule lag, ms.
fn lag_max(samples: &[Sample]) -> f64 {
    samples.iter().filter_map(|sample| sample.schedule_lag_ms).fold(0.0, f64::max)
}

fn count(samples: &[Sample], status: Status) -> usize {
    samples.iter().filter(|sample| sample.status == status).count()
}

#[test]
fn a_constant_rate_does_not_drift() {
    let ran = Setup::new(constant(200.0, None), Some(2_000), None).run(|_, pipe| pipe.answer_after(0));
    assert_eq!(count(&ran.samples, Status::Ok), 2_000);
    let last = ran.arrivals.iter().max().unwrap();
    assert!(last.abs_diff(ms(9_995)) < ms(1), "{last:?}");
    assert!(lag_max(&ran.samples) < 0.1, "{}", lag_max(&ran.samples));
    assert_eq!((ran.report.planned.starts, ran.report.dropped), (2_000, 0));
}

#[test]
fn a_frozen_server_does_not_slow_the_plan() {
    // Nothing is answered from 3.0 s to 5.01 s.
    let ran = Setup::new(constant(20.0, None), None, Some(s(10))).run(|n, pipe| {
        let planned_ms = n * 50;
        let wait = if (3_000..5_000).contains(&planned_ms) { 5_010 - planned_ms } else { 10 };
        pipe.answer_after(wait)
    });
    assert_eq!(ran.samples.len(), 200);
    assert!(lag_max(&ran.samples) < 0.1);
    let slow = ran.samples.iter().filter(|sample| sample.ttft_ms.unwrap() > 10.5).count();
    assert_eq!(slow, 40);
}

#[test]
fn slots_are_never_more_nor_requests() {
    let ran = Setup::new(closed(7), Some(50), None).run(|n, pipe| pipe.answer_after(10 + n % 5));
    assert_eq!((ran.samples.len(), count(&ran.samples, Status::Ok), ran.peak), (50, 50, 7));
    let mut seqs: Vec<u64> = ran.samples.iter().map(|sample| sample.seq).collect();
    seqs.sort_unstable();
    assert_eq!(seqs, (0..50).collect::<Vec<_>>());
}

/// A server that holds the connection open after its answer makes no slot idle, nor its wait the server's.
#[test]
fn a_complete_answer_frees_its_slot() {
    let held_open = |with_done: bool| {
        move |_, mut pipe: Pipe| async move {
            pipe.wait(100).await;
            pipe.head().await;
            pipe.token().await;
            pipe.event(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#).await;
            pipe.event(r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1}}"#).await;
            if with_done {
                pipe.event("[DONE]").await;
            }
            pipe.wait(3_600_000).await;
            pipe
        }
    };
    for with_done in [true, false] {
        let ran = Setup::new(closed(1), Some(10), None).run(held_open(with_done));
        assert_eq!(count(&ran.samples, Status::Ok), 10);
        assert!(ran.samples.iter().all(|sample| sample.output_tokens == Some(1)));
        let last = ran.samples.iter().filter_map(|sample| sample.end_ns).max().unwrap();
        assert!(Duration::from_nanos(last) < ms(1_015), "{last}");
        assert!(lag_max(&ran.samples) < 1.1, "{}", lag_max(&ran.samples));
        assert!(ran.took < ms(3_050), "{:?}", ran.took);
    }
}

#[test]
fn first_starts_are_spread() {
    let arrival = Arrival::Closed { slots: 4, ramp: ms(40) };
    let ran = Setup::new(arrival, Some(4), None).run(|_, pipe| pipe.answer_after(500));
    assert_eq!(ran.arrivals.iter().map(Duration::as_millis).collect::<Vec<_>>(), [0, 10, 20, 30]);
}

#[test]
fn a_cap_is_kept_and_its_wait_is_lag() {
    let ran = Setup::new(constant(100.0, Some(2)), Some(20), None).run(|_, pipe| pipe.answer_after(100));
    assert_eq!((ran.samples.len(), ran.peak), (20, 2));
    // Two places, each 100 ms, the second taken at 10 ms: the twentieth starts at 910 ms and was planned for 190.
    assert!((lag_max(&ran.samples) - 720.0).abs() < 1.0, "{}", lag_max(&ran.samples));
}

#[test]
fn the_end_of_the_run_cuts_what_is_in_flight() {
    let ran = Setup::new(closed(10), None, Some(s(5))).run(|_, mut pipe| async move {
        pipe.head().await;
        for _ in 0..100 {
            pipe.wait(100).await;
            pipe.token().await;
        }
        pipe
    });
    assert_eq!(count(&ran.samples, Status::Cancelled), 10);
    assert!(ran.samples.iter().all(|sample| sample.chunks >= 48), "{:?}", ran.samples[0]);
    assert!(ran.took < ms(5_002), "{:?}", ran.took);
}

#[test]
fn a_cut_ends_everything_at_once() {
    let mut setup = Setup::new(closed(3), Some(1_000), None);
    setup.cut_after = Some(ms(250));
    let ran = setup.run(|_, pipe| pipe.answer_after(100));
    assert_eq!((count(&ran.samples, Status::Ok), count(&ran.samples, Status::Cancelled)), (6, 3));
    assert!(ran.took < ms(252), "{:?}", ran.took);

    let mut setup = Setup::new(constant(10.0, Some(1)), Some(1_000), None);
    setup.cut_after = Some(ms(1_050));
    let ran = setup.run(|_, pipe| pipe.answer_after(600));
    let ended = ran.samples.len() as u64;
    assert_eq!((ended, ran.report.planned.starts, ran.report.dropped), (2, 11, 9));
}

#[test]
fn limits_end_attempts() {
    let check = |set: fn(&mut Setup), script: fn(Pipe) -> Scripted, code: &str, at: Duration| {
        let mut setup = Setup::new(closed(1), Some(1), None);
        set(&mut setup);
        let ran = setup.run(move |_, pipe| script(pipe));
        let [sample] = ran.samples.as_slice() else { panic!("{} samples", ran.samples.len()) };
        assert_eq!((sample.status, sample.error_code.as_deref()), (Status::Timeout, Some(code)));
        let took = Duration::from_nanos(sample.end_ns.unwrap() - sample.start_ns.unwrap());
        assert!(took.abs_diff(at) < ms(1), "{code}: {took:?}");
    };
    let silent: fn(Pipe) -> Scripted = |pipe| Box::pin(async { pipe.answer_after(1_000_000).await });
    let stalling: fn(Pipe) -> Scripted = |mut pipe| {
        Box::pin(async {
            pipe.head().await;
            pipe.event(r#"{"choices":[{"index":0,"delta":{"role":"assistant"}}]}"#).await;
            pipe.wait(300).await;
            pipe.token().await;
            pipe.answer_after(1_000_000).await
        })
    };
    check(|setup| setup.connect = s(100), silent, "connect_timeout", s(10));
    check(|setup| setup.flags.timeout = Some(Span(s(20))), silent, "total_timeout", s(20));
    check(|setup| setup.flags.first_token_timeout = Some(Span(s(2))), silent, "first_token_timeout", s(2));
    check(
        |setup| setup.flags.first_token_timeout = Some(Span(ms(200))),
        stalling,
        "first_token_timeout",
        ms(200),
    );
    check(|setup| setup.flags.idle_timeout = Some(Span(ms(400))), stalling, "idle_timeout", ms(700));
}

type Scripted = std::pin::Pin<Box<dyn Future<Output = Pipe>>>;

#[test]
fn retries_are_visible_and_exactly_one_attempt_is_final() {
    let script = |n: u64, pipe: Pipe| async move {
        match n % 3 {
            2 => pipe.answer_after(400).await,
            _ => pipe.refuse(429, "retry-after: 1\r\n").await,
        }
    };
    let mut setup = Setup::new(closed(1), Some(2), None);
    setup.flags.retries = 3;
    let ran = setup.run(script);
    let attempts: Vec<_> =
        ran.samples.iter().map(|s| (s.request, s.attempt, s.is_final, s.http_status)).collect();
    let request = |n| [(n, 1, false, Some(429)), (n, 2, false, Some(429)), (n, 3, true, Some(200))];
    assert_eq!(attempts, [request(0), request(1)].concat());
    assert_eq!(
        ran.arrivals.iter().map(Duration::as_millis).collect::<Vec<_>>(),
        [0, 1_000, 2_000, 2_400, 3_400, 4_400]
    );

    let ran = Setup::new(closed(1), Some(3), None).run(script);
    assert_eq!(ran.samples.iter().filter(|sample| sample.is_final).count(), 3);
    assert_eq!(count(&ran.samples, Status::HttpError), 2);
}

/// A kill loses no attempt that has ended; one final attempt follows that never started where the wait was cut.
#[test]
fn a_failed_attempt_is_written_before_its_wait() {
    let mut setup = Setup::new(closed(1), Some(2), None);
    (setup.flags.retries, setup.cut_after) = (1, Some(s(30)));
    let ran = setup.run(|_, pipe| pipe.refuse(429, "retry-after: 60\r\n"));
    let attempts: Vec<_> =
        ran.samples.iter().map(|s| (s.attempt, s.is_final, s.status, s.start_ns.is_some())).collect();
    let right = [(1, false, Status::HttpError, true), (2, true, Status::Cancelled, false)];
    assert_eq!(attempts, right);
    let ends: Vec<_> =
        ran.samples.iter().map(|s| Duration::from_nanos(s.end_ns.unwrap()).as_secs()).collect();
    assert_eq!((ends, ran.took.as_secs()), (vec![0, 30], 30));

    // Where the run's end is known to come before the next attempt, there is none.
    let mut setup = Setup::new(closed(1), Some(2), Some(s(10)));
    setup.flags.retries = 1;
    let ran = setup.run(|_, pipe| pipe.refuse(429, "retry-after: 60\r\n"));
    assert!(ran.samples.iter().all(|sample| sample.is_final && sample.status == Status::HttpError));
}

#[test]
fn think_tags_are_reasoning_where_the_target_says_so() {
    let ttfa = |think_tags| {
        let mut setup = Setup::new(closed(1), Some(1), None);
        setup.think_tags = think_tags;
        let ran = setup.run(|_, mut pipe| async move {
            pipe.head().await;
            for (wait, text) in [(10, "<think>"), (10, "so"), (80, "</think>42")] {
                pipe.wait(wait).await;
                pipe.event(&format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#)).await;
            }
            pipe.done(4).await;
            pipe
        });
        ran.samples[0].ttfa_ms.map(f64::round)
    };
    assert_eq!((ttfa(true), ttfa(false)), (Some(100.0), None));
}
