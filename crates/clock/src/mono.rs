//! An instant as a number.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

/// An instant on `CLOCK_MONOTONIC`, in nanoseconds. Comparable between processes of one machine until it restarts.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mono(u64);

impl Mono {
    /// The instant `nanos` nanoseconds after the clock's zero.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the clock's zero.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time since `earlier`, or zero where `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Mono {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl Sub for Mono {
    type Output = Duration;

    /// As [`Mono::saturating_since`]: a clock that is monotonic has no negative spans.
    fn sub(self, earlier: Self) -> Duration {
        self.saturating_since(earlier)
    }
}

impl fmt::Debug for Mono {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

/// Reads `CLOCK_MONOTONIC` through the vDSO: about 35 ns.
#[cfg(unix)]
pub(crate) fn now() -> Mono {
    let at = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Mono(at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)
}

/// Where there is no `CLOCK_MONOTONIC`, the standard library's monotonic clock from the first call on.
#[cfg(not(unix))]
pub(crate) fn now() -> Mono {
    static ORIGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    Mono(ORIGIN.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64)
}
