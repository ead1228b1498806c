//! From an accumulated cell to its summary.

use std::collections::BTreeMap;

use inferometer_stats::{Point, Prob, quantile};

use crate::accumulator::CellAccumulator;
use crate::context::{Arrival, CellContext, Window};
use crate::distribution::Population;
use crate::figures::{self, FIGURES, Figure, REASONING, Shape};
use crate::kept::{Finished, Kept};
use crate::names::name;
use crate::row::Row;
use crate::{CellSummary, Metric, Num, Pacing, client, episode, goodput, stability, throughput, warnings};

/// TTFT limits in ms whose exceeding is counted where the user names none; the first is shown at small n.
const TTFT_LIMITS_MS: [f64; 3] = [1_000.0, 2_000.0, 5_000.0];

/// The rows of a cell as its figures take them.
struct Cohort {
    /// Every attempt of the measured phase that started in the window, in start order; of an episode, those that it is
    /// about.
    attempts: Vec<Row>,
    /// Of those, the final ones.
    requests: Vec<Row>,
}

impl Cohort {
    /// Figures over time need start order; what never started stands where it was planned.
    fn new(rows: &[Row], window: Window) -> Self {
        let is_inside = |row: &&Row| row.start.get().is_none_or(|start| window.contains(start));
        let is_taken = |row: &&Row| is_inside(row) && episode::is_ordinary(row.role);
        let attempts: Vec<Row> = rows.iter().filter(is_taken).copied().collect();
        let requests = attempts.iter().filter(|row| row.is_final).copied().collect();
        Cohort { attempts, requests }
    }

    fn ok(&self, figure: &Figure) -> Population {
        let ok = self.requests.iter().filter(|row| row.is_ok());
        // A figure by the tokenizer's count stands only where no request has the server's: sources never mix.
        let by_server =
            is_by_tokens(figure.name) && self.requests.iter().any(|r| r.is_ok() && is_by_server(r));
        let of_source = ok.filter(|row| !by_server || !row.is_estimated);
        Population::new(of_source.filter_map(figure.ok).map(Point::Exact))
    }

    fn all(&self, figure: &Figure) -> Option<Population> {
        figures::all_attempts(figure, &self.attempts)
    }
}

fn is_by_tokens(figure: &str) -> bool {
    matches!(figure, name::TPOT | name::SPEED | name::SPEED_E2E)
}

fn is_by_server(row: &Row) -> bool {
    !row.is_estimated && row.streamed.get().is_some()
}

/// Sums up the cell, and keeps what comparisons read.
pub(crate) fn cell(mut cell: CellAccumulator) -> Finished {
    cell.rows.sort_by_key(|row| row.start.get().or(row.sched.get()).unwrap_or(u64::MAX));
    let window = cell.context.window.unwrap_or_else(|| span(&cell.rows));
    let cohort = Cohort::new(&cell.rows, window);
    let mut summary = figures(&cell, &cohort, window);
    single_values(&mut summary);
    if !cell.context.no_events {
        summary.metrics.insert(name::CHUNK_GAP.to_owned(), cell.gaps.metric());
    }
    let kept = Kept { summary: &summary, context: &cell.context, attempts: &cohort.attempts };
    summary.gates = cell.context.gates.iter().map(|gate| kept.gate(gate)).collect();
    warnings::add(&mut summary, &cell);
    let (limits, pacing) = cell.told.finish();
    summary.throughput.notes.extend(pacing.as_ref().map(Pacing::note));
    let context = cell.context;
    let summary = CellSummary {
        limits,
        pacing,
        target: context.target.clone(),
        workload: context.workload.clone(),
        load: context.load.clone(),
        gap: context.gap.clone(),
        failures: cell.causes.into_vec(),
        ..summary
    };
    Finished { summary, context, attempts: cohort.attempts, seen: cell.seen }
}

/// Every figure that stands by itself.
fn figures(cell: &CellAccumulator, cohort: &Cohort, window: Window) -> CellSummary {
    let counts = cell.counts.clone();
    let spans = cell.timeline.spans(window, &cell.context.slices);
    let ttft = cohort.ok(figure_named(name::TTFT));
    let all_ttft = cohort.all(figure_named(name::TTFT)).unwrap_or_default();
    CellSummary {
        arrival: cell.context.arrival.finite(),
        window: Some(window).filter(|window| window.seconds().is_some()),
        time_windows: cell.timeline.time_windows(),
        metrics: metrics(&cell.context, cohort, counts.retries > 0),
        stability: stability::of(&ttft, &all_ttft),
        stalls: cell.stalls.finish(),
        tokens: cell.tokens.finish(),
        dimensions: cell.dimensions.iter().copied().collect(),
        throughput: throughput::of(&throughput::Inputs {
            context: &cell.context,
            spans: &spans,
            rows: &cell.rows,
            timeline: &cell.timeline,
            tokens_per_event: cell.tokens.per_event().unwrap_or(1.0),
        }),
        goodput: goodput::of(&cell.context.objectives, &cohort.requests, &spans),
        cost: cell.money.finish(counts.ok, counts.useful),
        validity: cell.answers.finish(
            counts.useful,
            counts.issued - counts.cancelled,
            cell.context.degraded_is_useful,
        ),
        client: client::of(&client::Inputs {
            context: &cell.context,
            rows: &cell.rows,
            spans: &spans,
            typical_ms: median(&ttft).or_else(|| median(&cohort.ok(figure_named(name::LATENCY)))),
            client_limit: counts.client_limit,
        }),
        cold_starts: match cell.context.arrival {
            Arrival::ColdStart { gap_s } => Some(episode::cold_starts(&cell.rows, gap_s)),
            _ => None,
        },
        bursts: match cell.context.arrival {
            Arrival::Burst { size } => Some(episode::bursts(&cell.rows, size)),
            _ => None,
        },
        counts,
        ..CellSummary::default()
    }
}

