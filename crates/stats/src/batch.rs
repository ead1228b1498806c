//! The mean of a serially dependent series, with an interval from batch means.

use crate::special::t_quantile;
use crate::{Bounds, Moments, is_alpha};

/// Fewer batches than this say nothing about their own variance.
pub const MIN_BATCHES: usize = 10;
/// More than this win little, and shorter batches are less independent (Schmeiser 1982).
pub const MAX_BATCHES: usize = 30;

/// A mean and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchMeans {
    /// The mean of the values in whole batches.
    pub mean: f64,
    /// t interval over the batch means.
    pub bounds: Bounds,
    /// How many batches.
    pub batches: usize,
    /// Values in each.
    pub size: usize,
}

/// Cuts the series into b = √n batches, between [`MIN_BATCHES`] and [`MAX_BATCHES`], of ⌊n/b⌋ consecutive values, and
/// takes their means as independent: mean ± t₁₋α/₂,ᵦ₋₁ · s/√b (Conway 1963; Law, *Simulation*, §9.5.3). The n mod b
/// oldest values, nearest to the warm-up, are left out. `None` under [`MIN_BATCHES`] values, or when one is not finite.
pub fn batch_means_interval(series: &[f64], alpha: f64) -> Option<BatchMeans> {
    let n = series.len();
    if n < MIN_BATCHES || !series.iter().all(|x| x.is_finite()) {
        return None;
    }
    let batches = n.isqrt().clamp(MIN_BATCHES, MAX_BATCHES);
    let size = n / batches;
    let whole = &series[n % batches..];
    let means: Moments = whole.chunks_exact(size).filter_map(mean).collect();
    let mean = means.mean()?;
    let mut bounds = Bounds::OPEN;
    if is_alpha(alpha) {
        let t = t_quantile(1.0 - alpha / 2.0, batches as f64 - 1.0);
        let half = t * means.std()? / (batches as f64).sqrt();
        bounds = Bounds::of_numbers(Some(mean - half), Some(mean + half));
    }
    Some(BatchMeans { mean, bounds, batches, size })
}

fn mean(batch: &[f64]) -> Option<f64> {
    batch.iter().copied().collect::<Moments>().mean()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALPHA;

    fn check_cut(n: usize, batches: usize, size: usize) {
        let series: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let found = batch_means_interval(&series, ALPHA).unwrap();
        assert_eq!((found.batches, found.size), (batches, size), "n = {n}");
    }

    #[test]
    fn batches_grow_with_the_root_of_n() {
        check_cut(10, 10, 1);
        check_cut(119, 10, 11);
        check_cut(400, 20, 20);
        check_cut(100_000, 30, 3_333);
    }

    #[test]
    fn ten_values_give_their_t_interval() {
        let series: Vec<f64> = (1..=10).map(f64::from).collect();
        let found = batch_means_interval(&series, ALPHA).unwrap();
        let half = 2.262_157_162_798_205 * (55.0_f64 / 6.0 / 10.0).sqrt();
        assert_eq!(found.mean, 5.5);
        assert!((found.bounds.hi.unwrap() - 5.5 - half).abs() < 1e-12);
        assert!((found.bounds.lo.unwrap() - 5.5 + half).abs() < 1e-12);
    }

    #[test]
    fn the_oldest_values_are_the_ones_left_out() {
        let series: Vec<f64> = [1e9; 5].into_iter().chain([2.0; 10]).collect();
        assert_eq!(batch_means_interval(&series, ALPHA).unwrap().mean, 2.0);
    }

    #[test]
    fn too_few_or_not_finite_is_none() {
        assert_eq!(batch_means_interval(&[1.0; 9], ALPHA), None);
        assert_eq!(batch_means_interval(&[f64::INFINITY; 20], ALPHA), None);
        assert_eq!(batch_means_interval(&[1.0; 20], f64::NAN).unwrap().bounds, Bounds::OPEN);
    }
}
