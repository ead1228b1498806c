//! The time that belongs to a cell: its window, or the slices of it that an interleaved plan gave to it.

use crate::Window;

/// Spans in order, none touching the next. Between them, time is others'.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spans(Vec<Window>);

impl Spans {
    /// The slices inside `window`; without slices all of it. Slices that overlap are one.
    pub(crate) fn new(window: Window, slices: &[Window]) -> Spans {
        if slices.is_empty() {
            return Spans(vec![window]);
        }
        let inside = |slice: &Window| Window {
            from_ns: slice.from_ns.max(window.from_ns),
            to_ns: slice.to_ns.min(window.to_ns),
        };
        let mut sorted: Vec<Window> =
            slices.iter().map(inside).filter(|slice| slice.from_ns < slice.to_ns).collect();
        sorted.sort_unstable_by_key(|slice| slice.from_ns);
        let mut merged: Vec<Window> = Vec::with_capacity(sorted.len());
        for slice in sorted {
            match merged.last_mut() {
                Some(last) if slice.from_ns <= last.to_ns => last.to_ns = last.to_ns.max(slice.to_ns),
                _ => merged.push(slice),
            }
        }
        Spans(merged)
    }

    /// No time at all: nothing can be said per second.
    pub(crate) fn none() -> Spans {
        Spans(Vec::new())
    }

    /// Each span, in order.
    pub(crate) fn as_slice(&self) -> &[Window] {
        &self.0
    }

    /// Whether `at_ns` is the cell's.
    pub(crate) fn contains(&self, at_ns: u64) -> bool {
        self.at(at_ns).is_some()
    }

    /// Whether everything from `from_ns` to `to_ns` lies in one span.
    pub(crate) fn covers(&self, from_ns: u64, to_ns: u64) -> bool {
        self.at(from_ns).is_some_and(|span| to_ns <= span.to_ns)
    }

    /// The span that `at_ns` lies in.
    fn at(&self, at_ns: u64) -> Option<Window> {
        let next = self.0.partition_point(|span| span.from_ns <= at_ns);
        let span = self.0.get(next.checked_sub(1)?)?;
        span.contains(at_ns).then_some(*span)
    }

    /// The length of all of them, s; `None` where there is none.
    pub(crate) fn seconds(&self) -> Option<f64> {
        let sum: f64 = self.0.iter().filter_map(|span| span.seconds()).sum();
        (sum > 0.0).then_some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(window: (u64, u64), slices: &[(u64, u64)]) -> Spans {
        let of = |(from_ns, to_ns): (u64, u64)| Window { from_ns, to_ns };
        Spans::new(of(window), &slices.iter().map(|slice| of(*slice)).collect::<Vec<_>>())
    }

    fn check(slices: &[(u64, u64)], inside: &[u64], outside: &[u64], seconds: Option<f64>) {
        let spans = spans((100, 1_000), slices);
        assert!(inside.iter().all(|at| spans.contains(*at)), "{spans:?}");
        assert!(!outside.iter().any(|at| spans.contains(*at)), "{spans:?}");
        assert_eq!(spans.seconds().map(|s| (s * 1e9).round()), seconds);
    }

    #[test]
    fn only_its_own_time_counts() {
        check(&[], &[100, 550, 1_000], &[99, 1_001], Some(900.0));
        check(&[(700, 800), (200, 300)], &[200, 300, 750], &[100, 301, 699, 900], Some(200.0));
        check(&[(200, 300), (250, 400), (400, 500)], &[399, 450], &[199, 501], Some(300.0));
        check(&[(0, 150), (900, 5_000)], &[100, 150, 1_000], &[99, 151, 1_001], Some(150.0));
        check(&[(5, 5), (300, 200), (2_000, 3_000)], &[], &[5, 250, 2_500], None);
        let spans = spans((0, 100), &[(10, 20), (30, 40)]);
        assert_eq!(
            [(10, 20), (12, 18), (15, 35), (25, 28)].map(|(a, b)| spans.covers(a, b)),
            [true, true, false, false]
        );
    }
}