/// Without a window from the runner: first start to last end.
fn span(rows: &[Row]) -> Window {
    let from_ns = rows.iter().filter_map(|row| row.start.get()).min();
    let to_ns = rows.iter().filter_map(|row| row.end.get()).max();
    match (from_ns, to_ns) {
        (Some(from_ns), Some(to_ns)) if from_ns <= to_ns => Window { from_ns, to_ns },
        _ => Window::default(),
    }
}

fn figure_named(name: &str) -> &'static Figure {
    FIGURES.iter().find(|figure| figure.name == name).unwrap_or(&REASONING)
}

fn median(population: &Population) -> Option<f64> {
    population.sorted.at(quantile::rank(population.sorted.len(), Prob::P50)).map(Point::number)
}

/// Every distribution that this cell can have, ok only with all attempts beside it.
fn metrics(context: &CellContext, cohort: &Cohort, has_retries: bool) -> BTreeMap<String, Metric> {
    let is_open = matches!(context.arrival, Arrival::Open { .. });
    let applies = |figure: &&Figure| match figure.name {
        name::TTFT_SCHED | name::LATENCY_SCHED => is_open,
        name::TTFT_FIRST_TRY | name::LATENCY_FIRST_TRY => has_retries,
        name::SPEED_CHARS => !context.no_events,
        _ => true,
    };
    let mut metrics = BTreeMap::new();
    for figure in FIGURES.iter().chain([&REASONING]).filter(applies) {
        let limits = limits(context, figure.name);
        let mut metric = cohort.ok(figure).metric(figure.unit, figure.shape, &limits);
        let all = cohort.all(figure).map(|population| population.metric(figure.unit, figure.shape, &limits));
        metric.all_attempts = all.map(Box::new);
        note_figure(&mut metric, figure, cohort);
        metrics.insert(figure.name.to_owned(), metric);
    }
    metrics
}

/// The objective's limit first, then the ones named, or the house's for TTFT.
fn limits(context: &CellContext, figure: &str) -> Vec<f64> {
    let named: &[f64] = match figure {
        name::TTFT if context.ttft_limits_ms.is_empty() => &TTFT_LIMITS_MS,
        name::TTFT => &context.ttft_limits_ms,
        _ => &[],
    };
    let objective = context.objectives.limit(figure);
    let rest = named.iter().copied().filter(|limit| limit.is_finite() && Some(*limit) != objective);
    objective.into_iter().chain(rest).collect()
}

fn note_figure(metric: &mut Metric, figure: &Figure, cohort: &Cohort) {
    let ok = || cohort.requests.iter().filter(|row| row.is_ok());
    if is_by_tokens(figure.name) && metric.n > 0 {
        if !ok().any(is_by_server) {
            metric.notes.push("tokens estimated by the pinned tokenizer".to_owned());
        } else if ok().any(|row| row.is_estimated) {
            metric.notes.push("only requests with the server's usage".to_owned());
        }
    }
    if figure.shape == Shape::Speed
        && let Some(all) = &mut metric.all_attempts
    {
        all.notes.push("a failed stream counts as 0 tokens/s".to_owned());
    }
}

/// Figures that are one number, under their names beside the distributions.
fn single_values(summary: &mut CellSummary) {
    let counts = &summary.counts;
    let errors = crate::distribution::proportion_of(counts.failed, counts.ok + counts.failed);
    let useful = summary.validity.useful;
    let steady = summary.throughput.steady.as_ref();
    let tokens = (&summary.throughput.output_token_throughput, steady.map(|s| &s.output_token_throughput));
    let requests = (&summary.throughput.request_throughput, steady.map(|s| &s.request_throughput));
    let input = (&summary.throughput.input_token_throughput, steady.map(|s| &s.input_token_throughput));
    let goodput = summary.goodput.as_ref();
    let per_useful = &summary.cost.per_useful_usd;
    let rate = |unit: &str, (whole, steady): (&crate::Rate, Option<&crate::Rate>)| Metric {
        notes: whole.note.iter().cloned().chain(steady.and_then(|s| steady_note(s, unit))).collect(),
        ..single(unit, counts.ok, whole.value, None, None)
    };
    let values = [
        (name::ERROR_RATE, single("ratio", errors.n, errors.value, errors.lo, errors.hi)),
        (name::USEFUL_RATE, single("ratio", useful.n, useful.value, useful.lo, useful.hi)),
        (name::TOKENS_RATE, rate("tokens/s", tokens)),
        (name::REQUEST_RATE, rate("requests/s", requests)),
        (name::INPUT_RATE, rate("tokens/s", input)),
        (
            name::GOODPUT,
            single(
                "requests/s",
                goodput.map_or(0, |g| g.share.n),
                goodput.and_then(|g| g.per_second),
                None,
                None,
            ),
        ),
        (name::COST_PER_USEFUL, single("USD", counts.useful, per_useful.value, per_useful.lo, per_useful.hi)),
    ];
    summary.metrics.extend(values.into_iter().map(|(name, metric)| (name.to_owned(), metric)));
}

fn steady_note(steady: &crate::Rate, unit: &str) -> Option<String> {
    steady.value.map(|value| format!("steady part {:.1} {unit}", value.get()))
}

fn single(unit: &str, n: u64, value: Option<Num>, lo: Option<Num>, hi: Option<Num>) -> Metric {
    Metric { unit: unit.to_owned(), n, value, lo, hi, ..Metric::default() }
}
