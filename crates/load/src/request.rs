//! One request with its attempts, each handed to the worker as it ends.

use std::future::pending;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::mpsc::TrySendError;
use std::time::Duration;

use inferometer_clock::{Deadline, Mono};
use inferometer_transport::{Connect, Connections, Request, Trace};
use inferometer_wire as wire;
use tokio::task::{JoinError, JoinSet};

use crate::ask::Prepared;
use crate::attempt::{self, Attempt, Completing, Ended, Seen};
use crate::finished::{Finished, Message, Stamps};
use crate::gate::Ticket;
use crate::guard::Limit;
use crate::keeper::Outcome;
use crate::purse::Hold;
use crate::retry;
use crate::rules::Rules;
use crate::share::Share;

/// A slot waits so long for the end of a body whose answer is complete: it mostly comes with it, or right after.
const INLINE_DRAIN: Duration = Duration::from_millis(1);
/// The status of a key that is refused.
const UNAUTHORIZED: u16 = 401;
/// While the channel to the writer is full, a shard tries again after this.
const FULL_CHANNEL_WAIT: Duration = Duration::from_millis(1);

/// A request that a task is about to send.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) seq: u64,
    pub(crate) request: u64,
    pub(crate) block: Option<u32>,
    pub(crate) role: Option<&'static str>,
    /// What becomes of its connection, where that is not the target's own way.
    pub(crate) connections: Option<Connections>,
    pub(crate) sched: Mono,
    /// How long the gate has held it back: its planned instant is behind that.
    pub(crate) paced: Duration,
    /// Whether it goes out once more since its key was refused, with another.
    pub(crate) has_new_key: bool,
    pub(crate) prepared: Prepared,
}

/// What a request left to its slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    /// From when on the slot is free.
    pub(crate) free: Mono,
    /// Until the first output; until the end of an answer that came whole.
    pub(crate) ttft: Option<Duration>,
}

/// What an attempt left to its slot.
enum Left {
    /// The attempt, over.
    Ended(Box<Finished>),
    /// The answer is complete; the attempt ends on its own.
    Completing(Served),
}

/// What an attempt is an attempt at.
struct Of {
    ask: Ask,
    attempt: u32,
    hold: Hold,
    trace: Trace,
}

