//! How many observations would have told two things apart, as a range: the effect itself is known only so well.

use crate::random::SplitMix;
use crate::special::normal_quantile;
use crate::{is_alpha, walsh};

/// The chance that so many would have told them apart.
pub const POWER: f64 = 0.8;
/// No more than this is promised: read it as "so many or more".
pub const MAX_N: u64 = 1_000_000;
/// Effects that are drawn.
const DRAWS: usize = 100;
/// Differences in each resample, whatever the sample's size: the scatter is scaled to it.
const MAX_RESAMPLED: usize = 500;

/// For Wilcoxon's test of paired differences at `alpha`: N = (z₁₋α/₂ + z_power)²/(3 (p′ − ½)²), p′ the share of pairs
/// of differences whose sum is positive (Noether 1987, JASA 82). p′ is taken anew from resamples of the differences;
/// the range is from the 10th to the 90th percentile of those N that lie above the n that did not tell. `None` where most
/// do not: what should have told did not, and this formula does not know why. `None` of an empty sample or one that
/// holds NaN.
pub fn for_signed_rank(differences: &[f64], alpha: f64, seed: u64) -> Option<[u64; 2]> {
    let n = differences.len();
    let whole = effect(differences.to_vec())?;
    let size = n.min(MAX_RESAMPLED);
    let shrink = (size as f64 / n as f64).sqrt();
    let mut random = SplitMix::new(seed);
    let mut draw = || {
        let resample = (0..size).filter_map(|_| differences.get(random.below(n)).copied());
        effect(resample.collect()).map(|again| whole + (again - whole) * shrink)
    };
    let effects = (0..DRAWS).filter_map(|_| draw()).collect();
    range(n as u64, (1.0 / (3.0 * n as f64)).sqrt(), effects, alpha)
}

/// For any estimate that is normal about the truth: `effect` away from equality with standard error `error` at n. The
/// true effect is drawn about the estimate. `None` as [`for_signed_rank`], where one is not finite, or `error` is not
/// positive.
pub fn for_estimate(n: u64, effect: f64, error: f64, alpha: f64, seed: u64) -> Option<[u64; 2]> {
    if n == 0 || !effect.is_finite() || !(error > 0.0 && error.is_finite()) {
        return None;
    }
    let mut random = SplitMix::new(seed);
    let effects = (0..DRAWS).map(|_| effect + error * normal_quantile(random.unit())).collect();
    range(n, error, effects, alpha)
}

/// P(sum of two > 0) − ½, ties as halves.
fn effect(mut differences: Vec<f64>) -> Option<f64> {
    if differences.is_empty() || differences.iter().any(|d| d.is_nan()) {
        return None;
    }
    differences.sort_unstable_by(f64::total_cmp);
    let n = differences.len() as f64;
    let up_to = |limit: f64| walsh::count_up_to(&differences, limit) as f64 / (n * (n + 1.0) / 2.0);
    Some(0.5 * (1.0 - up_to(0.0) - up_to(-f64::MIN_POSITIVE)))
}

/// n (z · error/effect)² for each effect: a standard error falls with √n.
fn range(n: u64, error: f64, effects: Vec<f64>, alpha: f64) -> Option<[u64; 2]> {
    if !is_alpha(alpha) {
        return None;
    }
    let (drawn, z) = (effects.len(), normal_quantile(POWER) - normal_quantile(alpha / 2.0));
    let needed = |effect: f64| (n as f64 * (z * error / effect).powi(2)).ceil().min(MAX_N as f64) as u64;
    let mut above: Vec<u64> =
        effects.into_iter().map(needed).filter(|needed| *needed > n.min(MAX_N - 1)).collect();
    above.sort_unstable();
    let at = |percent: usize| above.get(above.len() * percent / 100).copied();
    (above.len() * 2 > drawn).then(|| Some([at(10)?, at(90)?]))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALPHA;

    #[test]
    fn a_known_effect_needs_a_known_n() {
        // z = 1.95996 + 0.84162; an effect of one standard error at n = 100 needs 785.
        let exact = range(100, 1.0, vec![1.0; 100], ALPHA);
        assert_eq!(exact, Some([785, 785]));
        let [low, high] = for_estimate(100, 1.0, 1.0, ALPHA, 3).unwrap();
        assert!(low < 785 && high > 785, "{low} to {high}");
    }

    #[test]
    fn the_range_holds_what_a_test_of_that_n_needs() {
        let mut random = SplitMix::new(9);
        let mut normal = |shift: f64| shift + normal_quantile(random.unit());
        let pairs: Vec<f64> = (0..60).map(|_| normal(0.2)).collect();
        // A shift of 0.2 σ: p′ = Φ(0.2 √2) = 0.6114, N = 7.849/(3 · 0.1114²) = 211.
        let [low, high] = for_signed_rank(&pairs, ALPHA, 1).unwrap();
        assert!(low <= 211 && 211 <= high && low > 60, "{low} to {high}");
        assert_eq!(for_signed_rank(&pairs, ALPHA, 1), Some([low, high]));
    }

    #[test]
    fn what_should_have_told_promises_nothing() {
        // Of an effect of four standard errors half of the n there is would do.
        assert_eq!(range(100, 1.0, vec![4.0; 100], ALPHA), None);
        let mixed = |clear: usize| (0..100).map(|i| if i < clear { 4.0 } else { 1.0 }).collect();
        assert_eq!(range(100, 1.0, mixed(49), ALPHA), Some([785, 785]));
        assert_eq!(range(100, 1.0, mixed(50), ALPHA), None);
        assert_eq!(range(MAX_N * 2, 1.0, vec![1.0], ALPHA), Some([MAX_N, MAX_N]));
    }

    #[test]
    fn no_effect_needs_more_than_anyone_has() {
        let pairs: Vec<f64> = (0..2_000).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert_eq!(for_signed_rank(&pairs, ALPHA, 1).map(|range| range[1]), Some(MAX_N));
        assert_eq!(for_signed_rank(&[0.0; 9], ALPHA, 1), Some([MAX_N, MAX_N]));
        for (n, effect, error) in [(0, 1.0, 1.0), (5, f64::INFINITY, 1.0), (5, 1.0, 0.0), (5, 1.0, f64::NAN)]
        {
            assert_eq!(for_estimate(n, effect, error, ALPHA, 1), None, "{n} {effect} {error}");
        }
        assert_eq!((for_signed_rank(&[], ALPHA, 1), for_signed_rank(&[f64::NAN], ALPHA, 1)), (None, None));
    }
}
