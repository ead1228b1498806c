//! Two shares of the same pairs: which of two things has a property, pair by pair.

use crate::mover::Estimate;
use crate::proportion::{binomial_at_most, wilson};
use crate::{Bounds, is_alpha};

/// Pairs by which of the two have the property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Both.
    pub both: u64,
    /// Only the first.
    pub only_a: u64,
    /// Only the second.
    pub only_b: u64,
    /// Neither.
    pub neither: u64,
}

impl Table {
    /// Adds a pair.
    pub fn push(&mut self, a: bool, b: bool) {
        let cell = match (a, b) {
            (true, true) => &mut self.both,
            (true, false) => &mut self.only_a,
            (false, true) => &mut self.only_b,
            (false, false) => &mut self.neither,
        };
        *cell = cell.saturating_add(1);
    }

    /// Pairs.
    pub fn n(&self) -> u64 {
        [self.both, self.only_a, self.only_b, self.neither].into_iter().fold(0, u64::saturating_add)
    }

    /// Pairs whose two sides differ.
    pub fn discordant(&self) -> u64 {
        self.only_a.saturating_add(self.only_b)
    }

    /// The first's share less the second's, with Newcombe's interval (1998, Stat. Med. 17, 2635, method 10): Wilson's
    /// interval of each, put together as if by MOVER, with their correlation φ̂ put in and that one corrected for
    /// continuity. `None` without pairs; open where `alpha` bounds nothing.
    pub fn difference(&self, alpha: f64) -> Option<Estimate> {
        let n = self.n();
        if n == 0 {
            return None;
        }
        let count = n as f64;
        let (have_a, have_b) = (self.both.saturating_add(self.only_a), self.both.saturating_add(self.only_b));
        let (a, b) = (have_a as f64 / count, have_b as f64 / count);
        let value = (self.only_a as f64 - self.only_b as f64) / count;
        let (of_a, of_b) = (wilson(have_a, n, alpha), wilson(have_b, n, alpha));
        let phi = self.correlation();
        let reach = |near: f64, far: f64| (near * near - 2.0 * phi * near * far + far * far).max(0.0).sqrt();
        let ends = |of_a: Bounds, of_b: Bounds| Some((of_a.lo?, of_a.hi?, of_b.lo?, of_b.hi?));
        let bounds = match ends(of_a, of_b).filter(|_| is_alpha(alpha)) {
            Some((a_lo, a_hi, b_lo, b_hi)) => Bounds::closed(
                (value - reach(a - a_lo, b_hi - b)).max(-1.0),
                (value + reach(a_hi - a, b - b_lo)).min(1.0),
            ),
            None => Bounds::OPEN,
        };
        Some(Estimate { value, bounds })
    }

    /// φ̂ with Newcombe's correction: n/2 off a positive numerator, down to 0; 0 where a margin is empty.
    fn correlation(&self) -> f64 {
        let [both, only_a, only_b, neither] =
            [self.both, self.only_a, self.only_b, self.neither].map(|count| count as f64);
        let margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither);
        if margins <= 0.0 {
            return 0.0;
        }
        let product = both * neither - only_a * only_b;
        let corrected = if product > 0.0 { (product - self.n() as f64 / 2.0).max(0.0) } else { product };
        (corrected / margins.sqrt()).clamp(-1.0, 1.0)
    }

    /// Two-sided exact p of McNemar's test (1947): whether the discordant pairs fall to both sides like a fair coin. 1
    /// where there is none.
    pub fn p(&self) -> f64 {
        let fewer = self.only_a.min(self.only_b);
        (2.0 * binomial_at_most(fewer, self.discordant(), 0.5)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALPHA;

    fn check(table: [u64; 4], value: f64, lo: f64, hi: f64) {
        let [both, only_a, only_b, neither] = table;
        let found = Table { both, only_a, only_b, neither }.difference(ALPHA).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 6e-4;
        let Bounds { lo: Some(found_lo), hi: Some(found_hi) } = found.bounds else { panic!("{found:?}") };
        assert!(
            close(found.value, value) && close(found_lo, lo) && close(found_hi, hi),
            "{table:?}: {found:?}"
        );
    }

    #[test]
    fn known_intervals() {
        // Fagerland, Lydersen and Laake 2014, table V: Newcombe's interval of 1, 1, 7, 12 is −0.507 to −0.026.
        check([1, 1, 7, 12], -0.286, -0.507, -0.026);
        check([0, 0, 0, 10], 0.0, -0.2775, 0.2775);
    }

    #[test]
    fn p_of_the_discordant_pairs() {
        let p = |only_a, only_b| Table { both: 5, only_a, only_b, neither: 5 }.p();
        assert_eq!((p(0, 0), p(3, 3)), (1.0, 1.0));
        assert!((p(1, 7) - 2.0 * 9.0 / 256.0).abs() < 1e-12 && (p(0, 5) - 2.0 / 32.0).abs() < 1e-12);
        assert_eq!(Table::default().difference(ALPHA), None);
        let mut table = Table::default();
        for (a, b) in [(true, true), (true, false), (false, true), (false, false), (true, false)] {
            table.push(a, b);
        }
        assert_eq!((table.n(), table.discordant(), table.only_a), (5, 3, 2));
        assert_eq!(table.difference(f64::NAN).unwrap().bounds, Bounds::OPEN);
    }
}
