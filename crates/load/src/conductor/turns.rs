//! Block by block, one lane after the other.

use std::time::Duration;

use inferometer_plan::Blocks;

use super::{Conductor, order};
use crate::Error;
use crate::lane::Run;
use crate::phase::Blocked;

/// The block whose order the warm-ups have.
const WARMUPS: u32 = u32::MAX;

impl Conductor {
    /// One block after the other; in each of them every lane has its turn, in random order. A lane that does not come back in
    /// time lags behind: its turns come when it is back, and what lags too far is given up.
    pub(super) async fn take_turns(&mut self, blocks: &Blocks) -> Result<(), Error> {
        for lane in order::of(blocks.order_seed, WARMUPS, self.lanes.len()) {
            self.warm_up(lane);
            // Each prompt that warms a cache may take as long as one trial.
            let warmed = u32::try_from(self.warmed(lane)).unwrap_or(u32::MAX);
            self.wait(lane, Some(blocks.patience.saturating_mul(warmed)), blocks).await?;
        }
        let mut front = 0;
        while !self.is_stopped() {
            let has_asked = self.block(front, blocks).await?;
            // Slices that were given up are not made up for alone.
            self.give_up_where(|run| run.course.gave_up_time(), blocks);
            let nobody_is_free = !self.lanes.iter().any(Run::is_free);
            if nobody_is_free && !has_asked {
                if !self.wait_for_stragglers(blocks).await? {
                    break;
                }
                continue;
            }
            front += 1;
            if self.is_precise().await {
                break;
            }
        }
        Ok(())
    }

    /// The turn of every lane, each with its share of the budget; whether any had one. Where a share does not last, the
    /// block is the last one for all: at once, if nothing of it was sent.
    async fn block(&mut self, front: u32, blocks: &Blocks) -> Result<bool, Error> {
        let (mut has_asked, mut cut) = (false, None);
        let order = order::of(blocks.order_seed, front, self.lanes.len());
        for (place, lane) in order.iter().enumerate() {
            let behind = order.iter().skip(place + 1).filter_map(|lane| self.lanes.get(*lane));
            self.purse.begin_turn(behind.filter(|run| !run.course.is_over()).count());
            let turn = self.turn(*lane, front, blocks).await;
            let end = self.purse.end_turn();
            has_asked |= turn?;
            cut = cut.or(end);
            if end.is_some_and(|end| !end.has_asked) {
                break;
            }
        }
        if let Some(end) = cut {
            self.purse.close(end);
        }
        Ok(has_asked)
    }

    /// The lane's blocks up to `front`, as far as it is free; whether it had any.
    async fn turn(&mut self, lane: usize, front: u32, blocks: &Blocks) -> Result<bool, Error> {
        let mut is_any = false;
        while !self.is_stopped() && !self.purse.is_spent() {
            self.take_ended().await?;
            let Some(run) = self.lanes.get_mut(lane) else { break };
            run.course.give_up_behind(front, blocks.max_lag, blocks.slice);
            let Some((span, block)) = run.is_free().then(|| run.course.turn(front, blocks.slice)).flatten()
            else {
                break;
            };
            is_any = true;
            let piece = self.piece(lane, span, Blocked::Always(block), None);
            self.start(lane, piece);
            self.wait(lane, span.length, blocks).await?;
        }
        Ok(is_any)
    }

    /// Waits until `lane` is free, no longer than patience lasts behind a piece of `length`.
    async fn wait(&mut self, lane: usize, length: Option<Duration>, blocks: &Blocks) -> Result<(), Error> {
        let until = self.patience(length, blocks.patience);
        while self.lanes.get(lane).is_some_and(|run| run.current.is_some()) {
            tokio::select! {
                biased;
                Some(ended) = self.running.join_next() => self.take(ended).await?,
                () = self.clock.sleep_until(until) => break,
            }
        }
        Ok(())
    }

    /// Gives up the rest of the lanes that `lag`, once another lane has come to its end.
    fn give_up_where(&mut self, lags: impl Fn(&Run) -> bool, blocks: &Blocks) {
        if self.lanes.iter().any(|run| run.gap.is_none() && run.course.is_over()) {
            for run in self.lanes.iter_mut().filter(|run| lags(run) && !run.course.is_over()) {
                run.course.give_up_rest(blocks.slice);
            }
        }
    }

    /// Takes what has ended meanwhile.
    async fn take_ended(&mut self) -> Result<(), Error> {
        while let Some(ended) = self.running.try_join_next() {
            self.take(ended).await?;
        }
        Ok(())
    }

    /// Nobody is free and has work: waits for one that is not. False where all have ended.
    async fn wait_for_stragglers(&mut self, blocks: &Blocks) -> Result<bool, Error> {
        // One that still runs has held up the others for as long as patience lasts.
        self.give_up_where(|run| run.current.is_some(), blocks);
        match self.running.join_next().await {
            Some(ended) => self.take(ended).await.map(|()| true),
            None => Ok(false),
        }
    }
}
