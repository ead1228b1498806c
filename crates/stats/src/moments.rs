//! Count, mean, standard deviation, least and greatest of the finite values.

/// Moments of a stream of values. What is not finite is passed over: the mean of a sample in which something never
/// happened does not exist, and the count says how many values the mean is of.
///
/// Updated one value at a time (Welford 1962), so that large means lose no digits of the deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    n: u64,
    mean: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Moments {
    /// Takes in one value; passes over NaN and infinities.
    pub fn push(&mut self, x: f64) {
        if !x.is_finite() {
            return;
        }
        if self.n == 0 {
            (self.min, self.max) = (x, x);
        }
        self.n += 1;
        let before = x - self.mean;
        self.mean += before / self.n as f64;
        self.squares += before * (x - self.mean);
        self.min = self.min.min(x);
        self.max = self.max.max(x);
    }

    /// How many finite values were taken in.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The arithmetic mean; `None` of nothing, or where it overflows.
    pub fn mean(&self) -> Option<f64> {
        self.any(self.mean)
    }

    /// The standard deviation with n − 1; `None` under two values, or where it overflows.
    pub fn std(&self) -> Option<f64> {
        let variance = self.squares / self.n.checked_sub(1).filter(|&rest| rest > 0)? as f64;
        self.any(variance).map(|variance| variance.max(0.0).sqrt())
    }

    /// The least value.
    pub fn min(&self) -> Option<f64> {
        self.any(self.min)
    }

    /// The greatest value.
    pub fn max(&self) -> Option<f64> {
        self.any(self.max)
    }

    fn any(&self, x: f64) -> Option<f64> {
        (self.n > 0 && x.is_finite()).then_some(x)
    }
}

impl Extend<f64> for Moments {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        values.into_iter().for_each(|x| self.push(x));
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut moments = Self::default();
        moments.extend(values);
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], expected: (u64, Option<f64>, Option<f64>, Option<f64>, Option<f64>)) {
        let m: Moments = values.iter().copied().collect();
        assert_eq!((m.n(), m.mean(), m.std(), m.min(), m.max()), expected, "{values:?}");
    }

    #[test]
    fn known_moments() {
        check(&[], (0, None, None, None, None));
        check(&[3.0], (1, Some(3.0), None, Some(3.0), Some(3.0)));
        check(&[1.0, 2.0, 3.0, 4.0, 5.0], (5, Some(3.0), Some(2.5_f64.sqrt()), Some(1.0), Some(5.0)));
        check(
            &[-2.0, f64::INFINITY, f64::NAN, -4.0],
            (2, Some(-3.0), Some(2.0_f64.sqrt()), Some(-4.0), Some(-2.0)),
        );
    }

    #[test]
    fn a_large_mean_loses_no_digits() {
        check(&[1e9, 1e9 + 1.0, 1e9 + 2.0], (3, Some(1e9 + 1.0), Some(1.0), Some(1e9), Some(1e9 + 2.0)));
    }

    #[test]
    fn overflow_is_absent() {
        let m: Moments = [f64::MAX, -f64::MAX].into_iter().collect();
        assert_eq!((m.std(), m.min()), (None, Some(-f64::MAX)));
    }
}
