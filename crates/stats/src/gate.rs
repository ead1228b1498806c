//! A limit on a quantile, or on a share of failures, tested as a count.

use std::fmt;

use crate::proportion::{binomial_at_least, binomial_at_most};
use crate::{Prob, is_alpha};

/// The greatest sample that [`needed`] considers.
const MAX_N: u64 = 100_000_000;

/// What the evidence says about a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The limit holds, proven at the stated error probability.
    Met,
    /// The limit does not hold, proven likewise.
    Missed,
    /// The sample is too small for either.
    Unproven,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Unproven => "unproven",
        })
    }
}

/// Whether the p-quantile is within a limit that `over` of `n` attempts exceeded (failures included): met if the
/// one-sided Clopper–Pearson upper bound of over/n is ≤ 1 − p, missed if the lower bound is > 1 − p, else unproven.
///
/// A reliability of at least p is the same question with failures for `over`. The bounds are compared through the
/// binomial tails that define them, so that nothing is inverted: upper ≤ q ⇔ P(Bin(n, q) ≤ over) ≤ α.
pub fn judge(over: u64, n: u64, p: Prob, alpha: f64) -> Verdict {
    if n == 0 || over > n || !is_alpha(alpha) {
        return Verdict::Unproven;
    }
    let allowed = p.complement().as_f64();
    if over < n && binomial_at_most(over, n, allowed) <= alpha {
        Verdict::Met
    } else if binomial_at_least(over, n, allowed) < alpha {
        Verdict::Missed
    } else {
        Verdict::Unproven
    }
}

/// The smallest n at which `over` attempts over the limit still prove it met; `None` above 10⁸, or when `alpha` is not
/// inside (0, 1). At 95 % p95 needs 59, 93, 124 for 0, 1, 2 over it; p99 needs 299 for 0.
pub fn needed(over: u64, p: Prob, alpha: f64) -> Option<u64> {
    let is_met = |n| judge(over, n, p, alpha) == Verdict::Met;
    if !is_met(MAX_N) {
        return None;
    }
    // P(Bin(n, q) ≤ over) falls as n grows, so that the first n met is found by bisection.
    let (mut not_met, mut met) = (over, MAX_N);
    while not_met + 1 < met {
        let middle = u64::midpoint(not_met, met);
        if is_met(middle) { met = middle } else { not_met = middle }
    }
    Some(met)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALPHA;
    use crate::proportion::{clopper_pearson_lower, clopper_pearson_upper};

    #[test]
    fn known_sample_sizes() {
        for (over, p, n) in [
            (0, Prob::P95, 59),
            (1, Prob::P95, 93),
            (2, Prob::P95, 124),
            (0, Prob::P99, 299),
            (0, Prob::P50, 5),
            (0, Prob::P999, 2995),
        ] {
            assert_eq!(needed(over, p, ALPHA), Some(n), "{over} over {p}");
        }
        assert_eq!(needed(u64::MAX, Prob::P95, ALPHA), None);
        assert_eq!(needed(0, Prob::P95, f64::NAN), None);
    }

    fn check(over: u64, n: u64, p: Prob, expected: Verdict) {
        assert_eq!(judge(over, n, p, ALPHA), expected, "{over} of {n} over {p}");
    }

    #[test]
    fn verdicts() {
        check(0, 58, Prob::P95, Verdict::Unproven);
        check(0, 59, Prob::P95, Verdict::Met);
        check(1, 92, Prob::P95, Verdict::Unproven);
        check(1, 93, Prob::P95, Verdict::Met);
        check(5, 100, Prob::P95, Verdict::Unproven);
        check(20, 100, Prob::P95, Verdict::Missed);
        check(25, 25, Prob::P95, Verdict::Missed);
        check(1, 1, Prob::P50, Verdict::Unproven);
        check(1, 1, Prob::P99, Verdict::Missed);
        check(0, 0, Prob::P95, Verdict::Unproven);
        check(2, 1, Prob::P95, Verdict::Unproven);
    }

    #[test]
    fn agrees_with_the_bounds_it_is_defined_by() {
        for n in 1..=130 {
            for over in 0..=n {
                let allowed = Prob::P95.complement().as_f64();
                let expected = if clopper_pearson_upper(over, n, ALPHA) <= allowed {
                    Verdict::Met
                } else if clopper_pearson_lower(over, n, ALPHA) > allowed {
                    Verdict::Missed
                } else {
                    Verdict::Unproven
                };
                check(over, n, Prob::P95, expected);
            }
        }
    }
}
