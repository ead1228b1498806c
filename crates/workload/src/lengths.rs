//! Drawing numbers of tokens.

use rand::Rng;
use rand_distr::{Distribution as _, Normal};

use crate::{Error, Lengths};

/// How often a length outside the range is drawn again before it is taken as the nearest bound.
const REDRAWS_MAX: u32 = 64;

impl Lengths {
    /// The longest length, in tokens: beyond any model's context, and 25 MB of text.
    pub const MAX: u32 = 4_000_000;

    /// Whether lengths can be drawn at all; `of` names them in the error.
    pub(crate) fn check(self, of: &'static str) -> Result<(), Error> {
        let mean_fits = (1..=Self::MAX).contains(&self.mean);
        let stddev_fits = (0.0..=f64::from(Self::MAX)).contains(&self.stddev);
        if mean_fits && stddev_fits { Ok(()) } else { Err(Error::Lengths { of, lengths: self }) }
    }

    /// One length: normal, rounded, truncated to 1..=[`Lengths::MAX`] by drawing again.
    pub(crate) fn draw(self, rng: &mut impl Rng) -> u32 {
        let mean = f64::from(self.mean);
        // A deviation that cannot be drawn from was refused by `check`.
        let Ok(normal) = Normal::new(mean, self.stddev) else { return self.mean.clamp(1, Self::MAX) };
        let range = 1.0..=f64::from(Self::MAX);
        let mut length = mean;
        for _ in 0..REDRAWS_MAX {
            length = normal.sample(rng).round();
            if range.contains(&length) {
                break;
            }
        }
        length.clamp(*range.start(), *range.end()) as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};

    use super::*;

    fn draws(mean: u32, stddev: f64, n: usize) -> Vec<u32> {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        (0..n).map(|_| Lengths { mean, stddev }.draw(&mut rng)).collect()
    }

    #[test]
    fn draws_have_their_mean_and_deviation() {
        let drawn: Vec<f64> = draws(500, 50.0, 4_000).into_iter().map(f64::from).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / drawn.len() as f64;
        assert!((mean - 500.0).abs() < 3.0, "{mean}");
        assert!((variance.sqrt() - 50.0).abs() < 3.0, "{variance}");
    }

    #[test]
    fn truncation_keeps_the_shape_above_one() {
        let drawn = draws(1, 10.0, 1_000);
        assert!(drawn.iter().all(|&x| x >= 1));
        assert!(drawn.iter().filter(|&&x| x == 1).count() < 200, "redrawn, not heaped at 1");
        assert_eq!(draws(7, 0.0, 3), [7, 7, 7]);
    }

    #[test]
    fn impossible_lengths_are_refused() {
        for (mean, stddev) in
            [(0, 0.0), (Lengths::MAX + 1, 0.0), (5, -1.0), (5, f64::NAN), (5, f64::INFINITY)]
        {
            let error = Lengths { mean, stddev }.check("input").expect_err("refused").to_string();
            assert!(error.contains("input") && error.contains("4000000"), "{error}");
        }
        assert!(Lengths { mean: 1, stddev: 0.0 }.check("input").is_ok());
    }

    proptest! {
        #[test]
        fn any_lengths_draw_within_range(mean: u32, stddev in prop::num::f64::ANY, seed: u64) {
            let drawn = Lengths { mean, stddev }.draw(&mut ChaCha8Rng::seed_from_u64(seed));
            prop_assert!((1..=Lengths::MAX).contains(&drawn));
        }
    }
}
