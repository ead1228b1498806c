//! Schedules, stop rules, limits and retries in virtual time: one shard against a provider behind in-memory pipes.

mod pipe;

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use inferometer_clock::{Clock, Mono};
use inferometer_plan::{Arrival, Cell, Counts, Pattern, Plan, RunFlags, Span, Stop};
use inferometer_record::{Phase as PhaseKind, Sample, Status};
use inferometer_tokens::Tokenizer;
use inferometer_transport::{Client, Options, Target};
use inferometer_workload::{Cache, Prompts, Source};
use tokio::task::LocalSet;

use crate::appraise::Appraiser;
use crate::ask::Asker;
use crate::phase::Phase;
use crate::rules::ShardRules;
use crate::shard::{Shard, ShardReport};
use crate::{Control, Live};
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
        Self { flags, arrival, stop: Stop { requests, duration }, connect: Duration::ZERO, cut_after: None }
    }

    /// Runs one shard in virtual time against `script`.
    fn run<F>(self, script: impl Fn(u64, Pipe) -> F + 'static) -> Outcome
    where
        F: Future<Output = Pipe> + 'static,
    {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            let clock = Clock::virtual_time();
            let mut provider = Provider::new(&clock, script);
            provider.connect = self.connect;
            self.run_on(clock, provider).await
        })
    }

    async fn run_on(self, clock: Clock, provider: Provider) -> Outcome {
        let plan = self.flags.resolve(|_| None, 1).unwrap();
        let cell = plan.cells().next().unwrap();
        let prompts =
            Prompts::prepare(&Source::Builtin { output: None }, None, 1, "test", Cache::AsIs).unwrap();
        let (out, inbox) = sync_channel(100_000);
        let (seen, control) = (provider.seen.clone(), Control::default());
        let target = Target::new(&cell.target.url, &Options::default()).unwrap();
        let shard = Rc::new(Shard {
            index: 0,
            shards: 1,
            client: Client::new(&clock, provider, target).unwrap(),
            clock: clock.clone(),
            asker: Asker::new(cell, &prompts).unwrap(),
            rules: ShardRules {
                dialect: cell.target.dialect,
                streaming: cell.target.stream,
                timeouts: plan.protocol.timeouts,
                retries: plan.protocol.retries,
            },
            out,
            control: control.clone(),
            live: Arc::new(Live::default()),
        });
        let phase = Phase::new(PhaseKind::Measure, self.arrival, self.stop, 1, plan.protocol.grace);
        let phase = Arc::new(phase);
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
    finished: impl Iterator<Item = crate::finished::Finished>,
) -> Vec<Sample> {
    let (secrets, tokenizer) = (&plan.secrets, Tokenizer::o200k());
    let appraiser = Appraiser { cell, secrets, run_id: "test", segment: 0, origin, tokenizer };
    finished.map(|finished| appraiser.appraise(finished).0).collect()
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
