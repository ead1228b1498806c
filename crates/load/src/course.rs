//! A lane's way through its load: what is still to be sent, block by block or in one go.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use inferometer_plan::{Arrival, Stop};

use crate::episode::stride;
use crate::phase::Span;
use crate::schedule::Schedule;

/// Blocks that a lane looks ahead in when it gives up all that is left of a load that has no end by count.
const MAX_BLOCKS_GIVEN_UP: u32 = 1_000_000;

/// A lane's way through its load. Positions are prompts, or episodes of a load that is made of them.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    pub(crate) arrival: Arrival,
    pub(crate) stop: Stop,
    pub(crate) seed: u64,
    /// Positions that an earlier process has measured.
    pub(crate) done: Arc<BTreeSet<u64>>,
    /// The first position that has not been sent, as far as they are sent in order.
    pub(crate) next: u64,
    /// The lane's own time that is used.
    pub(crate) time: Duration,
    /// The next block.
    pub(crate) block: u32,
    pub(crate) missing: u64,
    /// Whether a slice whose number of trials nobody knows was given up.
    gave_up_time: bool,
    is_over: bool,
}

/// What a block is to a lane.
enum Due {
    /// This is to be sent.
    Piece(Span),
    /// An earlier process has sent it.
    Done,
    /// The load ends before it.
    Over,
}

impl Course {
    pub(crate) fn new(arrival: Arrival, stop: Stop, seed: u64, done: Arc<BTreeSet<u64>>) -> Self {
        let new = Self {
            arrival,
            stop,
            seed,
            done,
            next: 0,
            time: Duration::ZERO,
            block: 0,
            missing: 0,
            gave_up_time: false,
            is_over: false,
        };
        Self { next: new.undone(0), ..new }
    }

    /// Whether a block is one prompt, or one episode.
    pub(crate) fn is_by_position(&self) -> bool {
        matches!(
            self.arrival,
            Arrival::Closed { slots: 1, .. } | Arrival::ColdStart { .. } | Arrival::Burst { .. }
        )
    }

