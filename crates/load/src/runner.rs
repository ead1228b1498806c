//! Runs the phases of a cell on its shards and passes every sample on.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use inferometer_clock::Mono;
use inferometer_metrics::{self as metrics, CellContext, Window};
use inferometer_plan::{Arrival, Cell, Connection, Plan, Stop, Target};
use inferometer_record::{Events, Phase as PhaseKind, Sample, Text};
use inferometer_tokens::Tokenizer;
use inferometer_transport::{self as transport, Connections, Environment, HttpVersion};
use inferometer_workload::{Cache, Prompts};

use crate::appraise::Appraiser;
use crate::ask::Asker;
use crate::finished::Finished;
use crate::health::health;
use crate::phase::Phase;
use crate::rules::ShardRules;
use crate::seat::Seat;
use crate::shard::ShardReport;
use crate::text::text;
use crate::{Control, Error, Live};

/// Ended attempts between the shards and the worker. At a thousand requests a second, four seconds of the worker
/// standing still.
const CHANNEL: usize = 4_096;
/// The sink is called at least so often, so that what it buffers reaches the disk.
const TICK: Duration = Duration::from_millis(200);
/// Warm-ups are sent by at most so many slots.
const MAX_WARMUP_SLOTS: u32 = 4;

/// Whatever a sink fails with.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Takes the samples of a cell, one by one, on the thread that runs it.
pub trait Sink {
    /// Takes one ended attempt.
    fn accept(&mut self, sample: Sample, events: Option<Events>) -> Result<(), SinkError>;

    /// Takes what an attempt asked and was told, before the attempt itself; only where the plan keeps texts.
    fn accept_text(&mut self, _text: Text) -> Result<(), SinkError> {
        Ok(())
    }

    /// Called several times a second, also while nothing ends.
    fn tick(&mut self) -> Result<(), SinkError>;
}

/// Runs cells, one after the other.
#[derive(Debug)]
pub struct Runner<'a> {
    plan: &'a Plan,
    run_id: &'a str,
    origin: Mono,
    environment: Environment,
    control: Control,
    live: Arc<Live>,
    next_request: u64,
    /// Built before the first request: its tables take a tenth of a second of a core.
    tokenizer: Tokenizer,
}

impl<'a> Runner<'a> {
    /// A runner for the cells of `plan`. Samples' times count from `origin`.
    pub fn new(
        plan: &'a Plan,
        run_id: &'a str,
        origin: Mono,
        environment: Environment,
        control: Control,
    ) -> Self {
        Self {
            plan,
            run_id,
            origin,
            environment,
            control,
            live: Arc::default(),
            next_request: 0,
            tokenizer: Tokenizer::o200k(),
        }
    }

    /// Live counts of the cell that runs.
    pub fn live(&self) -> Arc<Live> {
        self.live.clone()
    }

    /// Whether every target can be asked with what this machine has (addresses, CA files, proxies), before anything
    /// is written or sent.
    pub fn check(&self) -> Result<(), Error> {
        self.plan.targets.iter().try_for_each(|target| self.reach(target).map(drop))
    }

    /// One request, alone, which finds out whether the target can be asked at all.
    pub fn preflight(&mut self, cell: Cell<'_>, prompts: &Prompts, sink: &mut dyn Sink) -> Result<(), Error> {
        let alone = Arrival::Closed { slots: 1, ramp: Duration::ZERO };
        let once = Stop { requests: Some(1), duration: None };
        let phase = self.phase(PhaseKind::Preflight, alone, once);
        self.run_phases(cell, prompts, vec![phase], sink).map(drop)
    }

    /// Warms up and measures one cell; what the runner knows of it beyond its samples.
    pub fn measure(
        &mut self,
        cell: Cell<'_>,
        prompts: &Prompts,
        sink: &mut dyn Sink,
    ) -> Result<CellContext, Error> {
        let warmup = self.plan.protocol.warmup;
        let mut phases = Vec::new();
        if warmup > 0 {
            let slots = MAX_WARMUP_SLOTS.min(warmup as u32).min(places(&cell.load.arrival));
            let arrival = Arrival::Closed { slots, ramp: Duration::ZERO };
            phases.push(self.phase(
                PhaseKind::Warmup,
                arrival,
                Stop { requests: Some(warmup), duration: None },
            ));
        }
        phases.push(self.phase(PhaseKind::Measure, cell.load.arrival.clone(), cell.load.stop));
        let ran = self.run_phases(cell, prompts, phases, sink)?;
        Ok(self.context(cell, ran))
    }

