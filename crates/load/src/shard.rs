//! A shard: one thread's share of a cell, with its own runtime and connections.

use std::cell::{Cell as Counter, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use inferometer_clock::{Clock, Mono, Pacer, thread_cpu};
use inferometer_record::Phase as PhaseKind;
use inferometer_transport::{Client, Connect, Trace};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::ask::{Asker, Prepared};
use crate::attempt::{self, Attempt, Completing, Seen};
use crate::finished::{Finished, Stamps};
use crate::heart::Heart;
use crate::phase::Phase;
use crate::retry;
use crate::rules::{Rules, ShardRules};
use crate::schedule::Start;
use crate::{Control, Live};

/// A slot waits so long for the end of a body whose answer is complete: it mostly comes with it, or right after.
const INLINE_DRAIN: Duration = Duration::from_millis(1);
/// Planned starts of one shard that may be waiting or in flight.
const MAX_WAITING: usize = 65_536;
/// While the channel to the writer is full, a shard tries again after this.
const FULL_CHANNEL_WAIT: Duration = Duration::from_millis(1);

/// What a shard knows when its phase has ended.
#[derive(Debug, Default)]
pub(crate) struct ShardReport {
    pub(crate) lateness_ns: Vec<u64>,
    pub(crate) planned: Planned,
    pub(crate) dropped: u64,
    pub(crate) channel_full: u64,
    pub(crate) slots: Slots,
    pub(crate) cpu_share: Option<f64>,
}

/// The realised schedule of an open load.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Planned {
    pub(crate) starts: u64,
    pub(crate) first: Option<Duration>,
    pub(crate) last: Option<Duration>,
}

/// One shard. Everything in it belongs to its thread.
pub(crate) struct Shard<C: Connect> {
    pub(crate) index: u32,
    pub(crate) shards: u32,
    pub(crate) clock: Clock,
    pub(crate) client: Client<C>,
    pub(crate) asker: Asker,
    pub(crate) rules: ShardRules,
    pub(crate) out: SyncSender<Finished>,
    pub(crate) control: Control,
    pub(crate) live: Arc<Live>,
}

impl<C: Connect + 'static> Shard<C> {
    /// Runs this shard's share of `phase` to its end.
    pub(crate) async fn run(self: Rc<Self>, phase: Arc<Phase>) -> io::Result<ShardReport> {
        let share = Rc::new(Share::new(self, phase));
        let heart = share.heart.clone();
        let beating = tokio::task::spawn_local({
            let clock = share.shard.clock.clone();
            async move { heart.beat(&clock).await }
        });
        let started = (share.shard.clock.now(), thread_cpu());
        share.clone().start_all().await?;
        beating.abort();
        Ok(share.report(started))
    }
}

/// A phase as the tasks of one shard see it.
struct Share<C: Connect> {
    shard: Rc<Shard<C>>,
    phase: Arc<Phase>,
    heart: Rc<Heart>,
    places: Option<Semaphore>,
    planned: Counter<Planned>,
    started: Counter<u64>,
    channel_full: Counter<u64>,
    slots: Counter<Slots>,
    /// Attempts whose answer is complete and whose end is still awaited, apart from their slots.
    completing: RefCell<JoinSet<()>>,
}

/// When the slots of a closed load were all at work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slots {
    /// Slots that have finished a request.
    pub(crate) finished: u32,
    /// When the last of them had finished its first.
    pub(crate) all_finished: Option<Mono>,
    /// When a slot first found no work.
    pub(crate) first_idle: Option<Mono>,
}

/// A request that a task is about to send.
struct Ask {
    seq: u64,
    sched: Mono,
    prepared: Prepared,
}

/// What an attempt is an attempt at.
struct Of {
    phase: PhaseKind,
    seq: u64,
    request: u64,
    attempt: u32,
    sched: Mono,
    prepared: Prepared,
    trace: Trace,
}

/// What an attempt left to its slot.
enum Left {
    /// The attempt, over.
    Ended(Box<Finished>),
    /// The instant from which the slot is free; the attempt ends on its own.
    Completing(Mono),
}

