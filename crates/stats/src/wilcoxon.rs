//! Wilcoxon's signed ranks: whether paired differences lie to one side of 0.

use crate::special::{normal_cdf, normal_quantile};

/// Up to this many differences the null distribution is counted out; beyond it, it is normal to 0.001.
pub const EXACT_UP_TO: usize = 50;

/// The result of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// Sum of the ranks of the positive differences.
    pub statistic: f64,
    /// Two-sided p.
    pub p: f64,
    /// Differences, zeros among them.
    pub n: usize,
    /// Of them, zeros: pairs that tie.
    pub zeros: usize,
}

/// ln(a/b) of two times that may never have come (+∞): ∞ against a number is ±∞, which ranks last; both ∞ is a tie.
/// `None` where either is negative or NaN.
pub fn log_ratio(a: f64, b: f64) -> Option<f64> {
    if !(a >= 0.0 && b >= 0.0) {
        return None;
    }
    Some(if a == b { 0.0 } else { a.ln() - b.ln() })
}

/// Tests whether differences are symmetric about 0 (Wilcoxon 1945). Infinite ones rank last, together.
///
/// Zeros are ranked with the rest and then left out (Pratt 1959), so that ties of both sides count for equality. Equal
/// sizes share their mean rank. Up to [`EXACT_UP_TO`] differences p is exact, given the ranks as they are (each sign a
/// fair coin); beyond, normal with variance Σ r²/4 and a continuity correction of ½. 1 where all are zero. `None` of an
/// empty sample or one that holds NaN.
pub fn signed_rank(differences: &[f64]) -> Option<SignedRank> {
    let n = differences.len();
    if n == 0 || differences.iter().any(|d| d.is_nan()) {
        return None;
    }
    let mut sorted = differences.to_vec();
    sorted.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let zeros = sorted.partition_point(|&d| d == 0.0);
    let ranks = doubled_ranks(&sorted);
    let is_positive = |i: &usize| sorted.get(*i).is_some_and(|&d| d > 0.0);
    let positive: u64 = (zeros..n).filter(is_positive).filter_map(|i| ranks.get(i)).sum();
    let ranks = ranks.get(zeros..).unwrap_or_default();
    let p = if n <= EXACT_UP_TO { exact(ranks, positive) } else { approximate(ranks, positive) };
    Some(SignedRank { statistic: positive as f64 / 2.0, p, n, zeros })
}

/// Twice the mean rank of each size, so that shared ranks are whole.
fn doubled_ranks(sorted: &[f64]) -> Vec<u64> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for equal in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let (first, count) = (ranks.len() as u64 + 1, equal.len() as u64);
        ranks.extend(std::iter::repeat_n(2 * first + count - 1, equal.len()));
    }
    ranks
}

fn exact(ranks: &[u64], positive: u64) -> f64 {
    let mass = null_distribution(ranks);
    let at = positive as usize;
    let below: f64 = mass.iter().take(at + 1).sum();
    let above: f64 = mass.iter().skip(at).sum();
    (2.0 * below.min(above)).min(1.0)
}

/// P(Σ of the ranks whose coin fell on heads = k), for k = 0, 1, ….
fn null_distribution(ranks: &[u64]) -> Vec<f64> {
    let total: u64 = ranks.iter().sum();
    let mut mass = vec![0.0; total as usize + 1];
    mass[0] = 1.0;
    let mut reached = 0;
    for &rank in ranks {
        let rank = rank as usize;
        reached += rank;
        for k in (0..=reached).rev() {
            let with = k.checked_sub(rank).map_or(0.0, |rest| mass[rest]);
            mass[k] = 0.5 * (mass[k] + with);
        }
    }
    mass
}

fn approximate(ranks: &[u64], positive: u64) -> f64 {
    let halves = |rank: &u64| *rank as f64 / 2.0;
    let mean = ranks.iter().map(halves).sum::<f64>() / 2.0;
    let variance = ranks.iter().map(halves).map(|r| r * r).sum::<f64>() / 4.0;
    let distance = ((positive as f64 / 2.0 - mean).abs() - 0.5).max(0.0);
    if variance > 0.0 { (2.0 * normal_cdf(-distance / variance.sqrt())).min(1.0) } else { 1.0 }
}

