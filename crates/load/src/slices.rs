//! The spans of time that were a lane's own.

use inferometer_metrics::Window;

/// Slices kept of one cell; beyond it neighbours are joined, two by two, the time between them included.
const MAX_SLICES: usize = 4_096;

/// The slices of a cell, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slices(Vec<Window>);

impl Slices {
    /// Adds the slice behind all others.
    pub(crate) fn push(&mut self, slice: Window) {
        if self.0.len() == MAX_SLICES {
            self.0 = self.0.chunks(2).filter_map(joined).collect();
        }
        self.0.push(slice);
    }

    /// The slices, unless there is only one: then the cell ran in one piece.
    pub(crate) fn into_windows(self) -> Vec<Window> {
        if self.0.len() > 1 { self.0 } else { Vec::new() }
    }
}

fn joined(slices: &[Window]) -> Option<Window> {
    let (first, last) = (slices.first()?, slices.last()?);
    Some(Window { from_ns: first.from_ns, to_ns: last.to_ns.max(first.to_ns) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_bounded_and_lose_no_time() {
        let mut slices = Slices::default();
        let n = 3 * MAX_SLICES as u64;
        for at in 0..n {
            slices.push(Window { from_ns: 10 * at, to_ns: 10 * at + 5 });
        }
        let windows = slices.into_windows();
        assert!(windows.len() <= MAX_SLICES);
        assert_eq!((windows[0].from_ns, windows.last().unwrap().to_ns), (0, 10 * (n - 1) + 5));
        assert!(windows.windows(2).all(|pair| pair[0].to_ns < pair[1].from_ns));
    }

    #[test]
    fn one_piece_has_no_slices() {
        let mut slices = Slices::default();
        slices.push(Window { from_ns: 1, to_ns: 2 });
        assert_eq!(slices.into_windows(), []);
    }
}
