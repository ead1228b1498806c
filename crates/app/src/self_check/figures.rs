//! What the self-check found, as it is kept and shown.

use std::fmt;

use inferometer_stats::Prob;
use inferometer_stats::quantile::nearest;
use serde::{Deserialize, Serialize};

/// A distribution in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Micros {
    /// Observations.
    pub(crate) n: usize,
    /// Median.
    pub(crate) p50_us: Option<f64>,
    /// 99th percentile, nearest rank.
    pub(crate) p99_us: Option<f64>,
    /// Largest.
    pub(crate) max_us: Option<f64>,
}

impl Micros {
    /// Nearest-rank quantiles of `values_us`.
    pub(super) fn of(mut values_us: Vec<f64>) -> Self {
        values_us.sort_by(f64::total_cmp);
        let n = values_us.len();
        let at = |p| nearest(&values_us, p);
        Self { n, p50_us: at(Prob::P50), p99_us: at(Prob::P99), max_us: values_us.last().copied() }
    }
}

/// Lateness at one rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct AtRate {
    /// Wake-ups, or requests, a second.
    pub(crate) per_s: f64,
    /// How late they were.
    pub(crate) lateness: Micros,
}

/// How well this machine can measure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SelfCheck {
    /// Wall time of the check, RFC 3339.
    pub(crate) at: String,
    /// How late a pacer wakes, by rate.
    pub(crate) wakeup: Vec<AtRate>,
    /// How late requests start, by rate; every rate up to the first that this machine could not hold.
    pub(crate) schedule_lag: Vec<AtRate>,
    /// Our stamp of the first event − the simulator's write of it, at 64 streams of 100 tokens a second.
    pub(crate) stamp_error: Micros,
    /// The highest rate of requests that was held with p99 of schedule lag under a millisecond.
    pub(crate) requests_per_s: Option<f64>,
    /// Streamed events a second, as fast as a simulator on the same machine sends them.
    pub(crate) events_per_s: Option<f64>,
    /// Resident memory of one more open stream, KiB.
    pub(crate) stream_kib: Option<f64>,
}

impl fmt::Display for SelfCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "How well this machine can measure ({})", self.at)?;
        for (title, rates) in [("wake-up lateness", &self.wakeup), ("schedule lag", &self.schedule_lag)] {
            for rate in rates {
                writeln!(f, "  {title:<17} at {:>6}/s  {}", rate.per_s, shown(&rate.lateness))?;
            }
        }
        writeln!(f, "  {:<17} {:>10}  {}", "stamp error", "64 streams", shown(&self.stamp_error))?;
        writeln!(f, "  most requests a second   {}", number(self.requests_per_s))?;
        writeln!(f, "  most events a second     {}", number(self.events_per_s))?;
        writeln!(f, "  memory per open stream   {} KiB", number(self.stream_kib))
    }
}

fn shown(micros: &Micros) -> String {
    let [p50, p99, max] = [micros.p50_us, micros.p99_us, micros.max_us].map(number);
    format!("p50 {p50} µs · p99 {p99} µs · worst {max} µs (n = {})", micros.n)
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "not measured".to_string(), |value| format!("{value:.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_seen() {
        let seen = Micros::of((1..=200).rev().map(f64::from).collect());
        assert_eq!((seen.p50_us, seen.p99_us, seen.max_us), (Some(100.0), Some(198.0), Some(200.0)));
        assert_eq!(Micros::of(Vec::new()), Micros::default());
    }
}
