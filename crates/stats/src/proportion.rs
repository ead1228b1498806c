//! Proportions: Wilson's interval, exact one-sided bounds, and the binomial tails under them.

use crate::special::{beta_inc, beta_inc_inv, normal_quantile};
use crate::{Bounds, is_alpha};

/// Wilson's two-sided score interval of k successes in n trials at error probability `alpha`, without continuity
/// correction; open where n = 0 or k > n. (Wilson 1927, JASA 22.)
///
/// Centre (k + z²/2)/(n + z²), half-width z √(k(n − k)/n + z²/4)/(n + z²), z = Φ⁻¹(1 − α/2). Its coverage is the
/// nominal one on average over p; it dips below at a few p near 0 and 1 (Brown, Cai and DasGupta 2001), which is why
/// gates use exact bounds.
pub fn wilson(k: u64, n: u64, alpha: f64) -> Bounds {
    if n == 0 || k > n || !is_alpha(alpha) {
        return Bounds::OPEN;
    }
    let (hits, misses, trials) = (k as f64, (n - k) as f64, n as f64);
    let z = -normal_quantile(alpha / 2.0);
    let centre = hits + z * z / 2.0;
    let half = z * (hits * misses / trials + z * z / 4.0).sqrt();
    let end = |x: f64| (x / (trials + z * z)).clamp(0.0, 1.0);
    // Exact at the ends, where the two terms cancel but for rounding.
    let lo = if k == 0 { 0.0 } else { end(centre - half) };
    let hi = if k == n { 1.0 } else { end(centre + half) };
    Bounds::closed(lo, hi)
}

/// The exact one-sided lower bound of k successes in n trials: the share below which seeing k or more would have
/// probability under `alpha`. 0 where nothing bounds it. (Clopper and Pearson 1934; k above n counts as n.)
pub fn clopper_pearson_lower(k: u64, n: u64, alpha: f64) -> f64 {
    let k = k.min(n);
    if k == 0 || !is_alpha(alpha) {
        return 0.0;
    }
    beta_inc_inv(k as f64, (n - k) as f64 + 1.0, alpha)
}

/// The exact one-sided upper bound of k successes in n trials: the share above which seeing k or fewer would have
/// probability under `alpha`. 1 where nothing bounds it. (Clopper and Pearson 1934; k above n counts as n.)
pub fn clopper_pearson_upper(k: u64, n: u64, alpha: f64) -> f64 {
    let k = k.min(n);
    if k == n || !is_alpha(alpha) {
        return 1.0;
    }
    beta_inc_inv(k as f64 + 1.0, (n - k) as f64, 1.0 - alpha)
}

/// P(Bin(n, p) ≤ k) = I₁₋ₚ(n − k, k + 1) (DLMF 8.17.5). `p` is brought into [0, 1].
pub fn binomial_at_most(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    beta_inc((n - k) as f64, k as f64 + 1.0, 1.0 - within_unit(p))
}

/// P(Bin(n, p) ≥ k) = Iₚ(k, n − k + 1) (DLMF 8.17.5). `p` is brought into [0, 1].
pub fn binomial_at_least(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 {
        return 1.0;
    }
    if k > n {
        return 0.0;
    }
    beta_inc(k as f64, (n - k) as f64 + 1.0, within_unit(p))
}

/// NaN becomes 0.
fn within_unit(p: f64) -> f64 {
    if p.is_nan() { 0.0 } else { p.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALPHA;

    fn check_wilson(k: u64, n: u64, lo_percent: f64, hi_percent: f64) {
        let Bounds { lo: Some(lo), hi: Some(hi) } = wilson(k, n, ALPHA) else { panic!("{k}/{n} is open") };
        let close = |x: f64, percent: f64| (x * 100.0 - percent).abs() < 0.005;
        assert!(close(lo, lo_percent) && close(hi, hi_percent), "{k}/{n}: [{lo}, {hi}]");
    }

    #[test]
    fn known_wilson_intervals() {
        check_wilson(20, 20, 83.89, 100.0);
        check_wilson(1790, 1874, 94.48, 96.36);
        check_wilson(0, 20, 0.0, 16.11);
        check_wilson(5, 10, 23.66, 76.34);
        assert_eq!(wilson(20, 20, ALPHA).hi, Some(1.0));
        assert_eq!(wilson(0, 20, ALPHA).lo, Some(0.0));
    }

    #[test]
    fn nothing_asked_bounds_nothing() {
        for (k, n, alpha) in [(0, 0, ALPHA), (3, 2, ALPHA), (1, 2, 0.0), (1, 2, 5e-324), (1, 2, f64::NAN)] {
            assert_eq!(wilson(k, n, alpha), Bounds::OPEN, "{k}/{n} at {alpha}");
        }
        assert_eq!((clopper_pearson_lower(0, 0, ALPHA), clopper_pearson_upper(0, 0, ALPHA)), (0.0, 1.0));
        assert_eq!((clopper_pearson_lower(9, 4, f64::NAN), clopper_pearson_upper(9, 4, ALPHA)), (0.0, 1.0));
    }

    #[test]
    fn known_exact_bounds() {
        // k = 0: 1 − α^(1/n); k = n: α^(1/n).
        assert!((clopper_pearson_upper(0, 59, ALPHA) - (1.0 - 0.05_f64.powf(1.0 / 59.0))).abs() < 1e-14);
        assert!((clopper_pearson_lower(30, 30, ALPHA) - 0.05_f64.powf(1.0 / 30.0)).abs() < 1e-14);
        // The bound is where the opposite tail is alpha.
        for (k, n) in [(1, 10), (7, 93), (500, 1000), (99_990, 100_000)] {
            assert!(
                (binomial_at_least(k, n, clopper_pearson_lower(k, n, ALPHA)) - ALPHA).abs() < 1e-9,
                "{k}/{n}"
            );
            assert!(
                (binomial_at_most(k, n, clopper_pearson_upper(k, n, ALPHA)) - ALPHA).abs() < 1e-9,
                "{k}/{n}"
            );
        }
    }

    #[test]
    fn binomial_tails_match_their_sums() {
        let (n, p) = (12_u64, 0.3_f64);
        let mut choose = 1.0;
        let mut sum = 0.0;
        for k in 0..=n {
            assert!((binomial_at_least(k, n, p) - (1.0 - sum)).abs() < 1e-13, "k = {k}");
            sum += choose * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32);
            assert!((binomial_at_most(k, n, p) - sum).abs() < 1e-13, "k = {k}");
            choose *= (n - k) as f64 / (k + 1) as f64;
        }
        assert_eq!((binomial_at_least(5, 4, 0.5), binomial_at_most(5, 4, 0.5)), (0.0, 1.0));
        assert_eq!(binomial_at_most(0, 4, f64::NAN), 1.0);
    }
}
