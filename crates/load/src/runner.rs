//! Runs lanes on shards and passes every sample on.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, mpsc::SyncSender};
use std::thread;

use inferometer_clock::{Clock, Mono};
use inferometer_metrics::CellContext;
use inferometer_plan::{Blocks, Cell, Connection, Plan, Target};
use inferometer_record::{Events, Sample, Text};
use inferometer_tokens::Tokenizer;
use inferometer_transport::{self as transport, Connections, Environment, HttpVersion};
use inferometer_workload::Prompts;
use tokio::sync::mpsc;

use crate::appraise::Appraiser;
use crate::ask::Asker;
use crate::axis::Axis;
use crate::band::{Band, Order};
use crate::conductor::{self, Conductor, Program, Rules};
use crate::context::{self, Stopped};
use crate::course::Course;
use crate::finished::Message;
use crate::gate::Gate;
use crate::keeper::Keeper;
use crate::lane::{Lane, Run, limited, places, slots};
use crate::past::Past;
use crate::phase::Numbers;
use crate::precision::Goal;
use crate::purse::Purse;
use crate::rules::ShardRules;
use crate::seat::{self, Seat};
use crate::worker::{Book, Worker};
use crate::{Control, Error, Live};

/// Ended attempts between the shards and the worker. At a thousand requests a second, four seconds of the worker
/// standing still.
const CHANNEL: usize = 4_096;

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

