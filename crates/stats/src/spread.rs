//! Spread: how far the tail stands from the middle, p95 − p50 and p95/p50.

use crate::{Bounds, Prob, Quantile, Sorted, quantile};

/// The distance and the ratio of two quantiles of one sample, with intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// p95 − p50; `None` for ∞ − ∞, and where p50 is censored.
    pub difference: Option<f64>,
    /// [L95 − U50, U95 − L50].
    pub difference_bounds: Bounds,
    /// p95/p50; `None` for ∞/∞, for a p50 that is not positive, and where p50 is censored.
    pub ratio: Option<f64>,
    /// [L95/U50, U95/L50].
    pub ratio_bounds: Bounds,
    /// Whether the point values are only lower bounds, since p95 is censored.
    pub above: bool,
}

/// The spread of a sample of independent values at error probability `alpha`; `None` when it is empty.
///
/// p50 and p95 are each estimated at α/2 (at 95 %: two intervals of 97.5 %), so that by Bonferroni's inequality both
/// hold at once with probability ≥ 1 − α.
pub fn estimate(sample: &Sorted, alpha: f64) -> Option<Spread> {
    let at = |p| quantile::estimate(sample, p, alpha / 2.0);
    Some(combine(&at(Prob::P50)?, &at(Prob::P95)?))
}

/// The spread from two quantiles of one sample that were each estimated at α/2, for instance with their own `n_eff`.
/// A side is open where a bound that it uses is open or infinite on the side that is subtracted or divided by.
pub fn combine(low: &Quantile, high: &Quantile) -> Spread {
    let known_low = (!low.above).then_some(low.value);
    Spread {
        difference: difference(Some(high.value), known_low),
        difference_bounds: Bounds { lo: difference(high.lo, low.hi), hi: difference(high.hi, low.lo) },
        ratio: ratio(Some(high.value), known_low),
        ratio_bounds: Bounds { lo: ratio(high.lo, low.hi), hi: ratio(high.hi, low.lo) },
        above: high.above,
    }
}

fn difference(high: Option<f64>, low: Option<f64>) -> Option<f64> {
    Some(high? - low.filter(|x| x.is_finite())?)
}

fn ratio(high: Option<f64>, low: Option<f64>) -> Option<f64> {
    Some(high? / low.filter(|&x| x.is_finite() && x > 0.0)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point::{Above, Exact};
    use crate::{ALPHA, Point};

    fn hundred(tail: impl Fn(f64) -> Point) -> Spread {
        let points = (1..=100).map(|i| if i > 92 { tail(f64::from(i)) } else { Exact(f64::from(i)) });
        estimate(&Sorted::from_points(points.collect()).unwrap(), ALPHA).unwrap()
    }

    #[test]
    fn bounds_come_from_two_intervals_of_97_5_percent() {
        let spread = hundred(Exact);
        let (l50, u50) = quantile::interval_ranks(100, Prob::P50, 0.025);
        let (l95, u95) = quantile::interval_ranks(100, Prob::P95, 0.025);
        assert_eq!(spread.difference, Some(45.0));
        assert_eq!(spread.difference_bounds.lo, Some(l95.unwrap() as f64 - u50.unwrap() as f64));
        assert_eq!(spread.difference_bounds.hi, u95.map(|u| u as f64 - l50.unwrap() as f64));
        assert_eq!(spread.ratio, Some(1.9));
        assert_eq!(spread.ratio_bounds.lo, Some(l95.unwrap() as f64 / u50.unwrap() as f64));
    }

    #[test]
    fn infinite_and_censored_tails() {
        let failing = hundred(|_| Exact(f64::INFINITY));
        assert_eq!(
            (failing.difference, failing.ratio, failing.above),
            (Some(f64::INFINITY), Some(f64::INFINITY), false)
        );
        let timed_out = hundred(|_| Above(95.0));
        assert_eq!(
            (timed_out.difference, timed_out.above, timed_out.difference_bounds.hi),
            (Some(45.0), true, None)
        );
    }

    #[test]
    fn what_has_no_middle_has_no_spread() {
        let of = |points: Vec<Point>| estimate(&Sorted::from_points(points).unwrap(), ALPHA);
        assert_eq!(of(vec![]), None);
        let dead = of(vec![Exact(f64::INFINITY); 200]).unwrap();
        assert_eq!(
            (dead.difference, dead.ratio, dead.difference_bounds, dead.ratio_bounds),
            (None, None, Bounds::OPEN, Bounds::OPEN)
        );
        let censored = of(vec![Above(1.0); 200]).unwrap();
        assert_eq!((censored.difference, censored.ratio), (None, None));
        let zero = of(vec![Exact(0.0); 200]).unwrap();
        assert_eq!((zero.difference, zero.ratio, zero.ratio_bounds), (Some(0.0), None, Bounds::OPEN));
    }
}
