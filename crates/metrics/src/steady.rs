//! The steady part of a cell: where it lies, and its rates.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use inferometer_stats::{ALPHA, Prob, batch, quantile, steady as mser};

use crate::context::{Arrival, Window};
use crate::row::Row;
use crate::throughput::{Inputs, is_counted, ok_ends};
use crate::{Num, Rate, Steady};

/// Fewest requests that a steady part is worth naming for.
const MIN_REQUESTS: usize = 20;

/// Batches that a steady part is cut into: the fewest that can say how their means vary, since long ones depend least
/// on each other.
const BATCHES: usize = batch::MIN_BATCHES;

/// An interval narrower than this share of its value is rounding, not spread.
const NO_SPREAD: f64 = 1e-9;

/// The steady part with its rates; `None` where it cannot be found or under 20 requests are left in it.
pub(crate) fn of(inputs: &Inputs<'_>) -> Option<Steady> {
    let (window, rule) = match inputs.context.arrival {
        Arrival::Closed { slots } => (closed_loop(inputs, slots as usize)?, "closed_loop"),
        Arrival::Open { .. } => (open_loop(inputs)?, "mser5"),
        // Episodes have no steady part: they are about what comes before one.
        Arrival::ColdStart { .. } | Arrival::Burst { .. } | Arrival::Unknown => return None,
    };
    // The part begins with an end, that of a request which lies before it.
    let ends: Vec<u64> =
        ok_ends(inputs.rows).filter(|end| window.from_ns < *end && *end <= window.to_ns).collect();
    if ends.len() < MIN_REQUESTS {
        return None;
    }
    let life_s = mean_life_s(inputs.rows, window)?;
    Some(Steady {
        window,
        rule: rule.to_owned(),
        requests: ends.len() as u64,
        output_token_throughput: if is_counted(inputs) {
            tokens(inputs, window, life_s)
        } else {
            Rate::default()
        },
        request_throughput: requests(&ends, window, life_s),
    })
}

/// How long a request that ended ok in `window` took, at the mean.
fn mean_life_s(rows: &[Row], window: Window) -> Option<f64> {
    let ended = rows.iter().filter(|row| row.is_final && row.is_ok());
    let ended = ended.filter(|row| row.end.get().is_some_and(|end| window.contains(end)));
    let (sum, n) = ended.filter_map(Row::watched).fold((0.0, 0_u64), |(sum, n), ms| (sum + ms, n + 1));
    (n > 0).then(|| sum / n as f64 / 1e3)
}

fn tokens(inputs: &Inputs<'_>, window: Window, life_s: f64) -> Rate {
    let width_ns = inputs.timeline.width_ns();
    let series = inputs.timeline.series(window.from_ns, width_ns, inputs.tokens_per_event);
    // Only whole cells of the timeline: a cut one would look like a slow one. After the last token there are none.
    let n = (window.to_ns.saturating_sub(series.from_ns) / width_ns) as usize;
    if n < BATCHES {
        return Rate { note: Some("too short for a rate".to_owned()), ..Rate::default() };
    }
    let mut batches = [0.0; BATCHES];
    for (i, tokens) in series.tokens.iter().take(n).enumerate() {
        // In units of 1 / (n · BATCHES) of the part, a cell is BATCHES long and a batch n: an edge may cut a cell.
        let (from, batch) = (i * BATCHES, i * BATCHES / n);
        let inside = ((batch + 1) * n - from).min(BATCHES) as f64 / BATCHES as f64;
        for (at, share) in [(batch, inside), (batch + 1, 1.0 - inside)] {
            if let Some(sum) = batches.get_mut(at) {
                *sum += tokens * share;
            }
        }
    }
    batch_rate(&batches, n as f64 * width_ns as f64 / 1e9, life_s)
}

/// A batch has its later edge inside, as the whole part has.
fn requests(ends: &[u64], window: Window, life_s: f64) -> Rate {
    let span = window.to_ns - window.from_ns;
    let mut batches = [0.0; BATCHES];
    for end in ends {
        let since = u128::from(end - window.from_ns).saturating_sub(1);
        if let Some(count) = batches.get_mut((since * BATCHES as u128 / u128::from(span)) as usize) {
            *count += 1.0;
        }
    }
    batch_rate(&batches, span as f64 / 1e9, life_s)
}

