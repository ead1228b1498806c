//! Who is neither dearer nor slower than another: cost per useful answer against TTFT p95 of all attempts.

use crate::kept::Kept;

use super::field::value;
use super::profiles::Criterion;

/// A cell in the plane of cost and time.
#[derive(Clone, Copy, PartialEq)]
struct Point {
    cost: f64,
    /// Whether the cost is only a lower bound.
    is_bound: bool,
    time: f64,
}

impl Point {
    fn of(cell: Kept<'_>) -> Option<Self> {
        let is_usable = cell.summary.client.valid && cell.summary.counts.ok > 0;
        let of = |criterion| value(criterion, cell).value.and_then(crate::Num::finite);
        let (cost, time) = of(Criterion::CostPerUseful).zip(of(Criterion::TtftP95)).filter(|_| is_usable)?;
        Some(Point { cost, is_bound: cell.summary.cost.lower_bound, time })
    }

    /// Whether it is shown to be at least as good in both, and better in one.
    fn beats(self, other: Self) -> bool {
        let is_apart = (self.cost, self.time) != (other.cost, other.time);
        !self.is_bound && self.cost <= other.cost && self.time <= other.time && is_apart
    }

    /// Whether it is shown not to be beaten by another: what may be dearer than it seems must be quicker.
    fn stands(self, other: Self) -> bool {
        if self.is_bound { self.time < other.time } else { !other.beats(self) }
    }
}

/// Per cell whether no other is at least as cheap and as quick, and better in one of the two. A cell without both
/// figures is on no front; nor is one without a first token for 5 % of its attempts. A cost that is a lower bound beats
/// none, and is itself on the front only where it is the quickest: its own rate says that it is a bound.
pub(super) fn front(cells: &[Kept<'_>]) -> Vec<bool> {
    let points: Vec<Option<Point>> = cells.iter().map(|cell| Point::of(*cell)).collect();
    let others = |at: usize| points.iter().enumerate().filter(move |(other, _)| *other != at);
    let is_on = |(at, point): (usize, &Option<Point>)| {
        point.is_some_and(|own| others(at).filter_map(|(_, other)| *other).all(|other| own.stands(other)))
    };
    points.iter().enumerate().map(is_on).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(own: (f64, bool, f64), other: (f64, bool, f64), stands: bool) {
        let point = |(cost, is_bound, time)| Point { cost, is_bound, time };
        assert_eq!(point(own).stands(point(other)), stands, "{own:?} beside {other:?}");
    }

    #[test]
    fn a_bound_beats_none_and_stands_only_where_it_is_quicker() {
        let known = |cost, time| (cost, false, time);
        let bound = |cost, time| (cost, true, time);
        check(known(1.0, 1.0), known(1.0, 1.0), true);
        check(known(1.0, 2.0), known(1.0, 1.0), false);
        check(known(2.0, 1.0), known(1.0, 2.0), true);
        check(known(2.0, 2.0), bound(1.0, 1.0), true);
        check(bound(1.0, 2.0), known(9.0, 1.0), false);
        check(bound(1.0, 1.0), known(1.0, 1.0), false);
        check(bound(9.0, 1.0), known(1.0, 2.0), true);
    }
}
