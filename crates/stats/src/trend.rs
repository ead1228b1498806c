//! Drift: whether a series goes up or down, and how fast.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::special::erfc;

/// Both tests look at all pairs; a longer series is given as block medians ([`block_medians`]).
pub const MAX_POINTS: usize = 2_000;
/// Fewer points cannot show a trend at any level that matters.
pub const MIN_POINTS: usize = 4;
/// Up to here the null distribution of S is counted out, if no two values are equal.
const EXACT_UP_TO: usize = 50;

/// Mann and Kendall's test for a monotone trend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannKendall {
    /// Pairs that rise minus pairs that fall.
    pub s: i64,
    /// S, continuity-corrected, in standard deviations.
    pub z: f64,
    /// Two-sided probability of an S at least as far from 0 without a trend.
    pub p: f64,
}

/// Mann–Kendall (Mann 1945; Kendall 1975): S = Σ_{i<j} sign(xⱼ − xᵢ), Var S = [n(n − 1)(2n + 5) − Σ t(t − 1)(2t + 5)]/18
/// over groups of t equal values. p is exact up to 50 distinct values, else normal with continuity correction.
/// `None` under [`MIN_POINTS`] or over [`MAX_POINTS`] values, or with a NaN. Infinities are compared as numbers.
pub fn mann_kendall(series: &[f64]) -> Option<MannKendall> {
    let n = series.len();
    if !(MIN_POINTS..=MAX_POINTS).contains(&n) || series.iter().any(|x| x.is_nan()) {
        return None;
    }
    let sign = |a: f64, b: f64| i64::from(b > a) - i64::from(b < a);
    let s = (1..n)
        .flat_map(|j| (0..j).map(move |i| (i, j)))
        .map(|(i, j)| sign(series[i], series[j]))
        .sum::<i64>();
    let ties = tie_groups(series);
    let term = |t: usize| (t * (t - 1) * (2 * t + 5)) as f64 / 18.0;
    let variance = term(n) - ties.iter().map(|&t| term(t)).sum::<f64>();
    let z = if variance > 0.0 { (s - s.signum()) as f64 / variance.sqrt() } else { 0.0 };
    let is_exact = n <= EXACT_UP_TO && ties.iter().all(|&t| t == 1);
    let p = if is_exact { exact_p(n, s) } else { erfc(z.abs() * FRAC_1_SQRT_2) };
    Some(MannKendall { s, z, p: p.clamp(0.0, 1.0) })
}

/// How many values stand in each group of equal ones.
fn tie_groups(series: &[f64]) -> Vec<usize> {
    let mut sorted = series.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).collect()
}

/// P(|S'| ≥ |s|) over all orders of n distinct values. The number of falling pairs is a sum of independent uniform
/// variables on 0..=i for i < n, whose distribution is built up one convolution at a time.
fn exact_p(n: usize, s: i64) -> f64 {
    let pairs = n * (n - 1) / 2;
    let mut shares = vec![0.0; pairs + 1];
    shares[0] = 1.0;
    for i in 1..n {
        let mut cumulative = vec![0.0; pairs + 2];
        for (k, share) in shares.iter().enumerate() {
            cumulative[k + 1] = cumulative[k] + share;
        }
        for (k, share) in shares.iter_mut().enumerate() {
            *share = (cumulative[k + 1] - cumulative[k.saturating_sub(i)]) / (i + 1) as f64;
        }
    }
    // s = pairs − 2 · falling.
    let falling = (pairs - s.unsigned_abs() as usize) / 2;
    if s == 0 { 1.0 } else { 2.0 * shares[..=falling].iter().sum::<f64>() }
}

/// The Theil–Sen slope: the median of the slopes of all pairs of (t, x) with different t (Theil 1950; Sen 1968), in
/// units of x per unit of t. `None` where no pair has a slope, over [`MAX_POINTS`] points, or with one not finite.
pub fn theil_sen(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() > MAX_POINTS || !points.iter().all(|(t, x)| t.is_finite() && x.is_finite()) {
        return None;
    }
    let mut slopes = Vec::with_capacity(points.len() * points.len().saturating_sub(1) / 2);
    for (j, (t, x)) in points.iter().enumerate() {
        let earlier = points[..j].iter().filter(|(before, _)| before != t);
        slopes.extend(
            earlier.map(|(before, from)| (x - from) / (t - before)).filter(|slope| slope.is_finite()),
        );
    }
    median(&mut slopes)
}

