//! Quantiles by nearest rank, with distribution-free intervals from order statistics.

use crate::proportion::{binomial_at_least, binomial_at_most};
use crate::{Bounds, Prob, Sorted, is_alpha};

/// A sample quantile and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// Which quantile.
    pub p: Prob,
    /// The sample's value at `rank`; +∞ where the thing never happened at that rank.
    pub value: f64,
    /// Whether `value` is only a lower bound because right-censored values stand at or before the rank: print
    /// `> value`.
    pub above: bool,
    /// Lower bound; `None` when open.
    pub lo: Option<f64>,
    /// Upper bound; `None` when open.
    pub hi: Option<f64>,
    /// The nearest rank ⌈p·n⌉, from 1.
    pub rank: usize,
    /// Values in the sample.
    pub n: usize,
    /// Independent values that the sample is worth; `n` unless a serial dependence was given.
    pub n_eff: f64,
    /// n · (1 − p) < 1: print `max of n`, since no more of the tail was seen.
    pub is_max: bool,
}

impl Quantile {
    /// The interval.
    pub fn bounds(&self) -> Bounds {
        Bounds { lo: self.lo, hi: self.hi }
    }
}

/// The nearest rank ⌈p·n⌉, from 1, in integer arithmetic; 0 when n = 0. (Hyndman and Fan 1996, definition 1.)
pub fn rank(n: usize, p: Prob) -> usize {
    p.ceil_of(n)
}

/// The element of an ascending slice at the nearest rank of `p`; `None` of an empty one. For counts that are no sample
/// to estimate from, such as the client's own lateness in nanoseconds; else [`estimate`].
pub fn nearest<T: Copy>(ascending: &[T], p: Prob) -> Option<T> {
    ascending.get(rank(ascending.len(), p).checked_sub(1)?).copied()
}

/// The ranks (l, u) whose order statistics bound the p-quantile with probability ≥ 1 − `alpha`, whatever the
/// distribution: l the largest with P(Bin(n, p) ≤ l − 1) ≤ α/2, u the smallest with P(Bin(n, p) ≥ u) ≤ α/2.
/// `None` where no rank bounds a side. (David and Nagaraja, *Order Statistics*, §7.1.)
pub fn interval_ranks(n: usize, p: Prob, alpha: f64) -> (Option<usize>, Option<usize>) {
    if !is_alpha(alpha) {
        return (None, None);
    }
    let (tail, share) = (alpha / 2.0, p.as_f64());
    // The binomial tails are monotone in the rank, so each side is a bisection over 1..=n.
    let below = bisect(n, |l| binomial_at_most(l as u64 - 1, n as u64, share) <= tail);
    let not_yet = bisect(n, |u| binomial_at_least(u as u64, n as u64, share) > tail);
    ((below > 0).then_some(below), (not_yet < n).then_some(not_yet + 1))
}

/// The least n whose ranks bound the p-quantile on both sides at error probability `alpha`: the extremes lie on one
/// side of it with probability pⁿ and (1 − p)ⁿ, each at most α/2. `None` of an `alpha` that is none.
pub fn closing_n(p: Prob, alpha: f64) -> Option<u64> {
    let share = p.as_f64().max(1.0 - p.as_f64());
    // Read as a number of cases, which ends: no share is 1.
    is_alpha(alpha).then(|| ((alpha / 2.0).ln() / share.ln()).ceil().max(1.0) as u64)
}

/// The p-quantile of a sample of independent values with its interval at error probability `alpha`; `None` when the
/// sample is empty.
pub fn estimate(sample: &Sorted, p: Prob, alpha: f64) -> Option<Quantile> {
    estimate_with_n_eff(sample, p, alpha, sample.len() as f64)
}

/// As [`estimate`], for a serially dependent sample that is worth `n_eff` independent values
/// ([`crate::serial::n_eff`]).
///
/// The ranks (l', u') are those of m = ⌊n_eff⌋ independent values; each is carried to the rank of the whole sample at
/// the same share, l = ⌊l' (n + 1)/(m + 1)⌋ and u = ⌈u' (n + 1)/(m + 1)⌉, rounded outwards. An `n_eff` outside [1, n]
/// is brought inside; NaN counts as n.
pub fn estimate_with_n_eff(sample: &Sorted, p: Prob, alpha: f64, n_eff: f64) -> Option<Quantile> {
    let n = sample.len();
    let at = sample.at(rank(n, p))?;
    let n_eff = if n_eff.is_nan() { n as f64 } else { n_eff.clamp(1.0, n as f64) };
    let worth = n_eff as usize;
    let (l, u) = interval_ranks(worth, p, alpha);
    let carried = |rank: usize| rank as u128 * (n as u128 + 1);
    let l = l.map(|l| (carried(l) / (worth as u128 + 1)) as usize);
    let u = u.map(|u| carried(u).div_ceil(worth as u128 + 1) as usize);
    Some(Quantile {
        p,
        value: at.number(),
        above: at.is_censored(),
        lo: l.and_then(|l| sample.at(l)).map(crate::Point::number),
        hi: u.and_then(|u| sample.at_latest(u)),
        rank: rank(n, p),
        n,
        n_eff,
        is_max: p.is_beyond(n),
    })
}