impl<C: Connect + 'static> Share<C> {
    /// One request with its attempts; every attempt leaves as a [`Finished`], the last one as final. Returns when its
    /// slot is free: the end of its answer, not of our own wait for what might follow it. `None` where the budget has
    /// nothing left for it: then nothing was sent.
    pub(crate) async fn request(self: &Rc<Self>, mut ask: Ask) -> Option<Served> {
        for attempt in 1.. {
            let Some(ticket) = self.pass(&mut ask).await else {
                return self.give_up(ask, attempt).await;
            };
            let Some(hold) = self.hold(&ask).await else {
                return self.give_up(ask, attempt).await;
            };
            self.key_ready(&mut ask).await;
            let mut finished = match self.attempt(ask, attempt, (hold, ticket)).await {
                Left::Ended(finished) => finished,
                Left::Completing(served) => return Some(served),
            };
            let served = served(&finished.seen);
            self.shard.quiet_since.set(Some(served.free));
            let next = match self.with_new_key(&mut finished).await {
                Some(next) => Some(next),
                None => self.again(&finished).map(|at| finished.ask(at)),
            };
            // Written at once: a wait for the next attempt can be long, and a kill would lose it.
            finished.is_final = next.is_none();
            self.send(finished).await;
            let Some(next) = next else { return Some(served) };
            tokio::select! {
                () = self.shard.clock.sleep_until(next.sched) => ask = next,
                () = self.cut() => return self.give_up(next, attempt + 1).await,
            }
        }
        None
    }

    /// The same request with another key, where its own was refused and there is one: once a request. Whatever came of it is
    /// noted with the refusal.
    async fn with_new_key(&self, finished: &mut Finished) -> Option<Ask> {
        let keeper = self.shard.asker.keeper()?;
        let received = finished.seen.received.as_ref().filter(|received| received.status == UNAUTHORIZED);
        let number = received.and(finished.prepared.key)?;
        let field = keeper.field();
        if finished.has_new_key {
            finished.note = Some(format!("{field} was read again: its new key is refused too"));
            return None;
        }
        if self.is_cut() || self.shard.purse.is_spent() {
            return None;
        }
        // Before the refusal is written: only then is it known whether another attempt follows. A command has 30 s.
        let outcome = tokio::select! {
            outcome = keeper.renew(number, &self.shard.clock) => outcome,
            () = self.cut() => return None,
        };
        let (what, is_new) = match outcome {
            Outcome::New => ("another key, with which the request is repeated".to_owned(), true),
            Outcome::Same => ("the same key".to_owned(), false),
            Outcome::None(reason) => (format!("none: {reason}"), false),
        };
        finished.note = Some(format!("{field} was read again and gave {what}"));
        let now = self.shard.clock.now();
        is_new.then(|| Ask { has_new_key: true, ..finished.ask(now) })
    }

    /// When another attempt follows, if one does.
    fn again(&self, finished: &Finished) -> Option<Mono> {
        if finished.attempt > self.shard.rules.retries || self.is_cut() || self.shard.purse.is_spent() {
            return None;
        }
        let at = self.shard.clock.now() + retry::wait(finished, finished.attempt)?;
        self.cut_at().is_none_or(|cut| at < cut).then_some(at)
    }

    /// Waits for the limits that the target told, where the load keeps them: outside its schedule, so that the wait is
    /// nobody's lateness. `None` where the attempt is not to be sent any more.
    async fn pass(&self, ask: &mut Ask) -> Option<Option<Ticket>> {
        let Some(gate) = &self.shard.gate else { return Some(None) };
        let (asker, clock) = (&self.shard.asker, &self.shard.clock);
        let from = clock.now();
        let ticket = tokio::select! {
            biased;
            ticket = gate.pass(clock, ask.prepared.weight(), || asker.counted_weight(&ask.prepared)) => ticket?,
            () = self.over() => {
                self.phase.miss();
                return None;
            }
        };
        if ticket.has_waited {
            ask.paced = clock.now() - from;
            ask.sched = ask.sched + ask.paced;
        }
        Some(Some(ticket))
    }

    /// Has the key read where it is due, and waits for it where there is none that holds. A closed load asks when it can:
    /// that is no lateness of its own.
    async fn key_ready(&self, ask: &mut Ask) {
        let Some(keeper) = self.shard.asker.keeper() else { return };
        let from = self.shard.clock.now();
        tokio::select! { () = keeper.ready(&self.shard.clock) => {}, () = self.cut() => {} }
        if self.phase.repeats() || self.phase.is_episodic() {
            ask.sched = ask.sched + (self.shard.clock.now() - from);
        }
    }

    /// Waits until no further request starts, or all are cut.
    async fn over(&self) {
        let starts_end = Deadline::passed(&self.shard.clock, self.phase.starts_until(&self.shard.clock));
        tokio::select! { () = self.cut() => {}, () = starts_end => {} }
    }

    /// What the budget sets aside for one attempt.
    async fn hold(&self, ask: &Ask) -> Option<Hold> {
        let purse = &self.shard.purse;
        if !purse.is_limited() {
            return Some(Hold::default());
        }
        let (asker, prepared) = (&self.shard.asker, &ask.prepared);
        let rough = asker.need(prepared);
        tokio::select! {
            biased;
            hold = purse.hold(&rough, || asker.counted(prepared)) => hold,
            () = self.cut() => None,
        }
    }

    /// The end of a request whose attempt number `attempt` never started: where others went before it, one must be final.
    async fn give_up(&self, ask: Ask, attempt: u32) -> Option<Served> {
        let now = self.shard.clock.now();
        if attempt > 1 {
            let of = Of { ask, attempt, hold: Hold::default(), trace: Trace::new() };
            let seen = Seen::nothing(None, now, Ended::Limited(Limit::Cut));
            self.send(Box::new(self.finished(of, seen))).await;
            return Some(Served { free: now, ttft: None });
        }
        None
    }

    async fn attempt(
        self: &Rc<Self>,
        mut ask: Ask,
        attempt: u32,
        (hold, ticket): (Hold, Option<Ticket>),
    ) -> Left {
        let shard = &self.shard;
        shard.asker.authorize(&mut ask.prepared, attempt > 1);
        let trace = Trace::new();
        shard.live.iter().for_each(|live| live.start());
        let way = ask.connections.unwrap_or(shard.client.target().connections());
        let request = ask.prepared.request.clone();
        let (ran, _ticket) = self.run((request, way), &trace, ticket).await;
        shard.live.iter().for_each(|live| live.end());
        let of = Of { ask, attempt, hold, trace };
        match ran {
            Attempt::Ended(seen) => Left::Ended(Box::new(self.finished(of, *seen))),
            Attempt::Complete(completing) => self.complete(of, completing).await,
        }
    }

    /// Runs an attempt in a task of its own. A read then wakes it alone: each future round it (attempts, request, slot)
    /// would be entered with every event only to be passed through, at the price of the memory that it stands in. It ends
    /// with this future.
    async fn run(
        self: &Rc<Self>,
        sent: (Request, Connections),
        trace: &Trace,
        ticket: Option<Ticket>,
    ) -> (Attempt, Option<Ticket>) {
        let (share, trace) = (Rc::clone(self), trace.clone());
        let mut alone = JoinSet::new();
        alone.spawn_local(async move {
            let shard = &share.shard;
            let (clock, cut_at) = (&shard.clock, share.cut_at());
            let rules = Rules { clock, shard: shard.rules, cut_at, ticket: ticket.as_ref() };
            let ran = attempt::run(&rules, &shard.client, sent, &trace, shard.control.watch()).await;
            (ran, ticket)
        });
        while let Some(ended) = alone.join_next().await {
            match ended.map_err(JoinError::try_into_panic) {
                Ok(ran) => return ran,
                Err(Ok(panic)) => resume_unwind(panic),
                // The runtime is going, and this future with it.
                Err(Err(_)) => {}
            }
        }
        pending().await
    }

    /// Gives a complete answer a moment to end its body, which keeps the connection for the next request of the slot;
    /// one that takes longer ends on its own.
    async fn complete(self: &Rc<Self>, of: Of, completing: Box<Completing>) -> Left {
        let served = Served { free: completing.completed(), ttft: Some(completing.ttft()) };
        let mut ending = Box::pin(completing.finish());
        tokio::select! {
            biased;
            seen = &mut ending => return Left::Ended(Box::new(self.finished(of, seen))),
            () = self.shard.clock.sleep(INLINE_DRAIN) => {}
        }
        self.shard.quiet_since.set(Some(served.free));
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
            share.send(Box::new(share.finished(of, seen))).await;
        });
        Left::Completing(served)
    }

    fn finished(&self, of: Of, seen: Seen) -> Finished {
        let Ask { seq, request, block, role, connections, sched, paced, has_new_key, prepared } = of.ask;
        Finished {
            lane: self.shard.lane,
            phase: self.phase.piece.kind,
            seq,
            request,
            block,
            role,
            connections,
            attempt: of.attempt,
            is_final: true,
            sched,
            paced,
            has_new_key,
            note: None,
            prepared,
            hold: of.hold,
            stamps: Stamps::from(&of.trace),
            hiccups: seen.start.map(|start| self.heart.hiccups_since(start)).unwrap_or_default(),
            seen,
        }
    }

    /// Hands an attempt to the worker. A full channel is counted: the cell is then not valid.
    async fn send(&self, finished: Box<Finished>) {
        let mut unsent = match self.shard.out.try_send(Message::Ended(finished)) {
            Ok(()) => return,
            Err(error) => error,
        };
        self.channel_full.set(self.channel_full.get() + 1);
        while let TrySendError::Full(message) = unsent {
            self.shard.clock.sleep(FULL_CHANNEL_WAIT).await;
            unsent = match self.shard.out.try_send(message) {
                Ok(()) => return,
                Err(error) => error,
            };
        }
        // Nobody writes any more: there is no use in sending further requests.
        self.shard.control.cut();
    }
}

/// What an attempt that is over leaves to its slot.
fn served(seen: &Seen) -> Served {
    let is_complete = seen.answer.as_ref().is_some_and(|answer| answer.outcome == wire::Outcome::Complete);
    let first = seen.events.first().map(|event| Mono::from_nanos(event.at_ns));
    let first = first.or_else(|| is_complete.then_some(seen.end));
    Served { free: seen.end, ttft: seen.start.zip(first).map(|(start, first)| first - start) }
}
