//! Two estimates held against each other, each with its own interval: MOVER, the method of variance estimates recovery
//! (Zou and Donner 2008, Stat. Med. 27; Donner and Zou 2012 for ratios). The two must be independent.

use crate::Bounds;

/// Steps of the bisection for p, over ln α from [`LEAST_P`] to 1.
const MAX_STEPS: u32 = 16;
/// No p below this is told apart.
pub const LEAST_P: f64 = 1e-6;

/// A value and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value; +∞ where the thing never happens.
    pub value: f64,
    /// Its interval, open where nothing bounds it.
    pub bounds: Bounds,
}

impl Estimate {
    /// Times a positive factor.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let scale = |x: f64| x * factor;
        Self {
            value: scale(self.value),
            bounds: Bounds { lo: self.bounds.lo.map(scale), hi: self.bounds.hi.map(scale) },
        }
    }
}

/// a − b with lo = a − b − √((a − a_lo)² + (b_hi − b)²) and hi = a − b + √((a_hi − a)² + (b − b_lo)²).
///
/// A side is open where a bound that it uses is open. Where a value is infinite there is no distance to recover: the
/// ends are then those of the bounds themselves, a_lo − b_hi and a_hi − b_lo, wider than needed. `None` for ∞ − ∞.
pub fn difference(a: Estimate, b: Estimate) -> Option<Estimate> {
    let value = a.value - b.value;
    if value.is_nan() {
        return None;
    }
    let reach = |near: f64, near_end: Option<f64>, far: f64, far_end: Option<f64>| {
        Some((near - near_end?).hypot(far - far_end?))
    };
    let apart = |near: Option<f64>, far: Option<f64>| Some(near? - far?);
    let (lo, hi) = if value.is_finite() {
        let below = reach(a.value, a.bounds.lo, b.value, b.bounds.hi);
        let above = reach(a.value, a.bounds.hi, b.value, b.bounds.lo);
        (below.map(|reach| value - reach), above.map(|reach| value + reach))
    } else {
        (apart(a.bounds.lo, b.bounds.hi), apart(a.bounds.hi, b.bounds.lo))
    };
    let is_bound = |end: &f64| !end.is_nan();
    let lo = lo.filter(|lo| *lo > f64::NEG_INFINITY);
    let hi = hi.filter(|hi| *hi < f64::INFINITY);
    Some(Estimate { value, bounds: Bounds { lo: lo.filter(is_bound), hi: hi.filter(is_bound) } })
}

/// a ÷ b of two positive estimates, as a [`difference`] of logarithms. An end that is not positive bounds nothing.
/// `None` where a value is not positive and finite.
pub fn ratio(a: Estimate, b: Estimate) -> Option<Estimate> {
    let logs = difference(log(a)?, log(b)?)?;
    let Bounds { lo, hi } = logs.bounds;
    Some(Estimate {
        value: logs.value.exp(),
        bounds: Bounds { lo: lo.map(f64::exp), hi: hi.map(f64::exp).filter(|hi| hi.is_finite()) },
    })
}

fn log(estimate: Estimate) -> Option<Estimate> {
    let ln = |x: f64| (x > 0.0 && x.is_finite()).then(|| x.ln());
    let Bounds { lo, hi } = estimate.bounds;
    Some(Estimate { value: ln(estimate.value)?, bounds: Bounds { lo: lo.and_then(ln), hi: hi.and_then(ln) } })
}

/// The two-sided p that intervals imply: the least error probability α whose interval leaves `null` out. `bounds` gives
/// the interval at an α, which must narrow as α rises; 1 where none leaves it out, [`LEAST_P`] where all do.
pub fn p_value(bounds: impl Fn(f64) -> Bounds, null: f64) -> f64 {
    let leaves_out = |log_alpha: f64| !bounds(log_alpha.exp()).contains(null);
    let (mut out, mut within) = (-1e-9, LEAST_P.ln());
    if !leaves_out(out) {
        return 1.0;
    }
    if leaves_out(within) {
        return LEAST_P;
    }
    for _ in 0..MAX_STEPS {
        let middle = f64::midpoint(out, within);
        if leaves_out(middle) { out = middle } else { within = middle }
    }
    out.exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::normal_quantile;

    fn estimate(value: f64, lo: Option<f64>, hi: Option<f64>) -> Estimate {
        Estimate { value, bounds: Bounds { lo, hi } }
    }

    fn closed(value: f64, lo: f64, hi: f64) -> Estimate {
        estimate(value, Some(lo), Some(hi))
    }

    fn check(found: Option<Estimate>, value: f64, lo: Option<f64>, hi: Option<f64>) {
        let found = found.unwrap();
        let close = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => a == b || (a - b).abs() < 5e-5,
            (a, b) => a == b,
        };
        let is_right =
            close(Some(found.value), Some(value)) && close(found.bounds.lo, lo) && close(found.bounds.hi, hi);
        assert!(is_right, "{found:?}");
    }

    #[test]
    fn known_differences() {
        // Of two proportions with Wilson's intervals this is Newcombe's method for independent ones (1998, p. 876):
        // 56/70 − 48/80 is 0.0524 to 0.3339.
        let wilson = |k: u64, n: u64| Estimate {
            value: k as f64 / n as f64,
            bounds: crate::proportion::wilson(k, n, crate::ALPHA),
        };
        check(difference(wilson(56, 70), wilson(48, 80)), 0.2, Some(0.0524), Some(0.3339));
        check(
            difference(closed(10.0, 7.0, 14.0), closed(5.0, 1.0, 9.0)),
            5.0,
            Some(0.0),
            Some(5.0 + 32_f64.sqrt()),
        );
    }

    #[test]
    fn open_where_a_bound_it_uses_is_open() {
        let half_open = estimate(10.0, Some(7.0), None);
        check(difference(half_open, closed(5.0, 1.0, 9.0)), 5.0, Some(0.0), None);
        check(difference(closed(5.0, 1.0, 9.0), half_open), -5.0, None, Some(0.0));
        let inf = f64::INFINITY;
        check(difference(closed(inf, 70.0, inf), closed(5.0, 1.0, 9.0)), inf, Some(61.0), None);
        check(difference(closed(5.0, 1.0, 9.0), closed(inf, 70.0, inf)), -inf, None, Some(-61.0));
        assert_eq!(difference(closed(inf, 1.0, inf), closed(inf, 1.0, inf)), None);
    }

    #[test]
    fn ratios_are_differences_of_logarithms() {
        let e = std::f64::consts::E;
        let reach = 2_f64.sqrt().exp();
        let one = closed(1.0, 1.0 / e, e);
        check(ratio(one, one), 1.0, Some(1.0 / reach), Some(reach));
        check(ratio(closed(4.0, -1.0, 5.0), closed(2.0, 2.0, 2.0)), 2.0, None, Some(2.5));
        assert_eq!(ratio(closed(0.0, 0.0, 1.0), one), None);
    }

    #[test]
    fn p_is_where_the_interval_ends() {
        // value ± z/1: p of 1.96 is 0.05.
        let normal = |value: f64| {
            move |alpha: f64| {
                let z = -normal_quantile(alpha / 2.0);
                Bounds::closed(value - z, value + z)
            }
        };
        for (value, p) in [(1.959_964, 0.05), (-2.575_829, 0.01), (0.0, 1.0), (9.0, LEAST_P)] {
            assert!((p_value(normal(value), 0.0) - p).abs() < 1e-3 * p, "{value}");
        }
        assert_eq!(p_value(|_| Bounds::OPEN, 0.0), 1.0);
    }
}
