//! Decides which lane runs what, and when: all at once, or block by block in turns.
//!
//! One conductor, whatever the load and however many lanes: a single cell is a lane alone. It orders pieces of loads
//! from the shards and never sees a request.

mod order;
mod turns;

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use std::{io, thread};

use inferometer_clock::{Clock, Mono};
use inferometer_plan::{Arrival, Blocks};
use inferometer_record as record;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinSet};

use crate::axis::Axis;
use crate::band::Band;
use crate::finished::Message;
use crate::lane::{Run, places, stagger};
use crate::pace::{Pace, Place};
use crate::phase::{Blocked, Phase, Piece, Span};
use crate::precision::FIRST_LOOK;
use crate::purse::Purse;
use crate::shard::ShardReport;
use crate::{Control, Error};

/// Between an order and its first planned start: every shard has it by then.
const LEAD: Duration = Duration::from_millis(20);
/// The same where one shard has it, and its first request need only be made.
const SHORT_LEAD: Duration = Duration::from_millis(2);
/// Warm-ups are sent by at most so many slots.
const MAX_WARMUP_SLOTS: u32 = 4;

/// What is to be done with the lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Program {
    /// One request, alone.
    Preflight,
    /// Warm-ups, then the load.
    Measure { blocks: Option<Blocks> },
}

/// Whether, of lanes under a load of this arrival, one runs while the others wait. Cold starts mostly sleep.
pub(crate) fn takes_turns(arrival: &Arrival, blocks: &Blocks) -> bool {
    match arrival {
        Arrival::Burst { .. } => true,
        Arrival::ColdStart { .. } => false,
        Arrival::Closed { .. } | Arrival::Open { .. } => !blocks.together,
    }
}

/// What does not change while lanes run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) axis: Axis,
    pub(crate) warmup: u64,
    pub(crate) seed: u64,
    pub(crate) grace: Duration,
    /// Whether a figure that is known well enough ends the load.
    pub(crate) has_goal: bool,
}

/// A piece that has ended.
type Ended = (usize, io::Result<Vec<ShardReport>>);

/// The conductor of some lanes.
pub(crate) struct Conductor {
    pub(crate) clock: Clock,
    pub(crate) control: Control,
    pub(crate) purse: Arc<Purse>,
    pub(crate) band: Band,
    pub(crate) worker: SyncSender<Message>,
    pub(crate) rules: Rules,
    pub(crate) lanes: Vec<Run>,
    running: JoinSet<Ended>,
    look: Option<u64>,
}

impl Conductor {
    pub(crate) fn new(
        clock: Clock,
        control: Control,
        purse: Arc<Purse>,
        band: Band,
        worker: SyncSender<Message>,
        rules: Rules,
        lanes: Vec<Run>,
    ) -> Self {
        let look = rules.has_goal.then_some(FIRST_LOOK);
        Self { clock, control, purse, band, worker, rules, lanes, running: JoinSet::new(), look }
    }

    /// Does what `program` says; what became of the lanes.
    pub(crate) async fn perform(mut self, program: Program) -> Result<Vec<Run>, Error> {
        let mut performed = match program {
            Program::Preflight => self.preflight().await,
            Program::Measure { .. } if self.was_precise().await => Ok(()),
            Program::Measure { blocks } => match blocks
                .filter(|blocks| self.lanes.iter().any(|run| takes_turns(&run.course.arrival, blocks)))
            {
                Some(blocks) => self.take_turns(&blocks).await,
                None => self.all_at_once(blocks.as_ref()).await,
            },
        };
        if performed.is_err() {
            self.control.cut();
        }
        // Whatever happened, what runs is awaited: its samples are worth having.
        while let Some(ended) = self.running.join_next().await {
            performed = performed.and(self.take(ended).await);
        }
        performed.map(|()| self.lanes)
    }

    async fn preflight(&mut self) -> Result<(), Error> {
        for lane in 0..self.lanes.len() {
            let alone = self.before_the_figures(lane, record::Phase::Preflight, 1, 0);
            self.start(lane, alone);
        }
        self.all_ended().await
    }

