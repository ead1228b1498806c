//! What the shards saw of themselves, as the cell's client health.

use std::time::Duration;

use inferometer_metrics::{ClientHealth, Lateness};
use inferometer_stats::Prob;
use inferometer_stats::quantile::nearest;

use crate::shard::ShardReport;

/// The health of a cell's client out of its shards' reports.
pub(crate) fn health(reports: Vec<ShardReport>) -> ClientHealth {
    let planned: u64 = reports.iter().map(|report| report.planned.starts).sum();
    let first = reports.iter().filter_map(|report| report.planned.first).min();
    let last = reports.iter().filter_map(|report| report.planned.last).max();
    ClientHealth {
        shard_cpu: reports.iter().filter_map(|report| report.cpu_share).collect(),
        dropped_starts: reports.iter().map(|report| report.dropped).sum(),
        channel_full: reports.iter().map(|report| report.channel_full).sum(),
        planned_starts: (planned > 0).then_some(planned),
        planned_rate: first.zip(last).and_then(|(first, last)| rate(planned, last.saturating_sub(first))),
        wakeup_lateness: distribution(reports.into_iter().flat_map(|report| report.lateness_ns).collect()),
        ..ClientHealth::default()
    }
}

/// Starts a second over the `span` between the first and the last of `starts`.
fn rate(starts: u64, span: Duration) -> Option<f64> {
    (starts > 1 && !span.is_zero()).then(|| (starts - 1) as f64 / span.as_secs_f64())
}

fn distribution(mut lateness_ns: Vec<u64>) -> Lateness {
    lateness_ns.sort_unstable();
    let ms = |ns: u64| ns as f64 / 1e6;
    Lateness {
        n: lateness_ns.len() as u64,
        p50_ms: nearest(&lateness_ns, Prob::P50).map(ms),
        p99_ms: nearest(&lateness_ns, Prob::P99).map(ms),
        max_ms: lateness_ns.last().copied().map(ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails() {
        assert_eq!(distribution(Vec::new()), Lateness::default());
        let seen = distribution((1..=100).map(|ms| ms * 1_000_000).collect());
        assert_eq!(seen, Lateness { n: 100, p50_ms: Some(50.0), p99_ms: Some(99.0), max_ms: Some(100.0) });
    }

    #[test]
    fn rates_are_the_realised_schedules() {
        assert_eq!(rate(11, Duration::from_secs(2)), Some(5.0));
        assert_eq!(rate(1, Duration::from_secs(2)), None);
        assert_eq!(rate(5, Duration::ZERO), None);
    }
}
