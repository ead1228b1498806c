//! Episodes, step by step.

use std::io;
use std::rc::Rc;

use inferometer_clock::Mono;
use inferometer_metrics::role;
use inferometer_transport::Connect;
use tokio::task::JoinSet;

use crate::episode::{MAX_RECOVERY, RECOVERED, RECOVERY, RESTS, Step, script, stride};
use crate::request::{Ask, Served};
use crate::share::{Share, all_ended};

/// Where an episode is.
struct Episode {
    number: u64,
    /// Position of its next request.
    seq: u64,
    /// When the last burst began.
    burst: Option<Mono>,
}

impl<C: Connect + 'static> Share<C> {
    /// Plays episode after episode until the phase is over.
    pub(crate) async fn play(self: Rc<Self>) -> io::Result<()> {
        let (arrival, clock) = (&self.phase.piece.arrival, &self.shard.clock);
        let script = script(arrival);
        // Asked for here, so that the phase has its first instant.
        clock.sleep_until(self.phase.origin(clock)).await;
        while !self.is_over()
            && let Some(number) = self.phase.claim(clock.now(), clock)
        {
            let mut episode = Episode { number, seq: number.saturating_mul(stride(arrival)), burst: None };
            for step in &script {
                self.step(&mut episode, *step).await?;
            }
        }
        self.all_completed().await
    }

    fn is_over(&self) -> bool {
        self.is_cut() || self.shard.purse.is_spent()
    }

    async fn step(self: &Rc<Self>, episode: &mut Episode, step: Step) -> io::Result<()> {
        if self.is_over() {
            return Ok(());
        }
        match step {
            Step::Idle(gap) => {
                let now = self.shard.clock.now();
                let until = self.shard.quiet_since.get().unwrap_or(now) + gap;
                tokio::select! { () = self.shard.clock.sleep_until(until) => {}, () = self.cut() => {} }
            }
            Step::Forget => self.shard.client.forget_idle(),
            Step::Open(count) => self.open(count).await?,
            Step::Ask { role, connections } => {
                let ask = Ask { connections: Some(connections), ..self.part(episode, role) };
                self.request(ask).await;
            }
            Step::Rest => self.rest(episode).await,
            Step::Burst(size) => self.burst(episode, size).await?,
            Step::Recover => self.recover(episode).await,
        }
        Ok(())
    }

    /// The next request of an episode.
    fn part(&self, episode: &mut Episode, role: &'static str) -> Ask {
        let seq = episode.seq;
        episode.seq += 1;
        let block = u32::try_from(episode.number).ok();
        Ask { block, role: Some(role), ..self.ask(seq, self.shard.clock.now()) }
    }

    /// Opens connections side by side. One that cannot be had is its request's to find.
    async fn open(self: &Rc<Self>, count: u32) -> io::Result<()> {
        let mut tasks = JoinSet::new();
        for _ in 0..count {
            let client = self.shard.client.clone();
            tasks.spawn_local(async move { client.open_ahead().await.is_ok() });
        }
        let timeout = self.shard.clock.sleep(self.shard.rules.timeouts.connect);
        tokio::select! {
            opened = all_ended(tasks) => opened.map(drop),
            () = timeout => Ok(()),
            () = self.cut() => Ok(()),
        }
    }

    async fn rest(self: &Rc<Self>, episode: &mut Episode) {
        let times = if self.shard.usual.borrow().is_known() { 1 } else { RESTS };
        for _ in 0..times {
            if self.is_over() {
                return;
            }
            let served = self.request(self.part(episode, role::REST)).await;
            if let Some(ttft) = served.and_then(|served| served.ttft) {
                self.shard.usual.borrow_mut().note(ttft);
            }
        }
    }

    async fn burst(self: &Rc<Self>, episode: &mut Episode, size: u32) -> io::Result<()> {
        // All made before the first is sent.
        let asks: Vec<Ask> = (0..size).map(|_| self.part(episode, role::BURST)).collect();
        let now = self.shard.clock.now();
        episode.burst = Some(now);
        let mut tasks = JoinSet::new();
        for ask in asks {
            let share = Rc::clone(self);
            tasks.spawn_local(async move { share.request(Ask { sched: now, ..ask }).await });
        }
        all_ended(tasks).await.map(drop)
    }

    async fn recover(self: &Rc<Self>, episode: &mut Episode) {
        let Some(burst) = episode.burst else { return };
        let (until, mut in_a_row) = (burst + RECOVERY, 0);
        for _ in 0..MAX_RECOVERY {
            if in_a_row >= RECOVERED || self.is_over() || self.shard.clock.now() >= until {
                return;
            }
            let served = self.request(self.part(episode, role::RECOVERY)).await;
            in_a_row = if served.is_some_and(|served| self.is_usual(served)) { in_a_row + 1 } else { 0 };
        }
    }

    fn is_usual(&self, served: Served) -> bool {
        served.ttft.is_some_and(|ttft| self.shard.usual.borrow().holds(ttft))
    }
}
