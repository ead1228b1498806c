//! Hartigan's dip test: has a distribution more than one mode?

mod hull;
mod table;

use crate::Sorted;
use hull::{Hull, Step};

/// Fewer values than this are not tested.
pub const MIN_N: usize = 50;

/// The dip of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dip {
    /// The least sup-distance between the sample's distribution function and a unimodal one: 1/(2n) to 1/4.
    pub statistic: f64,
    /// Probability of a dip at least as great from a uniform distribution, the unimodal one hardest to tell apart;
    /// `None` under [`MIN_N`] values. By interpolation between simulated quantiles: 0.001 and 1 stand for all
    /// that lies beyond.
    pub p: Option<f64>,
}

/// The dip of a sample (Hartigan and Hartigan 1985, Annals of Statistics 13; their algorithm, §5). Latencies are given
/// as logarithms. `None` for a sample that is empty, censored or not finite.
///
/// The distribution is unimodal if it is convex up to its mode and concave after it. From the whole range inwards: the
/// greatest convex minorant and the least concave majorant of the sample's steps are furthest apart somewhere, and the
/// mode lies where they are; the steps left outside that narrower range cannot do better than their distance from the
/// hull. It ends where the hulls are no further apart than that distance already is.
pub fn dip(sample: &Sorted) -> Option<Dip> {
    let is_finite = sample.values().iter().all(|x| x.is_finite());
    if sample.is_empty() || sample.censored() > 0 || !is_finite {
        return None;
    }
    let n = sample.len();
    let statistic = twice_dip(&hull::steps(sample.values())) / (2.0 * n as f64);
    Some(Dip { statistic, p: (n >= MIN_N).then(|| table::p_value(n, statistic)) })
}

/// Twice the dip, in counts: at least 1, since a single step of 1 is half a count from any continuous function.
fn twice_dip(mut steps: &[Step]) -> f64 {
    let mut least = 1.0_f64;
    // Each round leaves out a step at least, so that this ends.
    while steps.len() > 1 {
        let (minorant, majorant) = (Hull::minorant(steps), Hull::majorant(steps));
        let widest = widest(&minorant, &majorant);
        if widest.gap <= least {
            break;
        }
        let left = steps[..widest.from].iter().map(|s| s.upto - minorant.height(s.x));
        let right = steps[widest.to + 1..].iter().map(|s| majorant.height(s.x) - s.below);
        least = left.chain(right).fold(least, f64::max);
        if widest.to - widest.from + 1 == steps.len() {
            break;
        }
        steps = &steps[widest.from..=widest.to];
    }
    least
}

/// Where two hulls are furthest apart: the indices of the steps between which the mode must lie.
struct Widest {
    gap: f64,
    from: usize,
    to: usize,
}

fn widest(minorant: &Hull, majorant: &Hull) -> Widest {
    let mut widest = Widest { gap: f64::NEG_INFINITY, from: 0, to: 0 };
    // At a knot of the minorant the mode lies between it and the majorant's next knot.
    for knot in &minorant.knots {
        let gap = majorant.height(knot.x) - knot.y;
        if gap > widest.gap {
            widest = Widest { gap, from: knot.index, to: majorant.knot_from(knot.x) };
        }
    }
    for knot in &majorant.knots {
        let gap = knot.y - minorant.height(knot.x);
        if gap > widest.gap {
            widest = Widest { gap, from: minorant.knot_upto(knot.x), to: knot.index };
        }
    }
    widest
}

#[cfg(test)]
mod tests;
