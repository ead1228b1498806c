//! Hodges and Lehmann's shift of paired differences, with an interval that needs no distribution.

use crate::wilcoxon::critical_rank;
use crate::{Bounds, is_alpha};

/// Steps of a bisection over every float there is.
const MAX_STEPS: u32 = 64;

/// A shift and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The median of the Walsh averages.
    pub value: f64,
    /// Two of them; open where n is too small.
    pub bounds: Bounds,
}

/// The median of the M = n(n + 1)/2 Walsh averages (dᵢ + dⱼ)/2, i ≤ j (Hodges and Lehmann 1963), with the k-th and
/// (M + 1 − k)-th as bounds, k the critical rank of Wilcoxon's test at α/2 (Tukey 1949; Hollander and Wolfe §3.3): the
/// shifts that the test does not reject. It holds for differences symmetric about the shift.
///
/// Differences may be infinite; one of each sign average to 0. No average is stored: each is found by bisection over the
/// floats, of at most `MAX_STEPS` counts of O(n). `None` of an empty sample or one that holds NaN.
pub fn estimate(differences: &[f64], alpha: f64) -> Option<Shift> {
    if differences.is_empty() || differences.iter().any(|d| d.is_nan()) {
        return None;
    }
    let mut sorted = differences.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len() as u64;
    let all = n * (n + 1) / 2;
    let value = middle(select(&sorted, all.div_ceil(2)), select(&sorted, all / 2 + 1));
    let rank = if is_alpha(alpha) { critical_rank(sorted.len(), alpha / 2.0) } else { None };
    let rank = rank.filter(|rank| *rank <= all.div_ceil(2));
    let bound = |rank: u64| select(&sorted, rank);
    Some(Shift { value, bounds: Bounds { lo: rank.map(bound), hi: rank.map(|k| bound(all + 1 - k)) } })
}

/// The Walsh average at a rank from 1: the least float that so many do not exceed.
fn select(sorted: &[f64], rank: u64) -> f64 {
    let (mut lo, mut hi) = (place(f64::NEG_INFINITY), place(f64::INFINITY));
    for _ in 0..MAX_STEPS {
        if lo >= hi {
            break;
        }
        let between = lo + (hi - lo) / 2;
        if count_up_to(sorted, float_at(between)) >= rank { hi = between } else { lo = between + 1 }
    }
    float_at(hi) + 0.0 // −0 and 0 are one number
}

/// How many Walsh averages are at most `limit`. As i rises, fewer j go with it: one walk over each.
pub(crate) fn count_up_to(sorted: &[f64], limit: f64) -> u64 {
    let (mut count, mut end) = (0, sorted.len());
    for (i, &low) in sorted.iter().enumerate() {
        while end > i && sorted.get(end - 1).is_some_and(|&high| middle(low, high) > limit) {
            end -= 1;
        }
        if end <= i {
            break;
        }
        count += (end - i) as u64;
    }
    count
}

/// (a + b)/2 without overflow; of −∞ and ∞, 0.
fn middle(a: f64, b: f64) -> f64 {
    let sum = a * 0.5 + b * 0.5;
    if sum.is_nan() { 0.0 } else { sum }
}

/// The place of a float among all floats, in their order.
fn place(x: f64) -> u64 {
    let bits = x.to_bits();
    if x.is_sign_negative() { !bits } else { bits | (1 << 63) }
}

fn float_at(place: u64) -> f64 {
    f64::from_bits(if place >> 63 == 1 { place & !(1 << 63) } else { !place })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALPHA;
    use crate::random::SplitMix;

    fn check(differences: &[f64], value: f64, lo: Option<f64>, hi: Option<f64>) {
        let found = estimate(differences, ALPHA).unwrap();
        let is_close = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-12 || a == b,
            (a, b) => a == b,
        };
        let is_right = is_close(Some(found.value), Some(value))
            && is_close(found.bounds.lo, lo)
            && is_close(found.bounds.hi, hi);
        assert!(is_right, "{differences:?}: {found:?}");
    }

    #[test]
    fn known_shifts() {
        // Hollander and Wolfe's depression data, before − after: estimate 0.46, 96.1 % interval 0.01 to 0.786
        // (R: wilcox.test(conf.int = TRUE)).
        let depression = [0.952, -0.147, 1.022, 0.43, 0.62, 0.59, 0.49, -0.08, 0.01];
        check(&depression, 0.46, Some(0.01), Some(0.786));
        check(&[3.0], 3.0, None, None);
        check(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3.5, Some(1.0), Some(6.0));
    }

    #[test]
    fn infinite_differences_have_their_place() {
        let inf = f64::INFINITY;
        check(&[inf; 8], inf, Some(inf), Some(inf));
        check(&[inf, -inf], 0.0, None, None);
        check(&[-inf, 0.0, 0.0, 0.0, 0.0, 0.0, inf], 0.0, Some(-inf), Some(inf));
        assert_eq!((estimate(&[], ALPHA), estimate(&[f64::NAN], ALPHA)), (None, None));
    }

    #[test]
    fn selection_agrees_with_sorting() {
        let mut random = SplitMix::new(3);
        for n in [1_usize, 2, 7, 30] {
            let mut sorted: Vec<f64> = (0..n).map(|_| (random.unit() - 0.5) * 10.0).collect();
            sorted.sort_unstable_by(f64::total_cmp);
            let pairs = (0..n).flat_map(|i| (i..n).map(move |j| (i, j)));
            let mut averages: Vec<f64> = pairs.map(|(i, j)| middle(sorted[i], sorted[j])).collect();
            averages.sort_unstable_by(f64::total_cmp);
            for (rank, average) in averages.iter().enumerate() {
                assert_eq!(select(&sorted, rank as u64 + 1), *average, "n = {n}, rank {}", rank + 1);
            }
        }
    }

    #[test]
    fn many_pairs_are_no_burden() {
        let mut random = SplitMix::new(4);
        let differences: Vec<f64> = (0..100_000).map(|_| random.unit() - 0.4).collect();
        let found = estimate(&differences, ALPHA).unwrap();
        assert!((found.value - 0.1).abs() < 0.005 && found.bounds.contains(found.value), "{found:?}");
    }
}
