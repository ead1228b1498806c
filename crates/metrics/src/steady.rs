//! The steady part of a cell: where it lies, and its rates.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use inferometer_stats::{ALPHA, Prob, batch, quantile, ratio, steady as mser};

use crate::context::{Arrival, Window};
use crate::row::Row;
use crate::throughput::{Inputs, is_counted};
use crate::{Num, Rate, Steady};

/// Fewest requests that a steady part is worth naming for.
const MIN_REQUESTS: usize = 20;

/// Batches that a steady part is cut into: the fewest that can say how their means vary, since long ones depend least
/// on each other.
const BATCHES: usize = batch::MIN_BATCHES;

/// An interval narrower than this share of its value is rounding, not spread.
const NO_SPREAD: f64 = 1e-9;

/// The steady part with its rates; `None` where it cannot be found or under 20 requests are left in it. Of a cell in
/// several slices it is what is steady in each of them: one slice without such a part leaves none.
pub(crate) fn of(inputs: &Inputs<'_>) -> Option<Steady> {
    let spans = inputs.spans.as_slice();
    let is_whole = spans.len() == 1;
    let is_serial = !is_whole && matches!(inputs.context.arrival, Arrival::Closed { slots: 1 });
    let find = |span: &Window| -> Option<Window> {
        match inputs.context.arrival {
            // A single slot in turn with other targets works through all of its slice: nothing ramps or drains.
            Arrival::Closed { .. } if is_serial => Some(*span),
            Arrival::Closed { slots } => closed_loop(inputs, *span, is_whole, slots as usize),
            Arrival::Open { .. } => open_loop(inputs, *span),
            // Episodes have no steady part: they are about what comes before one.
            Arrival::ColdStart { .. } | Arrival::Burst { .. } | Arrival::Unknown => None,
        }
    };
    let parts: Vec<Window> = spans.iter().map(find).collect::<Option<_>>()?;
    let (first, last) = (parts.first()?, parts.last()?);
    // A part begins with an end, that of a request which lies before it.
    let mut ended: Vec<&Row> = inputs
        .rows
        .iter()
        .filter(|row| row.is_final && row.is_ok())
        .filter(|row| row.end.get().is_some_and(|end| is_in(&parts, end)))
        .collect();
    if ended.len() < MIN_REQUESTS {
        return None;
    }
    ended.sort_by_key(|row| row.end.get());
    // Batches of whole requests, as slices of a single slot are, see all of what a request does.
    let life_s = if is_serial { 0.0 } else { mean_life_s(&ended)? };
    let batches = if is_serial { 1 } else { BATCHES.div_ceil(parts.len()) };
    let amounts = |of: fn(&Row) -> Option<f64>| -> Vec<(u64, f64)> {
        ended.iter().filter_map(|row| Some((row.end.get()?, of(row)?))).collect()
    };
    let all = amounts(|row| row.streamed.get());
    let useful = amounts(|row| row.streamed.get().filter(|_| row.is_useful));
    let requests = amounts(|_| Some(1.0));
    let input = amounts(|row| row.input.get());
    let pooled =
        |of: &dyn Fn(Window) -> Option<Batched>| batch_rate(parts.iter().map(|part| of(*part)), life_s);
    let is_counted = is_counted(inputs);
    let tokens = |part| {
        // The last token of a slice stands on its edge, where a cell of the timeline would be cut.
        if is_serial { at_ends(&all, part, batches) } else { tokens(inputs, part, batches) }
    };
    Some(Steady {
        window: Window { from_ns: first.from_ns, to_ns: last.to_ns },
        rule: if matches!(inputs.context.arrival, Arrival::Closed { .. }) { "closed_loop" } else { "mser5" }
            .to_owned(),
        requests: ended.len() as u64,
        output_token_throughput: if is_counted { pooled(&tokens) } else { Rate::default() },
        useful_token_throughput: if is_counted {
            pooled(&|part| at_ends(&useful, part, batches))
        } else {
            Rate::default()
        },
        request_throughput: pooled(&|part| at_ends(&requests, part, batches)),
        input_token_throughput: if input.is_empty() {
            Rate::default()
        } else {
            pooled(&|part| at_ends(&input, part, batches))
        },
    })
}

/// Whether `end` lies in one of `parts`, which are in order. An end on a part's first instant lies before it.
fn is_in(parts: &[Window], end: u64) -> bool {
    let next = parts.partition_point(|part| part.from_ns < end);
    next.checked_sub(1).and_then(|at| parts.get(at)).is_some_and(|part| end <= part.to_ns)
}

