//! Tokens and requests per second: over the window, and over time.

use crate::context::CellContext;
use crate::row::Row;
use crate::spans::Spans;
use crate::timeline::{Inside, Timeline};
use crate::{Buckets, Num, Rate, Throughput, steady};

/// Width of a bucket over time, ns.
const BUCKET_NS: u64 = 1_000_000_000;

/// Buckets over time that a summary holds: five hours of seconds. Beyond it, ten become one.
const MAX_BUCKETS: usize = 20_000;

/// Why there is no throughput where parts of a resumed run overlap.
const NO_TIME: &str = "the parts of this resumed run overlap on its clock: nothing can be said per second";

/// What throughput is made of.
pub(crate) struct Inputs<'a> {
    pub(crate) context: &'a CellContext,
    /// The time that was the cell's.
    pub(crate) spans: &'a Spans,
    /// Every attempt of the measured phase, in start order.
    pub(crate) rows: &'a [Row],
    pub(crate) timeline: &'a Timeline,
    /// Tokens per output event over finished requests: what an event of unknown count stands for.
    pub(crate) tokens_per_event: f64,
}

/// The cell's throughput.
pub(crate) fn of(inputs: &Inputs<'_>) -> Throughput {
    if inputs.spans.as_slice().is_empty() {
        return Throughput { notes: vec![NO_TIME.to_owned()], ..Throughput::default() };
    }
    let seconds = inputs.spans.seconds();
    let is_held_back = inputs.context.held_back().is_some();
    let inside = &inputs.timeline.inside;
    let all = |tokens: u64, events: u64| tokens as f64 + events as f64 * inputs.tokens_per_event;
    let tokens = all(inside.tokens, inside.events);
    let unfinished = all(inside.unfinished_tokens, inside.unfinished_events);
    let per_second = |amount: f64| seconds.and_then(|seconds| Num::new(amount / seconds));
    let known = |rate: Option<Num>| rate.filter(|_| is_counted(inputs));
    let includes_unfinished = inside.unfinished_tokens > 0 || inside.unfinished_events > 0;
    let ended = ok_ends(inputs.rows).filter(|end| inputs.spans.contains(*end)).count();
    let is_text = is_text(inputs.rows);
    let note = includes_unfinished.then(|| "including tokens of unfinished requests".to_owned());
    let (buckets, peak, mean) = buckets(inputs);
    Throughput {
        window_s: seconds.and_then(Num::new),
        output_token_throughput: Rate { value: known(per_second(tokens)), note, ..Rate::default() },
        request_throughput: Rate { value: per_second(ended as f64), ..Rate::default() },
        input_token_throughput: Rate { value: input_tokens(inputs).and_then(per_second), ..Rate::default() },
        // Has no note of its own, and is what targets are ranked by.
        useful_token_throughput: known(per_second(all(inside.useful_tokens, inside.useful_events)))
            .filter(|_| !is_held_back),
        output_character_throughput: per_second(inside.chars as f64).filter(|_| is_text),
        output_tokens: known(Num::new(tokens)),
        unfinished_tokens: known(Num::new(unfinished)),
        includes_unfinished,
        sources: sources(inputs.rows, inside),
        steady: if is_held_back { None } else { steady::of(inputs) },
        buckets: Some(buckets).filter(|_| is_text),
        peak: known(peak),
        mean: known(mean),
        notes: notes(inputs),
    }
}

/// Whether any count of tokens is known: the server's, ours, or that of output events. Where nothing was answered, 0 is
/// the count; where answers came that tell nothing of their tokens, there is none.
pub(crate) fn is_counted(inputs: &Inputs<'_>) -> bool {
    let inside = &inputs.timeline.inside;
    let is_told = || inputs.rows.iter().any(|row| row.is_ok() && row.streamed.get().is_some());
    let is_answered = inputs.rows.iter().any(Row::is_ok);
    is_text(inputs.rows) && (inside.tokens > 0 || inside.events > 0 || !is_answered || is_told())
}

/// Whether text was asked for: vectors have no tokens and no characters, not 0 of them.
fn is_text(rows: &[Row]) -> bool {
    rows.is_empty() || rows.iter().any(|row| row.generates)
}

/// Prompt tokens of the requests that ended ok inside the window; `None` where none of them tells its own.
fn input_tokens(inputs: &Inputs<'_>) -> Option<f64> {
    let is_inside = |row: &&Row| row.end.get().is_some_and(|end| inputs.spans.contains(end));
    let ended = inputs.rows.iter().filter(|row| row.is_final && row.is_ok()).filter(is_inside);
    ended.filter_map(|row| row.input.get()).reduce(|sum, tokens| sum + tokens)
}

/// Ends of the requests that ended ok.
pub(crate) fn ok_ends(rows: &[Row]) -> impl Iterator<Item = u64> + '_ {
    rows.iter().filter(|row| row.is_final && row.is_ok()).filter_map(|row| row.end.get())
}

fn sources(rows: &[Row], inside: &Inside) -> Vec<String> {
    let has = |estimated: bool| {
        rows.iter().any(|row| row.streamed.get().is_some() && row.is_estimated == estimated)
    };
    let named = [("server", has(false)), ("estimated", has(true)), ("events", inside.events > 0)];
    named.into_iter().filter(|(_, used)| *used).map(|(name, _)| name.to_owned()).collect()
}

fn notes(inputs: &Inputs<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(share) = inputs.context.held_back() {
        let percent = share * 100.0;
        notes.push(format!(
            "held back by slower targets {percent:.0} % of the time: not what this target can do"
        ));
    }
    if inputs.context.limited_by_count {
        notes.push("limited by count: ramp and drain are in the window".to_owned());
    }
    let pieces = inputs.spans.as_slice().len();
    if pieces > 1 {
        notes.push(format!("in {pieces} slices: what lies between them is not this target's time"));
    }
    let lumped = inputs.timeline.without_events;
    if lumped > 0 {
        notes.push(format!(
            "{lumped} attempts without recorded events: their tokens count at their last event"
        ));
    }
    notes
}

/// Tokens over time, and the fullest and the mean of the buckets that lie wholly inside the cell's time.
fn buckets(inputs: &Inputs<'_>) -> (Buckets, Option<Num>, Option<Num>) {
    let timeline = inputs.timeline;
    let by = |width_ns| timeline.series(timeline.origin_ns(), width_ns, inputs.tokens_per_event);
    let mut series = by(BUCKET_NS);
    while series.tokens.len() > MAX_BUCKETS {
        series = by(series.step_ns.saturating_mul(10));
    }
    let width_s = series.step_ns as f64 / 1e9;
    let is_full = |index: usize| {
        let from = series.from_ns.saturating_add(series.step_ns.saturating_mul(index as u64));
        inputs.spans.covers(from, from.saturating_add(series.step_ns))
    };
    let full: Vec<f64> = series
        .tokens
        .iter()
        .enumerate()
        .filter(|(index, _)| is_full(*index))
        .map(|(_, tokens)| *tokens)
        .collect();
    let peak = full.iter().copied().reduce(f64::max);
    let mean = if full.is_empty() { None } else { Some(full.iter().sum::<f64>() / full.len() as f64) };
    let rate = |tokens: Option<f64>| tokens.and_then(|tokens| Num::new(tokens / width_s));
    let tokens = series.tokens.iter().filter_map(|tokens| Num::new(*tokens)).collect();
    (Buckets { width_s, tokens, full: full.len() as u64 }, rate(peak), rate(mean))
}