/// The largest k with P(W ≤ k − 1) ≤ `tail` for the rank sum W of n untied differences: the k-th Walsh average from
/// either end bounds the shift. `None` where no k does.
pub(crate) fn critical_rank(n: usize, tail: f64) -> Option<u64> {
    if n > EXACT_UP_TO {
        let n = n as f64;
        let (mean, variance) = (n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0);
        let rank = (mean + 0.5 + normal_quantile(tail) * variance.sqrt()).floor();
        return (rank >= 1.0).then_some(rank as u64);
    }
    let ranks: Vec<u64> = (1..=n as u64).collect();
    let mut below = 0.0;
    let within = null_distribution(&ranks).into_iter().take_while(|mass| {
        below += mass;
        below <= tail
    });
    let rank = within.count() as u64;
    (rank > 0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(differences: &[f64], statistic: f64, p: f64, tolerance: f64) {
        let found = signed_rank(differences).unwrap();
        let is_right = found.statistic == statistic && (found.p - p).abs() < tolerance;
        assert!(is_right, "{differences:?}: {found:?}, not {statistic} and {p}");
    }

    /// Hamilton's depression scale before less after a tranquilliser (Hollander and Wolfe 1973, table 3.1): V = 40,
    /// p = 0.03906 two-sided, in R's `wilcox.test`.
    const DEPRESSION: [f64; 9] = [0.952, -0.147, 1.022, 0.43, 0.62, 0.59, 0.49, -0.08, 0.01];

    #[test]
    fn known_tests() {
        check(&DEPRESSION, 40.0, 0.039_062_5, 1e-12);
        // Wilcoxon's own example of Darwin's maize (1945): of 15 differences two are negative, W = 120 − 24,
        // p = 0.0413 exact.
        let maize = [49., -67., 8., 16., 6., 23., 28., 41., 14., 29., 56., 24., 75., 60., -48.];
        check(&maize, 96.0, 0.041_259_765_625, 1e-12);
        check(&[1.0, 2.0, 3.0, 4.0, 5.0], 15.0, 2.0 / 32.0, 1e-15);
    }

    #[test]
    fn what_never_came_ranks_last_and_together() {
        let inf = f64::INFINITY;
        // Ranks 1, 2, then 4.5 for each of the four infinite ones.
        check(&[0.1, -0.2, inf, inf, inf, -inf], 1.0 + 3.0 * 4.5, 0.5, 1e-12);
        assert_eq!(log_ratio(inf, inf), Some(0.0));
        assert_eq!((log_ratio(inf, 3.0), log_ratio(3.0, inf)), (Some(inf), Some(-inf)));
        assert_eq!((log_ratio(0.0, 0.0), log_ratio(0.0, 1.0)), (Some(0.0), Some(-inf)));
        assert_eq!((log_ratio(-1.0, 1.0), log_ratio(f64::NAN, 1.0)), (None, None));
    }

    #[test]
    fn ties_of_both_sides_count_for_equality() {
        let zeros = signed_rank(&[0.0; 10]).unwrap();
        assert_eq!((zeros.p, zeros.zeros), (1.0, 10));
        let alone = signed_rank(&[1.0; 6]).unwrap().p;
        let among: Vec<f64> = [0.0; 6].into_iter().chain([1.0; 6]).collect();
        assert_eq!(signed_rank(&among).unwrap().p, alone);
        assert_eq!((signed_rank(&[]), signed_rank(&[f64::NAN])), (None, None));
    }

    #[test]
    fn the_normal_takes_over_where_the_exact_ends() {
        let differences: Vec<f64> =
            (1..=50).map(|i| if i % 3 == 0 { f64::from(-i) } else { f64::from(i) }).collect();
        let mut sorted = differences.clone();
        sorted.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
        let ranks = doubled_ranks(&sorted);
        let positive = 2 * differences.iter().filter(|d| **d > 0.0).map(|d| *d as u64).sum::<u64>();
        let (exact, approximate) = (exact(&ranks, positive), approximate(&ranks, positive));
        assert!((exact - approximate).abs() < 1e-3, "{exact} {approximate}");
    }

    #[test]
    fn known_critical_ranks() {
        // Tables of the two-sided 5 % point of W (Wilcoxon and Wilcox 1964): 0 at n = 6, 8 at 10, 89 at 25.
        for (n, largest) in [(5, None), (6, Some(0)), (10, Some(8)), (25, Some(89)), (50, Some(434))] {
            assert_eq!(critical_rank(n, 0.025).map(|rank| rank - 1), largest, "n = {n}");
        }
        assert_eq!(critical_rank(0, 0.025), None);
    }
}