/// How long a request took, at the mean.
fn mean_life_s(ended: &[&Row]) -> Option<f64> {
    let (sum, n) =
        ended.iter().filter_map(|row| row.watched()).fold((0.0, 0_u64), |(sum, n), ms| (sum + ms, n + 1));
    (n > 0).then(|| sum / n as f64 / 1e3)
}

/// A part cut into batches of equal length: what came in each.
struct Batched {
    sums: Vec<f64>,
    batch_s: f64,
}

/// Output tokens by their stamps. `None`: too short.
fn tokens(inputs: &Inputs<'_>, part: Window, batches: usize) -> Option<Batched> {
    let width_ns = inputs.timeline.width_ns();
    let series = inputs.timeline.series(part.from_ns, width_ns, inputs.tokens_per_event);
    // Only whole cells of the timeline: a cut one would look like a slow one. After the last token there are none.
    let n = (part.to_ns.saturating_sub(series.from_ns) / width_ns) as usize;
    if n < batches {
        return None;
    }
    let mut sums = vec![0.0; batches];
    for (i, tokens) in series.tokens.iter().take(n).enumerate() {
        // In units of 1 / (n · batches) of the part, a cell is `batches` long and a batch n: an edge may cut a cell.
        let (from, batch) = (i * batches, i * batches / n);
        let inside = ((batch + 1) * n - from).min(batches) as f64 / batches as f64;
        for (at, share) in [(batch, inside), (batch + 1, 1.0 - inside)] {
            if let Some(sum) = sums.get_mut(at) {
                *sum += tokens * share;
            }
        }
    }
    Some(Batched { sums, batch_s: n as f64 * width_ns as f64 / 1e9 / batches as f64 })
}

/// What comes with the end of an answer; `ends` in order. A batch has its later edge inside, as the whole part has.
#[expect(clippy::unnecessary_wraps, reason = "as `tokens`, which may find a part too short")]
fn at_ends(ends: &[(u64, f64)], part: Window, batches: usize) -> Option<Batched> {
    let span = part.to_ns - part.from_ns;
    let mut sums = vec![0.0; batches];
    let from = ends.partition_point(|(end, _)| *end <= part.from_ns);
    for (end, amount) in ends.iter().skip(from).take_while(|(end, _)| *end <= part.to_ns) {
        let since = u128::from(end - part.from_ns).saturating_sub(1);
        if let Some(sum) = sums.get_mut((since * batches as u128 / u128::from(span)) as usize) {
            *sum += amount;
        }
    }
    Some(Batched { sums, batch_s: span as f64 / 1e9 / batches as f64 })
}

/// The rate per second over all parts and its interval, both from the same batches. There is no interval where these
/// say nothing of how the rate varies: shorter than a request, so that each sees another part of what a request does;
/// or all alike, as when their length is a multiple of a server's rhythm.
fn batch_rate(parts: impl Iterator<Item = Option<Batched>>, life_s: f64) -> Rate {
    let Some(parts) = parts.collect::<Option<Vec<Batched>>>() else {
        return Rate { note: Some("too short for a rate".to_owned()), ..Rate::default() };
    };
    let span_s: f64 = parts.iter().map(|part| part.batch_s * part.sums.len() as f64).sum();
    let value = parts.iter().flat_map(|part| &part.sums).sum::<f64>() / span_s;
    let shortest_s = parts.iter().map(|part| part.batch_s).fold(f64::INFINITY, f64::min);
    let rates: Vec<f64> =
        parts.iter().flat_map(|part| part.sums.iter().map(|sum| sum / part.batch_s)).collect();
    let pairs =
        || parts.iter().flat_map(|part| part.sums.iter().map(|sum| (*sum, part.batch_s))).collect::<Vec<_>>();
    // Batches of slices differ in length: the ratio of sums, not the mean of ratios.
    let bounds = match parts.len() {
        1 => batch::batch_means_interval(&rates, ALPHA).map(|found| found.bounds),
        _ if rates.len() < BATCHES => None,
        _ => ratio::fieller(&pairs(), ALPHA).map(|found| found.bounds),
    };
    let (Some(lo), Some(hi)) = (bounds.and_then(|b| b.lo), bounds.and_then(|b| b.hi)) else {
        return without_interval(value, "no bound is known");
    };
    if shortest_s < life_s {
        return without_interval(value, "too short for 10 batches as long as a request");
    }
    if hi - lo <= NO_SPREAD * hi {
        return without_interval(value, "its 10 batches are alike");
    }
    Rate { value: Num::new(value), lo: Num::new(lo.max(0.0)), hi: Num::new(hi), note: None }
}

