//! The run's line of time.

use std::time::Duration;

use inferometer_clock::Mono;

/// Where the instants of this process lie on the run's line of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) origin: Mono,
    /// Of the origin: 0, but in a run that was resumed.
    pub(crate) offset_ns: u64,
}

impl Axis {
    /// Nanoseconds of `at` on the run's line.
    pub(crate) fn ns(self, at: Mono) -> u64 {
        ((at - self.origin).as_nanos() as u64).saturating_add(self.offset_ns)
    }

    /// The instant at `ns` of the run's line; the origin for what lies before this process.
    pub(crate) fn instant(self, ns: u64) -> Mono {
        self.origin + Duration::from_nanos(ns.saturating_sub(self.offset_ns))
    }
}
