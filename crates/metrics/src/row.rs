//! What a cell keeps of each attempt: about 230 bytes.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use inferometer_record::{Sample, Status, TokensSource, Verdict};

use crate::episode::role;
use crate::fill::{VECTORS, has_flag, ms_between, streamed_tokens};

/// A stamp that may be absent, in eight bytes: `u64::MAX` nanoseconds is 584 years.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At(u64);

impl At {
    pub(crate) fn new(at: Option<u64>) -> Self {
        At(at.unwrap_or(u64::MAX))
    }

    pub(crate) fn get(self) -> Option<u64> {
        (self.0 != u64::MAX).then_some(self.0)
    }
}

/// A figure that may be absent, in eight bytes. What is negative or not finite is no figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value(f64);

impl Value {
    pub(crate) fn new(value: Option<f64>) -> Self {
        Value(value.unwrap_or(f64::NAN))
    }

    pub(crate) fn get(self) -> Option<f64> {
        (self.0.is_finite() && self.0 >= 0.0).then_some(self.0)
    }
}

/// One attempt of the measured phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) sched: At,
    pub(crate) start: At,
    /// Last byte of the request accepted by the kernel.
    pub(crate) sent: At,
    pub(crate) end: At,
    /// Start of the request's first attempt; its own where it is the first.
    pub(crate) first_try: At,
    pub(crate) ttft: Value,
    pub(crate) ttfa: Value,
    pub(crate) tpot: Value,
    pub(crate) latency: Value,
    pub(crate) lag: Value,
    pub(crate) connect: Value,
    pub(crate) dns: Value,
    pub(crate) close_delay: Value,
    pub(crate) gap_max: Value,
    pub(crate) char_speed: Value,
    pub(crate) input: Value,
    pub(crate) output: Value,
    pub(crate) reasoning: Value,
    pub(crate) streamed: Value,
    /// Cost of this attempt, USD; one that was never sent costs nothing.
    pub(crate) cost: Value,
    /// Block of an interleaved plan, or episode.
    pub(crate) block: Option<u32>,
    pub(crate) seq: u64,
    /// Which run and time window it is of: places in a plan are numbered anew in each.
    pub(crate) run: u64,
    /// Which prompt: the hash of its id, the same in every cell and run.
    pub(crate) prompt: u64,
    /// The part of an episode, one of [`role`]'s names.
    pub(crate) role: Option<&'static str>,
    pub(crate) http_status: Option<u16>,
    pub(crate) status: Status,
    pub(crate) is_useful: bool,
    pub(crate) is_final: bool,
    pub(crate) is_first_attempt: bool,
    pub(crate) was_streamed: bool,
    /// Whether text was asked for, which has tokens; otherwise vectors.
    pub(crate) generates: bool,
    /// Reasoning hides in the content: when the answer began is not known.
    pub(crate) has_think_tags: bool,
    pub(crate) conn_reused: bool,
    /// Counts come from the pinned tokenizer, not from the server.
    pub(crate) is_estimated: bool,
}

impl Row {
    /// The row of `sample`, whose request was first tried at `first_try`; `char_speed` needs its events, `is_useful`
    /// the workload's word.
    pub(crate) fn new(
        sample: &Sample,
        first_try: Option<u64>,
        char_speed: Option<f64>,
        is_useful: bool,
    ) -> Row {
        let count = |tokens: Option<u64>| Value::new(tokens.map(|n| n as f64));
        let is_new = sample.conn_reused == Some(false);
        let is_estimated = sample.output_tokens.is_none() && sample.counted_output_tokens.is_some();
        Row {
            sched: At::new(sample.sched_ns),
            start: At::new(sample.start_ns),
            sent: At::new(sample.sent_ns),
            end: At::new(sample.end_ns),
            first_try: At::new(first_try.or(sample.start_ns)),
            ttft: Value::new(sample.ttft_ms),
            ttfa: Value::new(sample.ttfa_ms),
            tpot: Value::new(sample.tpot_ms),
            latency: Value::new(sample.request_latency_ms),
            lag: Value::new(sample.schedule_lag_ms),
            connect: Value::new(sample.connect_ms),
            dns: Value::new(ms_between(sample.start_ns, sample.dns_ns).filter(|_| is_new)),
            close_delay: Value::new(ms_between(sample.last_ns, sample.end_ns)),
            gap_max: Value::new(sample.gap_max_ns.map(|ns| ns as f64 / 1e6)),
            char_speed: Value::new(char_speed),
            input: count(sample.input_tokens),
            output: count(sample.output_tokens),
            reasoning: count(sample.reasoning_tokens),
            streamed: count(streamed_tokens(sample)),
            cost: Value::new(cost(sample)),
            block: sample.block,
            seq: sample.seq,
            run: key(&(&sample.run_id, &sample.window)),
            prompt: key(&sample.prompt_id),
            role: sample.role.as_deref().and_then(known_role),
            http_status: sample.http_status,
            is_useful,
            status: sample.status,
            is_final: sample.is_final,
            is_first_attempt: sample.attempt <= 1,
            was_streamed: !has_flag(sample, "not_streamed"),
            generates: !has_flag(sample, VECTORS),
            has_think_tags: has_flag(sample, "think_tags"),
            conn_reused: sample.conn_reused == Some(true),
            is_estimated: is_estimated || sample.tokens_source == TokensSource::Estimated,
        }
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.status == Status::Ok
    }

    /// How long the attempt was watched, ms.
    pub(crate) fn watched(&self) -> Option<f64> {
        ms_between(self.start.get(), self.end.get())
    }

    /// From the first attempt's start to this one's, ms.
    pub(crate) fn since_first_try(&self) -> Option<f64> {
        ms_between(self.first_try.get(), self.start.get())
    }
}

/// The same for the same name in every cell, run and report.
pub(crate) fn key(name: &impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(name)
}

/// As recorded; what was never sent is known to cost nothing.
fn cost(sample: &Sample) -> Option<f64> {
    match &sample.cost_usd {
        Some(text) => text.parse().ok(),
        None => sample.sent_ns.is_none().then_some(0.0),
    }
}

/// The name as a constant, so that a row need not own its text.
fn known_role(given: &str) -> Option<&'static str> {
    let known = [
        role::COLD_FRESH,
        role::WARM_FRESH,
        role::COLD_KEPT,
        role::WARM_KEPT,
        role::REST,
        role::BURST,
        role::RECOVERY,
    ];
    known.into_iter().find(|name| *name == given)
}

/// useful = ok ∧ verdict valid (degraded where the workload says so) ∧ grade passed where graded. Not judged is not
/// useful: a check that could not run has not passed.
pub(crate) fn is_useful(sample: &Sample, degraded_is_useful: bool) -> bool {
    let is_worth_it = match sample.verdict {
        Some(Verdict::Valid) => true,
        Some(Verdict::Degraded) => degraded_is_useful,
        Some(Verdict::Invalid | Verdict::Unverifiable) | None => false,
    };
    sample.status == Status::Ok && is_worth_it && sample.grade != Some(false)
}
