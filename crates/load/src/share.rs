//! A phase as the tasks of one shard see it: planned starts, slots, and what they note.

use std::cell::{Cell as Counter, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use inferometer_clock::{Deadline, Mono, Pacer, thread_cpu};
use inferometer_transport::Connect;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::heart::Heart;
use crate::phase::Phase;
use crate::request::Ask;
use crate::schedule::Start;
use crate::shard::{Planned, Shard, ShardReport, Slots};

/// Planned starts of one shard that may be waiting or in flight.
const MAX_WAITING: usize = 65_536;

/// A phase as the tasks of one shard see it.
pub(crate) struct Share<C: Connect> {
    pub(crate) shard: Rc<Shard<C>>,
    pub(crate) phase: Arc<Phase>,
    pub(crate) heart: Rc<Heart>,
    places: Option<Semaphore>,
    planned: Counter<Planned>,
    started: Counter<u64>,
    pub(crate) channel_full: Counter<u64>,
    slots: Counter<Slots>,
    held: Counter<Duration>,
    /// Attempts whose answer is complete and whose end is still awaited, apart from their slots.
    pub(crate) completing: RefCell<JoinSet<()>>,
}

impl<C: Connect + 'static> Share<C> {
    pub(crate) fn new(shard: Rc<Shard<C>>, phase: Arc<Phase>) -> Self {
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
            held: Counter::default(),
            completing: RefCell::default(),
        }
    }

    /// Releases every planned start at its instant, then waits for the last request to end.
    pub(crate) async fn start_all(self: Rc<Self>) -> io::Result<()> {
        let mut pacer = Pacer::new(&self.shard.clock)?;
        let mut tasks = JoinSet::new();
        for start in self.phase.starts(self.shard.index, self.shard.shards) {
            let at = self.phase.origin(&self.shard.clock) + start.offset;
            // Made before its instant, so that making it is not lateness.
            let Some(ask) = self.first_ask(start, at).await else { break };
            tokio::select! {
                biased;
                () = self.shard.control.cut_ordered() => break,
                waited = pacer.wait_until(at) => waited?,
            }
            if self.shard.purse.is_spent() {
                break;
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
        all_ended(tasks).await?;
        self.all_completed().await
    }

    /// Waits for attempts that end apart from their slots.
    pub(crate) async fn all_completed(&self) -> io::Result<()> {
        let completing = self.completing.take();
        all_ended(completing).await.map(drop)
    }

    async fn first_ask(&self, start: Start, at: Mono) -> Option<Ask> {
        if self.phase.repeats() {
            return self.next(at).await;
        }
        self.phase.use_start(start.index);
        Some(self.ask(start.index, at))
    }

    /// The request at `seq`, planned for `sched`.
    pub(crate) fn ask(&self, seq: u64, sched: Mono) -> Ask {
        let (phase, numbers) = (&self.phase, self.phase.piece.numbers);
        Ask {
            seq,
            request: numbers.request(seq),
            block: phase.block(seq, sched),
            role: None,
            connections: None,
            sched,
            paced: Duration::ZERO,
            has_new_key: false,
            prepared: self.shard.asker.prepare(phase.prompt(seq), numbers.nonce(seq)),
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
            if self.is_cut() {
                return;
            }
            self.started.set(self.started.get() + 1);
            let Some(served) = self.request(ask).await else { return };
            self.note_slot(std::mem::take(&mut is_first), served.free);
            next = self.claim(served.free).await;
            if next.is_none() {
                self.note_idle(served.free);
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
    async fn claim(&self, free: Mono) -> Option<Ask> {
        let goes_on = self.phase.repeats() && !self.shard.control.is_cut() && !self.shard.purse.is_spent();
        if goes_on { self.next(free).await } else { None }
    }

    /// The next request of a slot, once the other lanes let it start.
    async fn next(&self, free: Mono) -> Option<Ask> {
        let clock = &self.shard.clock;
        let Some(place) = &self.phase.piece.place else {
            return self.phase.claim(free, clock).map(|seq| self.ask(seq, free));
        };
        let seq = place.claim(&self.phase, free, clock)?;
        let admitted = tokio::select! {
            biased;
            at = place.admitted(seq, clock) => Some(free.max(at)),
            () = self.cut() => None,
        };
        self.held.set(self.held.get() + (admitted.unwrap_or_else(|| clock.now()) - free));
        admitted.map(|at| self.ask(seq, at))
    }

    /// Whether requests in flight are cut.
    pub(crate) fn is_cut(&self) -> bool {
        self.shard.control.is_cut() || self.cut_at().is_some_and(|at| self.shard.clock.now() >= at)
    }

    /// The planned instant at which they are.
    pub(crate) fn cut_at(&self) -> Option<Mono> {
        let phase = self.phase.cut_at(&self.shard.clock);
        [phase, self.shard.purse.until()].into_iter().flatten().min()
    }

    /// Waits until they are.
    pub(crate) async fn cut(&self) {
        let planned = Deadline::passed(&self.shard.clock, self.cut_at());
        tokio::select! { () = self.shard.control.cut_ordered() => {}, () = planned => {} }
    }

    fn note_planned(&self, offset: Duration) {
        // On the schedule's own time, on which the slices of an interleaved plan join.
        let at = self.phase.piece.span.begin + offset;
        let planned = self.planned.get();
        self.planned.set(Planned {
            starts: planned.starts + 1,
            first: planned.first.or(Some(at)),
            last: Some(at),
        });
    }

    pub(crate) fn report(&self, (started, cpu): (Mono, Option<Duration>)) -> ShardReport {
        let wall = self.shard.clock.now() - started;
        let used = thread_cpu().zip(cpu).map(|(after, before)| after.saturating_sub(before));
        let planned = self.planned.get();
        let dropped = if self.phase.repeats() { 0 } else { planned.starts - self.started.get() };
        ShardReport {
            lateness_ns: self.heart.take_lateness(),
            planned,
            dropped,
            channel_full: self.channel_full.get(),
            slots: self.slots.get(),
            held: self.held.get(),
            cpu: used.map(|used| (used, wall)),
        }
    }
}

/// Waits for `tasks`. One that panicked has lost its sample: better no figure than one without it.
pub(crate) async fn all_ended<T: 'static>(mut tasks: JoinSet<T>) -> io::Result<Vec<T>> {
    let mut ended = Vec::new();
    while let Some(task) = tasks.join_next().await {
        ended.push(task.map_err(io::Error::other)?);
    }
    Ok(ended)
}
