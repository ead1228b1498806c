//! A cell, attempt by attempt.

use std::collections::{BTreeSet, HashMap};

use inferometer_record::{Events, Phase, Sample, Status};

use crate::causes::Causes;
use crate::checks::Seen;
use crate::context::CellContext;
use crate::fill::{THROTTLED, has_flag, streamed_tokens};
use crate::histogram::Histogram;
use crate::money::Money;
use crate::row::{Row, is_useful};
use crate::tally::{Answers, StallTally, TokenTally};
use crate::timeline::Timeline;
use crate::told::ToldTally;
use crate::{CellSummary, Counts, finish};

/// Different lengths of vectors that are told: one model has one.
const MAX_DIMENSIONS: usize = 8;

/// Takes the attempts of one cell in the order they ended and sums them up. Memory: about 300 bytes an attempt, a
/// timeline of at most 4 MB, and a table of gaps of at most 1 MB; never the events themselves.
#[derive(Debug)]
pub struct CellAccumulator {
    pub(crate) context: CellContext,
    pub(crate) rows: Vec<Row>,
    pub(crate) counts: Counts,
    pub(crate) timeline: Timeline,
    pub(crate) gaps: Histogram,
    pub(crate) money: Money,
    pub(crate) causes: Causes,
    pub(crate) tokens: TokenTally,
    pub(crate) stalls: StallTally,
    pub(crate) answers: Answers,
    pub(crate) seen: Seen,
    pub(crate) told: ToldTally,
    /// Components of the vectors, each number once.
    pub(crate) dimensions: BTreeSet<u64>,
    /// Start of the first attempt of each request that is being retried.
    first_tries: HashMap<u64, Option<u64>>,
}

impl CellAccumulator {
    /// An empty cell. The context is final: its window and the client's health are known.
    pub fn new(context: CellContext) -> Self {
        let missing = context.missing;
        CellAccumulator {
            timeline: Timeline::new(&context),
            context,
            rows: Vec::new(),
            counts: Counts { missing, ..Counts::default() },
            gaps: Histogram::default(),
            money: Money::default(),
            causes: Causes::default(),
            tokens: TokenTally::default(),
            stalls: StallTally::default(),
            answers: Answers::default(),
            seen: Seen::default(),
            told: ToldTally::default(),
            dimensions: BTreeSet::new(),
            first_tries: HashMap::new(),
        }
    }

    /// Adds an attempt of any phase, with its events where they were recorded. Only `measure` enters figures; of a
    /// warm-up, the tokens inside the window do.
    pub fn push(&mut self, sample: &Sample, events: Option<&Events>) {
        self.told.push(sample);
        match sample.phase {
            Phase::Preflight => self.counts.preflight += u64::from(sample.is_final),
            Phase::Warmup => self.counts.warmup += u64::from(sample.is_final),
            Phase::Measure => return self.measure(sample, events),
        }
        self.money.push_warmup(sample);
        if self.context.window.is_some() {
            self.timeline.push(sample, events, self.context.degraded_is_useful);
        }
    }

    fn measure(&mut self, sample: &Sample, events: Option<&Events>) {
        let is_useful = is_useful(sample, self.context.degraded_is_useful);
        let first_try = self.first_try(sample);
        self.rows.push(Row::new(sample, first_try, char_speed(sample, events), is_useful));
        self.timeline.push(sample, events, self.context.degraded_is_useful);
        self.money.push(sample, is_useful && sample.is_final);
        self.count_attempt(sample);
        if sample.is_final {
            self.count_request(sample, is_useful);
        }
        if sample.status == Status::Ok {
            for us in events.iter().flat_map(|events| &events.deltas_us) {
                self.gaps.push(*us);
            }
            self.stalls.push(sample);
            self.tokens.push_ok(sample, streamed_tokens(sample));
            self.dimensions.extend(sample.dimensions.filter(|_| self.dimensions.len() < MAX_DIMENSIONS));
        } else {
            self.tokens.push_partial(sample, events);
        }
    }

    /// Start of the request's first attempt, where this is not the first.
    fn first_try(&mut self, sample: &Sample) -> Option<u64> {
        let known = match self.first_tries.get(&sample.request) {
            Some(start) => *start,
            None => sample.start_ns,
        };
        if sample.is_final {
            self.first_tries.remove(&sample.request);
        } else {
            self.first_tries.insert(sample.request, known);
        }
        known
    }

    fn count_attempt(&mut self, sample: &Sample) {
        let counts = &mut self.counts;
        counts.attempts += 1;
        counts.retries += u64::from(sample.attempt > 1);
        counts.rate_limited += u64::from(sample.http_status == Some(429));
        counts.throttled += u64::from(has_flag(sample, THROTTLED));
        counts.stale_reconnects += u64::from(sample.stale_reconnects);
        if sample.status.is_failure() || sample.status == Status::ClientLimit {
            self.causes.push(sample);
        }
    }

    fn count_request(&mut self, sample: &Sample, is_useful: bool) {
        let counts = &mut self.counts;
        counts.issued += 1;
        counts.failed += u64::from(sample.status.is_failure());
        counts.cancelled += u64::from(sample.status.is_cancelled());
        let of_status = match sample.status {
            Status::Ok => &mut counts.ok,
            Status::HttpError => &mut counts.http_error,
            Status::StreamError => &mut counts.stream_error,
            Status::Truncated => &mut counts.truncated,
            Status::Timeout => &mut counts.timeout,
            Status::Transport => &mut counts.transport,
            Status::Protocol => &mut counts.protocol,
            Status::ClientLimit => &mut counts.client_limit,
            Status::Cancelled => return self.answers.push_flags(sample),
        };
        *of_status += 1;
        counts.useful += u64::from(is_useful);
        if sample.status == Status::Ok {
            // What came in one piece has no output events, and may hold much.
            let is_silent = sample.chunks == 0 && !has_flag(sample, "not_streamed");
            counts.empty += u64::from(is_silent || has_verdict_flag(sample, "empty"));
            counts.capped += u64::from(is_capped(sample));
            self.answers.push_verdict(sample);
            self.seen.push(sample);
        }
        self.answers.push_flags(sample);
    }

    /// Sums up the cell, its goodput and its gates.
    pub fn finish(self) -> CellSummary {
        finish::cell(self).summary
    }
}

/// (characters − those of the first event) / (last − first) of an ok stream, per second.
fn char_speed(sample: &Sample, events: Option<&Events>) -> Option<f64> {
    let events = events.filter(|_| sample.status == Status::Ok && !has_flag(sample, "coalesced"))?;
    let span_us = events.deltas_us.iter().fold(0_u64, |sum, delta| sum.saturating_add(*delta));
    let after_first: u64 = events.chars.iter().skip(1).map(|chars| u64::from(*chars)).sum();
    (span_us > 0 && after_first > 0).then(|| after_first as f64 * 1e6 / span_us as f64)
}

fn has_verdict_flag(sample: &Sample, name: &str) -> bool {
    sample.verdict_flags.iter().any(|flag| flag == name)
}

/// Cut by the token limit, by the decoder's flag or the raw reason.
fn is_capped(sample: &Sample) -> bool {
    has_flag(sample, "capped")
        || has_verdict_flag(sample, "capped")
        || matches!(sample.finish_reason.as_deref(), Some("length" | "max_tokens"))
}
