//! Whether the client was good enough for the figures.

use crate::context::{Arrival, CellContext};
use crate::distribution::{Population, proportion_of};
use crate::figures::Shape;
use crate::health::ClientHealth;
use crate::resumed::BEFORE;
use crate::row::Row;
use crate::spans::Spans;
use crate::{Client, Num, Proportion};
use inferometer_stats::Point;

/// Share of planned starts that may be dropped or late.
const MAX_LATE_SHARE: f64 = 0.01;

/// Share of its core that a shard may use.
const MAX_CPU_SHARE: f64 = 0.9;

/// Relative distance of the achieved from the planned rate that still holds it.
const RATE_TOLERANCE: f64 = 0.01;

/// Below this many wake-ups their largest lateness is judged, not their p99.
const MIN_WAKEUPS_FOR_P99: u64 = 100;

/// What the verdict rests on.
pub(crate) struct Inputs<'a> {
    pub(crate) context: &'a CellContext,
    /// Every attempt of the measured phase, in start order.
    pub(crate) rows: &'a [Row],
    /// The time that was the cell's.
    pub(crate) spans: &'a Spans,
    /// Median TTFT of ok requests (their latency where nothing was streamed), ms.
    pub(crate) typical_ms: Option<f64>,
    /// Requests that our own lack ended.
    pub(crate) client_limit: u64,
}

/// The client's certificate for one cell.
pub(crate) fn of(inputs: &Inputs<'_>) -> Client {
    let health = &inputs.context.health;
    let tolerance_ms = tolerance(inputs.typical_ms);
    let starts = || inputs.rows.iter().filter(|row| row.is_first_attempt);
    let issued = starts().count() as u64;
    // The health is read from a file, which may say anything.
    let planned = health.planned_starts.unwrap_or(0).max(issued.saturating_add(health.dropped_starts));
    let late = starts().filter(|row| row.lag.get().is_some_and(|lag| lag > tolerance_ms)).count() as u64;
    let late_starts = proportion_of(late.saturating_add(health.dropped_starts), planned);
    let lag = Population::new(starts().filter_map(|row| row.lag.get()).map(Point::Exact));
    let is_open = matches!(inputs.context.arrival, Arrival::Open { .. });
    // The runner's own figure is of one piece: between slices nothing was planned.
    let told = health.planned_rate.filter(|_| inputs.spans.as_slice().len() == 1);
    let planned_rate = told.or_else(|| rate(starts().filter_map(|row| row.sched.get()), inputs.spans));
    let achieved_rate = rate(starts().filter_map(|row| row.start.get()), inputs.spans);
    let rate_held = planned_rate.zip(achieved_rate).filter(|_| is_open).map(|(planned, achieved)| {
        health.dropped_starts as f64 <= MAX_LATE_SHARE * issued as f64
            && (achieved / planned - 1.0).abs() <= RATE_TOLERANCE
    });
    let reasons = reasons(inputs, tolerance_ms, &late_starts, rate_held);
    // A closed loop asks for what it reached.
    let asked = if is_open { planned_rate } else { achieved_rate };
    Client {
        rate_held,
        asked_rate: asked_rate(inputs.context.arrival),
        planned_rate: planned_rate.filter(|_| is_open).and_then(Num::new),
        achieved_rate: achieved_rate.and_then(Num::new),
        valid: reasons.is_empty(),
        reasons,
        notes: notes(health, asked),
        tolerance_ms: Num::new(tolerance_ms),
        // A stamp is late by as much as the read was that brought it, at 99 % of the reads (of few, at all of them).
        error_ms: judged_lateness(health).and_then(Num::new),
        schedule_lag: lag.metric("ms", Shape::Plain, &[]),
        planned_starts: planned,
        late_starts,
        health: health.clone(),
    }
}

/// max(0.5 ms, min(5 ms, 5 % of the typical TTFT)); without any answer there is nothing to be late for: 5 ms.
fn tolerance(typical_ms: Option<f64>) -> f64 {
    typical_ms.map_or(5.0, |ms| (0.05 * ms).clamp(0.5, 5.0))
}

fn asked_rate(arrival: Arrival) -> Option<Num> {
    match arrival.finite() {
        Arrival::Open { asked_rate } => asked_rate.and_then(Num::new),
        Arrival::Closed { .. } | Arrival::ColdStart { .. } | Arrival::Burst { .. } | Arrival::Unknown => None,
    }
}

