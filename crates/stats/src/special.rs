//! Special functions: just those that the intervals of this crate stand on.
//!
//! Each is tested against values computed with 50 digits. Arguments outside a function's domain give NaN, which no
//! caller in this crate lets out.

use std::f64::consts::{PI, SQRT_2};

/// Bound on the terms of a series or continued fraction. The incomplete beta function needs about √max(a, b) of them:
/// enough for samples of 10⁸.
const MAX_TERMS: u32 = 20_000;
/// Bound on the steps of an inversion; bisection alone reaches the last bit from [0, 1] in fewer.
const MAX_STEPS: u32 = 120;
/// Keeps Lentz's method off a division by 0.
const TINY: f64 = 1e-300;
/// Where Stirling's series is exact to a double.
const STIRLING_FROM: f64 = 15.0;

/// ln Γ(x) for x > 0: Stirling's series, after Γ(x) = Γ(x + 1) / x has carried x far enough.
/// (Abramowitz and Stegun 6.1.41.)
pub fn ln_gamma(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    let (mut x, mut product) = (x, 1.0);
    while x < STIRLING_FROM {
        product *= x;
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r / 1188.0)))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series - f64::ln(product)
}

/// The regularised incomplete beta function I_x(a, b) for a, b > 0 and x in [0, 1]: the distribution function of
/// Beta(a, b). Continued fraction by Lentz's method (DLMF 8.17.22), on the side where it converges fast.
pub fn beta_inc(a: f64, b: f64, x: f64) -> f64 {
    let in_domain = a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite() && (0.0..=1.0).contains(&x);
    if !in_domain {
        return f64::NAN;
    }
    if x == 0.0 || x == 1.0 {
        return x;
    }
    let front = beta_density(a, b, x) * x * (1.0 - x);
    let share = if x <= (a + 1.0) / (a + b + 2.0) {
        front / a * beta_fraction(a, b, x)
    } else {
        1.0 - front / b * beta_fraction(b, a, 1.0 - x)
    };
    share.clamp(0.0, 1.0)
}

/// The x at which I_x(a, b) = p: Newton's steps, each replaced by a bisection where it would leave the bracket.
pub fn beta_inc_inv(a: f64, b: f64, p: f64) -> f64 {
    let in_domain = a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite() && (0.0..=1.0).contains(&p);
    if !in_domain {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return p;
    }
    let (mut lo, mut hi, mut x) = (0.0, 1.0, a / (a + b));
    for _ in 0..MAX_STEPS {
        let excess = beta_inc(a, b, x) - p;
        if excess > 0.0 {
            hi = x;
        } else {
            lo = x;
        }
        let newton = x - excess / beta_density(a, b, x);
        let next = if newton > lo && newton < hi { newton } else { f64::midpoint(lo, hi) };
        if (next - x).abs() <= f64::EPSILON * next {
            return next;
        }
        x = next;
    }
    x
}

/// The complementary error function: the series of erf near 0 (DLMF 7.6.2, no cancellation), a continued fraction in
/// the tail (DLMF 7.9.1).
pub fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    let scale = (-x * x).exp() / PI.sqrt();
    if x < 2.0 {
        let (mut term, mut sum) = (2.0 * x, 2.0 * x);
        for k in 1..MAX_TERMS {
            term *= 2.0 * x * x / f64::from(2 * k + 1);
            sum += term;
            if term <= f64::EPSILON * sum {
                break;
            }
        }
        return 1.0 - scale * sum;
    }
    // x + ½/(x + 1/(x + 3⁄2/(x + 2/(x + …)))), from the far end: 100 terms are exact to a double from x = 2 on.
    let tail = (1..=100).rev().fold(x, |inner, k| x + 0.5 * f64::from(k) / inner);
    scale / tail
}

/// The standard normal distribution function Φ(x).
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / SQRT_2)
}

/// The standard normal quantile Φ⁻¹(p) for p in (0, 1): a rational start (Abramowitz and Stegun 26.2.23, good to
/// 4.5e−4), then Halley's steps.
pub fn normal_quantile(p: f64) -> f64 {
    if p.is_nan() || p <= 0.0 || p >= 1.0 {
        return f64::NAN;
    }
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    let t = (-2.0 * p.ln()).sqrt();
    let start = (2.515_517 + t * (0.802_853 + t * 0.010_328))
        / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)));
    (0..3).fold(start - t, |x, _| {
        let step = (normal_cdf(x) - p) / ((-x * x / 2.0).exp() / (2.0 * PI).sqrt());
        if step.is_finite() { x - step / (1.0 + x * step / 2.0) } else { x }
    })
}

/// The quantile of Student's t with `df` > 0 degrees of freedom, from the inverse of I_x(df/2, ½)
/// (Abramowitz and Stegun 26.7.1).
pub fn t_quantile(p: f64, df: f64) -> f64 {
    let in_domain = p > 0.0 && p < 1.0 && df > 0.0;
    if !in_domain {
        return f64::NAN;
    }
    if p == 0.5 {
        return 0.0;
    }
    if df > 1e10 {
        return normal_quantile(p); // closer than a double can tell
    }
    // 1 − x, not x, is inverted: x is near 1 for small t.
    let tail = p.min(1.0 - p);
    let rest = beta_inc_inv(0.5, df / 2.0, 1.0 - 2.0 * tail);
    let t = (df * rest / (1.0 - rest)).sqrt();
    if p < 0.5 { -t } else { t }
}

/// The density of Beta(a, b) inside (0, 1).
fn beta_density(a: f64, b: f64, x: f64) -> f64 {
    let ln_beta = ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    ((a - 1.0) * x.ln() + (b - 1.0) * (-x).ln_1p() - ln_beta).exp()
}

/// The continued fraction of DLMF 8.17.22.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut above = 1.0;
    let mut below = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = below;
    for m in (1..MAX_TERMS).map(f64::from) {
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = value;
        for coefficient in [even, odd] {
            below = 1.0 / away_from_zero(1.0 + coefficient * below);
            above = away_from_zero(1.0 + coefficient / above);
            value *= below * above;
        }
        if (value - before).abs() <= f64::EPSILON * value.abs() {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests;
