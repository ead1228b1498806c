//! What a method found about a pair, and the verdict that it allows.

use std::cmp::Ordering;

use inferometer_stats::mover::Estimate;
use inferometer_stats::{ALPHA, Bounds, Prob, equivalence, needed, quantile};

use crate::{Comparison, Equivalence, Num, Rate, Standing};

use super::figures::lower_is_better;

/// How a pair is held against each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// a ÷ b.
    Ratio,
    /// a − b in ms; the smaller of the two, which the margin is a share of.
    Milliseconds(f64),
    /// a − b of shares.
    Share,
}

impl Scale {
    fn unit(self) -> &'static str {
        match self {
            Scale::Ratio => "ratio",
            Scale::Milliseconds(_) => "ms",
            Scale::Share => "share",
        }
    }

    /// Where the two are equal.
    pub(super) fn null(self) -> f64 {
        if self == Scale::Ratio { 1.0 } else { 0.0 }
    }

    fn is_equivalent(self, bounds: Bounds, margins: Equivalence) -> bool {
        match self {
            Scale::Ratio => equivalence::of_ratio(bounds, margins.ratio),
            Scale::Milliseconds(smaller) => equivalence::of_difference(bounds, margins.ratio * smaller),
            Scale::Share => equivalence::of_difference(bounds, margins.share),
        }
    }
}

/// From what the n that would be needed is drawn.
pub(super) enum Need {
    /// From the paired differences themselves.
    Ranks(Vec<f64>),
    /// From an effect and its standard error.
    Estimate {
        /// Away from equality.
        effect: f64,
        /// At this n.
        error: f64,
    },
    /// As an estimate, and at least as many as bound a quantile from both sides: before that no error tells anything.
    Quantile {
        /// Away from equality.
        effect: f64,
        /// At this n.
        error: f64,
        /// Which quantile.
        p: Prob,
        /// What an observation is worth in independent ones, of the side where that is less.
        worth: f64,
    },
    /// It cannot be told.
    Unknown,
}

/// What a method found about a pair.
pub(super) struct Finding {
    pub(super) scale: Scale,
    pub(super) n: u64,
    /// a against b, with its 95 % interval.
    pub(super) estimate: Estimate,
    /// The 90 % interval.
    pub(super) narrow: Bounds,
    pub(super) p: f64,
    pub(super) need: Need,
    pub(super) notes: Vec<String>,
}

impl Finding {
    /// The comparison but for its family and what rests on it.
    pub(super) fn comparison(&self) -> Comparison {
        let Bounds { lo, hi } = self.estimate.bounds;
        let number = |x: f64| Num::new(x);
        Comparison {
            unit: self.scale.unit().to_owned(),
            n: self.n,
            value: Rate {
                value: number(self.estimate.value),
                lo: lo.and_then(number),
                hi: hi.and_then(number),
                note: None,
            },
            p: number(self.p),
            notes: self.notes.clone(),
            ..Comparison::default()
        }
    }

    /// Fills in the verdict, on p as corrected within the family where there is one. Equal within the margin is equal,
    /// however sure the difference.
    pub(super) fn judge(&self, comparison: &mut Comparison, margins: Equivalence, members: usize, seed: u64) {
        let p = comparison.p_holm.map_or(self.p, Num::get);
        let side = self.estimate.value.partial_cmp(&self.scale.null()).unwrap_or(Ordering::Equal);
        let is_told_apart = p <= ALPHA && side.is_ne();
        if self.scale.is_equivalent(self.narrow, margins) {
            comparison.verdict = Standing::Equivalent;
            if is_told_apart {
                comparison.notes.push("a difference was found, and it lies within the margin".to_owned());
            }
        } else if is_told_apart {
            let is_better = side.is_lt() == lower_is_better(&comparison.metric);
            comparison.verdict = if is_better { Standing::Better } else { Standing::Worse };
        } else {
            comparison.verdict = Standing::NotDistinguishable;
            comparison.needed_n = self.needed(ALPHA / members.max(1) as f64, seed);
        }
    }

    fn needed(&self, alpha: f64, seed: u64) -> Option<[u64; 2]> {
        match &self.need {
            Need::Ranks(differences) => needed::for_signed_rank(differences, alpha, seed),
            Need::Estimate { effect, error } => needed::for_estimate(self.n, *effect, *error, alpha, seed),
            Need::Quantile { effect, error, p, worth } => {
                let closed = (quantile::closing_n(*p, alpha)? as f64 / worth).ceil() as u64;
                let range = needed::for_estimate(self.n, *effect, *error, alpha, seed)?;
                Some(range.map(|n| n.max(closed).min(needed::MAX_N)))
            }
            Need::Unknown => None,
        }
    }
}
