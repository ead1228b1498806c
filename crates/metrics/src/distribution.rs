//! A distribution summed up: quantiles with intervals, moments, shares over limits.

use inferometer_stats::quantile::{self, Quantile};
use inferometer_stats::{ALPHA, Moments, Point, Prob, Sorted, proportion, serial};

use crate::figures::Shape;
use crate::{Metric, Num, Over, Proportion, QuantilePoint, TailFigure};

/// Below this n the share over a limit is the tail figure to show.
const QUANTILE_TAIL_FROM: usize = 100;

/// Observations of one figure, in start order and sorted.
#[derive(Default)]
pub(crate) struct Population {
    in_order: Vec<f64>,
    pub(crate) sorted: Sorted,
    exact: Vec<f64>,
}

impl Population {
    /// Observations in start order; one that is no number is left out.
    pub(crate) fn new(points: impl Iterator<Item = Point>) -> Self {
        Self::of(points.filter(|point| point.number() >= 0.0).collect())
    }

    /// Differences, which may be negative; one that is not finite is left out.
    pub(crate) fn signed(values: impl Iterator<Item = f64>) -> Self {
        Self::of(values.filter(|value| value.is_finite()).map(Point::Exact).collect())
    }

    fn of(points: Vec<Point>) -> Self {
        let in_order = points.iter().map(|point| point.number()).collect();
        let is_finite = |point: &Point| match point {
            Point::Exact(value) if value.is_finite() => Some(*value),
            _ => None,
        };
        let exact = points.iter().filter_map(is_finite).collect();
        // The filter above leaves nothing that cannot be ordered, so the empty sample is never taken.
        let sorted = Sorted::from_points(points).unwrap_or_default();
        Population { in_order, sorted, exact }
    }

    /// The `p` quantile with an interval of error probability `alpha`, on n / τ observations.
    pub(crate) fn quantile(&self, p: Prob, alpha: f64) -> Option<Quantile> {
        let rank = quantile::rank(self.sorted.len(), p);
        let at = self.sorted.at(rank)?.number();
        let below: Vec<bool> = self.in_order.iter().map(|value| *value <= at).collect();
        let n_eff = serial::n_eff(below.len(), serial::tau(&below));
        quantile::estimate_with_n_eff(&self.sorted, p, alpha, n_eff)
    }

    /// The finite, uncensored observations in start order.
    pub(crate) fn exact(&self) -> &[f64] {
        &self.exact
    }

    /// Sums up the figure.
    pub(crate) fn metric(&self, unit: &str, shape: Shape, limits: &[f64]) -> Metric {
        let n = self.sorted.len();
        let is_complete = self.exact.len() == n;
        let moments: Moments = self.exact.iter().copied().collect();
        let averaged = is_complete && shape == Shape::Plain;
        let point = |p: Option<Prob>| {
            p.and_then(|p| self.quantile(p, ALPHA)).map(|q| point(&q, self.sorted.censored()))
        };
        let low = |num: u32, den: u32| if shape == Shape::Speed { Prob::new(num, den) } else { None };
        Metric {
            unit: unit.to_owned(),
            n: n as u64,
            mean: moments.mean().filter(|_| averaged).and_then(Num::new),
            std: moments.std().filter(|_| averaged).and_then(Num::new),
            min: self.sorted.min().and_then(Num::new),
            max: self.max(),
            p05: point(low(1, 20)),
            p10: point(low(1, 10)),
            p50: point(Some(Prob::P50)),
            p90: point(Some(Prob::P90)),
            p95: point(Some(Prob::P95)),
            p99: point(Some(Prob::P99)),
            p999: point(Some(Prob::P999)),
            over: limits.iter().map(|limit| self.over(*limit)).collect(),
            tail: tail(n, limits),
            notes: self.notes(),
            ..Metric::default()
        }
    }

    /// The largest observation; `None` where a censored one may be larger.
    fn max(&self) -> Option<Num> {
        match self.sorted.at(self.sorted.len())? {
            Point::Exact(value) => Num::new(value),
            Point::Above(_) => None,
        }
    }

    fn over(&self, limit: f64) -> Over {
        let over = self.sorted.over(limit);
        let share = proportion_of(over.over as u64, over.n as u64);
        Over { limit: Num::new(limit), share, unknown: over.unknown as u64 }
    }

    fn notes(&self) -> Vec<String> {
        let censored = self.sorted.censored();
        let never = self.sorted.len() - self.exact.len() - censored;
        let mut notes = Vec::new();
        if never > 0 {
            notes.push(format!("{never} at infinity: failed"));
        }
        if censored > 0 {
            notes.push(format!("{censored} censored: timed out, or cut by the run"));
        }
        notes
    }
}

/// count / n with Wilson's interval.
pub(crate) fn proportion_of(count: u64, n: u64) -> Proportion {
    let bounds = proportion::wilson(count, n, ALPHA);
    let value = if n > 0 { Num::new(count as f64 / n as f64) } else { None };
    Proportion { count, n, value, lo: bounds.lo.and_then(Num::new), hi: bounds.hi.and_then(Num::new) }
}

fn tail(n: usize, limits: &[f64]) -> Option<TailFigure> {
    let limit = Num::new(*limits.first()?)?;
    Some(if n < QUANTILE_TAIL_FROM { TailFigure::ShareOver(limit) } else { TailFigure::P99 })
}

fn point(quantile: &Quantile, censored: usize) -> QuantilePoint {
    let mut notes = Vec::new();
    // What is censored below infinity cannot be above it.
    let above = quantile.above && quantile.value.is_finite();
    if above {
        notes.push("> value: censored");
    }
    if quantile.is_max {
        notes.push("max of n");
    }
    match (quantile.lo, quantile.hi) {
        (Some(_), Some(_)) => {}
        (Some(_), None) if censored > 0 => notes.push("upper bound open: n too small or censored"),
        (Some(_), None) => notes.push("upper bound open: n too small"),
        (None, Some(_)) => notes.push("lower bound open: n too small"),
        (None, None) => notes.push("both bounds open: n too small"),
    }
    let is_dependent = quantile.n_eff < quantile.n as f64;
    QuantilePoint {
        value: Num::new(quantile.value),
        lo: quantile.lo.and_then(Num::new),
        hi: quantile.hi.and_then(Num::new),
        above,
        n_eff: Num::new(quantile.n_eff).filter(|_| is_dependent),
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    }
}