    /// Every lane at once, each through all of its load; in between only to look whether it is enough.
    async fn all_at_once(&mut self, blocks: Option<&Blocks>) -> Result<(), Error> {
        let order =
            order::of(blocks.map_or(self.rules.seed, |blocks| blocks.order_seed), 0, self.lanes.len());
        for &lane in &order {
            self.warm_up(lane);
        }
        self.all_ended().await?;
        while !self.is_stopped() {
            let spans: Vec<_> = self.lanes.iter().map(|run| run.course.rest(self.look)).collect();
            let runs: Vec<bool> = spans.iter().map(Option::is_some).collect();
            let pace = self.pace(blocks, &runs);
            for (turn, &lane) in order.iter().enumerate() {
                if let Some(Some(span)) = spans.get(lane) {
                    let place = pace.as_ref().map(|pace| pace.place(lane));
                    let piece = self.piece(lane, *span, self.blocked(lane, blocks), place);
                    let later = |piece: Piece| {
                        let apart = stagger(&piece.arrival, turn, order.len());
                        Piece { lead: piece.lead + apart, ..piece }
                    };
                    self.start(lane, piece.map(later));
                }
            }
            self.all_ended().await?;
            if !runs.contains(&true) || self.look.is_none() || self.is_precise().await {
                break;
            }
        }
        Ok(())
    }

    /// What keeps lanes together that run at once and ask as they get answers. An open load keeps its own time.
    fn pace(&self, blocks: Option<&Blocks>, runs: &[bool]) -> Option<Arc<Pace>> {
        let blocks = blocks?;
        let is_closed = |run: &Run| matches!(run.course.arrival, Arrival::Closed { .. });
        self.lanes
            .iter()
            .all(is_closed)
            .then(|| Pace::new(self.block_size(), blocks.max_lag, blocks.patience, runs, self.clock.now()))
    }

    /// Prompts of a block, where all run at once: one for each slot of the lane that has most.
    fn block_size(&self) -> u64 {
        self.lanes.iter().map(|run| u64::from(run.slots)).max().unwrap_or(1)
    }

    /// What block a request belongs to, where all run at once.
    fn blocked(&self, lane: usize, blocks: Option<&Blocks>) -> Blocked {
        match (blocks, self.lanes.get(lane).map(|run| &run.course.arrival)) {
            (Some(_), Some(Arrival::Closed { .. })) => Blocked::Each(self.block_size()),
            (Some(blocks), Some(Arrival::Open { .. })) => Blocked::Every(blocks.slice),
            _ => Blocked::Never,
        }
    }

    /// Orders the lane's warm-ups, where it has some: of itself, then of the prompts that caches are to know.
    fn warm_up(&mut self, lane: usize) {
        let (apart, warmed) = (self.rules.warmup, self.warmed(lane));
        if apart.saturating_add(warmed) > 0 && !self.is_stopped() && self.has_work(lane) {
            let piece = self.before_the_figures(lane, record::Phase::Warmup, apart, warmed);
            self.start(lane, piece);
        }
    }

    fn warmed(&self, lane: usize) -> u64 {
        self.lanes.get(lane).map_or(0, |run| run.warmed)
    }

    /// Whether anything of the lane is left to measure: it may have been measured by an earlier process.
    fn has_work(&self, lane: usize) -> bool {
        self.lanes.get(lane).is_some_and(|run| run.course.rest(None).is_some())
    }

    /// Requests that are no part of the figures: `apart` of them ask what no figure does, and behind them the first
    /// `warmed` prompts are asked that the figures are made of.
    fn before_the_figures(&self, lane: usize, kind: record::Phase, apart: u64, warmed: u64) -> Option<Piece> {
        let run = self.lanes.get(lane)?;
        let requests = apart.saturating_add(warmed);
        // What an earlier process has measured needs no warming, unless the same prompt comes again.
        let comes_once = run.course.stop.requests == Some(warmed);
        let done = run.course.done.iter().filter(|_| comes_once).map(|seq| seq.saturating_add(apart));
        let slots = MAX_WARMUP_SLOTS.min(requests as u32).min(places(&run.course.arrival)).max(1);
        Some(Piece {
            kind,
            apart,
            arrival: Arrival::Closed { slots, ramp: Duration::ZERO },
            seed: self.rules.seed,
            numbers: run.warmup,
            blocked: Blocked::Never,
            span: Span { to: Some(requests), ..Span::default() },
            done: Arc::new(done.collect()),
            lead: LEAD,
            grace: None,
            place: None,
        })
    }