/// The medians of `blocks` consecutive blocks whose sizes differ by at most 1. Values that are not finite are passed
/// over; with fewer values than blocks each value is a block.
pub fn block_medians(series: &[f64], blocks: usize) -> Vec<f64> {
    let mut finite: Vec<f64> = series.iter().copied().filter(|x| x.is_finite()).collect();
    let mut rest = finite.as_mut_slice();
    let mut medians = Vec::new();
    for left in (1..=blocks.min(rest.len())).rev() {
        let (block, after) = rest.split_at_mut(rest.len() / left);
        medians.extend(median(block));
        rest = after;
    }
    medians
}

/// The middle value, or the mean of the two middle ones; `None` of nothing.
fn median(values: &mut [f64]) -> Option<f64> {
    let half = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let is_odd = values.len() % 2 == 1;
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if is_odd {
        return Some(upper);
    }
    below.iter().copied().max_by(f64::total_cmp).map(|lower| f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIED: [f64; 15] = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0, 9.0, 7.0, 9.0];

    fn check(series: &[f64], s: i64, p: f64) {
        let found = mann_kendall(series).unwrap();
        assert!(found.s == s && (found.p - p).abs() < 1e-6, "{series:?}: {found:?}");
    }

    #[test]
    fn known_mann_kendall() {
        // Expected: exact Kendall test of scipy 1.17 where no values tie.
        check(&[3.0, 1.0, 4.0, 2.0, 7.0, 5.0, 6.0, 8.0], 18, 0.031_150_8);
        check(&[1.0, 2.0, 3.0, 4.0], 6, 0.083_333_3);
        check(&[4.0, 3.0, 2.0, 1.0], -6, 0.083_333_3);
        check(&[2.0, 1.0, 4.0, 3.0, 0.0], -2, 0.816_666_7);
        check(&[1.0; 20], 0, 1.0);
        check(&TIED, 55, 0.006_863_8);
    }

    #[test]
    fn exact_and_normal_agree_where_they_meet() {
        let series: Vec<f64> =
            (0..50_u32).map(|i| f64::from(i.wrapping_mul(0x9E37_79B9) >> 4) + f64::from(i) * 3e6).collect();
        let found = mann_kendall(&series).unwrap();
        assert!((found.p - erfc(found.z.abs() * FRAC_1_SQRT_2)).abs() < 2e-3, "{found:?}");
    }

    #[test]
    fn known_theil_sen() {
        let points: Vec<(f64, f64)> = TIED.iter().enumerate().map(|(i, &x)| (i as f64, x)).collect();
        assert!((theil_sen(&points).unwrap() - 4.0 / 9.0).abs() < 1e-15);
        assert_eq!(theil_sen(&[(0.0, 1.0), (2.0, 5.0)]), Some(2.0));
        assert_eq!(theil_sen(&[(1.0, 1.0), (1.0, 5.0)]), None);
        assert_eq!(theil_sen(&[(0.0, f64::NAN), (2.0, 5.0)]), None);
        assert_eq!(theil_sen(&[]), None);
    }

    #[test]
    fn blocks_share_the_series_evenly() {
        assert_eq!(block_medians(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 3), [1.5, 3.5, 6.0]);
        assert_eq!(block_medians(&[1.0, f64::NAN, 3.0], 9), [1.0, 3.0]);
        assert!(block_medians(&[], 3).is_empty() && block_medians(&[1.0], 0).is_empty());
    }

    #[test]
    fn too_short_too_long_or_unordered_is_none() {
        assert_eq!(mann_kendall(&[1.0, 2.0, 3.0]), None);
        assert_eq!(mann_kendall(&[1.0, 2.0, 3.0, f64::NAN]), None);
        assert_eq!(mann_kendall(&vec![0.0; MAX_POINTS + 1]), None);
        assert_eq!(theil_sen(&vec![(0.0, 0.0); MAX_POINTS + 1]), None);
    }
}