/// The rate per second over `span_s` and its interval, both from the same batches. There is no interval where these
/// say nothing of how the rate varies: shorter than a request, so that each sees another part of what a request does;
/// or all alike, as when their length is a multiple of a server's rhythm.
fn batch_rate(batches: &[f64; BATCHES], span_s: f64, life_s: f64) -> Rate {
    let batch_s = span_s / BATCHES as f64;
    let value = batches.iter().sum::<f64>() / span_s;
    let bounds = batch::batch_means_interval(batches, ALPHA).map(|found| found.bounds);
    let (Some(lo), Some(hi)) = (bounds.and_then(|b| b.lo), bounds.and_then(|b| b.hi)) else {
        return without_interval(value, "no bound is known");
    };
    if batch_s < life_s {
        return without_interval(value, "too short for 10 batches as long as a request");
    }
    if hi - lo <= NO_SPREAD * hi {
        return without_interval(value, "its 10 batches are alike");
    }
    Rate {
        value: Num::new(value),
        lo: Num::new(lo.max(0.0) / batch_s),
        hi: Num::new(hi / batch_s),
        note: None,
    }
}

fn without_interval(value: f64, why: &str) -> Rate {
    Rate { value: Num::new(value), note: Some(format!("no interval: {why}")), ..Rate::default() }
}

/// From the instant at which every slot has finished a request to the one at which a slot finds no work: as the runner
/// saw them, else as the samples show them.
fn closed_loop(inputs: &Inputs<'_>, slots: usize) -> Option<Window> {
    let all_finished = || all_slots_finished(inputs.rows, slots);
    let from_ns = inputs.context.all_slots_finished_ns.or_else(all_finished)?.max(inputs.window.from_ns);
    let to_ns = inputs.context.first_idle_ns.or_else(|| first_idle(inputs.rows))?.min(inputs.window.to_ns);
    (from_ns < to_ns).then_some(Window { from_ns, to_ns })
}

/// The last end among the requests that are in flight when as many as there are slots first are: by then every slot has
/// begun, and holds one of them. To count starts would not do: in a ramp, early slots ask again before late ones begin.
fn all_slots_finished(rows: &[Row], slots: usize) -> Option<u64> {
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
fn first_idle(rows: &[Row]) -> Option<u64> {
    let last_start =
        rows.iter().filter(|row| row.is_first_attempt).filter_map(|row| row.start.get()).max()?;
    let ends = rows.iter().filter(|row| row.is_final).filter_map(|row| row.end.get());
    ends.filter(|end| *end >= last_start).min()
}

/// From one request's length after the first start that MSER-5 on TTFT keeps (before that, what ends is less than what
/// starts: the pipeline fills) to the last planned start (after that it drains).
fn open_loop(inputs: &Inputs<'_>) -> Option<Window> {
    let ok = inputs.rows.iter().filter(|row| row.is_ok());
    let (starts, ttft): (Vec<u64>, Vec<f64>) =
        ok.filter_map(|row| Some((row.start.get()?, row.ttft.get().or(row.latency.get())?))).unzip();
    let cut = mser::mser5(&ttft).filter(|cut| cut.settled)?;
    let kept = *starts.get(cut.skip)?;
    let from_ns = kept.saturating_add(nearly_longest_ns(inputs.rows, kept)?).max(inputs.window.from_ns);
    let planned = inputs.rows.iter().filter(|row| row.is_first_attempt);
    let last = planned.filter_map(|row| row.sched.get().or(row.start.get())).max()?;
    let to_ns = last.min(inputs.window.to_ns);
    (from_ns < to_ns).then_some(Window { from_ns, to_ns })
}

/// The p95 of how long the requests took that started at `from_ns` or later and ended ok, backoffs included: after it,
/// few are missing from the ends. The median would leave out half of what a wide distribution still owes.
fn nearly_longest_ns(rows: &[Row], from_ns: u64) -> Option<u64> {
    let kept = rows.iter().filter(|row| row.is_final && row.is_ok());
    let kept = kept.filter(|row| row.start.get().is_some_and(|start| start >= from_ns));
    let mut lives: Vec<u64> =
        kept.filter_map(|row| row.end.get()?.checked_sub(row.first_try.get()?)).collect();
    lives.sort_unstable();
    quantile::nearest(&lives, Prob::P95)
}