    fn phase(&self, kind: PhaseKind, arrival: Arrival, stop: Stop) -> Phase {
        Phase::new(kind, arrival, stop, self.plan.protocol.seed, self.plan.protocol.grace)
    }

    /// Runs `phases` one after the other on the same shards, so that a phase finds the connections of the one before.
    fn run_phases(
        &mut self,
        cell: Cell<'_>,
        prompts: &Prompts,
        phases: Vec<Phase>,
        sink: &mut dyn Sink,
    ) -> Result<Ran, Error> {
        let shards = shard_count().min(phases.iter().map(|phase| places(&phase.arrival)).max().unwrap_or(1));
        let target = self.reach(cell.target)?;
        let asker = Asker::new(cell, prompts)?;
        let phases: Vec<Arc<Phase>> = self.number(phases);
        let (out, inbox) = sync_channel(CHANNEL);
        thread::scope(|scope| {
            let (mut threads, mut gates) = (Vec::new(), Vec::new());
            for index in 0..shards {
                let seat = self.seat(index, shards, cell, &asker, &target, &out);
                let (gate, opened) = sync_channel(1);
                let phases = phases.as_slice();
                let thread = thread::Builder::new().name(format!("shard-{index}"));
                threads.push(thread.spawn_scoped(scope, move || seat.run(phases, &opened))?);
                gates.push(gate);
            }
            // Only now, when every shard has its thread: where one could not be had, the others find their gates gone.
            let step = Arc::new(Barrier::new(gates.len()));
            for gate in gates {
                gate.send(Arc::clone(&step)).map_err(|_| io::Error::other("a shard panicked"))?;
            }
            drop(out);
            let last_end = self.work(cell, &inbox, sink);
            let mut reports = Vec::new();
            for thread in threads {
                reports.push(thread.join().map_err(|_| io::Error::other("a shard panicked"))??);
            }
            let last = phases.last().cloned();
            self.next_request = last.as_ref().map_or(self.next_request, |phase| phase.request(phase.used()));
            Ok(Ran { phase: last, reports, last_end: last_end? })
        })
    }

    /// Numbers the requests of each phase after those of the one before, where that is known beforehand: every phase
    /// but the last stops by count.
    fn number(&self, phases: Vec<Phase>) -> Vec<Arc<Phase>> {
        let mut next = self.next_request;
        let mut numbered = Vec::new();
        for phase in phases {
            let requests = phase.stop.requests.unwrap_or(0);
            numbered.push(Arc::new(phase.numbered_from(next)));
            next += requests;
        }
        numbered
    }

    fn seat(
        &self,
        index: u32,
        shards: u32,
        cell: Cell<'_>,
        asker: &Asker,
        target: &transport::Target,
        out: &SyncSender<Finished>,
    ) -> Seat {
        Seat {
            index,
            shards,
            asker: asker.clone(),
            target: target.clone(),
            rules: ShardRules {
                dialect: cell.target.dialect,
                streaming: cell.target.stream,
                timeouts: self.plan.protocol.timeouts,
                retries: self.plan.protocol.retries,
            },
            out: out.clone(),
            control: self.control.clone(),
            live: self.live.clone(),
        }
    }

    /// Appraises every ended attempt and passes it on, until the shards have ended. The end of the last measured one.
    fn work(
        &self,
        cell: Cell<'_>,
        inbox: &Receiver<Finished>,
        sink: &mut dyn Sink,
    ) -> Result<Option<u64>, Error> {
        let appraiser = Appraiser {
            cell,
            secrets: &self.plan.secrets,
            run_id: self.run_id,
            segment: 0,
            origin: self.origin,
            tokenizer: self.tokenizer,
        };
        let mut last_end = None;
        loop {
            let passed_on = match inbox.recv_timeout(TICK) {
                Ok(finished) => {
                    let text = self.plan.protocol.keep_text.then(|| text(&finished, &self.plan.secrets));
                    let (sample, events) = appraiser.appraise(finished);
                    last_end = last_end.max(sample.end_ns.filter(|_| sample.phase == PhaseKind::Measure));
                    if sample.status.is_failure() {
                        self.live.fail();
                    }
                    text.map_or(Ok(()), |text| sink.accept_text(text))
                        .and_then(|()| sink.accept(sample, events))
                }
                Err(RecvTimeoutError::Timeout) => sink.tick(),
                Err(RecvTimeoutError::Disconnected) => return Ok(last_end),
            };
            if let Err(error) = passed_on {
                self.control.cut();
                // The shards end by themselves; what they still send has nowhere to go.
                while inbox.recv().is_ok() {}
                return Err(Error::Sink(error));
            }
        }
    }