    /// Whether nothing is left to be sent.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Nothing more is sent, and nothing was missed.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
    }

    /// All that is left before position `to`, in one go.
    pub(crate) fn rest(&self, to: Option<u64>) -> Option<Span> {
        let to = self.stop.requests.into_iter().chain(to).min();
        let from = self.undone(self.next);
        let begin = if self.is_open() { self.offset(from) } else { self.time };
        let is_left = to.is_none_or(|to| from < to) && self.time_left(begin) != Some(Duration::ZERO);
        (is_left && !self.is_over).then(|| Span { from, to, begin, length: self.time_left(begin) })
    }

    /// The oldest block up to `front` that is still to be sent, and its number. It counts as sent.
    pub(crate) fn turn(&mut self, front: u32, slice: Duration) -> Option<(Span, u32)> {
        while !self.is_over && self.block <= front {
            let block = self.block;
            match self.due(slice) {
                Due::Over => self.is_over = true,
                Due::Done => self.block += 1,
                Due::Piece(span) => {
                    self.block += 1;
                    return Some((span, block));
                }
            }
        }
        None
    }

    /// Gives up blocks that lie more than `max_lag` behind `front`.
    pub(crate) fn give_up_behind(&mut self, front: u32, max_lag: u32, slice: Duration) {
        while !self.is_over && self.block.saturating_add(max_lag) < front {
            self.give_up_block(slice);
        }
    }

    /// Gives up whatever is left.
    pub(crate) fn give_up_rest(&mut self, slice: Duration) {
        let is_bounded = self.stop.requests.is_some() || self.is_open();
        if is_bounded && (self.is_by_position() || self.is_open()) {
            for _ in 0..MAX_BLOCKS_GIVEN_UP {
                if self.is_over {
                    break;
                }
                self.give_up_block(slice);
            }
        } else if let Some(requests) = self.stop.requests {
            self.missing += self.left_between(self.next, requests);
        }
        self.is_over = true;
    }

    /// Whether slices were given up, so that the lane never catches up by itself.
    pub(crate) fn gave_up_time(&self) -> bool {
        self.gave_up_time
    }

    /// Notes that a piece has ended that went up to position `used` and took `took` of the lane's time.
    pub(crate) fn took(&mut self, used: u64, took: Duration, missing: u64) {
        self.next = self.next.max(used);
        self.time += took;
        self.missing += missing;
    }

    /// Positions of requests that may have got an id.
    pub(crate) fn seqs(&self) -> u64 {
        self.next.saturating_mul(stride(&self.arrival))
    }

    fn due(&self, slice: Duration) -> Due {
        let position = u64::from(self.block);
        let is_beyond = |position: u64| self.stop.requests.is_some_and(|n| position >= n);
        if self.is_by_position() {
            return match () {
                () if is_beyond(position) || self.time_left(self.time) == Some(Duration::ZERO) => Due::Over,
                () if self.done.contains(&position) => Due::Done,
                () => Due::Piece(Span {
                    from: position,
                    to: Some(position + 1),
                    begin: self.time,
                    length: None,
                }),
            };
        }
        if self.is_open() {
            return self.due_of_schedule(slice);
        }
        let from = self.undone(self.next);
        let length = self.time_left(self.time).map_or(slice, |left| left.min(slice));
        if is_beyond(from) || length.is_zero() {
            return Due::Over;
        }
        Due::Piece(Span { from, to: self.stop.requests, begin: self.time, length: Some(length) })
    }

    /// The slice of the schedule that is the next block.
    fn due_of_schedule(&self, slice: Duration) -> Due {
        let begin = slice.saturating_mul(self.block);
        let length = self.time_left(begin).map_or(slice, |left| left.min(slice));
        let first = Schedule::new(&self.arrival, self.seed).find(|start| start.offset >= begin);
        let is_beyond = |index: u64| self.stop.requests.is_some_and(|n| index >= n);
        if length.is_zero() || first.is_none_or(|first| is_beyond(first.index)) {
            return Due::Over;
        }
        let span = Span { from: 0, to: self.stop.requests, begin, length: Some(length) };
        if self.starts_in(&span) == 0 { Due::Done } else { Due::Piece(span) }
    }

    fn give_up_block(&mut self, slice: Duration) {
        match self.due(slice) {
            Due::Over => self.is_over = true,
            Due::Done => self.block += 1,
            Due::Piece(span) => {
                self.block += 1;
                match self.arrival {
                    Arrival::Open { .. } => self.missing += self.starts_in(&span),
                    Arrival::Burst { size, .. } => self.missing += u64::from(size),
                    Arrival::Closed { slots: 1, .. } | Arrival::ColdStart { .. } => self.missing += 1,
                    // How many trials a slot would have made nobody knows.
                    Arrival::Closed { .. } => self.gave_up_time = true,
                }
            }
        }
    }

    /// Planned starts of a slice that are not done.
    fn starts_in(&self, span: &Span) -> u64 {
        let end = span.length.map_or(Duration::MAX, |length| span.begin + length);
        Schedule::new(&self.arrival, self.seed)
            .take_while(|start| start.offset < end && span.to.is_none_or(|to| start.index < to))
            .filter(|start| start.offset >= span.begin && !self.done.contains(&start.index))
            .count() as u64
    }

    fn left_between(&self, from: u64, to: u64) -> u64 {
        let done = self.done.range(from..to.max(from)).count() as u64;
        to.saturating_sub(from) - done
    }

    fn is_open(&self) -> bool {
        matches!(self.arrival, Arrival::Open { .. })
    }

    /// Where the start at `index` is planned.
    fn offset(&self, index: u64) -> Duration {
        if index == 0 {
            return Duration::ZERO;
        }
        let mut starts = Schedule::new(&self.arrival, self.seed).skip_while(|start| start.index < index);
        starts.next().map_or(Duration::MAX, |start| start.offset)
    }

    /// The first position from `from` on that is not done.
    fn undone(&self, from: u64) -> u64 {
        let mut next = from;
        for done in self.done.range(from..) {
            if *done != next {
                break;
            }
            next += 1;
        }
        next
    }

    /// Of the load's time, what is left behind `at`.
    fn time_left(&self, at: Duration) -> Option<Duration> {
        self.stop.duration.map(|duration| duration.saturating_sub(at))
    }
}

