//! Two ratios of totals held against each other where the same prompts lie under both: shares, or costs per useful
//! answer. Answers to one prompt resemble each other, so that prompts are resampled, not answers.

use crate::random::SplitMix;
use crate::special::{beta_inc, t_quantile};
use crate::{Bounds, is_alpha};

/// Fewer clusters than this are not resampled: Student's t then stands for what resampling would show.
pub const MIN_RESAMPLED: usize = 10;
/// Nor are more than this, whose totals are as good as normal.
pub const MAX_RESAMPLED: usize = 2_000;
/// Bound on draws × clusters of one comparison, a tenth of a second's work: 10 targets as one family over 333 prompts.
pub const MAX_DRAWN: usize = 6_000_000;

/// Draws that let a family of `members` tests see an error probability of `alpha`: 20 · m/α, so that Holm's first step
/// rests on 20 draws.
pub fn draws_for(members: usize, alpha: f64) -> usize {
    let draws = if is_alpha(alpha) { 20.0 * members.max(1) as f64 / alpha } else { 0.0 };
    draws.ceil().min(MAX_DRAWN as f64) as usize
}

/// What one prompt adds: numerator and denominator of each side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cluster {
    /// Numerator and denominator of the first.
    pub a: (f64, f64),
    /// Numerator and denominator of the second.
    pub b: (f64, f64),
}

/// How the two ratios are held against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// a − b, for shares.
    Difference,
    /// ln(a/b), for amounts.
    LogRatio,
}

/// The comparison, from which intervals and p are read.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// On its scale.
    pub value: f64,
    /// Standard error, by linearisation over clusters.
    pub error: f64,
    /// Clusters.
    pub clusters: usize,
    /// |t| of each resample, ascending; empty where Student's t stands for them.
    draws: Vec<f64>,
}

impl Compared {
    /// value ± q · error, q the 1 − α quantile of |t| over the resamples (the symmetric bootstrap-t: Hall 1988, Ann.
    /// Statist. 16), or of Student's t of m − 1 degrees of freedom. Open where the resamples do not reach.
    pub fn bounds(&self, alpha: f64) -> Bounds {
        if !is_alpha(alpha) {
            return Bounds::OPEN;
        }
        let reach = if self.draws.is_empty() {
            t_quantile(1.0 - alpha / 2.0, self.clusters as f64 - 1.0)
        } else {
            let rank = ((1.0 - alpha) * (self.draws.len() as f64 + 1.0)).ceil() as usize;
            self.draws.get(rank.saturating_sub(1)).copied().unwrap_or(f64::INFINITY)
        };
        let half = Some(reach * self.error).filter(|half| half.is_finite());
        Bounds { lo: half.map(|half| self.value - half), hi: half.map(|half| self.value + half) }
    }

    /// Two-sided p that the two are equal: (c + 1)/(B + 1), with c the resamples whose |t| reaches the sample's (Davison
    /// and Hinkley 1997, §4.4), or by Student's t.
    pub fn p(&self) -> f64 {
        let t = (self.value / self.error).abs();
        if self.draws.is_empty() {
            let df = self.clusters as f64 - 1.0;
            return beta_inc(df / 2.0, 0.5, df / (df + t * t)).clamp(0.0, 1.0);
        }
        let reached = self.draws.len() - self.draws.partition_point(|&draw| draw < t);
        (reached + 1) as f64 / (self.draws.len() + 1) as f64
    }

    /// How many resamples stand behind it.
    pub fn draws(&self) -> usize {
        self.draws.len()
    }
}

/// Compares Σa/Σa′ with Σb/Σb′ over clusters. Between [`MIN_RESAMPLED`] and [`MAX_RESAMPLED`] clusters by `draws`
/// resamples of whole clusters (at most [`MAX_DRAWN`] clusters drawn in all), from `seed`; else by Student's t.
///
/// `None` under two clusters, where an amount is negative or not finite, a side has nothing to divide by (nor, for a
/// logarithm, to divide), or nothing varies.
pub fn compare(clusters: &[Cluster], scale: Scale, draws: usize, seed: u64) -> Option<Compared> {
    let is_amount = |x: f64| x.is_finite() && x >= 0.0;
    let is_sound = |c: &Cluster| [c.a.0, c.a.1, c.b.0, c.b.1].into_iter().all(is_amount);
    let count = clusters.len();
    if count < 2 || !clusters.iter().all(is_sound) {
        return None;
    }
    let all = || clusters.iter().copied();
    let (value, error) = estimate(all, scale)?;
    let is_certain = error <= f64::EPSILON * value.abs();
    if is_certain || !error.is_finite() {
        return None;
    }
    let is_resampled = (MIN_RESAMPLED..=MAX_RESAMPLED).contains(&count);
    let draws = if is_resampled { draws.min(MAX_DRAWN / count) } else { 0 };
    let mut random = SplitMix::new(seed);
    let mut drawn = vec![0; count];
    let mut ts: Vec<f64> = Vec::with_capacity(draws);
    for _ in 0..draws {
        drawn.fill_with(|| random.below(count));
        let again = || drawn.iter().filter_map(|&i| clusters.get(i).copied());
        ts.push(match estimate(again, scale) {
            Some((again, _)) if again == value => 0.0,
            Some((again, error)) if error > 0.0 => ((again - value) / error).abs(),
            // Nothing useful was drawn, or nothing varied: as far off as can be.
            _ => f64::INFINITY,
        });
    }
    ts.sort_unstable_by(f64::total_cmp);
    Some(Compared { value, error, clusters: count, draws: ts })
}

