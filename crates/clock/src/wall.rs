//! Wall time: a label, never a measure.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A wall-clock instant in nanoseconds since the Unix epoch. It labels runs and reads HTTP dates; steps of the wall
/// clock show in it, so no figure is made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wall(i64);

impl Wall {
    /// The present wall time.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
    }

    /// The wall time `nanos` nanoseconds after the Unix epoch.
    pub const fn from_unix_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the Unix epoch.
    pub const fn unix_nanos(self) -> i64 {
        self.0
    }

    /// The instant that RFC 3339 writes so, with whatever offset; `None` where it is none.
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let timestamp: jiff::Timestamp = text.parse().ok()?;
        i64::try_from(timestamp.as_nanosecond()).ok().map(Self)
    }

    /// `20261130T171502Z`: sorts by time and stands in a file name on every system.
    pub fn compact(self) -> String {
        self.timestamp().strftime("%Y%m%dT%H%M%SZ").to_string()
    }

    fn timestamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_nanosecond(i128::from(self.0)).unwrap_or_default()
    }
}

/// RFC 3339 in UTC, to the millisecond.
impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.timestamp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let wall = Wall::from_unix_nanos(1_796_051_544_123_456_789);
        assert_eq!(wall.compact(), "20261130T151224Z");
        assert_eq!(wall.to_string(), "2026-11-30T15:12:24.123Z");
        assert_eq!(Wall::from_rfc3339("2026-11-30T16:12:24.123456789+01:00"), Some(wall));
        assert_eq!(Wall::from_rfc3339("tomorrow"), None);
    }
}
