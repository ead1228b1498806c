//! What the shards saw of themselves, as the cell's client health.

use std::time::Duration;

use inferometer_metrics::{ClientHealth, Lateness};
use inferometer_stats::Prob;
use inferometer_stats::quantile::nearest;

use crate::heart::MAX_BEATS;
use crate::shard::{Planned, ShardReport};

/// What the shards of one lane reported, piece after piece.
#[derive(Debug, Default)]
pub(crate) struct Health {
    lateness_ns: Vec<u64>,
    planned: Planned,
    dropped: u64,
    channel_full: u64,
    /// By shard: time on a core, and in all.
    cpu: Vec<(Duration, Duration)>,
}

impl Health {
    /// Adds the reports of one piece, in the order of the shards.
    pub(crate) fn add(&mut self, reports: &[ShardReport]) {
        for (shard, report) in reports.iter().enumerate() {
            let room = MAX_BEATS.saturating_sub(self.lateness_ns.len());
            self.lateness_ns.extend(report.lateness_ns.iter().take(room));
            let (seen, new) = (self.planned, report.planned);
            self.planned = Planned {
                starts: seen.starts + new.starts,
                first: seen.first.into_iter().chain(new.first).min(),
                last: seen.last.max(new.last),
            };
            self.dropped += report.dropped;
            self.channel_full += report.channel_full;
            if self.cpu.len() <= shard {
                self.cpu.resize(shard + 1, Default::default());
            }
            if let (Some(sum), Some((used, wall))) = (self.cpu.get_mut(shard), report.cpu) {
                *sum = (sum.0 + used, sum.1 + wall);
            }
        }
    }

    /// All of it, for the record.
    pub(crate) fn client(self) -> ClientHealth {
        let Planned { starts, first, last } = self.planned;
        let share = |(used, wall): &(Duration, Duration)| {
            (!wall.is_zero()).then(|| used.as_secs_f64() / wall.as_secs_f64())
        };
        ClientHealth {
            shard_cpu: self.cpu.iter().filter_map(share).collect(),
            dropped_starts: self.dropped,
            channel_full: self.channel_full,
            planned_starts: (starts > 0).then_some(starts),
            planned_rate: first.zip(last).and_then(|(first, last)| rate(starts, last.saturating_sub(first))),
            wakeup_lateness: distribution(self.lateness_ns),
            ..ClientHealth::default()
        }
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
