//! Tokens and requests per second: over the window, over its steady part, and over time.

use inferometer_stats::{ALPHA, batch, steady};

use crate::context::{Arrival, CellContext, Window};
use crate::row::Row;
use crate::timeline::{Inside, Timeline};
use crate::{Buckets, Num, Rate, Steady, Throughput};

/// Fewest requests that a steady part is worth naming for.
const STEADY_MIN_REQUESTS: usize = 20;

/// Steps a steady part is cut into before batches are made of them.
const STEADY_STEPS: u64 = 200;

/// Width of a bucket over time, ns.
const BUCKET_NS: u64 = 1_000_000_000;

/// Buckets over time that a summary holds: five hours of seconds. Beyond it, ten become one.
const MAX_BUCKETS: usize = 20_000;

/// What throughput is made of.
pub(crate) struct Inputs<'a> {
    pub(crate) context: &'a CellContext,
    pub(crate) window: Window,
    /// Every attempt of the measured phase, in start order.
    pub(crate) rows: &'a [Row],
    pub(crate) timeline: &'a Timeline,
    /// Tokens per output event over finished requests: what an event of unknown count stands for.
    pub(crate) tokens_per_event: f64,
}

/// The cell's throughput.
pub(crate) fn of(inputs: &Inputs<'_>) -> Throughput {
    let seconds = inputs.window.seconds();
    let inside = &inputs.timeline.inside;
    let all = |tokens: u64, events: u64| tokens as f64 + events as f64 * inputs.tokens_per_event;
    let tokens = all(inside.tokens, inside.events);
    let unfinished = all(inside.unfinished_tokens, inside.unfinished_events);
    let per_second = |amount: f64| seconds.and_then(|seconds| Num::new(amount / seconds));
    let includes_unfinished = inside.unfinished_tokens > 0 || inside.unfinished_events > 0;
    let ended = ok_ends(inputs.rows).filter(|end| inputs.window.contains(*end)).count();
    let note = includes_unfinished.then(|| "including tokens of unfinished requests".to_owned());
    let (buckets, peak, mean) = buckets(inputs);
    Throughput {
        window_s: seconds.and_then(Num::new),
        output_token_throughput: Rate { value: per_second(tokens), note, ..Rate::default() },
        request_throughput: Rate { value: per_second(ended as f64), ..Rate::default() },
        useful_token_throughput: per_second(all(inside.useful_tokens, inside.useful_events)),
        output_character_throughput: per_second(inside.chars as f64),
        output_tokens: Num::new(tokens),
        unfinished_tokens: Num::new(unfinished),
        includes_unfinished,
        sources: sources(inputs.rows, inside),
        steady: steady_part(inputs),
        buckets: Some(buckets),
        peak,
        mean,
        notes: notes(inputs),
    }
}

/// Ends of the requests that ended ok.
fn ok_ends(rows: &[Row]) -> impl Iterator<Item = u64> + '_ {
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
    if inputs.context.limited_by_count {
        notes.push("limited by count: ramp and drain are in the window".to_owned());
    }
    let lumped = inputs.timeline.without_events;
    if lumped > 0 {
        notes.push(format!(
            "{lumped} attempts without recorded events: their tokens count at their last event"
        ));
    }
    notes
}

/// Tokens over time, and the fullest and the mean of the buckets that lie wholly inside the window.
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
        inputs.window.from_ns <= from && from.saturating_add(series.step_ns) <= inputs.window.to_ns
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

