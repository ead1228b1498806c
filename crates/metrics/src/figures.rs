//! The distributions of a cell: each one's formula on a row, ok only and over all attempts.

use inferometer_record::Status;
use inferometer_stats::Point;

use crate::Metric;
use crate::distribution::Population;
use crate::names::name;
use crate::row::Row;

/// How a distribution is summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Much is bad; has a mean.
    Plain,
    /// Little is bad, and averaging it would mean nothing: no mean, low quantiles.
    Speed,
}

/// Over what "all attempts" of a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Each attempt by itself.
    Attempts,
    /// Each request once, by its final attempt.
    Requests,
}

/// Over what a figure counts where failures do, and its formula there.
type All = Option<(Unit, fn(&Row) -> Option<Point>)>;

/// One figure of a request.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) shape: Shape,
    /// The figure of an ok request.
    pub(crate) ok: fn(&Row) -> Option<f64>,
    /// The figure where failures count, and over what.
    pub(crate) all: All,
}

/// Every distribution, but the pooled chunk gaps.
pub(crate) const FIGURES: [Figure; 18] = [
    timed(name::TTFT, |r| r.ttft.get(), Some((Unit::Attempts, ttft))),
    timed(name::TTFA, |r| r.ttfa.get(), Some((Unit::Attempts, ttfa))),
    timed(name::TPOT, |r| r.tpot.get(), Some((Unit::Attempts, tpot))),
    timed(name::LATENCY, |r| r.latency.get(), Some((Unit::Attempts, latency))),
    timed(
        name::TTFT_REUSED,
        |r| r.ttft.get().filter(|_| r.conn_reused),
        Some((Unit::Attempts, |r| ttft(r).filter(|_| r.conn_reused))),
    ),
    timed(name::TTFT_SCHED, |r| add(r.ttft.get(), r.lag.get()), Some((Unit::Attempts, ttft_sched))),
    timed(name::LATENCY_SCHED, |r| add(r.latency.get(), r.lag.get()), Some((Unit::Attempts, latency_sched))),
    timed(
        name::TTFT_FIRST_TRY,
        |r| add(r.ttft.get(), r.since_first_try()),
        Some((Unit::Requests, ttft_first_try)),
    ),
    timed(
        name::LATENCY_FIRST_TRY,
        |r| add(r.latency.get(), r.since_first_try()),
        Some((Unit::Requests, latency_first_try)),
    ),
    timed(name::CHUNK_GAP_MAX, |r| r.gap_max.get(), Some((Unit::Attempts, gap_max))),
    timed(name::CONNECT, |r| r.connect.get(), None),
    timed(name::DNS, |r| r.dns.get(), None),
    timed(name::CLOSE_DELAY, |r| r.close_delay.get(), None),
    Figure {
        shape: Shape::Speed,
        all: Some((Unit::Attempts, speed)),
        ..counted(name::SPEED, "tokens/s", per_token)
    },
    Figure {
        shape: Shape::Speed,
        all: Some((Unit::Attempts, |r| or_nothing(r, speed_e2e))),
        ..counted(name::SPEED_E2E, "tokens/s", speed_e2e)
    },
    Figure { shape: Shape::Speed, ..counted(name::SPEED_CHARS, "characters/s", |r| r.char_speed.get()) },
    counted(name::INPUT, "tokens", |r| r.input.get()),
    counted(name::OUTPUT, "tokens", |r| r.output.get()),
];

/// Reasoning tokens: apart, since most cells have none.
pub(crate) const REASONING: Figure = counted(name::REASONING, "tokens", |r| r.reasoning.get());

const fn timed(name: &'static str, ok: fn(&Row) -> Option<f64>, all: All) -> Figure {
    Figure { name, unit: "ms", shape: Shape::Plain, ok, all }
}

const fn counted(name: &'static str, unit: &'static str, ok: fn(&Row) -> Option<f64>) -> Figure {
    Figure { name, unit, shape: Shape::Plain, ok, all: None }
}

fn add(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? + b?)
}

fn shift(point: Option<Point>, by: Option<f64>) -> Option<Point> {
    // A request that never started has no lag; what is infinite or unknown stays so.
    let by = by.unwrap_or(0.0);
    Some(match point? {
        Point::Exact(value) => Point::Exact(value + by),
        Point::Above(value) => Point::Above(value + by),
    })
}

/// 1 / tpot.
fn per_token(row: &Row) -> Option<f64> {
    row.tpot.get().filter(|tpot| *tpot > 0.0).map(|tpot| 1e3 / tpot)
}

/// N / latency, N with reasoning that was not streamed left out.
fn speed_e2e(row: &Row) -> Option<f64> {
    let latency = row.latency.get().filter(|latency| *latency > 0.0)?;
    Some(row.streamed.get()? * 1e3 / latency)
}

