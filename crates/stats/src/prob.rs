//! A probability as an exact rational, so that ranks are integer arithmetic.

use std::cmp::Ordering;
use std::fmt;

/// A probability p = num / den with 0 < p < 1, in lowest terms.
///
/// 0.95 is not a binary fraction: ⌈0.95 · 20⌉ in floating point is 19 or 20 by luck. A rational decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prob {
    num: u32,
    den: u32,
}

impl Prob {
    /// The median.
    pub const P50: Self = Self { num: 1, den: 2 };
    /// The 90th percentile.
    pub const P90: Self = Self { num: 9, den: 10 };
    /// The 95th percentile.
    pub const P95: Self = Self { num: 19, den: 20 };
    /// The 99th percentile.
    pub const P99: Self = Self { num: 99, den: 100 };
    /// The 99.9th percentile.
    pub const P999: Self = Self { num: 999, den: 1000 };

    /// num / den, or `None` unless 0 < num < den.
    pub fn new(num: u32, den: u32) -> Option<Self> {
        if num == 0 || num >= den {
            return None;
        }
        let common = gcd(num, den);
        Some(Self { num: num / common, den: den / common })
    }

    /// p as the nearest float.
    pub fn as_f64(self) -> f64 {
        f64::from(self.num) / f64::from(self.den)
    }

    /// 1 − p, exact.
    #[must_use]
    pub fn complement(self) -> Self {
        Self { num: self.den - self.num, den: self.den }
    }

    /// ⌈p · n⌉: the nearest rank.
    pub(crate) fn ceil_of(self, n: usize) -> usize {
        let product = u128::from(self.num) * n as u128;
        product.div_ceil(u128::from(self.den)) as usize
    }

    /// Whether n · (1 − p) < 1: the sample holds no value beyond the quantile but its maximum.
    pub(crate) fn is_beyond(self, n: usize) -> bool {
        u128::from(self.den - self.num) * (n as u128) < u128::from(self.den)
    }
}

impl Ord for Prob {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = u64::from(self.num) * u64::from(other.den);
        left.cmp(&(u64::from(other.num) * u64::from(self.den)))
    }
}

impl PartialOrd for Prob {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// As a percentile: `p50`, `p99.9`.
impl fmt::Display for Prob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", f64::from(self.num) * 100.0 / f64::from(self.den))
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_open_unit_interval() {
        for (num, den) in [(0, 1), (1, 1), (2, 1), (0, 0), (1, 0)] {
            assert_eq!(Prob::new(num, den), None, "{num}/{den}");
        }
        assert_eq!(Prob::new(95, 100), Some(Prob::P95));
    }

    #[test]
    fn names_order_and_complement() {
        let named = [Prob::P50, Prob::P90, Prob::P95, Prob::P99, Prob::P999];
        let names: Vec<String> = named.iter().map(Prob::to_string).collect();
        assert_eq!(names, ["p50", "p90", "p95", "p99", "p99.9"]);
        assert!(named.is_sorted());
        assert_eq!(Prob::P95.complement(), Prob::new(1, 20).unwrap());
        assert_eq!(Prob::P999.as_f64(), 0.999);
    }
}