/// The steady part with its rates; `None` where it cannot be found or under 20 requests are left in it.
fn steady_part(inputs: &Inputs<'_>) -> Option<Steady> {
    let (span, rule) = match inputs.context.arrival {
        Arrival::Closed { slots } => (closed_loop(inputs, slots as usize)?, "closed_loop"),
        Arrival::Open { .. } => (open_loop(inputs)?, "mser5"),
        Arrival::Unknown => return None,
    };
    let step = ((span.to_ns.saturating_sub(span.from_ns)) / STEADY_STEPS).max(inputs.timeline.width_ns());
    let series = inputs.timeline.series(span.from_ns, step, inputs.tokens_per_event);
    // Only whole steps: a cut one would look like a slow one.
    let steps = (span.to_ns.checked_sub(series.from_ns)? / series.step_ns) as usize;
    let window = Window {
        from_ns: series.from_ns,
        to_ns: series.from_ns.saturating_add(series.step_ns.saturating_mul(steps as u64)),
    };
    let ends: Vec<u64> = ok_ends(inputs.rows).filter(|end| window.contains(*end)).collect();
    if ends.len() < STEADY_MIN_REQUESTS {
        return None;
    }
    let mut tokens = series.tokens;
    tokens.resize(steps, 0.0);
    let mut requests = vec![0.0; steps];
    for end in &ends {
        if let Some(count) = requests.get_mut(((end - window.from_ns) / series.step_ns) as usize) {
            *count += 1.0;
        }
    }
    let step_s = series.step_ns as f64 / 1e9;
    Some(Steady {
        window,
        rule: rule.to_owned(),
        requests: ends.len() as u64,
        output_token_throughput: batch_rate(&tokens, step_s),
        request_throughput: batch_rate(&requests, step_s),
    })
}

/// The mean per second over all steps; its interval from batch means.
fn batch_rate(per_step: &[f64], step_s: f64) -> Rate {
    let mean = per_step.iter().sum::<f64>() / per_step.len() as f64 / step_s;
    let bounds = batch::batch_means_interval(per_step, ALPHA).map(|batches| batches.bounds);
    let bound = |of: Option<f64>| of.map(|bound| bound.max(0.0) / step_s).and_then(Num::new);
    Rate {
        value: Num::new(mean),
        lo: bound(bounds.and_then(|bounds| bounds.lo)),
        hi: bound(bounds.and_then(|bounds| bounds.hi)),
        note: bounds.is_none().then(|| "no interval: under 10 batches".to_owned()),
    }
}

/// From the instant at which every slot has finished a request to the one at which a slot finds no work: as the runner
/// saw them; else the last end among the first requests of as many slots, and the first end after the last start.
fn closed_loop(inputs: &Inputs<'_>, slots: usize) -> Option<Window> {
    let firsts: Vec<&Row> = inputs.rows.iter().filter(|row| row.is_first_attempt).take(slots).collect();
    let all_finished = || {
        let is_complete = firsts.len() == slots;
        firsts.iter().map(|row| row.end.get()).max().flatten().filter(|_| is_complete)
    };
    let first_idle = || {
        let last_start = inputs.rows.iter().filter_map(|row| row.start.get()).max()?;
        inputs.rows.iter().filter_map(|row| row.end.get()).filter(|end| *end >= last_start).min()
    };
    let from_ns = inputs.context.all_slots_finished_ns.or_else(all_finished)?.max(inputs.window.from_ns);
    let to_ns = inputs.context.first_idle_ns.or_else(first_idle)?.min(inputs.window.to_ns);
    (from_ns < to_ns).then_some(Window { from_ns, to_ns })
}

/// From the start of the first request that MSER-5 on TTFT keeps to the end of the window.
fn open_loop(inputs: &Inputs<'_>) -> Option<Window> {
    let ok = inputs.rows.iter().filter(|row| row.is_ok());
    let (starts, ttft): (Vec<u64>, Vec<f64>) =
        ok.filter_map(|row| Some((row.start.get()?, row.ttft.get().or(row.latency.get())?))).unzip();
    let cut = steady::mser5(&ttft).filter(|cut| cut.settled)?;
    let from_ns = (*starts.get(cut.skip)?).max(inputs.window.from_ns);
    (from_ns < inputs.window.to_ns).then_some(Window { from_ns, to_ns: inputs.window.to_ns })
}
