//! The figures of one attempt.

mod gaps;
mod tokens;

use inferometer_record::{Events, Sample, Status};

pub(crate) use tokens::streamed_tokens;

/// One output event of an attempt, stamped with the read that delivered its last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamped {
    /// Nanoseconds from the run's origin.
    pub at_ns: u64,
    /// Characters of output, all channels.
    pub chars: u32,
    /// Tokens, where the server told (running usage, else logprobs).
    pub tokens: Option<u32>,
    /// Carries anything that is not reasoning.
    pub answer: bool,
    /// Carries a piece of a tool call.
    pub tool: bool,
}

/// Fills in every figure of an attempt that has ended. What it needs is set before: the stamps from `sched` to `byte`
/// and `end`, the status, the tokens with their source, and the flags of the decoder. `events` are the output events
/// in order; `own_lateness(from, to)` says by how many nanoseconds the client itself was late between two stamps.
pub fn fill(sample: &mut Sample, events: &[Stamped], own_lateness: &dyn Fn(u64, u64) -> u64) {
    stamp(sample, events);
    gaps::fill(sample, events, own_lateness);
    if is_coalesced(events) {
        flag(sample, "coalesced");
    }
    times(sample);
    tokens::fill(sample, events);
    sample.flags.sort_unstable();
    sample.flags.dedup();
}

/// The record of an attempt's output events for `events.jsonl`; `None` where there were none.
pub fn events_of(sample: &Sample, events: &[Stamped]) -> Option<Events> {
    let first_us = events.first()?.at_ns / 1_000;
    let mut before = first_us;
    let deltas_us = events.iter().skip(1).map(|event| {
        // Differences of whole microseconds: their sum is each stamp again, with no error that grows.
        let at = event.at_ns / 1_000;
        let delta = at.saturating_sub(before);
        before = before.max(at);
        delta
    });
    let deltas_us = deltas_us.collect();
    let any_told = events.iter().any(|event| event.tokens.is_some());
    Some(Events {
        request: sample.request,
        attempt: sample.attempt,
        first_us: Some(first_us),
        deltas_us,
        chars: events.iter().map(|event| event.chars).collect(),
        tokens: any_told.then(|| events.iter().map(|event| event.tokens.unwrap_or(0)).collect()),
    })
}

/// first, answer and last are the stamps of output events and of nothing else.
fn stamp(sample: &mut Sample, events: &[Stamped]) {
    sample.chunks = events.len() as u64;
    sample.output_chars = events.iter().map(|event| u64::from(event.chars)).sum();
    sample.first_ns = events.first().map(|event| event.at_ns);
    // Reasoning between tags in the content looks like an answer: when the answer began is then not known.
    let is_telling = !has_flag(sample, "think_tags");
    sample.answer_ns = events.iter().find(|event| event.answer && is_telling).map(|event| event.at_ns);
    sample.last_ns = events.last().map(|event| event.at_ns);
}

/// ttft = first − start, ttfa = answer − start: null for an answer that came in one piece, whose "first token" would be
/// its end. Latency = last − start of an ok answer; of one without any output, end − start. Lag = start − sched.
/// connect = end of the last phase − start, on a new connection.
fn times(sample: &mut Sample) {
    let since_start = |at: Option<u64>| ms_between(sample.start_ns, at);
    let streamed = !has_flag(sample, "not_streamed");
    let ttft_ms = since_start(sample.first_ns).filter(|_| streamed);
    let ttfa_ms = since_start(sample.answer_ns).filter(|_| streamed);
    let is_ok = sample.status == Status::Ok;
    let request_latency_ms = since_start(sample.last_ns.or(sample.end_ns)).filter(|_| is_ok);
    let is_new = sample.conn_reused == Some(false);
    let connect_ms = since_start(sample.tls_ns.or(sample.connect_ns)).filter(|_| is_new);
    sample.ttft_ms = ttft_ms;
    sample.ttfa_ms = ttfa_ms;
    sample.request_latency_ms = request_latency_ms;
    sample.connect_ms = connect_ms;
    sample.schedule_lag_ms = ms_between(sample.sched_ns, sample.start_ns);
}

/// Milliseconds between two stamps of one monotonic clock, never negative; `None` unless both happened.
pub(crate) fn ms_between(from: Option<u64>, to: Option<u64>) -> Option<f64> {
    Some(to?.saturating_sub(from?) as f64 / 1e6)
}

/// At least so many output events before `coalesced` is judged.
const COALESCED_MIN_EVENTS: usize = 10;

/// At least ten output events of which over 90 % share at most two stamps: something between server and client held
/// the stream back, and its gaps, tpot and TTFT say nothing about the server.
fn is_coalesced(events: &[Stamped]) -> bool {
    if events.len() < COALESCED_MIN_EVENTS {
        return false;
    }
    let (mut most, mut second) = (0, 0);
    for same_stamp in events.chunk_by(|a, b| a.at_ns == b.at_ns) {
        let count = same_stamp.len();
        if count > most {
            (most, second) = (count, most);
        } else {
            second = second.max(count);
        }
    }
    (most + second) * 10 > events.len() * 9
}

/// The flag of an attempt that asked for vectors: it has no output tokens, be it ok or failed.
pub const VECTORS: &str = "vectors";

/// The flag of an attempt that was refused because too much was asked.
pub const THROTTLED: &str = "throttled";

pub(crate) fn has_flag(sample: &Sample, name: &str) -> bool {
    sample.flags.iter().any(|flag| flag == name)
}

pub(crate) fn flag(sample: &mut Sample, name: &str) {
    if !has_flag(sample, name) {
        sample.flags.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests;
