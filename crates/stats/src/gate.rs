//! A limit on a quantile, or on a share of failures, tested as a count.

use crate::is_alpha;
use crate::proportion::{binomial_at_least, binomial_at_most};

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

/// Attempts counted by the side of the limit on which they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Beyond the limit; failures are among them.
    pub over: u64,
    /// Cut before they showed their side: beyond the limit when it is to be met, within it when it is to be missed.
    pub unknown: u64,
    /// All.
    pub n: u64,
}

/// Whether at most the share `allowed` of attempts is beyond a limit: met if the one-sided Clopper–Pearson upper bound
/// of the share is ≤ `allowed`, missed if the lower bound is above it, else unproven. For a limit on the p-quantile
/// `allowed` is 1 − p; for a reliability of at least p likewise, with failures beyond it.
///
/// The bounds are compared through the binomial tails that define them, so that nothing is inverted:
/// upper ≤ q ⇔ P(Bin(n, q) ≤ over) ≤ α.
pub fn judge(evidence: Evidence, allowed: f64, alpha: f64) -> Verdict {
    let Evidence { over, unknown, n } = evidence;
    if n == 0 || over > n || !is_alpha(alpha) {
        return Verdict::Unproven;
    }
    let may_be_over = over.saturating_add(unknown).min(n);
    let is_met = may_be_over < n && binomial_at_most(may_be_over, n, allowed) <= alpha;
    if is_met || allowed >= 1.0 {
        Verdict::Met
    } else if binomial_at_least(over, n, allowed) < alpha {
        Verdict::Missed
    } else {
        Verdict::Unproven
    }
}

/// The smallest n at which `over` attempts beyond the limit still prove it met; `None` above 10⁸, or when `alpha` is
/// not inside (0, 1). At 95 % a p95 needs 59, 93, 124 for 0, 1, 2 beyond it; a p99 needs 299 for 0.
pub fn needed(over: u64, allowed: f64, alpha: f64) -> Option<u64> {
    let is_met = |n| judge(Evidence { over, unknown: 0, n }, allowed, alpha) == Verdict::Met;
    if !is_met(MAX_N) {
        return None;
    }
    // P(Bin(n, q) ≤ over) falls as n grows, so that the first n met is found by bisection.
    let (mut not_met, mut met) = (over.saturating_sub(1), MAX_N);
    while not_met + 1 < met {
        let middle = u64::midpoint(not_met, met);
        if is_met(middle) { met = middle } else { not_met = middle }
    }
    Some(met)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proportion::{clopper_pearson_lower, clopper_pearson_upper};
    use crate::{ALPHA, Prob};

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
            assert_eq!(needed(over, p.complement().as_f64(), ALPHA), Some(n), "{over} over {p}");
        }
        for (over, allowed, alpha, n) in [
            (u64::MAX, 0.05, ALPHA, None),
            (0, 0.05, f64::NAN, None),
            (0, f64::NAN, ALPHA, None),
            (0, 0.0, ALPHA, None),
            (0, 1.0, ALPHA, Some(1)),
            (3, 1.0, ALPHA, Some(3)),
        ] {
            assert_eq!(needed(over, allowed, alpha), n, "{over} over, {allowed} allowed");
        }
    }

    fn check(over: u64, unknown: u64, n: u64, allowed: f64, expected: Verdict) {
        let evidence = Evidence { over, unknown, n };
        assert_eq!(judge(evidence, allowed, ALPHA), expected, "{evidence:?}, {allowed} allowed");
    }

    #[test]
    fn verdicts() {
        check(0, 0, 58, 0.05, Verdict::Unproven);
        check(0, 0, 59, 0.05, Verdict::Met);
        check(1, 0, 92, 0.05, Verdict::Unproven);
        check(1, 0, 93, 0.05, Verdict::Met);
        check(5, 0, 100, 0.05, Verdict::Unproven);
        check(20, 0, 100, 0.05, Verdict::Missed);
        check(25, 0, 25, 0.05, Verdict::Missed);
        check(1, 0, 1, 0.5, Verdict::Unproven);
        check(1, 0, 1, 0.01, Verdict::Missed);
        check(0, 0, 0, 0.05, Verdict::Unproven);
        check(2, 0, 1, 0.05, Verdict::Unproven);
        // A share of none, and one of all.
        check(0, 0, 1_000, 0.0, Verdict::Unproven);
        check(1, 0, 1_000, 0.0, Verdict::Missed);
        check(9, 0, 9, 1.0, Verdict::Met);
    }

    #[test]
    fn what_is_unknown_proves_nothing() {
        check(0, 1, 92, 0.05, Verdict::Unproven);
        check(0, 1, 93, 0.05, Verdict::Met);
        check(0, 25, 25, 0.05, Verdict::Unproven);
        check(20, 80, 100, 0.05, Verdict::Missed);
        check(0, u64::MAX, 25, 0.05, Verdict::Unproven);
    }

    #[test]
    fn agrees_with_the_bounds_it_is_defined_by() {
        for n in 1..=130 {
            for over in 0..=n {
                let expected = if clopper_pearson_upper(over, n, ALPHA) <= 0.05 {
                    Verdict::Met
                } else if clopper_pearson_lower(over, n, ALPHA) > 0.05 {
                    Verdict::Missed
                } else {
                    Verdict::Unproven
                };
                check(over, 0, n, 0.05, expected);
            }
        }
    }
}
