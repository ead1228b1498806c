//! The one-sample Kolmogorov–Smirnov test: does a sample come from a stated distribution?

use std::f64::consts::PI;

use crate::Sorted;

/// Bound on the terms of Kolmogorov's series; each form is used where a few suffice.
const MAX_TERMS: u32 = 20;

/// The test's outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ks {
    /// sup |Fₙ(x) − F(x)|.
    pub statistic: f64,
    /// Probability of a statistic at least as great under F.
    pub p: f64,
}

/// Tests a sample against the distribution function `cdf`: D = max(i/n − F(xᵢ), F(xᵢ) − (i − 1)/n), and its
/// probability from Kolmogorov's limit at λ = (√n + 0.12 + 0.11/√n) D, accurate from n = 5 on (Stephens 1970,
/// JRSS B 32). `None` for a sample that is empty or censored, and where `cdf` leaves [0, 1].
pub fn one_sample(sample: &Sorted, cdf: impl Fn(f64) -> f64) -> Option<Ks> {
    if sample.is_empty() || sample.censored() > 0 {
        return None;
    }
    let n = sample.len() as f64;
    let mut statistic = 0.0_f64;
    for (below, &x) in sample.values().iter().enumerate() {
        let expected = Some(cdf(x)).filter(|share| (0.0..=1.0).contains(share))?;
        statistic = statistic.max((below as f64 + 1.0) / n - expected).max(expected - below as f64 / n);
    }
    let root = n.sqrt();
    Some(Ks { statistic, p: kolmogorov_tail((root + 0.12 + 0.11 / root) * statistic) })
}

/// The distribution function of an exponential variable: the gaps of a Poisson schedule. 0 where the mean is not
/// positive.
pub fn exponential_cdf(mean: f64) -> impl Fn(f64) -> f64 {
    move |x| if x > 0.0 && mean > 0.0 { -(-x / mean).exp_m1() } else { 0.0 }
}

/// P(K > λ) of Kolmogorov's distribution: 2 Σ (−1)^(k−1) exp(−2k²λ²), or for small λ its theta transform
/// 1 − √(2π)/λ Σ exp(−(2k − 1)²π²/(8λ²)).
fn kolmogorov_tail(lambda: f64) -> f64 {
    let terms = (1..=MAX_TERMS).map(f64::from);
    let tail = if lambda < 1.0 {
        let sum: f64 = terms.map(|k| (-((2.0 * k - 1.0) * PI / lambda).powi(2) / 8.0).exp()).sum();
        if sum > 0.0 { 1.0 - (2.0 * PI).sqrt() / lambda * sum } else { 1.0 }
    } else {
        terms.map(|k| if k % 2.0 == 1.0 { 2.0 } else { -2.0 } * (-2.0 * (k * lambda).powi(2)).exp()).sum()
    };
    tail.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: Vec<f64>, statistic: f64, p: f64, tolerance: f64) {
        let found = one_sample(&Sorted::new(values).unwrap(), |x| x.clamp(0.0, 1.0)).unwrap();
        assert!((found.statistic - statistic).abs() < 1e-12, "{found:?}");
        assert!((found.p - p).abs() < tolerance, "{found:?}");
    }

    /// Forty values spread over (0, 1), raised to a power. Expected: exact test of scipy 1.17.
    fn spread(power: f64) -> Vec<f64> {
        (1..=40_u32).map(|i| (f64::from(i * 7_919 % 1_009) / 1_009.0).powf(power)).collect()
    }

    #[test]
    fn known_tests() {
        check(spread(1.0), 0.044_400_396_432_110_91, 0.999_989, 1e-4);
        check(spread(1.5), 0.153_197_809_035_299_92, 0.275_627, 6e-3);
    }

    #[test]
    fn known_tail_of_kolmogorov() {
        // Smirnov's table (1948).
        for (lambda, tail) in
            [(0.0, 1.0), (0.5, 0.963_945), (1.0, 0.270_000), (1.36, 0.049_486), (1.63, 0.009_846)]
        {
            assert!((kolmogorov_tail(lambda) - tail).abs() < 2e-6, "{lambda}: {}", kolmogorov_tail(lambda));
        }
        assert!(kolmogorov_tail(1.0 - 1e-12) - kolmogorov_tail(1.0) < 1e-9);
    }

    #[test]
    fn an_exponential_is_told_from_a_constant() {
        let gaps: Vec<f64> = (1..200).map(|i| -(f64::from(i) / 200.0).ln()).collect();
        assert!(one_sample(&Sorted::new(gaps).unwrap(), exponential_cdf(1.0)).unwrap().p > 0.99);
        assert!(one_sample(&Sorted::new(vec![1.0; 200]).unwrap(), exponential_cdf(1.0)).unwrap().p < 1e-9);
    }

    #[test]
    fn what_cannot_be_tested() {
        assert_eq!(one_sample(&Sorted::default(), |x| x), None);
        assert_eq!(one_sample(&Sorted::new(vec![2.0]).unwrap(), |x| x), None);
        assert_eq!(one_sample(&Sorted::new(vec![0.5]).unwrap(), |_| f64::NAN), None);
        assert_eq!(exponential_cdf(f64::NAN)(1.0), 0.0);
        assert_eq!(exponential_cdf(1.0)(f64::INFINITY), 1.0);
    }
}
