//! Gates held against a cell: counts where there is something to count, intervals elsewhere.

use inferometer_stats::gate::{Evidence, judge};
use inferometer_stats::proportion::{clopper_pearson_lower, clopper_pearson_upper};
use inferometer_stats::{ALPHA, Point};

use crate::distribution::Population;
use crate::names::name;
use crate::{CellSummary, Gate, GateOutcome, GateResult, Num, Op, Rate};

/// A time window in which a target cannot be asked leaves no request behind: of runs of several days, pooled, only the
/// windows in which it was up would count.
const NO_AVAILABILITY: &str = "it takes probes over days, in several time windows, that are recorded where the target cannot be asked too";

/// Holds `gate` against a cell. `population` gives a distribution over all attempts by name.
pub(crate) fn gate(
    gate: &Gate,
    cell: &CellSummary,
    population: &dyn Fn(&str) -> Option<Population>,
) -> GateOutcome {
    let outcome = GateOutcome { gate: gate.to_string(), ..GateOutcome::default() };
    let unmeasured = |why| GateOutcome::unmeasured(gate.to_string(), why);
    if let Some(p) = gate.quantile() {
        // What a cell of bursts measures are the requests of its bursts.
        let figure = match gate.metric() {
            name::BURST_TTFT => cell.bursts.as_ref().map(|_| name::TTFT),
            figure => Some(figure),
        };
        let Some(population) = figure.and_then(population) else {
            return unmeasured("in this cell");
        };
        let value = population.quantile(p, ALPHA).and_then(|quantile| Num::new(quantile.value));
        return by_count(gate, evidence(gate, &population), GateOutcome { value, ..outcome });
    }
    match gate.metric() {
        name::ERROR_RATE => share(gate, cell.counts.failed, cell.counts.ok + cell.counts.failed, outcome),
        name::USEFUL_RATE => share(gate, cell.validity.useful.count, cell.validity.useful.n, outcome),
        name::GOODPUT => match &cell.goodput {
            Some(goodput) => share(gate, goodput.share.count, goodput.share.n, outcome),
            None => unmeasured("no objectives: give --goodput"),
        },
        name::TOOL_CALLS => {
            let calls = &cell.validity.tool_calls;
            if calls.n == 0 {
                return unmeasured("no answer had a tool call or owed one");
            }
            share(gate, calls.count, calls.n, outcome)
        }
        name::BURST_ERROR_RATE => match &cell.bursts {
            Some(bursts) => {
                share(gate, bursts.refused.count + bursts.failed.count, bursts.refused.n, outcome)
            }
            None => unmeasured("no burst was made"),
        },
        name::AVAILABILITY => unmeasured(NO_AVAILABILITY),
        name::TTFT_SPREAD => {
            let spread = &cell.stability.all_attempts_spread_ms;
            by_interval(gate, spread, "the interval of p95 − p50 over all attempts", outcome)
        }
        name::COST_PER_USEFUL => by_interval(gate, &cell.cost.per_useful_usd, "Fieller's interval", outcome),
        metric => match &cell.throughput.steady {
            Some(steady) if metric == name::TOKENS_RATE => {
                by_interval(gate, &steady.output_token_throughput, "batch means of the steady part", outcome)
            }
            Some(steady) if metric == name::USEFUL_TOKENS_RATE => {
                by_interval(gate, &steady.useful_token_throughput, "batch means of the steady part", outcome)
            }
            Some(steady) if metric == name::INPUT_RATE => {
                by_interval(gate, &steady.input_token_throughput, "batch means of the steady part", outcome)
            }
            Some(steady) => {
                by_interval(gate, &steady.request_throughput, "batch means of the steady part", outcome)
            }
            None => GateOutcome { detail: "no steady part, hence no interval".to_owned(), ..outcome },
        },
    }
}

/// Observations on the bad side; a censored one is bad when its bound already is, else unknown.
fn evidence(gate: &Gate, population: &Population) -> Evidence {
    let mut evidence = Evidence { n: population.sorted.len() as u64, ..Evidence::default() };
    for point in population.sorted.iter() {
        let is_bad = gate.op().holds(point.number(), gate.limit());
        match point {
            Point::Exact(_) => evidence.over += u64::from(is_bad),
            // The true value is above its bound: beyond the limit for certain where the bound has reached it.
            Point::Above(bound) if bound >= gate.limit() => evidence.over += u64::from(gate.op().is_upper()),
            Point::Above(_) => evidence.unknown += 1,
        }
    }
    evidence
}

/// A gate on a share: `count` of `n` have it. An upper gate counts them as bad, a lower one the others.
fn share(gate: &Gate, count: u64, n: u64, outcome: GateOutcome) -> GateOutcome {
    let over = if gate.op().is_upper() { count } else { n.saturating_sub(count) };
    let value = if n > 0 { Num::new(count as f64 / n as f64) } else { None };
    by_count(gate, Evidence { over, unknown: 0, n }, GateOutcome { value, ..outcome })
}

/// A gate on how many are on the bad side, with the bounds that it was judged by.
fn by_count(gate: &Gate, evidence: Evidence, outcome: GateOutcome) -> GateOutcome {
    let Some(allowed) = gate.allowed_share() else { return outcome };
    let Evidence { over, unknown, n } = evidence;
    let may_be_over = over.saturating_add(unknown);
    let upper = clopper_pearson_upper(may_be_over, n, ALPHA);
    let lower = clopper_pearson_lower(over, n, ALPHA);
    let bounds = format!("one-sided 95 % bounds {:.2} % and {:.2} %", lower * 100.0, upper * 100.0);
    GateOutcome {
        result: judge(evidence, allowed, ALPHA).into(),
        bad: Some(over),
        unknown,
        n,
        needed_n: gate.needed_with(may_be_over),
        detail: format!("{over} of {n} on the bad side, {:.2} % may be; {bounds}", allowed * 100.0),
        ..outcome
    }
}

/// A gate on one number with a two-sided 95 % interval.
fn by_interval(gate: &Gate, rate: &Rate, what: &str, outcome: GateOutcome) -> GateOutcome {
    let bound = |bound: Option<Num>| bound.map(Num::get);
    let result = by_bounds(gate.op(), gate.limit(), bound(rate.lo), bound(rate.hi));
    GateOutcome { result, value: rate.value, detail: format!("by {what}"), ..outcome }
}

/// A condition on what lies between two bounds, which fails. An open side proves nothing: a lower bound alone can only
/// miss.
pub(crate) fn by_bounds(op: Op, limit: f64, lo: Option<f64>, hi: Option<f64>) -> GateResult {
    let holds = |bound: Option<f64>| bound.map(|bound| op.holds(bound, limit));
    let (best, worst) = if op.is_upper() { (lo, hi) } else { (hi, lo) };
    match (holds(best), holds(worst)) {
        (Some(true), _) => GateResult::Missed,
        (_, Some(false)) => GateResult::Met,
        _ => GateResult::Unproven,
    }
}