/// Value and standard error: each cluster's influence is (y − R x)/Σx, over R for a logarithm.
fn estimate<I: Iterator<Item = Cluster>>(clusters: impl Fn() -> I, scale: Scale) -> Option<(f64, f64)> {
    let mut sum = Cluster::default();
    let mut count = 0.0_f64;
    for cluster in clusters() {
        sum.a = (sum.a.0 + cluster.a.0, sum.a.1 + cluster.a.1);
        sum.b = (sum.b.0 + cluster.b.0, sum.b.1 + cluster.b.1);
        count += 1.0;
    }
    let ratio = |(y, x): (f64, f64)| Some(y / x).filter(|ratio| ratio.is_finite());
    let (a, b) = (ratio(sum.a)?, ratio(sum.b)?);
    let (value, per_a, per_b) = match scale {
        Scale::Difference => (a - b, sum.a.1, sum.b.1),
        Scale::LogRatio => ((a / b).ln(), sum.a.0, sum.b.0),
    };
    if !value.is_finite() {
        return None;
    }
    let influence = |c: Cluster| (c.a.0 - a * c.a.1) / per_a - (c.b.0 - b * c.b.1) / per_b;
    let squares: f64 = clusters().map(influence).map(|x| x * x).sum();
    Some((value, (squares * count / (count - 1.0)).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALPHA;

    fn costs(count: usize) -> Vec<Cluster> {
        let mut random = SplitMix::new(5);
        let mut cost = |scale: f64| (scale * (0.5 + random.unit()), 1.0);
        (0..count).map(|_| Cluster { a: cost(3.0), b: cost(1.0) }).collect()
    }

    #[test]
    fn few_clusters_give_students_t() {
        // Differences 1, 2, 3, 4 of means: 2.5 ± t₃ · √(5/3/4), p of t = 3.8730 at 3 df is 0.0305.
        let clusters: Vec<Cluster> =
            (1..=4).map(|y| Cluster { a: (f64::from(y), 1.0), b: (0.0, 1.0) }).collect();
        let found = compare(&clusters, Scale::Difference, 1_000, 1).unwrap();
        let half = 3.182_446_305_284_263 * (5.0_f64 / 12.0).sqrt();
        assert!(
            (found.bounds(ALPHA).hi.unwrap() - 2.5 - half).abs() < 1e-9 && found.draws() == 0,
            "{found:?}"
        );
        assert!((found.p() - 0.030_466).abs() < 1e-5, "{}", found.p());
    }

    #[test]
    fn the_same_seed_says_the_same() {
        let found = compare(&costs(40), Scale::LogRatio, 999, 7).unwrap();
        assert_eq!(Some(&found), compare(&costs(40), Scale::LogRatio, 999, 7).as_ref());
        assert!(found.bounds(ALPHA).contains(3_f64.ln()) && found.p() == 1.0 / 1_000.0, "{found:?}");
        let (wide, narrow) = (found.bounds(0.05), found.bounds(0.10));
        assert!(wide.lo < narrow.lo && narrow.hi < wide.hi);
    }

    #[test]
    fn draws_are_enough_for_the_family_and_bounded() {
        assert_eq!((draws_for(1, ALPHA), draws_for(45, ALPHA), draws_for(1, 0.0)), (400, 18_000, 0));
        assert_eq!(draws_for(usize::MAX, ALPHA), MAX_DRAWN);
    }

    #[test]
    fn what_cannot_be_compared() {
        let one = Cluster { a: (1.0, 1.0), b: (1.0, 1.0) };
        let none_useful = Cluster { a: (1.0, 0.0), b: (1.0, 1.0) };
        let negative = Cluster { a: (-1.0, 1.0), b: (1.0, 1.0) };
        for clusters in [vec![], vec![one], vec![one; 40], vec![none_useful; 3], vec![negative; 3]] {
            assert_eq!(compare(&clusters, Scale::LogRatio, 99, 1), None, "{clusters:?}");
        }
    }
}
