//! A ratio of two totals, such as cost per useful answer, with an interval that respects how they were gathered.

use crate::special::t_quantile;
use crate::{Bounds, is_alpha};

/// A ratio of totals and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Σ numerators / Σ denominators.
    pub value: f64,
    /// Fieller's interval. Both sides are open under two clusters; the upper one is open where the denominator is not
    /// told apart from 0.
    pub bounds: Bounds,
    /// How many clusters the interval rests on.
    pub clusters: usize,
}

/// Σy/Σx over clusters of (y, x) with Fieller's interval at error probability `alpha` (Fieller 1954, JRSS B 16).
///
/// Give one pair of totals per prompt: answers to one prompt resemble each other, so that prompts, not answers, are
/// the independent units. With m clusters, means ȳ and x̄, variances v of those means and t = t₁₋α/₂ of m − 1 degrees
/// of freedom, the interval holds all R with (ȳ − R x̄)² ≤ t² (v_yy − 2 R v_xy + R² v_xx). Amounts are not negative,
/// so that only R ≥ 0 counts. `None` where Σx is 0, or an amount is negative or not finite.
pub fn fieller(clusters: &[(f64, f64)], alpha: f64) -> Option<Ratio> {
    let is_amount = |x: f64| x.is_finite() && x >= 0.0;
    if !clusters.iter().all(|&(y, x)| is_amount(y) && is_amount(x)) {
        return None;
    }
    let m = clusters.len() as f64;
    let mean_y = clusters.iter().map(|c| c.0 / m).sum::<f64>();
    let mean_x = clusters.iter().map(|c| c.1 / m).sum::<f64>();
    let value = (mean_x > 0.0).then_some(mean_y / mean_x).filter(|value| value.is_finite())?;
    let mut bounds = Bounds::OPEN;
    if clusters.len() > 1 && is_alpha(alpha) {
        // In units of the means, so that no square overflows.
        let unit_y = if mean_y > 0.0 { mean_y } else { 1.0 };
        let scaled: Vec<(f64, f64)> = clusters.iter().map(|&(y, x)| (y / unit_y, x / mean_x)).collect();
        let scaled_bounds = solve(&scaled, mean_y / unit_y, t_quantile(1.0 - alpha / 2.0, m - 1.0));
        let unscale = |end: f64| end * (unit_y / mean_x);
        bounds = Bounds::of_numbers(scaled_bounds.lo.map(unscale), scaled_bounds.hi.map(unscale));
    }
    Some(Ratio { value, bounds, clusters: clusters.len() })
}

/// Fieller's inequality a R² − 2 b R + c ≤ 0 over R ≥ 0, for clusters whose mean denominator is 1, so that `ratio` is
/// the mean numerator. The lower root is c/(b + √(b² − ac)): stable, and right on both sides of a = 0. The ratio solves
/// the inequality, whatever the rounding.
fn solve(clusters: &[(f64, f64)], ratio: f64, t: f64) -> Bounds {
    let count = clusters.len() as f64;
    // t² times a (co)variance of the means.
    let spread = |of: fn(f64, f64) -> f64| {
        t * t / (count * (count - 1.0)) * clusters.iter().map(|&(y, x)| of(y - ratio, x - 1.0)).sum::<f64>()
    };
    let a = 1.0 - spread(|_, x| x * x);
    let b = ratio - spread(|y, x| x * y);
    let c = ratio * ratio - spread(|y, _| y * y);
    let root = (b * b - a * c).max(0.0).sqrt();
    let lo = if c > 0.0 { c / (b + root) } else { 0.0 };
    let hi = (a > 0.0).then_some((b + root) / a);
    Bounds { lo: Some(lo.clamp(0.0, ratio)), hi: hi.map(|hi| hi.clamp(ratio, f64::INFINITY)) }
}

/// The lower bound of the cost per useful answer when none of `n` was useful: C̄/(1 − α^(1/n)), with C̄ the mean cost
/// of an answer and 1 − α^(1/n) the exact upper bound of the useful share at 0 of n. `None` for n = 0, or a cost that
/// is negative or not finite.
pub fn zero_useful_lower(mean_cost: f64, n: u64, alpha: f64) -> Option<f64> {
    if n == 0 || !is_alpha(alpha) || !mean_cost.is_finite() || mean_cost < 0.0 {
        return None;
    }
    Some(mean_cost / -(alpha.ln() / n as f64).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALPHA;

    fn check(clusters: &[(f64, f64)], value: f64, lo: Option<f64>, hi: Option<f64>) {
        let ratio = fieller(clusters, ALPHA).unwrap();
        let close = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-9,
            (a, b) => a == b,
        };
        let is_right =
            close(Some(ratio.value), Some(value)) && close(ratio.bounds.lo, lo) && close(ratio.bounds.hi, hi);
        assert!(is_right, "{clusters:?}: {ratio:?}");
    }

    #[test]
    fn a_certain_denominator_gives_the_t_interval_of_the_mean() {
        // y = 1, 2, 3, 4 over x = 1 each: 2.5 ± t₃ · √(5/3/4).
        let half = 3.182_446_305_284_263 * (5.0_f64 / 12.0).sqrt();
        check(&[(1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (4.0, 1.0)], 2.5, Some(2.5 - half), Some(2.5 + half));
    }

    #[test]
    fn known_intervals() {
        // Expected: the roots of Fieller's inequality, found by scipy's brentq.
        check(
            &[(10.0, 4.0), (12.0, 5.0), (9.0, 3.0), (11.0, 5.0), (13.0, 6.0)],
            55.0 / 23.0,
            Some(2.129_366_712_123_959_4),
            Some(2.871_948_216_871_764_7),
        );
        check(&[(2.0, 1.0); 3], 2.0, Some(2.0), Some(2.0));
    }

    #[test]
    fn few_useful_answers_leave_the_cost_open_above() {
        check(&[(1.0, 0.0), (1.0, 0.0), (1.0, 1.0), (1.0, 0.0)], 4.0, Some(0.956_378_087_854_176_7), None);
        check(&[(3.0, 2.0)], 1.5, None, None);
        check(&[(0.0, 1.0), (0.0, 1.0)], 0.0, Some(0.0), Some(0.0));
    }

    #[test]
    fn extreme_amounts_do_not_overflow() {
        let huge =
            fieller(&[(0.0, 3_916.0), (5.3e259, 5_515.0), (0.0, 5_409.0), (2e-308, 0.0)], 0.08).unwrap();
        assert!(huge.bounds.contains(huge.value), "{huge:?}");
    }

    #[test]
    fn what_has_no_ratio() {
        for clusters in
            [vec![], vec![(1.0, 0.0)], vec![(-1.0, 1.0)], vec![(f64::NAN, 1.0)], vec![(1.0, f64::INFINITY)]]
        {
            assert_eq!(fieller(&clusters, ALPHA), None, "{clusters:?}");
        }
        assert_eq!(fieller(&[(1.0, 1.0), (2.0, 1.0)], f64::NAN).unwrap().bounds, Bounds::OPEN);
    }

    #[test]
    fn nothing_useful_still_bounds_the_cost() {
        let bound = zero_useful_lower(0.01, 20, ALPHA).unwrap();
        assert!((bound - 0.01 / (1.0 - 0.05_f64.powf(0.05))).abs() < 1e-15, "{bound}");
        for (cost, n) in [(1.0, 0), (-1.0, 5), (f64::NAN, 5)] {
            assert_eq!(zero_useful_lower(cost, n, ALPHA), None, "{cost} of {n}");
        }
        assert_eq!(zero_useful_lower(1.0, 1, f64::NAN), None);
    }
}
