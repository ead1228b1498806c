//! The two sides of an interval, either of which may be open.

/// An interval's ends. `None` is an open side: the sample is too small to bound it, and the figure is printed as the
/// other bound alone (`≥ lo`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The lower end; `None` when open.
    pub lo: Option<f64>,
    /// The upper end; `None` when open.
    pub hi: Option<f64>,
}

impl Bounds {
    /// Bounds nothing.
    pub const OPEN: Self = Self { lo: None, hi: None };

    /// Both ends known.
    pub fn closed(lo: f64, hi: f64) -> Self {
        Self { lo: Some(lo), hi: Some(hi) }
    }

    /// Both ends, each open unless it is a number (infinity is one, NaN is not).
    pub(crate) fn of_numbers(lo: Option<f64>, hi: Option<f64>) -> Self {
        Self { lo: lo.filter(|x| !x.is_nan()), hi: hi.filter(|x| !x.is_nan()) }
    }

    /// Whether neither side is open.
    pub fn is_closed(&self) -> bool {
        self.lo.is_some() && self.hi.is_some()
    }

    /// Whether `x` lies inside, ends included. An open side excludes nothing.
    pub fn contains(&self, x: f64) -> bool {
        self.lo.is_none_or(|lo| lo <= x) && self.hi.is_none_or(|hi| x <= hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_side_excludes_nothing() {
        let from_two = Bounds { lo: Some(2.0), hi: None };
        assert!(from_two.contains(f64::INFINITY) && from_two.contains(2.0) && !from_two.contains(1.9));
        assert!(Bounds::OPEN.contains(-1e300) && !Bounds::OPEN.is_closed());
        assert!(Bounds::closed(0.0, 1.0).is_closed() && !Bounds::closed(0.0, 1.0).contains(1.1));
    }

    #[test]
    fn nan_is_open() {
        assert_eq!(
            Bounds::of_numbers(Some(f64::NAN), Some(f64::INFINITY)),
            Bounds { lo: None, hi: Some(f64::INFINITY) }
        );
    }
}