fn without_interval(value: f64, why: &str) -> Rate {
    Rate { value: Num::new(value), note: Some(format!("no interval: {why}")), ..Rate::default() }
}

/// The rows that started in `span`.
fn started_in(rows: &[Row], span: Window) -> impl Iterator<Item = &Row> {
    rows.iter().filter(move |row| row.start.get().is_some_and(|start| span.contains(start)))
}

/// From the instant at which every slot has finished a request to the one at which a slot finds no work: as the runner
/// saw them, else as the samples show them.
fn closed_loop(inputs: &Inputs<'_>, span: Window, is_whole: bool, slots: usize) -> Option<Window> {
    // What the runner saw is of a cell in one piece.
    let told = |at: Option<u64>| at.filter(|_| is_whole);
    let rows: Vec<&Row> =
        if is_whole { inputs.rows.iter().collect() } else { started_in(inputs.rows, span).collect() };
    let all_finished = || all_slots_finished(&rows, slots);
    let from_ns = told(inputs.context.all_slots_finished_ns).or_else(all_finished)?.max(span.from_ns);
    let to_ns = told(inputs.context.first_idle_ns).or_else(|| first_idle(&rows))?.min(span.to_ns);
    (from_ns < to_ns).then_some(Window { from_ns, to_ns })
}

/// The last end among the requests that are in flight when as many as there are slots first are: by then every slot has
/// begun, and holds one of them. To count starts would not do: in a ramp, early slots ask again before late ones begin.
fn all_slots_finished(rows: &[&Row], slots: usize) -> Option<u64> {
    // A slot is held from the instant at which it was free to its request's last end, waits between attempts included.
    let mut held: Vec<(u64, u64)> = rows
        .iter()
        .filter(|row| row.is_final)
        .filter_map(|row| {
            let free = if row.is_first_attempt { row.sched.get() } else { None };
            Some((free.or(row.first_try.get())?, row.end.get()?))
        })
        .collect();
    held.sort_unstable();
    let mut in_flight = BinaryHeap::new();
    for (from, to) in held {
        while in_flight.peek().is_some_and(|Reverse(end)| *end <= from) {
            in_flight.pop();
        }
        in_flight.push(Reverse(to));
        if in_flight.len() >= slots {
            return in_flight.into_iter().map(|Reverse(end)| end).max();
        }
    }
    None
}

/// The first end of a request after the last start of one.
fn first_idle(rows: &[&Row]) -> Option<u64> {
    let last_start =
        rows.iter().filter(|row| row.is_first_attempt).filter_map(|row| row.start.get()).max()?;
    let ends = rows.iter().filter(|row| row.is_final).filter_map(|row| row.end.get());
    ends.filter(|end| *end >= last_start).min()
}

/// From one request's length after the first start that MSER-5 on TTFT keeps (before that, what ends is less than what
/// starts: the pipeline fills) to the last planned start (after that it drains).
fn open_loop(inputs: &Inputs<'_>, span: Window) -> Option<Window> {
    let ok = started_in(inputs.rows, span).filter(|row| row.is_ok());
    let (starts, ttft): (Vec<u64>, Vec<f64>) =
        ok.filter_map(|row| Some((row.start.get()?, row.ttft.get().or(row.latency.get())?))).unzip();
    let cut = mser::mser5(&ttft).filter(|cut| cut.settled)?;
    let kept = *starts.get(cut.skip)?;
    let from_ns = kept.saturating_add(nearly_longest_ns(inputs.rows, kept, span)?).max(span.from_ns);
    let planned = started_in(inputs.rows, span).filter(|row| row.is_first_attempt);
    let last = planned.filter_map(|row| row.sched.get().or(row.start.get())).max()?;
    let to_ns = last.min(span.to_ns);
    (from_ns < to_ns).then_some(Window { from_ns, to_ns })
}

/// The p95 of how long the requests took that started at `from_ns` or later and ended ok, backoffs included: after it,
/// few are missing from the ends. The median would leave out half of what a wide distribution still owes.
fn nearly_longest_ns(rows: &[Row], from_ns: u64, span: Window) -> Option<u64> {
    let kept = started_in(rows, span).filter(|row| row.is_final && row.is_ok());
    let kept = kept.filter(|row| row.start.get().is_some_and(|start| start >= from_ns));
    let mut lives: Vec<u64> =
        kept.filter_map(|row| row.end.get()?.checked_sub(row.first_try.get()?)).collect();
    lives.sort_unstable();
    quantile::nearest(&lives, Prob::P95)
}
