//! Pair gates held against a summary: targets against each other, and against a baseline run.

use inferometer_stats::Prob;
use inferometer_stats::mover::{self, Estimate};

use crate::evaluate::by_bounds;
use crate::names::short;
use crate::{CellSummary, GateOutcome, GateResult, Num, PairGate, Study, Summary, estimate};

/// Holds the study's pair gates against `summary`, and those on `baseline.…` against the summary of a baseline run; the
/// outcomes stand in `summary.gates`, in the order of the gates and, within each, of the cells.
///
/// A gate `a > c · b` fails where a − c · b does: by MOVER's 95 % interval from the two figures' own over all attempts.
/// It is **met** where no value of the interval fails, **missed** where every one does, else **unproven**; so is one
/// whose figures were not measured.
pub fn hold_against(summary: &mut Summary, study: &Study, baseline: Option<&Summary>) {
    summary.gates = study.pair_gates.iter().flat_map(|gate| outcomes(gate, summary, baseline)).collect();
}

fn outcomes(gate: &PairGate, summary: &Summary, baseline: Option<&Summary>) -> Vec<GateOutcome> {
    let unmeasured = |why| GateOutcome::unmeasured(gate.to_string(), why);
    if gate.needs_baseline() && baseline.is_none() {
        return vec![unmeasured("no baseline run was given")];
    }
    let others: &[CellSummary] = match baseline.filter(|_| gate.needs_baseline()) {
        Some(baseline) => &baseline.cells,
        None => &summary.cells,
    };
    let lefts = summary.cells.iter().filter(|cell| gate.left().is(cell));
    let pairs = lefts.filter_map(|left| Some((left, partner(gate, left, others)?)));
    let outcomes: Vec<GateOutcome> = pairs.map(|(left, right)| outcome(gate, left, right)).collect();
    if outcomes.is_empty() {
        return vec![unmeasured("no workload and load that both sides ran")];
    }
    outcomes
}

/// The cell that `left` is held against: under the same load, and on the same workload unless the gate names another.
fn partner<'a>(gate: &PairGate, left: &CellSummary, others: &'a [CellSummary]) -> Option<&'a CellSummary> {
    let is_right = |cell: &&CellSummary| match gate.right() {
        Some(right) => right.is(cell),
        None => cell.target == left.target,
    };
    let of_load = || others.iter().filter(is_right).filter(|cell| cell.load == left.load);
    let same = of_load().find(|cell| cell.workload == left.workload);
    let named = gate.right().filter(|right| right.is_of_one_workload());
    same.or_else(|| named.and_then(|_| of_load().next()))
}

fn outcome(gate: &PairGate, left: &CellSummary, right: &CellSummary) -> GateOutcome {
    let (metric, quantile) = gate.figure();
    let of = |cell: &CellSummary| estimate::of(cell, metric, quantile);
    let place = format!("{}, {}", left.workload, left.load);
    let outcome = GateOutcome { gate: gate.to_string(), ..GateOutcome::default() };
    let (Some(a), Some(b)) = (of(left), of(right)) else {
        let detail = format!("{place}: not measured on both sides");
        return GateOutcome { is_unmeasured: true, detail, ..outcome };
    };
    let figure = figure_name(metric, quantile);
    let apart = mover::difference(a, b.times(gate.factor()));
    let result = match apart {
        Some(apart) => by_bounds(gate.op(), 0.0, apart.bounds.lo, apart.bounds.hi),
        None => GateResult::Unproven,
    };
    let of_b = if gate.needs_baseline() { "baseline".to_owned() } else { right.target.clone() };
    let values = format!("{figure} {} of {}, {} of {of_b}", number(a.value), left.target, number(b.value));
    GateOutcome {
        result,
        n: estimate::count(left, metric).min(estimate::count(right, metric)),
        value: Num::new(a.value / b.value),
        detail: format!("{place}: {values}; {}", interval(gate.factor(), apart)),
        ..outcome
    }
}

fn figure_name(metric: &'static str, quantile: Option<Prob>) -> String {
    let name = short(metric);
    quantile.map_or_else(|| name.to_owned(), |p| format!("{name}_{p}"))
}

fn interval(factor: f64, apart: Option<Estimate>) -> String {
    let Some(apart) = apart else { return "both are without end".to_owned() };
    let end = |end: Option<f64>| end.map_or_else(|| "open".to_owned(), number);
    let (lo, hi) = (end(apart.bounds.lo), end(apart.bounds.hi));
    format!("first − {factor} × second {} [{lo}, {hi}] at 95 %", number(apart.value))
}

/// Four significant digits.
fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let decimals = (3.0 - value.abs().log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{value:.decimals$}")
}
