//! Who is neither dearer nor slower than another: cost per useful answer against TTFT p95 of all attempts.

use crate::kept::Kept;

use super::field::value;
use super::profiles::Criterion;

/// Per cell whether no other is at least as cheap and as quick, and better in one of the two. A cell without both
/// figures is on no front; nor is one without a first token for 5 % of its attempts.
pub(super) fn front(cells: &[Kept<'_>]) -> Vec<bool> {
    let of = |criterion, cell: &Kept<'_>| value(criterion, *cell).value.and_then(crate::Num::finite);
    let points: Vec<Option<(f64, f64)>> = cells
        .iter()
        .map(|cell| {
            let is_usable = cell.summary.client.valid && cell.summary.counts.ok > 0;
            of(Criterion::CostPerUseful, cell).zip(of(Criterion::TtftP95, cell)).filter(|_| is_usable)
        })
        .collect();
    let beats = |a: (f64, f64), b: (f64, f64)| a.0 <= b.0 && a.1 <= b.1 && a != b;
    let is_on = |point: &Option<(f64, f64)>| {
        point.is_some_and(|own| !points.iter().flatten().any(|other| beats(*other, own)))
    };
    points.iter().map(is_on).collect()
}
