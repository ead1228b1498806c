//! A validated, sorted sample whose values may be infinite or right-censored.

use std::error::Error;
use std::fmt;

/// One observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Point {
    /// The value itself; +∞ where the thing never happened.
    Exact(f64),
    /// Right-censored: all that is known is that the value exceeds this. Printed `> T`.
    Above(f64),
}

impl Point {
    /// The number inside: the value, or the time of censoring.
    pub fn number(self) -> f64 {
        match self {
            Self::Exact(x) | Self::Above(x) => x,
        }
    }

    /// Whether the number is only a lower bound.
    pub fn is_censored(self) -> bool {
        matches!(self, Self::Above(_))
    }
}

/// A value that has no place in an order of times: NaN, or −∞.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOrdered {
    /// Which of the values given, from 0.
    pub index: usize,
}

impl fmt::Display for NotOrdered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "value {} of the sample is NaN or minus infinity", self.index)
    }
}

impl Error for NotOrdered {}

/// How many of n values exceed a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over {
    /// Surely over: exact values above the limit, and values censored at or after it.
    pub over: usize,
    /// Censored before the limit: may be over.
    pub unknown: usize,
    /// All values.
    pub n: usize,
}

/// A sorted sample: no NaN, no −∞; +∞ and right-censored values allowed.
///
/// A censored value stands at its time of censoring, after exact values equal to it. The value at a rank is exact
/// where no censored one stands at or before that rank; else the rank's true value may be later, and the number is a
/// lower bound. That needs no model of how censoring comes about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sorted {
    values: Vec<f64>,
    /// Ascending indices into `values`; empty for most samples.
    censored: Vec<usize>,
}

impl Sorted {
    /// Sorts exact values.
    pub fn new(mut values: Vec<f64>) -> Result<Self, NotOrdered> {
        refuse_unordered(values.iter().copied())?;
        values.sort_unstable_by(f64::total_cmp);
        Ok(Self { values, censored: Vec::new() })
    }

    /// Sorts values of which some are right-censored.
    pub fn from_points(mut points: Vec<Point>) -> Result<Self, NotOrdered> {
        refuse_unordered(points.iter().map(|point| point.number()))?;
        points.sort_unstable_by(|a, b| {
            a.number().total_cmp(&b.number()).then(a.is_censored().cmp(&b.is_censored()))
        });
        let censored = (0..points.len()).filter(|&i| points[i].is_censored()).collect();
        Ok(Self { values: points.into_iter().map(Point::number).collect(), censored })
    }

    /// How many values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How many values are right-censored.
    pub fn censored(&self) -> usize {
        self.censored.len()
    }

    /// The numbers in order; a censored value stands at its time of censoring.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The least number; a lower bound of the least value where that one is censored.
    pub fn min(&self) -> Option<f64> {
        self.values.first().copied()
    }

    /// The greatest number; a lower bound of the greatest value where any is censored.
    pub fn max(&self) -> Option<f64> {
        self.values.last().copied()
    }

    /// The observations in order.
    pub fn iter(&self) -> impl Iterator<Item = Point> + '_ {
        self.values.iter().enumerate().map(|(i, &x)| match self.censored.binary_search(&i) {
            Ok(_) => Point::Above(x),
            Err(_) => Point::Exact(x),
        })
    }

    /// The value at a 1-based rank, `None` outside 1..=n. Where a censored value stands at or before the rank, the
    /// number is a lower bound.
    pub fn at(&self, rank: usize) -> Option<Point> {
        let x = *self.values.get(rank.checked_sub(1)?)?;
        let is_bound = self.censored.first().is_some_and(|&first| first < rank);
        Some(if is_bound { Point::Above(x) } else { Point::Exact(x) })
    }

    /// An upper bound of the true value at a 1-based rank: the value there if every censored one were as late as can
    /// be. `None` where that is a censored value.
    pub(crate) fn at_latest(&self, rank: usize) -> Option<f64> {
        let mut index = rank.checked_sub(1)?;
        for &censored in &self.censored {
            if censored > index {
                break;
            }
            index += 1;
        }
        self.values.get(index).copied()
    }

    /// How many values exceed `limit`.
    pub fn over(&self, limit: f64) -> Over {
        let below = self.values.partition_point(|&x| x <= limit);
        let is_before_limit = |&&i: &&usize| self.values.get(i).is_some_and(|&x| x < limit);
        let unknown = self.censored.iter().take_while(is_before_limit).count();
        let censored_below = self.censored.partition_point(|&i| i < below);
        Over { over: self.len() - below + (censored_below - unknown), unknown, n: self.len() }
    }
}

fn refuse_unordered(mut values: impl Iterator<Item = f64>) -> Result<(), NotOrdered> {
    match values.position(|x| x.is_nan() || x == f64::NEG_INFINITY) {
        Some(index) => Err(NotOrdered { index }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::Point::{Above, Exact};
    use super::*;

    #[test]
    fn refuses_what_has_no_order() {
        assert_eq!(Sorted::new(vec![1.0, f64::NAN]), Err(NotOrdered { index: 1 }));
        assert_eq!(Sorted::from_points(vec![Above(f64::NEG_INFINITY)]), Err(NotOrdered { index: 0 }));
        assert!(Sorted::new(vec![f64::INFINITY]).is_ok());
    }

    #[test]
    fn a_rank_is_exact_until_the_first_censored_value() {
        let sample = Sorted::from_points(vec![Above(2.0), Exact(3.0), Exact(1.0), Exact(2.0)]).unwrap();
        let ranks: Vec<_> = (0..=5).map(|rank| sample.at(rank)).collect();
        assert_eq!(
            ranks,
            [None, Some(Exact(1.0)), Some(Exact(2.0)), Some(Above(2.0)), Some(Above(3.0)), None]
        );
        assert_eq!(sample.iter().collect::<Vec<_>>(), [Exact(1.0), Exact(2.0), Above(2.0), Exact(3.0)]);
        assert_eq!(
            (sample.len(), sample.censored(), sample.min(), sample.max()),
            (4, 1, Some(1.0), Some(3.0))
        );
    }

    #[test]
    fn the_latest_value_at_a_rank_skips_censored_ones() {
        let sample = Sorted::from_points(vec![Above(2.0), Exact(3.0), Exact(1.0), Above(2.5)]).unwrap();
        let ranks: Vec<_> = (0..=4).map(|rank| sample.at_latest(rank)).collect();
        assert_eq!(ranks, [None, Some(1.0), Some(3.0), None, None]);
    }

    #[test]
    fn values_over_a_limit() {
        let sample =
            Sorted::from_points(vec![Exact(1.0), Above(1.0), Above(2.0), Exact(2.0), Exact(f64::INFINITY)])
                .unwrap();
        for (limit, over, unknown) in [(0.5, 5, 0), (1.0, 4, 0), (1.5, 3, 1), (2.0, 2, 1), (9.0, 1, 2)] {
            assert_eq!(sample.over(limit), Over { over, unknown, n: 5 }, "limit {limit}");
        }
        assert_eq!(Sorted::default().over(1.0), Over { over: 0, unknown: 0, n: 0 });
    }
}
