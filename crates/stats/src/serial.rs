//! Serial dependence: what a sample taken in order is worth in independent values.

/// Bound on the lags that [`tau`] sums. A sample that still depends on itself this far back has drifted; τ is then a
/// lower bound, and the drift test says so.
pub const MAX_LAG: usize = 2_000;

/// The autocorrelation ρ_L = Σ(xᵢ − x̄)(xᵢ₊ₗ − x̄)/Σ(xᵢ − x̄)² at a lag of L places (Box and Jenkins). `None` where the
/// series is constant, not finite, or not longer than the lag.
pub fn autocorrelation(series: &[f64], lag: usize) -> Option<f64> {
    if lag >= series.len() {
        return None;
    }
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    let squares: f64 = series.iter().map(|x| (x - mean).powi(2)).sum();
    let products: f64 = series.iter().zip(&series[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum();
    Some(products / squares).filter(|rho| rho.is_finite())
}

/// τ = max(1, 1 + 2 Σ ρ_L), summed over L = 1, 2, … until ρ_L < 2/√n: by how much the variance of the share of `true`
/// is larger than in an independent series. (Integrated autocorrelation time; Sokal 1997.)
///
/// For a quantile q the indicator is x ≤ q, in start order: the variance of a quantile is that of this share.
/// 1 for a constant series.
pub fn tau(indicator: &[bool]) -> f64 {
    let n = indicator.len();
    let hits = indicator.iter().filter(|&&hit| hit).count();
    if hits == 0 || hits == n {
        return 1.0;
    }
    let (noise, share) = (2.0 / (n as f64).sqrt(), hits as f64 / n as f64);
    let squares = hits as f64 * (1.0 - share);
    let packed = pack(indicator);
    // Σ(aᵢ − p)(bᵢ − p) over the n − L pairs, from three counts: pairs of hits, and hits among first and second halves.
    let (mut first, mut second) = (hits, hits);
    let mut sum = 0.0;
    for lag in 1..n.min(MAX_LAG) {
        first -= usize::from(indicator[n - lag]);
        second -= usize::from(indicator[lag - 1]);
        let pairs = pairs(&packed, lag);
        let products = pairs as f64 - share * (first + second) as f64 + share * share * (n - lag) as f64;
        let rho = products / squares;
        if rho < noise {
            break;
        }
        sum += rho;
    }
    1.0 + 2.0 * sum
}

/// 64 places to a word: a drifted cell of a million requests has 2,000 lags of each quantile to count.
fn pack(indicator: &[bool]) -> Vec<u64> {
    let word = |places: &[bool]| places.iter().rev().fold(0, |word, &hit| word << 1 | u64::from(hit));
    indicator.chunks(64).map(word).collect()
}

/// How many places hold a hit of which the place `lag` further on holds one too.
fn pairs(packed: &[u64], lag: usize) -> u64 {
    let (skip, shift) = (lag / 64, (lag % 64) as u32);
    let later = packed.get(skip..).unwrap_or_default();
    let next = later.iter().skip(1).copied().chain([0]);
    let shifted = later.iter().zip(next).map(|(&low, high)| {
        // A shift by all 64 places leaves nothing.
        low >> shift | high.checked_shl(64 - shift).unwrap_or(0)
    });
    packed.iter().zip(shifted).map(|(&word, later)| u64::from((word & later).count_ones())).sum()
}

/// n_eff = n/τ, within [1, n]; 0 where n = 0. A τ that is NaN counts as 1.
pub fn n_eff(n: usize, tau: f64) -> f64 {
    if n == 0 {
        return 0.0;
    }
    let n = n as f64;
    if tau.is_nan() { n } else { (n / tau.max(1.0)).max(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_autocorrelations() {
        let series = [1.0, 2.0, 3.0, 4.0, 5.0];
        for (lag, expected) in [(0, Some(1.0)), (1, Some(0.4)), (2, Some(-0.1)), (4, Some(-0.4)), (5, None)] {
            assert_eq!(autocorrelation(&series, lag), expected, "lag {lag}");
        }
        assert_eq!(autocorrelation(&[2.0, 2.0], 1), None);
        assert_eq!(autocorrelation(&[1.0, f64::INFINITY], 1), None);
        assert_eq!(autocorrelation(&[], 0), None);
    }

    /// τ from its definition.
    fn direct(indicator: &[bool]) -> f64 {
        let series: Vec<f64> = indicator.iter().map(|&hit| f64::from(u8::from(hit))).collect();
        let noise = 2.0 / (series.len() as f64).sqrt();
        let rhos = (1..series.len()).map_while(|lag| autocorrelation(&series, lag));
        1.0 + 2.0 * rhos.take_while(|&rho| rho >= noise).sum::<f64>()
    }

    #[test]
    fn tau_matches_its_definition() {
        for run in [1, 2, 5, 13, 40] {
            let blocks: Vec<bool> =
                (0..400_u32).map(|i| (i / run).wrapping_mul(0x9E37_79B9) >> 31 == 1).collect();
            assert!((tau(&blocks) - direct(&blocks)).abs() < 1e-9, "runs of {run}");
        }
    }

    #[test]
    fn pairs_are_those_of_the_places() {
        let hits: Vec<bool> = (0..333_u32).map(|i| i.wrapping_mul(0x9E37_79B9) >> 30 > 0).collect();
        for lag in [0, 1, 63, 64, 65, 128, 200, 331, 332, 333, 1_000] {
            let later = hits.get(lag..).unwrap_or_default();
            let counted = hits.iter().zip(later).filter(|&(&a, &b)| a && b).count();
            assert_eq!(pairs(&pack(&hits), lag), counted as u64, "lag {lag}");
        }
    }

    #[test]
    fn tau_of_blocks_is_near_their_length() {
        let blocks: Vec<bool> =
            (0..4_000_u32).map(|i| (i / 10).wrapping_mul(0x9E37_79B9) >> 31 == 1).collect();
        assert!((5.0..20.0).contains(&tau(&blocks)), "{}", tau(&blocks));
        assert_eq!(tau(&[true; 9]), 1.0);
        assert_eq!(tau(&[]), 1.0);
        assert_eq!(tau(&[true, false, true, false]), 1.0);
    }

    #[test]
    fn n_eff_stays_within_the_sample() {
        for (n, tau, expected) in
            [(0, 2.0, 0.0), (10, 2.0, 5.0), (10, 0.1, 10.0), (10, 1e9, 1.0), (10, f64::NAN, 10.0)]
        {
            assert_eq!(n_eff(n, tau), expected, "n = {n}, tau = {tau}");
        }
    }
}
