//! Whether two things are as good as equal: two one-sided tests at α, which is to say that the 1 − 2α interval lies
//! within the margin (Schuirmann 1987, J. Pharmacokinet. Biopharm. 15). At α = 0.05 that is the 90 % interval.

use crate::Bounds;

/// Error probability of the interval that is held against the margin: 90 %.
pub const ALPHA: f64 = 0.10;

/// Whether a ratio's interval lies within 1/(1 + δ) … 1 + δ: the same verdict whichever of the two is divided by.
pub fn of_ratio(bounds: Bounds, delta: f64) -> bool {
    delta > 0.0 && is_within(bounds, 1.0 / (1.0 + delta), 1.0 + delta)
}

/// Whether a difference's interval lies within −δ … δ.
pub fn of_difference(bounds: Bounds, delta: f64) -> bool {
    delta > 0.0 && is_within(bounds, -delta, delta)
}

/// An open side is within nothing.
fn is_within(bounds: Bounds, least: f64, most: f64) -> bool {
    bounds.lo.is_some_and(|lo| lo >= least) && bounds.hi.is_some_and(|hi| hi <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_interval_must_lie_within() {
        for (lo, hi, delta, is_equal) in [
            (0.95, 1.08, 0.10, true),
            (0.90, 1.08, 0.10, false), // 1/1.1 is 0.909
            (0.95, 1.11, 0.10, false),
            (1.0, 1.0, 0.0, false),
            (1.0, 1.0, f64::NAN, false),
        ] {
            assert_eq!(of_ratio(Bounds::closed(lo, hi), delta), is_equal, "{lo} to {hi} in {delta}");
        }
        assert!(of_difference(Bounds::closed(-0.02, 0.03), 0.03));
        assert!(!of_difference(Bounds::closed(-0.02, 0.031), 0.03));
        assert!(!of_difference(Bounds { lo: None, hi: Some(0.0) }, 0.03) && !of_ratio(Bounds::OPEN, 0.1));
    }
}
