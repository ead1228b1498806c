//! A shard: one thread's share of a cell, with its own runtime and connections.

use std::cell::Cell as Counter;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use inferometer_clock::{Clock, Mono, Pacer, thread_cpu};
use inferometer_transport::{Client, Connect, Trace};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::ask::{Asker, Prepared};
use crate::attempt;
use crate::finished::{Finished, Stamps};
use crate::heart::Heart;
use crate::phase::Phase;
use crate::retry;
use crate::rules::{Rules, ShardRules};
use crate::schedule::Start;
use crate::{Control, Live};

/// While the channel to the writer is full, a shard tries again after this.
const FULL_CHANNEL_WAIT: Duration = Duration::from_millis(1);

/// What a shard knows when its phase has ended.
#[derive(Debug, Default)]
pub(crate) struct ShardReport {
    pub(crate) lateness_ns: Vec<u64>,
    pub(crate) planned: Planned,
    pub(crate) dropped: u64,
    pub(crate) channel_full: u64,
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
}

/// A request that a task is about to send.
struct Ask {
    seq: u64,
    sched: Mono,
    prepared: Prepared,
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
            tasks.spawn_local(self.clone().run_slot(ask));
            while let Some(ended) = tasks.try_join_next() {
                ended.map_err(io::Error::other)?;
            }
        }
        // A task that panicked has lost its sample: better no figure than one without it.
        while let Some(ended) = tasks.join_next().await {
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
            self.request(ask).await;
            let free = self.shard.clock.now();
            next = self.claim(free);
        }
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

    /// One request with its attempts; every attempt leaves as a [`Finished`], the last one as final.
    async fn request(&self, ask: Ask) {
        let Ask { seq, mut sched, prepared } = ask;
        let mut prepared = Some(prepared);
        for attempt in 1.. {
            let Some(this) = prepared.take() else { return };
            let mut finished = self.attempt(seq, sched, attempt, this).await;
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
            self.send(finished).await;
        }
    }

    async fn attempt(&self, seq: u64, sched: Mono, attempt: u32, prepared: Prepared) -> Finished {
        let shard = &self.shard;
        let rules =
            Rules { clock: &shard.clock, shard: shard.rules, cut_at: self.phase.cut_at(&shard.clock) };
        let trace = Trace::new();
        shard.live.start();
        let seen =
            attempt::run(&rules, &shard.client, prepared.request.clone(), &trace, shard.control.watch())
                .await;
        shard.live.end();
        Finished {
            phase: self.phase.kind,
            seq,
            request: self.phase.request(seq),
            attempt,
            is_final: true,
            sched,
            prepared,
            stamps: Stamps::from(&trace),
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
            cpu_share: used.filter(|_| wall > 0.0).map(|used| used / wall),
        }
    }
}