/// The largest i in 1..=n for which `holds`, which must be true up to some i and false after it; 0 when never.
fn bisect(n: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut lo, mut hi) = (0, n);
    while lo < hi {
        let middle = hi - (hi - lo) / 2;
        if holds(middle) { lo = middle } else { hi = middle - 1 }
    }
    lo
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point::{Above, Exact};
    use crate::{ALPHA, Point};

    fn check_ranks(n: usize, p: Prob, expected: (Option<usize>, Option<usize>)) {
        assert_eq!(interval_ranks(n, p, ALPHA), expected, "n = {n}, {p}");
    }

    #[test]
    fn known_interval_ranks() {
        check_ranks(25, Prob::P50, (Some(8), Some(18)));
        check_ranks(25, Prob::P95, (Some(21), None));
        check_ranks(100, Prob::P50, (Some(40), Some(61)));
        check_ranks(100, Prob::P95, (Some(90), Some(100)));
        check_ranks(100, Prob::P99, (Some(97), None));
        check_ranks(500, Prob::P50, (Some(228), Some(273)));
        check_ranks(500, Prob::P95, (Some(465), Some(485)));
        check_ranks(500, Prob::P99, (Some(490), Some(500)));
        check_ranks(5, Prob::P50, (None, None));
        check_ranks(6, Prob::P50, (Some(1), Some(6)));
        check_ranks(0, Prob::P50, (None, None));
    }

    #[test]
    fn an_alpha_that_is_none_bounds_nothing() {
        for alpha in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(interval_ranks(100, Prob::P50, alpha), (None, None), "alpha = {alpha}");
        }
    }

    #[test]
    fn nearest_ranks_are_exact() {
        for (n, p, expected) in [
            (0, Prob::P50, 0),
            (1, Prob::P999, 1),
            (2, Prob::P50, 1),
            (3, Prob::P50, 2),
            (20, Prob::P95, 19),
            (100, Prob::P99, 99),
            (101, Prob::P99, 100),
            (usize::MAX, Prob::P50, usize::MAX / 2 + 1),
        ] {
            assert_eq!(rank(n, p), expected, "n = {n}, {p}");
        }
    }

    #[test]
    fn nearest_is_the_element_at_the_rank() {
        let ascending: Vec<u64> = (1..=101).collect();
        let at = |p| nearest(&ascending, p);
        assert_eq!([at(Prob::P50), at(Prob::P99), at(Prob::P999)], [Some(51), Some(100), Some(101)]);
        assert_eq!(nearest(&[7.5], Prob::P50), Some(7.5));
        assert_eq!(nearest::<u64>(&[], Prob::P50), None);
    }

    #[test]
    fn ranks_bound_from_the_closing_n_on() {
        for p in [Prob::P50, Prob::P95, Prob::P99] {
            for alpha in [0.1, ALPHA, ALPHA / 45.0] {
                let n = closing_n(p, alpha).unwrap() as usize;
                let is_closed = |n| matches!(interval_ranks(n, p, alpha), (Some(_), Some(_)));
                assert!(is_closed(n) && !is_closed(n - 1), "{p} at {alpha}: {n}");
            }
        }
        assert_eq!((closing_n(Prob::P95, ALPHA), closing_n(Prob::P95, 0.0)), (Some(72), None));
    }

    fn hundred(map: impl Fn(u32) -> Point) -> Sorted {
        Sorted::from_points((1..=100).map(map).collect()).unwrap()
    }

    #[test]
    fn value_interval_and_mark() {
        let sample = hundred(|i| Exact(f64::from(i)));
        let p50 = estimate(&sample, Prob::P50, ALPHA).unwrap();
        assert_eq!(
            (p50.value, p50.lo, p50.hi, p50.rank, p50.is_max),
            (50.0, Some(40.0), Some(61.0), 50, false)
        );
        let p999 = estimate(&sample, Prob::P999, ALPHA).unwrap();
        assert_eq!((p999.value, p999.hi, p999.is_max), (100.0, None, true));
        assert!(!estimate(&sample, Prob::P99, ALPHA).unwrap().is_max);
        assert_eq!(estimate(&Sorted::default(), Prob::P50, ALPHA), None);
    }

    #[test]
    fn quantiles_reach_infinity() {
        let sample = hundred(|i| Exact(if i > 92 { f64::INFINITY } else { f64::from(i) }));
        let p95 = estimate(&sample, Prob::P95, ALPHA).unwrap();
        assert_eq!(
            (p95.value, p95.above, p95.lo, p95.hi),
            (f64::INFINITY, false, Some(90.0), Some(f64::INFINITY))
        );
    }

    #[test]
    fn a_quantile_on_a_censored_value_is_a_lower_bound() {
        let sample = hundred(|i| if i > 92 { Above(92.5) } else { Exact(f64::from(i)) });
        let p95 = estimate(&sample, Prob::P95, ALPHA).unwrap();
        assert_eq!((p95.value, p95.above, p95.lo, p95.hi), (92.5, true, Some(90.0), None));
        let p50 = estimate(&sample, Prob::P50, ALPHA).unwrap();
        assert_eq!((p50.value, p50.above, p50.hi), (50.0, false, Some(61.0)));
    }

    #[test]
    fn dependence_widens_and_then_opens() {
        let sample = hundred(|i| Exact(f64::from(i)));
        let with = |n_eff| estimate_with_n_eff(&sample, Prob::P50, ALPHA, n_eff).unwrap().bounds();
        assert_eq!(with(100.0), Bounds::closed(40.0, 61.0));
        assert_eq!(with(f64::NAN), with(1e9));
        assert_eq!(with(25.9), Bounds::closed(31.0, 70.0)); // ranks (8, 18) of 25, carried by 101/26
        assert_eq!(with(5.0), Bounds::OPEN);
        assert_eq!(with(-3.0), Bounds::OPEN);
    }
}