/// A duration that ends with an event the attempt may not have seen: what was seen; else a lower bound where the
/// attempt was cut by a timeout or by the run; else never. `None` for one that the run cut before it began.
fn duration(row: &Row, seen: Option<f64>) -> Option<Point> {
    match seen {
        Some(ms) => Some(Point::Exact(ms)),
        None if row.status.is_cancelled() => row.watched().map(Point::Above),
        None if row.status == Status::Timeout => Some(Point::Above(row.watched().unwrap_or(0.0))),
        None => Some(Point::Exact(f64::INFINITY)),
    }
}

/// TTFT of an attempt that had a first output event is that time, whatever followed. An answer in one piece has none
/// and is no failure.
fn ttft(row: &Row) -> Option<Point> {
    if row.was_streamed { duration(row, row.ttft.get()) } else { None }
}

/// As [`ttft`]; an ok answer whose reasoning hides in its content has none either.
fn ttfa(row: &Row) -> Option<Point> {
    let is_hidden = row.is_ok() && row.has_think_tags;
    if row.was_streamed && !is_hidden { duration(row, row.ttfa.get()) } else { None }
}

/// Latency is infinite unless ok.
fn latency(row: &Row) -> Option<Point> {
    if row.is_ok() { row.latency.get().map(Point::Exact) } else { duration(row, None) }
}

/// A failed stream never gave its tokens; one that the run cut, or an answer of one token, says nothing, nor do vectors.
fn tpot(row: &Row) -> Option<Point> {
    match row.status {
        _ if !row.generates => None,
        Status::Ok => row.tpot.get().map(Point::Exact),
        status if status.is_cancelled() => None,
        _ => Some(Point::Exact(f64::INFINITY)),
    }
}

/// 1 / tpot over all attempts.
fn speed(row: &Row) -> Option<Point> {
    or_nothing(row, per_token)
}

/// A speed over all attempts: of a failed one 0, of one that the run cut unknown; vectors have none.
fn or_nothing(row: &Row, of_ok: fn(&Row) -> Option<f64>) -> Option<Point> {
    match row.status {
        _ if !row.generates => None,
        Status::Ok => of_ok(row).map(Point::Exact),
        status if status.is_cancelled() => None,
        _ => Some(Point::Exact(0.0)),
    }
}

/// A stream that failed has a gap without end.
fn gap_max(row: &Row) -> Option<Point> {
    match row.status {
        _ if !row.generates => None,
        Status::Ok => row.gap_max.get().map(Point::Exact),
        status if status.is_cancelled() => row.gap_max.get().map(Point::Above),
        _ => Some(Point::Exact(f64::INFINITY)),
    }
}

fn ttft_sched(row: &Row) -> Option<Point> {
    shift(ttft(row), row.lag.get())
}

fn latency_sched(row: &Row) -> Option<Point> {
    shift(latency(row), row.lag.get())
}

fn ttft_first_try(row: &Row) -> Option<Point> {
    shift(ttft(row), row.since_first_try())
}

fn latency_first_try(row: &Row) -> Option<Point> {
    shift(latency(row), row.since_first_try())
}

/// The distribution of a figure over all attempts (in start order) where it has one.
pub(crate) fn all_attempts(figure: &Figure, attempts: &[Row]) -> Option<Population> {
    let (unit, of) = figure.all?;
    let counts = |row: &&Row| unit == Unit::Attempts || row.is_final;
    Some(Population::new(attempts.iter().filter(counts).filter_map(of)))
}

/// A figure of one attempt where failures count, as a number: infinite where it failed, the bound where it was cut.
pub(crate) fn of_attempt(name: &str, row: &Row) -> Option<f64> {
    let (_, of) = FIGURES.iter().find(|figure| figure.name == name)?.all?;
    of(row).map(Point::number)
}

/// A figure of these attempts: of the final ones that ended ok, with all attempts beside it. Nothing for a name that is
/// no distribution.
pub(crate) fn both(name: &str, attempts: &[Row]) -> Metric {
    let Some(figure) = FIGURES.iter().find(|figure| figure.name == name) else { return Metric::default() };
    let ok = attempts.iter().filter(|row| row.is_final && row.is_ok()).filter_map(figure.ok);
    let summed = |population: Population| population.metric(figure.unit, figure.shape, &[]);
    let all = all_attempts(figure, attempts).map(|population| Box::new(summed(population)));
    Metric { all_attempts: all, ..summed(Population::new(ok.map(Point::Exact))) }
}

/// A figure of a whole request, from its first try on: what an objective limits. `None`: cannot be evaluated.
pub(crate) fn of_request(metric: &str, row: &Row) -> Option<Point> {
    match metric {
        name::TTFT => ttft_first_try(row),
        name::TTFA => shift(ttfa(row), row.since_first_try()),
        name::LATENCY => latency_first_try(row),
        name::TPOT => tpot(row),
        name::SPEED => speed(row),
        name::CHUNK_GAP_MAX => gap_max(row),
        _ => None,
    }
}
