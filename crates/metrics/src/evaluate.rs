//! Gates held against a cell: counts where there is something to count, intervals elsewhere.

use inferometer_stats::proportion::{clopper_pearson_lower, clopper_pearson_upper};
use inferometer_stats::{ALPHA, Point};

use crate::distribution::Population;
use crate::names::name;
use crate::{CellSummary, Gate, GateOutcome, GateResult, Num, Rate};

/// Observations on each side of a gate.
#[derive(Clone, Copy, Debug, Default)]
struct Sides {
    bad: u64,
    unknown: u64,
    n: u64,
}

/// Holds `gate` against a cell. `population` gives a distribution over all attempts by name.
pub(crate) fn gate(
    gate: &Gate,
    cell: &CellSummary,
    population: &dyn Fn(&str) -> Option<Population>,
) -> GateOutcome {
    let outcome = GateOutcome { gate: gate.to_string(), ..GateOutcome::default() };
    if let Some(p) = gate.quantile() {
        let Some(population) = population(gate.metric()) else {
            return GateOutcome { detail: "not measured in this cell".to_owned(), ..outcome };
        };
        let value = population.quantile(p, ALPHA).and_then(|quantile| Num::new(quantile.value));
        return by_count(gate, sides(gate, &population), GateOutcome { value, ..outcome });
    }
    match gate.metric() {
        name::ERROR_RATE => share(gate, cell.counts.failed, cell.counts.ok + cell.counts.failed, outcome),
        name::USEFUL_RATE => share(gate, cell.validity.useful.count, cell.validity.useful.n, outcome),
        name::GOODPUT => match &cell.goodput {
            Some(goodput) => share(gate, goodput.share.count, goodput.share.n, outcome),
            None => GateOutcome { detail: "no objectives: give --goodput".to_owned(), ..outcome },
        },
        name::COST_PER_USEFUL => by_interval(gate, &cell.cost.per_useful_usd, "Fieller's interval", outcome),
        metric => match &cell.throughput.steady {
            Some(steady) if metric == name::TOKENS_RATE => {
                by_interval(gate, &steady.output_token_throughput, "batch means of the steady part", outcome)
            }
            Some(steady) => {
                by_interval(gate, &steady.request_throughput, "batch means of the steady part", outcome)
            }
            None => GateOutcome { detail: "no steady part, hence no interval".to_owned(), ..outcome },
        },
    }
}

/// Observations on the bad side; a censored one is bad when its bound already is, else unknown.
fn sides(gate: &Gate, population: &Population) -> Sides {
    let mut sides = Sides { n: population.sorted.len() as u64, ..Sides::default() };
    for point in population.sorted.iter() {
        let is_bad = gate.op().holds(point.number(), gate.limit());
        match point {
            Point::Exact(_) => sides.bad += u64::from(is_bad),
            // The true value is above its bound: beyond the limit for certain where the bound has reached it.
            Point::Above(bound) if bound >= gate.limit() => sides.bad += u64::from(gate.op().is_upper()),
            Point::Above(_) => sides.unknown += 1,
        }
    }
    sides
}

/// A gate on a share: `count` of `n` have it. An upper gate counts them as bad, a lower one the others.
fn share(gate: &Gate, count: u64, n: u64, outcome: GateOutcome) -> GateOutcome {
    let bad = if gate.op().is_upper() { count } else { n.saturating_sub(count) };
    let value = if n > 0 { Num::new(count as f64 / n as f64) } else { None };
    by_count(gate, Sides { bad, unknown: 0, n }, GateOutcome { value, ..outcome })
}

/// Met: the upper bound of bad / n is at most the share that may be; missed: the lower bound is above it. What is
/// unknown is bad for the first and good for the second.
fn by_count(gate: &Gate, sides: Sides, outcome: GateOutcome) -> GateOutcome {
    let Some(allowed) = gate.allowed_share() else { return outcome };
    let upper = clopper_pearson_upper((sides.bad + sides.unknown).min(sides.n), sides.n, ALPHA);
    let lower = clopper_pearson_lower(sides.bad, sides.n, ALPHA);
    let result = match sides.n {
        0 => GateResult::Unproven,
        _ if upper <= allowed => GateResult::Met,
        _ if lower > allowed => GateResult::Missed,
        _ => GateResult::Unproven,
    };
    let needed_n = gate.needed_with(sides.bad + sides.unknown);
    let (bad, n) = (sides.bad, sides.n);
    let bounds = format!("one-sided 95 % bounds {:.2} % and {:.2} %", lower * 100.0, upper * 100.0);
    let detail = format!("{bad} of {n} on the bad side, {:.2} % may be; {bounds}", allowed * 100.0);
    GateOutcome {
        result,
        bad: Some(sides.bad),
        unknown: sides.unknown,
        n: sides.n,
        needed_n,
        detail,
        ..outcome
    }
}

/// A gate on one number with a two-sided 95 % interval. A lower bound (no value, or an open side) can only miss.
fn by_interval(gate: &Gate, rate: &Rate, what: &str, outcome: GateOutcome) -> GateOutcome {
    let holds = |bound: Option<Num>| bound.map(|bound| gate.op().holds(bound.get(), gate.limit()));
    let (best, worst) = if gate.op().is_upper() { (rate.lo, rate.hi) } else { (rate.hi, rate.lo) };
    let result = match (holds(best), holds(worst)) {
        (Some(true), _) => GateResult::Missed,
        (_, Some(false)) => GateResult::Met,
        _ => GateResult::Unproven,
    };
    GateOutcome { result, value: rate.value, detail: format!("by {what}"), ..outcome }
}
