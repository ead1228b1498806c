//! Where the warm-up ends: MSER-5.

use crate::Moments;

/// Values in one batch: the 5 of MSER-5.
pub const BATCH: usize = 5;

/// How much of a series' start to leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Values to skip.
    pub skip: usize,
    /// Whether the best cut lies inside the first half. If it lies at its edge the series may not have settled at all.
    pub settled: bool,
}

/// MSER-5 (White 1997, Simulation 69; Spratt 1998): with batches of 5 values, the cut d in the first half that
/// minimises Σ_{i>d}(yᵢ − ȳ_d)²/(k − d)², the squared standard error of the mean of the k − d batches kept. The
/// earliest such cut. `None` under two batches, or when a value is not finite.
pub fn mser5(series: &[f64]) -> Option<Truncation> {
    if !series.iter().all(|x| x.is_finite()) {
        return None;
    }
    let batches: Vec<f64> =
        series.chunks_exact(BATCH).map(|batch| batch.iter().map(|x| x / BATCH as f64).sum()).collect();
    let last_cut = batches.len() / 2;
    let mut kept = Moments::default();
    let mut best: Option<(f64, usize)> = None;
    // From the end, so that each cut adds one batch to the ones kept.
    for (cut, &batch) in batches.iter().enumerate().rev() {
        kept.push(batch);
        let Some(std) = kept.std() else { continue };
        let n = kept.n() as f64;
        let error = std * std * (n - 1.0) / (n * n);
        if cut <= last_cut && best.is_none_or(|(least, _)| error <= least) {
            best = Some((error, cut));
        }
    }
    best.map(|(_, cut)| Truncation { skip: cut * BATCH, settled: cut < last_cut })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic noise in [−½, ½).
    fn noise(i: u32) -> f64 {
        f64::from(i.wrapping_mul(0x9E37_79B9) >> 8) / f64::from(1 << 24) - 0.5
    }

    #[test]
    fn finds_a_planted_ramp() {
        let series: Vec<f64> =
            (0..1_000).map(|i| f64::from(100_u32.saturating_sub(i)) / 10.0 + noise(i)).collect();
        let found = mser5(&series).unwrap();
        assert!(found.settled && (80..=110).contains(&found.skip), "{found:?}");
    }

    #[test]
    fn keeps_nearly_all_of_a_steady_series() {
        let series: Vec<f64> = (0..1_000).map(noise).collect();
        let found = mser5(&series).unwrap();
        assert!(found.settled && found.skip <= 250, "{found:?}");
        assert_eq!(mser5(&[3.0; 100]), Some(Truncation { skip: 0, settled: true }));
    }

    #[test]
    fn a_series_that_climbs_throughout_has_not_settled() {
        let series: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(mser5(&series), Some(Truncation { skip: 100, settled: false }));
    }

    #[test]
    fn too_few_or_not_finite_is_none() {
        assert_eq!(mser5(&[1.0; 9]), None);
        assert_eq!(mser5(&[f64::NAN; 100]), None);
    }
}