    /// A piece of the lane's load.
    fn piece(&self, lane: usize, span: Span, blocked: Blocked, place: Option<Place>) -> Option<Piece> {
        let Run { course, numbers, .. } = self.lanes.get(lane)?;
        let is_turn = matches!(blocked, Blocked::Always(_));
        Some(Piece {
            kind: record::Phase::Measure,
            apart: 0,
            arrival: course.arrival.clone(),
            seed: course.seed,
            numbers: *numbers,
            blocked,
            span,
            done: Arc::clone(&course.done),
            lead: if is_turn && course.is_by_position() { SHORT_LEAD } else { LEAD },
            // A slice is followed to the end of its last request: to cut it there would make slow answers failures.
            grace: (!is_turn).then_some(self.rules.grace),
            place,
        })
    }

    fn start(&mut self, lane: usize, piece: Option<Piece>) {
        let (Some(run), Some(piece)) = (self.lanes.get_mut(lane), piece) else { return };
        let phase = Arc::new(Phase::new(piece));
        run.current = Some(Arc::clone(&phase));
        let band = self.band.clone();
        self.running.spawn(async move { (lane, band.run(lane, phase).await) });
    }

    async fn all_ended(&mut self) -> Result<(), Error> {
        while let Some(ended) = self.running.join_next().await {
            self.take(ended).await?;
        }
        Ok(())
    }

    /// Takes what a piece left behind.
    async fn take(&mut self, ended: Result<Ended, JoinError>) -> Result<(), Error> {
        let (lane, reports) = ended.map_err(io::Error::other)?;
        let now = self.clock.now();
        let Some(run) = self.lanes.get_mut(lane) else { return Ok(()) };
        let was_warm = run.is_warm;
        run.ended(&reports?, self.rules.axis, now);
        if run.is_warm
            && !was_warm
            && let Some(words) = self.ask_worker(|reply| Message::IsRefused(lane, reply)).await.flatten()
            && let Some(run) = self.lanes.get_mut(lane)
        {
            run.refuse(words);
        }
        Ok(())
    }

    /// Whether the plan's figure is known well enough, and no further trial is needed. Looks only where it is time.
    async fn is_precise(&mut self) -> bool {
        self.pass_look() && self.looks(None).await
    }

    /// Whether it was known well enough at the last look that earlier processes had come to: by no more trials than they
    /// had then, so that to go on is no further look.
    async fn was_precise(&mut self) -> bool {
        self.pass_look() && self.looks(self.look.map(|next| next / 2)).await
    }

    /// Whether it is time for a look; the next one then is at twice as many trials.
    fn pass_look(&mut self) -> bool {
        let trials = self.lanes.iter().map(|run| run.course.next).max().unwrap_or(0);
        let Some(look) = self.look.filter(|look| trials >= *look) else { return false };
        let mut next = look;
        while next <= trials {
            next = next.saturating_mul(2);
        }
        self.look = Some(next);
        true
    }

    /// Looks at the `first` trials of each lane, or at all.
    async fn looks(&self, first: Option<u64>) -> bool {
        let measured: Vec<bool> = self.lanes.iter().map(|run| run.gap.is_none()).collect();
        let ask = |reply| Message::IsPrecise { measured, first, reply };
        self.ask_worker(ask).await.unwrap_or(false)
    }

    /// Asks the worker, who has counted by then whatever was sent before. `None` where it has ended.
    async fn ask_worker<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> Message) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        // Blocks this thread where the channel is full; nothing is measured on it.
        self.worker.send(question(reply)).ok()?;
        answer.await.ok()
    }

    fn is_stopped(&self) -> bool {
        self.control.is_cut() || self.purse.spent(self.clock.now()).is_some()
    }

    /// Until when a piece of `length` holds up the others.
    fn patience(&self, length: Option<Duration>, patience: Duration) -> Mono {
        self.clock.now() + length.unwrap_or_default() + patience
    }
}

/// The life of a conductor's thread.
pub(crate) fn run(conductor: Conductor, program: Program) -> Result<Vec<Run>, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(conductor.perform(program))
}

/// The conductor's thread.
pub(crate) fn thread() -> thread::Builder {
    thread::Builder::new().name("conductor".to_string())
}