/// Σ (n − 1) / Σ (last − first) over the spans, per second. What lies in none belongs to the span before it: a start
/// just after the window's end is still one.
fn rate(instants: impl Iterator<Item = u64>, spans: &Spans) -> Option<f64> {
    let spans = spans.as_slice();
    let mut seen: Vec<(u64, u64, u64)> = vec![(u64::MAX, 0, 0); spans.len()];
    for at in instants {
        let before = spans.partition_point(|span| span.from_ns <= at);
        if let Some((first, last, n)) = seen.get_mut(before.saturating_sub(1)) {
            (*first, *last, *n) = ((*first).min(at), (*last).max(at), *n + 1);
        }
    }
    let of_span = |(first, last, n): &(u64, u64, u64)| (n.saturating_sub(1), last.saturating_sub(*first));
    let (n, span) = seen.iter().map(of_span).fold((0, 0_u64), |a, b| (a.0 + b.0, a.1.saturating_add(b.1)));
    (span > 0).then(|| n as f64 * 1e9 / span as f64)
}

/// The lateness that is judged: p99, or the largest of few.
fn judged_lateness(health: &ClientHealth) -> Option<f64> {
    let lateness = &health.wakeup_lateness;
    if lateness.n < MIN_WAKEUPS_FOR_P99 { lateness.max_ms } else { lateness.p99_ms.or(lateness.max_ms) }
}

fn reasons(
    inputs: &Inputs<'_>,
    tolerance_ms: f64,
    late: &Proportion,
    rate_held: Option<bool>,
) -> Vec<String> {
    let health = &inputs.context.health;
    let mut reasons = Vec::new();
    if health.wakeup_lateness.n == 0 && !inputs.rows.is_empty() {
        // A check that could not run has not passed.
        reasons.push("the client's wake-up lateness was not recorded".to_owned());
    }
    if late.count as f64 > MAX_LATE_SHARE * late.n as f64 {
        let dropped = health.dropped_starts;
        reasons.push(format!(
            "{} of {} planned starts were later than {tolerance_ms:.1} ms ({dropped} dropped): at most 1 % may be",
            late.count, late.n
        ));
    }
    if let Some(lateness) = judged_lateness(health).filter(|ms| *ms > tolerance_ms) {
        let what = if health.wakeup_lateness.n < MIN_WAKEUPS_FOR_P99 { "max" } else { "p99" };
        reasons.push(format!("wake-up lateness {what} {lateness:.1} ms is above {tolerance_ms:.1} ms"));
    }
    if let Some(cpu) = health.shard_cpu.iter().copied().filter(|cpu| *cpu > MAX_CPU_SHARE).reduce(f64::max) {
        reasons.push(format!("a shard used {:.0} % of its core: at most 90 % may be", cpu * 100.0));
    }
    if inputs.client_limit > 0 {
        reasons.push(format!("{} requests ended on a limit of this client", inputs.client_limit));
    }
    if health.channel_full > 0 {
        reasons.push(format!("the channel to the writer was full {} times", health.channel_full));
    }
    if rate_held == Some(false) {
        reasons.push("the achieved rate is not the planned one".to_owned());
    }
    let before = inputs.context.not_valid_before.iter().filter(|before| !reasons.contains(before));
    let before: Vec<String> = before.map(|reason| format!("{BEFORE}{reason}")).collect();
    reasons.extend(before);
    reasons
}

fn notes(health: &ClientHealth, asked_rate: Option<f64>) -> Vec<String> {
    /// Steal and clock steps below these are every machine's.
    const STEAL_SHARE: f64 = 0.01;
    const CLOCK_STEP_MS: f64 = 10.0;
    let mut notes = Vec::new();
    if health.wakeup_lateness.n > 0 && health.wakeup_lateness.n < MIN_WAKEUPS_FOR_P99 {
        notes.push(format!("only {} wake-ups: their max is judged", health.wakeup_lateness.n));
    }
    let ceiling = health.ceiling.and_then(|ceiling| ceiling.requests_per_s);
    if let Some((asked, ceiling)) = asked_rate.zip(ceiling).filter(|(asked, ceiling)| asked > ceiling) {
        notes.push(format!(
            "{asked:.0} requests/s are more than the {ceiling:.0} up to which this machine was checked"
        ));
    }
    if let Some(steal) = health.steal_share.filter(|steal| *steal > STEAL_SHARE) {
        notes.push(format!("{:.1} % of the machine's time went to other guests", steal * 100.0));
    }
    if let Some(step) = health.clock_step_ms.filter(|step| step.abs() > CLOCK_STEP_MS) {
        notes.push(format!("the wall clock stepped by {step:.0} ms: only labels feel it"));
    }
    notes
}