    /// How `target` is reached.
    fn reach(&self, target: &Target) -> Result<transport::Target, Error> {
        let options = transport::Options {
            version: if target.http2 { HttpVersion::Http2 } else { HttpVersion::Http1 },
            connections: match target.connection {
                Connection::Reuse => Connections::Reuse,
                Connection::Fresh => Connections::Fresh,
            },
            cacert: target.cacert.clone(),
            insecure: target.insecure,
            environment: self.environment.clone(),
            ..transport::Options::default()
        };
        Ok(transport::Target::new(&target.url, &options)?)
    }

    fn context(&self, cell: Cell<'_>, ran: Ran) -> CellContext {
        let stop = cell.load.stop;
        let used = ran.phase.as_ref().map_or(0, |phase| phase.used());
        let limited_by_count = stop.requests.is_some_and(|requests| used >= requests);
        let origin =
            ran.phase.and_then(|phase| phase.started()).map(|at| (at - self.origin).as_nanos() as u64);
        let planned_end = origin
            .zip(stop.duration)
            .map(|(origin, duration)| origin + duration.as_nanos() as u64)
            .filter(|_| !limited_by_count && !self.control.is_cut());
        let window = origin
            .zip(planned_end.or(ran.last_end))
            .map(|(from_ns, to_ns)| Window { from_ns, to_ns: to_ns.max(from_ns) });
        let since_origin = |at: Mono| (at - self.origin).as_nanos() as u64;
        let (all_finished, first_idle) = at_work(&cell.load.arrival, &ran.reports);
        CellContext {
            window,
            limited_by_count,
            all_slots_finished_ns: all_finished.map(since_origin),
            first_idle_ns: first_idle.map(since_origin),
            health: health(ran.reports),
            ..self.planned(cell)
        }
    }

    /// What is known of a cell before it is run: enough to make sense of what a killed run leaves.
    pub fn planned(&self, cell: Cell<'_>) -> CellContext {
        CellContext {
            target: cell.target.name.clone(),
            workload: cell.workload.name.clone(),
            load: cell.load.name.clone(),
            arrival: match cell.load.arrival {
                Arrival::Closed { slots, .. } => metrics::Arrival::Closed { slots },
                Arrival::Open { rate, .. } => metrics::Arrival::Open { asked_rate: Some(rate) },
                Arrival::ColdStart { gap } => metrics::Arrival::ColdStart { gap_s: gap.as_secs_f64() },
                Arrival::Burst { size, .. } => metrics::Arrival::Burst { size },
            },
            objectives: self.plan.objectives.clone().unwrap_or_default(),
            gates: self.plan.gates.clone(),
            // Who asks for a length knows that answers will be cut at it.
            degraded_is_useful: cell
                .workload
                .degraded_is_useful
                .unwrap_or(cell.workload.max_tokens.is_some()),
            cache_busted: self.plan.protocol.cache == Cache::Bust,
            ..CellContext::default()
        }
    }
}

/// From when on every slot of a closed load had finished a request, and when one first found no work.
fn at_work(arrival: &Arrival, reports: &[ShardReport]) -> (Option<Mono>, Option<Mono>) {
    let Arrival::Closed { slots, .. } = *arrival else { return (None, None) };
    let finished: u32 = reports.iter().map(|report| report.slots.finished).sum();
    let all_finished = reports.iter().filter_map(|report| report.slots.all_finished).max();
    let first_idle = reports.iter().filter_map(|report| report.slots.first_idle).min();
    (all_finished.filter(|_| finished == slots), first_idle)
}

/// What the last phase of a cell left behind.
struct Ran {
    phase: Option<Arc<Phase>>,
    reports: Vec<ShardReport>,
    last_end: Option<u64>,
}

/// One core is left for the kernel, the worker and the progress line.
fn shard_count() -> u32 {
    thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1) as u32)
}

/// The most requests that `arrival` may have in flight, as far as it is bounded.
fn places(arrival: &Arrival) -> u32 {
    match *arrival {
        Arrival::Closed { slots, .. } => slots.max(1),
        Arrival::Open { cap, .. } => cap.unwrap_or(u32::MAX).max(1),
        Arrival::ColdStart { .. } => 1,
        Arrival::Burst { size, .. } => size.max(1),
    }
}