impl<C: Connect + 'static> Share<C> {
    fn new(shard: Rc<Shard<C>>, phase: Arc<Phase>) -> Self {
        let places = phase.cap(shard.index, shard.shards).map(|cap| Semaphore::new(cap as usize));
        Self {
            shard,
            phase,
            heart: Rc::default(),
            places,
            planned: Counter::default(),
            started: Counter::default(),
            channel_full: Counter::default(),
            slots: Counter::default(),
            completing: RefCell::default(),
        }
    }

    /// Releases every planned start at its instant, then waits for the last request to end.
    async fn start_all(self: Rc<Self>) -> io::Result<()> {
        let mut pacer = Pacer::new(&self.shard.clock)?;
        let mut cut = self.shard.control.watch();
        let mut tasks = JoinSet::new();
        for start in self.phase.starts(self.shard.index, self.shard.shards) {
            let at = self.phase.origin(&self.shard.clock) + start.offset;
            // Made before its instant, so that making it is not lateness.
            let Some(ask) = self.first_ask(start, at) else { break };
            tokio::select! {
                biased;
                _ = cut.wait_for(|cut| *cut) => break,
                waited = pacer.wait_until(at) => waited?,
            }
            self.note_planned(start.offset);
            // Beyond the bound a start is dropped, which makes the cell not valid.
            if tasks.len() < MAX_WAITING {
                tasks.spawn_local(self.clone().run_slot(ask));
            }
            while let Some(ended) = tasks.try_join_next() {
                ended.map_err(io::Error::other)?;
            }
        }
        // A task that panicked has lost its sample: better no figure than one without it.
        while let Some(ended) = tasks.join_next().await {
            ended.map_err(io::Error::other)?;
        }
        let mut completing = self.completing.take();
        while let Some(ended) = completing.join_next().await {
            ended.map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn first_ask(&self, start: Start, at: Mono) -> Option<Ask> {
        if self.phase.repeats() {
            return self.phase.claim(at, &self.shard.clock).map(|seq| self.ask(seq, at));
        }
        self.phase.use_start(start.index);
        Some(self.ask(start.index, at))
    }

    fn ask(&self, seq: u64, sched: Mono) -> Ask {
        Ask {
            seq,
            sched,
            prepared: self.shard.asker.prepare(self.phase.prompt(seq), self.phase.request(seq)),
        }
    }

    /// One request of an open load; of a closed one, request after request until the phase is over.
    async fn run_slot(self: Rc<Self>, first: Ask) {
        let mut next = Some(first);
        let mut is_first = true;
        while let Some(ask) = next {
            let _place = match &self.places {
                Some(places) => tokio::select! {
                    biased;
                    place = places.acquire() => place.ok(),
                    () = self.cut() => return,
                },
                None => None,
            };
            if self.shard.control.is_cut() || self.is_past_cut() {
                return;
            }
            self.started.set(self.started.get() + 1);
            let free = self.request(ask).await;
            self.note_slot(std::mem::take(&mut is_first), free);
            next = self.claim(free);
            if next.is_none() {
                self.note_idle(free);
            }
        }
    }

    fn note_slot(&self, is_first: bool, free: Mono) {
        if is_first {
            let slots = self.slots.get();
            let all_finished = slots.all_finished.max(Some(free));
            self.slots.set(Slots { finished: slots.finished + 1, all_finished, ..slots });
        }
    }

    fn note_idle(&self, free: Mono) {
        let slots = self.slots.get();
        let first_idle = Some(slots.first_idle.map_or(free, |first| first.min(free)));
        self.slots.set(Slots { first_idle, ..slots });
    }

    /// The next request of a slot that is free, unless the phase is over.
    fn claim(&self, free: Mono) -> Option<Ask> {
        if !self.phase.repeats() || self.shard.control.is_cut() {
            return None;
        }
        self.phase.claim(free, &self.shard.clock).map(|seq| self.ask(seq, free))
    }

    fn is_past_cut(&self) -> bool {
        self.phase.cut_at(&self.shard.clock).is_some_and(|at| self.shard.clock.now() >= at)
    }

    async fn cut(&self) {
        let mut cut = self.shard.control.watch();
        let asked = async { cut.wait_for(|cut| *cut).await.is_ok() };
        let planned = async {
            match self.phase.cut_at(&self.shard.clock) {
                Some(at) => self.shard.clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! { _ = asked => {}, () = planned => {} }
    }

    /// One request with its attempts; every attempt leaves as a [`Finished`], the last one as final. Returns when its
    /// slot is free: the end of its answer, not of our own wait for what might follow it.
    async fn request(self: &Rc<Self>, ask: Ask) -> Mono {
        let Ask { seq, mut sched, prepared } = ask;
        let mut prepared = Some(prepared);
        let mut free = sched;
        for attempt in 1.. {
            let Some(this) = prepared.take() else { return free };
            let mut finished = match self.attempt(seq, sched, attempt, this).await {
                Left::Ended(finished) => finished,
                Left::Completing(completed) => return completed,
            };
            free = finished.seen.end;
            if attempt <= self.shard.rules.retries
                && let Some(wait) = retry::wait(&finished, attempt)
            {
                sched = self.shard.clock.now() + wait;
                // Held back until it is known whether another attempt follows.
                tokio::select! {
                    () = self.shard.clock.sleep_until(sched) => prepared = Some(finished.prepared.clone()),
                    () = self.cut() => {}
                }
            }
            finished.is_final = prepared.is_none();
            self.send(*finished).await;
        }
        free
    }

    async fn attempt(self: &Rc<Self>, seq: u64, sched: Mono, attempt: u32, prepared: Prepared) -> Left {
        let shard = &self.shard;
        let rules =
            Rules { clock: &shard.clock, shard: shard.rules, cut_at: self.phase.cut_at(&shard.clock) };
        let trace = Trace::new();
        shard.live.start();
        let request = prepared.request.clone();
        let ran = attempt::run(&rules, &shard.client, request, &trace, shard.control.watch()).await;
        shard.live.end();
        let (phase, request) = (self.phase.kind, self.phase.request(seq));
        let of = Of { phase, seq, request, attempt, sched, prepared, trace };
        match ran {
            Attempt::Ended(seen) => Left::Ended(Box::new(self.finished(of, *seen))),
            Attempt::Complete(completing) => self.complete(of, completing).await,
        }
    }

    /// Gives a complete answer a moment to end its body, which keeps the connection for the next request of the slot;
    /// one that takes longer ends on its own.
    async fn complete(self: &Rc<Self>, of: Of, completing: Box<Completing>) -> Left {
        let completed = completing.completed();
        let mut ending = Box::pin(completing.finish());
        tokio::select! {
            biased;
            seen = &mut ending => return Left::Ended(Box::new(self.finished(of, seen))),
            () = self.shard.clock.sleep(INLINE_DRAIN) => {}
        }
        let share = Rc::clone(self);
        let mut completing = self.completing.borrow_mut();
        while let Some(ended) = completing.try_join_next() {
            if ended.is_err() {
                // It panicked and its sample is lost: a run with a hole in it is of no use.
                self.shard.control.cut();
            }
        }
        completing.spawn_local(async move {
            let seen = ending.await;
            share.send(share.finished(of, seen)).await;
        });
        Left::Completing(completed)
    }

    fn finished(&self, of: Of, seen: Seen) -> Finished {
        Finished {
            phase: of.phase,
            seq: of.seq,
            request: of.request,
            attempt: of.attempt,
            is_final: true,
            sched: of.sched,
            prepared: of.prepared,
            stamps: Stamps::from(&of.trace),
            hiccups: self.heart.hiccups_since(seen.start),
            seen,
        }
    }

    /// Hands an attempt to the worker. A full channel is counted: the cell is then not valid.
    async fn send(&self, finished: Finished) {
        let mut unsent = match self.shard.out.try_send(finished) {
            Ok(()) => return,
            Err(error) => error,
        };
        self.channel_full.set(self.channel_full.get() + 1);
        while let TrySendError::Full(finished) = unsent {
            self.shard.clock.sleep(FULL_CHANNEL_WAIT).await;
            unsent = match self.shard.out.try_send(finished) {
                Ok(()) => return,
                Err(error) => error,
            };
        }
        // Nobody writes any more: there is no use in sending further requests.
        self.shard.control.cut();
    }

    fn note_planned(&self, offset: Duration) {
        let planned = self.planned.get();
        self.planned.set(Planned {
            starts: planned.starts + 1,
            first: planned.first.or(Some(offset)),
            last: Some(offset),
        });
    }

    fn report(&self, (started, cpu): (Mono, Option<Duration>)) -> ShardReport {
        let wall = (self.shard.clock.now() - started).as_secs_f64();
        let used = thread_cpu().zip(cpu).map(|(after, before)| after.saturating_sub(before).as_secs_f64());
        let planned = self.planned.get();
        let dropped = if self.phase.repeats() { 0 } else { planned.starts - self.started.get() };
        ShardReport {
            lateness_ns: self.heart.take_lateness(),
            planned,
            dropped,
            channel_full: self.channel_full.get(),
            slots: self.slots.get(),
            cpu_share: used.filter(|_| wall > 0.0).map(|used| used / wall),
        }
    }
}
