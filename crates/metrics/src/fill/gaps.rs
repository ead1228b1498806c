//! Time between output events: gaps and stalls.

use inferometer_record::Sample;
use inferometer_stats::{Prob, quantile};

use super::{Stamped, flag};

/// A gap this long is a stall on any stream: compared across targets.
const STALL_NS: u64 = 500_000_000;

/// No gap below this is a stall by the relative rule.
const RELATIVE_FLOOR_NS: u64 = 200_000_000;

/// A gap of so many medians is a stall by the relative rule.
const RELATIVE_MEDIANS: u64 = 5;

/// The relative rule needs so many gaps between distinct stamps.
const RELATIVE_MIN_GAPS: usize = 8;

/// Gaps and stalls of a stream with at least two output events.
pub(super) fn fill(sample: &mut Sample, events: &[Stamped], own_lateness: &dyn Fn(u64, u64) -> u64) {
    let mut gaps: Vec<u64> = pairs(events).map(|(from, to)| to - from).collect();
    if gaps.is_empty() {
        return;
    }
    gaps.sort_unstable();
    if gaps.first() == Some(&0) {
        flag(sample, "zero_gap");
    }
    sample.gap_p50_ns = quantile::nearest(&gaps, Prob::P50);
    sample.gap_p99_ns = quantile::nearest(&gaps, Prob::P99);
    sample.gap_max_ns = gaps.last().copied();
    gaps.retain(|gap| *gap > 0);
    stalls(sample, events, &gaps, own_lateness);
}

/// Stalls among the gaps between distinct stamps, each less the client's own lateness over it.
fn stalls(sample: &mut Sample, events: &[Stamped], distinct: &[u64], own_lateness: &dyn Fn(u64, u64) -> u64) {
    let median = quantile::nearest(distinct, Prob::P50).unwrap_or(0);
    let relative_limit = RELATIVE_FLOOR_NS.max(median.saturating_mul(RELATIVE_MEDIANS));
    let (mut count, mut relative, mut stalled, mut longest) = (0, 0, 0_u64, None);
    // Only a gap that could be a stall is worth asking for our own lateness.
    for (from, to) in pairs(events).filter(|(from, to)| to - from > RELATIVE_FLOOR_NS) {
        let gap = (to - from).saturating_sub(own_lateness(from, to));
        if gap >= STALL_NS {
            count += 1;
            stalled = stalled.saturating_add(gap);
            longest = longest.max(Some(gap));
        }
        relative += u32::from(gap > relative_limit);
    }
    sample.stalls = Some(count);
    sample.stall_max_ns = longest;
    sample.stalls_relative = (distinct.len() >= RELATIVE_MIN_GAPS).then_some(relative);
    let span = distinct.iter().fold(0_u64, |sum, gap| sum.saturating_add(*gap));
    sample.stall_share = (span > 0).then(|| stalled as f64 / span as f64);
}

/// Stamps of neighbouring events. One that went backwards (it cannot on a monotonic clock) counts as no gap.
fn pairs(events: &[Stamped]) -> impl Iterator<Item = (u64, u64)> {
    events.windows(2).filter_map(|pair| match pair {
        [a, b] => Some((a.at_ns, b.at_ns.max(a.at_ns))),
        _ => None,
    })
}