#[cfg(test)]
mod tests {
    use inferometer_plan::Pattern;

    use super::*;

    const SLICE: Duration = Duration::from_secs(10);

    fn course(arrival: Arrival, requests: Option<u64>, secs: Option<u64>, done: &[u64]) -> Course {
        let stop = Stop { requests, duration: secs.map(Duration::from_secs) };
        Course::new(arrival, stop, 1, Arc::new(done.iter().copied().collect()))
    }

    fn closed(slots: u32) -> Arrival {
        Arrival::Closed { slots, ramp: Duration::ZERO }
    }

    fn constant(rate: f64) -> Arrival {
        Arrival::Open { rate, pattern: Pattern::Constant, cap: None }
    }

    /// Blocks with their first position and their beginning in seconds, until the course is over.
    fn turns(mut course: Course) -> Vec<(u32, u64, u64)> {
        let mut turns = Vec::new();
        for front in 0..100 {
            while let Some((span, block)) = course.turn(front, SLICE) {
                turns.push((block, span.from, span.begin.as_secs()));
                if !course.is_by_position() {
                    course.took(course.next + 3, span.length.unwrap(), 0);
                }
            }
        }
        assert!(course.is_over());
        turns
    }

    #[test]
    fn blocks_are_prompts_slices_or_episodes() {
        let burst = Arrival::Burst { size: 8, rest: SLICE };
        assert_eq!(turns(course(closed(1), Some(3), None, &[1])), [(0, 0, 0), (2, 2, 0)]);
        assert_eq!(turns(course(burst, Some(2), None, &[])), [(0, 0, 0), (1, 1, 0)]);
        assert_eq!(turns(course(closed(4), Some(7), None, &[])), [(0, 0, 0), (1, 3, 10), (2, 6, 20)]);
        assert_eq!(turns(course(closed(4), None, Some(15), &[])), [(0, 0, 0), (1, 3, 10)]);
        // One start a second: of 25, the third slice has five, and the first is done.
        let done: Vec<u64> = (0..10).collect();
        assert_eq!(turns(course(constant(1.0), Some(25), None, &done)), [(1, 0, 10), (2, 0, 20)]);
    }

    #[test]
    fn what_lags_too_far_is_missing() {
        let check = |arrival, requests, done: &[u64], block, missing, rest| {
            let mut course = course(arrival, Some(requests), None, done);
            course.give_up_behind(5, 3, SLICE);
            assert_eq!((course.block, course.missing), (block, missing));
            course.give_up_rest(SLICE);
            assert_eq!((course.missing, course.is_over()), (rest, true));
        };
        check(closed(1), 10, &[], 2, 2, 10);
        check(closed(1), 10, &[0], 2, 1, 9);
        check(constant(1.0), 25, &[], 2, 20, 25);
        check(closed(4), 10, &[], 2, 0, 10);
        check(Arrival::Burst { size: 8, rest: SLICE }, 3, &[], 2, 16, 24);
    }

    #[test]
    fn the_rest_begins_at_the_first_that_is_missing() {
        let rest = |arrival, done: &[u64], to| course(arrival, Some(20), None, done).rest(to);
        let span =
            |from, to, begin| Span { from, to: Some(to), begin: Duration::from_secs(begin), length: None };
        assert_eq!(rest(closed(4), &[0, 1, 3], None), Some(span(2, 20, 0)));
        assert_eq!(rest(constant(1.0), &[0, 1, 3], Some(10)), Some(span(2, 10, 2)));
        assert_eq!(rest(closed(1), &(0..20).collect::<Vec<_>>(), None), None);
    }
}
