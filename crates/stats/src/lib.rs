//! Quantiles with intervals, proportions, comparisons of two, and sequential and trend tests: pure numbers, which cannot panic.
//!
//! Conventions. `alpha` is the total error probability of an interval ([`ALPHA`] = 0.05 makes it a 95 % interval).
//! Ranks are 1-based. A side of an interval that the sample cannot bound is open: `None` in [`Bounds`]. A statistic
//! that does not exist for its input is `None`, never 0 and never NaN.
//!
//! Invariant: every public function is total. What cannot be ordered (NaN, −∞) is refused when a [`Sorted`] is made;
//! an `alpha` outside (0, 1) bounds nothing.

pub mod batch;
mod bounds;
pub mod cluster;
pub mod dip;
pub mod equivalence;
pub mod gate;
pub mod holm;
pub mod ks;
mod moments;
pub mod mover;
pub mod needed;
pub mod paired;
mod prob;
pub mod proportion;
pub mod quantile;
mod random;
pub mod ratio;
pub mod serial;
mod sorted;
pub mod special;
pub mod spread;
pub mod steady;
pub mod trend;
pub mod walsh;
pub mod wilcoxon;

pub use bounds::Bounds;
pub use moments::Moments;
pub use prob::Prob;
pub use quantile::Quantile;
pub use random::SplitMix;
pub use sorted::{NotOrdered, Over, Point, Sorted};

/// The house's error probability: intervals are 95 % unless a caller says otherwise.
pub const ALPHA: f64 = 0.05;

/// Whether an error probability can bound anything. NaN cannot, nor what is 0 but for its name: half of it must still be
/// a number with a quantile.
fn is_alpha(alpha: f64) -> bool {
    alpha > 1e-300 && alpha < 1.0
}
