//! Several lanes in virtual time: conductor, shards and worker as in earnest, each target a provider behind pipes.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use inferometer_clock::Clock;
use inferometer_metrics::CellContext;
use inferometer_plan::{Arrival, Blocks, Counts, Plan, RunFlags, Span, Stop};
use inferometer_record::{Events, Sample};
use inferometer_transport::Environment;
use inferometer_workload::{Prompts, Source};
use tokio::sync::mpsc;
use tokio::task::{LocalSet, spawn_local};

use super::pipe::{Pipe, Provider, Seen};
use crate::band::Band;
use crate::conductor::Program;
use crate::past::Past;
use crate::runner::{Sink, SinkError};
use crate::seat;
use crate::worker::Worker;
use crate::{Control, Lane, Runner};

/// How often what has ended is taken.
const POLL: Duration = Duration::from_millis(20);

/// What a target does with its `n`th request.
pub(super) type Script = Box<dyn Fn(u64, Pipe) -> Pin<Box<dyn Future<Output = Pipe>>>>;

/// A script that answers each request after so many milliseconds.
pub(super) fn answers(after_ms: impl Fn(u64) -> u64 + 'static) -> Script {
    Box::new(move |n, pipe| Box::pin(pipe.answer_after(after_ms(n))))
}

/// A script that never answers.
pub(super) fn dead() -> Script {
    answers(|_| 1_000_000_000)
}

/// What is run.
pub(super) struct Stage {
    pub(super) plan: Plan,
    pub(super) blocks: Option<Blocks>,
    pub(super) past: Past,
    pub(super) cut_after: Option<Duration>,
    scripts: Vec<Script>,
}

/// What came of it.
pub(super) struct Played {
    pub(super) samples: Vec<Sample>,
    pub(super) contexts: Vec<CellContext>,
    pub(super) spent: Option<String>,
    /// Of each target.
    pub(super) seen: Vec<Rc<Seen>>,
    pub(super) took: Duration,
}

impl Stage {
    /// Targets `a`, `b`, … with a script each, under one load, without warm-ups and alone.
    pub(super) fn new(arrival: Arrival, stop: Stop, scripts: Vec<Script>) -> Self {
        let flags = RunFlags {
            url: Some("http://provider.test/v1".to_string()),
            model: Some("m".to_string()),
            concurrency: Some(Counts(vec![1])),
            grace: Some(Span(Duration::ZERO)),
            ..RunFlags::default()
        };
        let mut plan = flags.resolve(|_| None, 1).unwrap();
        plan.protocol.warmup = 0;
        (plan.loads[0].arrival, plan.loads[0].stop) = (arrival, stop);
        let target = plan.targets.remove(0);
        for place in 0..scripts.len() {
            let name = char::from(b'a' + place as u8).to_string();
            plan.targets.push(inferometer_plan::Target { name, ..target.clone() });
        }
        Self { plan, blocks: None, past: Past::default(), cut_after: None, scripts }
    }

    /// In turns, or all together.
    pub(super) fn interleaved(mut self, together: bool) -> Self {
        self.blocks = Some(Blocks {
            order_seed: 7,
            slice: Duration::from_secs(10),
            max_lag: 3,
            together,
            patience: Duration::from_secs(30),
        });
        self
    }

    /// The same with no process before it.
    pub(super) fn play(self) -> Played {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        LocalSet::new().block_on(&runtime, self.play_here())
    }

    async fn play_here(self) -> Played {
        let (clock, timers) = Clock::virtual_time().with_timers();
        spawn_local(timers.run());
        let (origin, control) = (clock.now(), Control::default());
        let source = Source::Builtin { output: None };
        let prompts = Prompts::prepare(&source, None, 1, "test", self.plan.protocol.cache).unwrap();
        let lanes: Vec<Lane<'_>> = self.plan.cells().map(|cell| Lane::new(cell, &prompts)).collect();
        let mut runner = Runner::new(&self.plan, "test", origin, Environment::default(), control.clone());
        runner.resume(self.past);
        let program = Program::Measure { blocks: self.blocks };
        let runs = runner.runs(&lanes, program);
        let (out, inbox) = sync_channel(100_000);
        let providers: Vec<_> =
            self.scripts.into_iter().map(|script| Provider::new(&clock, script)).collect();
        let seen = providers.iter().map(|provider| provider.seen.clone()).collect();
        let shards: Vec<_> = lanes
            .iter()
            .zip(providers)
            .enumerate()
            .map(|(place, (lane, provider))| {
                runner.seat((0, 1), place, lane, &out).unwrap().shard(&clock, provider).unwrap()
            })
            .collect();
        let (orders, ordered) = mpsc::channel(lanes.len());
        spawn_local(async move { seat::serve(&shards, ordered).await });
        let conductor = runner.conductor(clock.clone(), Band::new(vec![orders]), out, runs);
        let conducting = spawn_local(conductor.perform(program));
        if let Some(after) = self.cut_after {
            let (clock, control) = (clock.clone(), control);
            spawn_local(async move {
                clock.sleep(after).await;
                control.cut();
            });
        }
        let (mut worker, mut sink) = (runner.worker(&lanes), Kept::default());
        let mut take_all = |worker: &mut Worker<'_>| {
            for message in inbox.try_iter() {
                worker.take(message, &mut sink).unwrap();
            }
        };
        while !conducting.is_finished() {
            clock.sleep(POLL).await;
            take_all(&mut worker);
        }
        take_all(&mut worker);
        let took = clock.now() - origin;
        let (last_ends, runs) = (worker.last_ends(), conducting.await.unwrap().unwrap());
        drop(worker);
        let spent = runner.purse().spent(clock.now());
        let contexts = runner.contexts(&lanes, runs, last_ends);
        Played { samples: sink.0, contexts, spent, seen, took }
    }
}

/// Every sample, as it came.
#[derive(Default)]
pub(super) struct Kept(pub(super) Vec<Sample>);

impl Sink for Kept {
    fn accept(&mut self, sample: Sample, _: Option<Events>) -> Result<(), SinkError> {
        self.0.push(sample);
        Ok(())
    }

    fn tick(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

impl Played {
    /// The samples of one target, in start order.
    pub(super) fn of(&self, target: &str) -> Vec<&Sample> {
        let mut samples: Vec<_> = self.samples.iter().filter(|sample| sample.target == target).collect();
        samples.sort_by_key(|sample| (sample.start_ns, sample.request));
        samples
    }

    /// The bodies of each request to a target.
    pub(super) fn bodies(&self, target: usize) -> Vec<String> {
        self.seen[target].bodies.borrow().clone()
    }
}

/// A stop rule by count.
pub(super) fn count(requests: u64) -> Stop {
    Stop { requests: Some(requests), duration: None }
}

/// A stop rule by time.
pub(super) fn time(secs: u64) -> Stop {
    Stop { requests: None, duration: Some(Duration::from_secs(secs)) }
}