/// Runs cells: one after the other, or those of one workload and load side by side.
#[derive(Debug)]
pub struct Runner<'a> {
    plan: &'a Plan,
    run_id: &'a str,
    axis: Axis,
    environment: Environment,
    control: Control,
    live: Arc<Live>,
    next_request: u64,
    purse: Arc<Purse>,
    /// By target: what one cell of it was told holds for the next.
    gates: BTreeMap<String, Arc<Gate>>,
    /// By target: its key, where it can be had anew.
    keepers: BTreeMap<String, Arc<Keeper>>,
    past: Past,
    /// Built before the first request: its automaton takes a few milliseconds of a core.
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
            axis: Axis { origin, offset_ns: 0 },
            environment,
            control,
            live: Arc::default(),
            next_request: 0,
            purse: Arc::new(Purse::new(plan.budget, origin)),
            gates: plan.targets.iter().map(|target| (target.name.clone(), Arc::default())).collect(),
            keepers: plan.targets.iter().filter_map(|target| keeper(plan, target)).collect(),
            past: Past::default(),
            tokenizer: Tokenizer::o200k(),
        }
    }

    /// Goes on with a run of which `past` tells what is done; to be called before the first request.
    pub fn resume(&mut self, past: Past) {
        self.next_request = past.next_request();
        self.axis.offset_ns = past.offset_ns();
        let (used, time) = (past.used(), past.time());
        self.purse = Arc::new(Purse::after(self.plan.budget, self.axis.origin, used, time));
        self.past = past;
    }

    /// Whether the run that goes on has nothing left to send of `cell`.
    pub fn is_done(&self, cell: Cell<'_>) -> bool {
        let done = self.past.done(cell);
        let whole = (done.positions.len() as u64).saturating_sub(done.broken);
        cell.load.stop.requests.is_some_and(|requests| whole >= requests)
    }

    /// Live counts of whatever runs.
    pub fn live(&self) -> Arc<Live> {
        self.live.clone()
    }

    /// Why no further request starts: the budget that is used up, in words.
    pub fn spent(&self) -> Option<String> {
        self.purse.spent(Clock::monotonic().now())
    }

    /// Whether every target can be asked with what this machine has (addresses, CA files, proxies), before anything
    /// is written or sent.
    pub fn check(&self) -> Result<(), Error> {
        self.plan.targets.iter().try_for_each(|target| self.reach(target).map(drop))
    }

    /// One request, alone, which finds out whether the target can be asked at all.
    pub fn preflight(&mut self, cell: Cell<'_>, prompts: &Prompts, sink: &mut dyn Sink) -> Result<(), Error> {
        self.perform(&[Lane::new(cell, prompts)], Program::Preflight, sink).map(drop)
    }

    /// Warms up and measures one cell; what the runner knows of it beyond its samples.
    pub fn measure(
        &mut self,
        cell: Cell<'_>,
        prompts: &Prompts,
        sink: &mut dyn Sink,
    ) -> Result<CellContext, Error> {
        let lanes = [Lane::new(cell, prompts)];
        let mut contexts = self.perform(&lanes, Program::Measure { blocks: None }, sink)?;
        Ok(contexts.pop().unwrap_or_else(|| self.planned(cell)))
    }

    /// Warms up and measures the cells of one workload and load, interleaved in blocks; what the runner knows of each
    /// beyond its samples, in the order of `lanes`.
    ///
    /// Every lane keeps its connections over all blocks. *In turns*, one lane after the other in random order: a block is
    /// one prompt sent once to each (a closed load of one slot), one episode (bursts), or one slice of each lane's load.
    /// *Together*, and for cold starts, all lanes run at once over the same prompts; a block is then one prompt for each
    /// slot, or one slice of an open load's schedule, which waits for nobody.
    ///
    /// Nobody waits longer than patience lasts; what lags too far is given up and counted in `missing`. A block that is
    /// split by a kill has two nonces: what is sent again must not find its prompt in a cache.
    pub fn measure_blocks(
        &mut self,
        lanes: &[Lane<'_>],
        blocks: &Blocks,
        sink: &mut dyn Sink,
    ) -> Result<Vec<CellContext>, Error> {
        self.perform(lanes, Program::Measure { blocks: Some(*blocks) }, sink)
    }

    /// Runs `program` on `lanes`: their shards, one conductor, and the worker on this thread.
    fn perform(
        &mut self,
        lanes: &[Lane<'_>],
        program: Program,
        sink: &mut dyn Sink,
    ) -> Result<Vec<CellContext>, Error> {
        let runs = self.runs(lanes, program);
        let needed = runs.iter().map(|run| places(&run.course.arrival)).max().unwrap_or(1);
        let shards = shard_count().min(needed);
        let (out, inbox) = sync_channel(CHANNEL);
        // Made once: a target has read its certificates, and shards share them.
        let seats: Vec<Vec<Seat>> = {
            let first = lanes.iter().enumerate();
            let first = first.map(|(place, lane)| self.seat((0, shards), place, lane, &out));
            let first = first.collect::<Result<Vec<_>, Error>>()?;
            (0..shards)
                .map(|index| first.iter().map(|seat| Seat { index, ..seat.clone() }).collect())
                .collect()
        };
        let mut worker = self.worker(lanes);
        let (runs, last_ends) = thread::scope(|scope| {
            let (mut threads, mut band) = (Vec::new(), Vec::new());
            for (index, seats) in seats.into_iter().enumerate() {
                let (orders, ordered) = mpsc::channel::<Order>(lanes.len().max(1));
                let thread = thread::Builder::new().name(format!("shard-{index}"));
                threads.push(thread.spawn_scoped(scope, move || seat::run(seats, ordered))?);
                band.push(orders);
            }
            let conductor = self.conductor(Clock::monotonic(), Band::new(band), out, runs);
            let conducting =
                conductor::thread().spawn_scoped(scope, move || conductor::run(conductor, program))?;
            let worked = worker.run(&inbox, sink, &self.control);
            let conducted = conducting.join().map_err(|_| io::Error::other("the conductor panicked"))?;
            for thread in threads {
                // What a shard fails with says more than that it was not there.
                thread.join().map_err(|_| io::Error::other("a shard panicked"))??;
            }
            worked?;
            Ok::<_, Error>((conducted?, worker.last_ends()))
        })?;
        drop(worker);
        Ok(self.contexts(lanes, runs, last_ends))
    }

    /// What is known of the lanes that have run; further requests are numbered behind theirs.
    pub(crate) fn contexts(
        &mut self,
        lanes: &[Lane<'_>],
        runs: Vec<Run>,
        last_ends: Vec<Option<u64>>,
    ) -> Vec<CellContext> {
        let stopped = self.stopped();
        let ends = runs.iter().map(|run| run.numbers.end(run.course.seqs()));
        self.next_request = ends.fold(self.next_request, u64::max);
        let cells = lanes.iter().zip(runs).zip(last_ends);
        let context = |((lane, run), last_end): ((&Lane<'_>, Run), Option<u64>)| {
            let ended = context::measured(self.plan, lane.cell, run, self.axis, last_end, stopped.clone());
            match self.past.context(lane.cell) {
                Some(before) => ended.ended_after(before),
                None => ended,
            }
        };
        cells.map(context).collect()
    }

    /// The lanes at their beginning, their requests numbered behind all that were sent before.
    pub(crate) fn runs(&mut self, lanes: &[Lane<'_>], program: Program) -> Vec<Run> {
        let stride = lanes.len() as u64;
        let warmed = |lane: &Lane<'_>| match program {
            Program::Preflight => 0,
            Program::Measure { .. } => self.plan.warmed(lane.cell.load, lane.prompts),
        };
        let most = lanes.iter().map(warmed).max().unwrap_or(0);
        let before = match program {
            Program::Preflight => 1,
            Program::Measure { .. } => self.plan.protocol.warmup.saturating_add(most),
        };
        let first = self.next_request;
        let next = first.saturating_add(before.saturating_mul(stride));
        let run = |(place, lane): (usize, &Lane<'_>)| {
            let numbers = |first| Numbers { first, stride, lane: place as u64 };
            let Cell { target, load, .. } = lane.cell;
            let arrival = limited(&load.arrival, target.concurrency_limit);
            let done = self.past.done(lane.cell);
            let (stop, seed) = (done.stop(load.stop), self.plan.protocol.seed);
            let takes_turns = matches!(program, Program::Measure { blocks: Some(blocks) }
                if conductor::takes_turns(&arrival, &blocks));
            let slices = if takes_turns { done.slices_in_turns } else { done.slices };
            let held_share = self.past.context(lane.cell).and_then(|before| before.held_share);
            let course = Course::new(arrival, stop, seed, done.positions);
            Run::new(course, slots(&load.arrival), numbers(first), numbers(next))
                .warming(warmed(lane))
                .behind(self.gate(lane.cell))
                .after(&slices, held_share)
        };
        let runs = lanes.iter().enumerate().map(run).collect();
        self.next_request = next;
        runs
    }

    pub(crate) fn seat(
        &self,
        (index, shards): (u32, u32),
        place: usize,
        lane: &Lane<'_>,
        out: &SyncSender<Message>,
    ) -> Result<Seat, Error> {
        Ok(Seat {
            lane: place,
            index,
            shards,
            asker: Asker::new(lane.cell, lane.prompts, self.tokenizer)?
                .keeping(self.keepers.get(&lane.cell.target.name).cloned()),
            target: self.reach(lane.cell.target)?,
            rules: ShardRules::of(self.plan, lane.cell.target),
            out: out.clone(),
            control: self.control.clone(),
            live: [Arc::clone(&lane.live), Arc::clone(&self.live)],
            purse: Arc::clone(&self.purse),
            gate: self.gate(lane.cell),
        })
    }

    /// What keeps the cell's requests under the limits that its target tells, where its load wants that.
    fn gate(&self, cell: Cell<'_>) -> Option<Arc<Gate>> {
        self.gates.get(&cell.target.name).filter(|_| cell.load.respect_rate_limits).cloned()
    }

    pub(crate) fn worker<'b>(&'b self, lanes: &[Lane<'b>]) -> Worker<'b> {
        let book = |lane: &Lane<'b>| {
            let appraiser = Appraiser {
                cell: lane.cell,
                secrets: &self.plan.secrets,
                run_id: self.run_id,
                segment: self.past.segments(),
                axis: self.axis,
                tokenizer: self.tokenizer,
            };
            Book::new(appraiser, [Arc::clone(&lane.live), Arc::clone(&self.live)])
                .after(self.past.done(lane.cell).values)
        };
        Worker {
            books: lanes.iter().map(book).collect(),
            secrets: &self.plan.secrets,
            keep_text: self.plan.protocol.keep_text,
            purse: &self.purse,
            goal: self.goal(),
        }
    }

    pub(crate) fn conductor(
        &self,
        clock: Clock,
        band: Band,
        worker: SyncSender<Message>,
        runs: Vec<Run>,
    ) -> Conductor {
        let protocol = &self.plan.protocol;
        let rules = Rules {
            axis: self.axis,
            warmup: protocol.warmup,
            seed: protocol.seed,
            grace: protocol.grace,
            has_goal: self.goal().is_some(),
        };
        let (control, purse) = (self.control.clone(), Arc::clone(&self.purse));
        Conductor::new(clock, control, purse, band, worker, rules, runs)
    }

    fn goal(&self) -> Option<Goal> {
        self.plan.protocol.precision.as_ref().and_then(Goal::new)
    }

    fn stopped(&self) -> Option<Stopped> {
        self.spent().map(Stopped::Spent).or_else(|| self.control.is_cut().then_some(Stopped::Cut))
    }

    #[cfg(test)]
    pub(crate) fn purse(&self) -> &Purse {
        &self.purse
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

    /// What is known of a cell before it is run: enough to make sense of what a killed run leaves.
    pub fn planned(&self, cell: Cell<'_>) -> CellContext {
        let planned = context::planned(self.plan, cell);
        match self.past.context(cell) {
            Some(before) => planned.begun_after(before),
            None => planned,
        }
    }

    /// What is known of a cell that this process does not ask, because of `gap`.
    pub fn left_out(&self, cell: Cell<'_>, gap: String) -> CellContext {
        let known = self.past.context(cell).cloned().unwrap_or_else(|| self.planned(cell));
        CellContext { gap: Some(gap), ..known }
    }
}

/// What keeps the key of `target`, by its name.
fn keeper(plan: &Plan, target: &Target) -> Option<(String, Arc<Keeper>)> {
    let keeper = Keeper::new(target.renewal.as_ref()?, &plan.secrets);
    Some((target.name.clone(), Arc::new(keeper)))
}

/// One core is left for the kernel, the worker and the progress line.
fn shard_count() -> u32 {
    thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1) as u32)
}
