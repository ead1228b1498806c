//! Loads that are made of episodes: cold starts after idle gaps, bursts from rest.

mod burst;
mod cold;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::row::Row;
use crate::{Metric, Proportion, Rate};

pub(crate) use burst::bursts;
pub(crate) use cold::cold_starts;

/// The part of an episode that a sample plays (`Sample::role`).
pub mod role {
    /// The first request after the idle gap, on a fresh connection.
    pub const COLD_FRESH: &str = "cold_fresh";
    /// The control right after it, on a fresh connection.
    pub const WARM_FRESH: &str = "warm_fresh";
    /// The first request after the idle gap, on a kept connection.
    pub const COLD_KEPT: &str = "cold_kept";
    /// The control right after it, on the same connection.
    pub const WARM_KEPT: &str = "warm_kept";
    /// One request alone, before a burst: what rest looks like.
    pub const REST: &str = "rest";
    /// A request of the burst.
    pub const BURST: &str = "burst";
    /// A request after the burst, one at a time, until TTFT is back inside the warm interval.
    pub const RECOVERY: &str = "recovery";
}

/// Whether a request of this role is what its cell is about, and hence in the cell's ordinary distributions: any
/// request of an ordinary load, the first one after a gap, those of a burst. Warm controls, rest and recovery are there
/// to be held against these; they stand only in [`ColdStarts`] and [`Bursts`].
pub(crate) fn is_ordinary(role: Option<&str>) -> bool {
    !matches!(role, Some(role::WARM_FRESH | role::WARM_KEPT | role::REST | role::RECOVERY))
}

/// The rows of each episode, in start order. Rows of no episode are of none.
fn by_episode(rows: &[Row]) -> BTreeMap<u32, Vec<Row>> {
    let mut episodes: BTreeMap<u32, Vec<Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.role.is_some()) {
        if let Some(block) = row.block {
            episodes.entry(block).or_default().push(*row);
        }
    }
    episodes
}

/// Cold starts of one cell: after each idle gap, the first request less the warm control right after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColdStarts {
    /// The idle gap, s.
    pub gap_s: f64,
    /// On a fresh connection.
    pub fresh: ColdStart,
    /// On a kept connection.
    pub kept: ColdStart,
    /// On either: the penalty leaves the connection out, so that both speak of the same thing, with twice the n.
    pub either: ColdStart,
}

/// Cold starts on one state of the connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColdStart {
    /// Gaps after which both requests were answered.
    pub n: u64,
    /// TTFT of the first request, ms.
    pub cold_ttft: Metric,
    /// TTFT of the warm control, ms.
    pub warm_ttft: Metric,
    /// Cold − warm TTFT, connection cost of each left out, ms.
    pub penalty: Metric,
    /// Time to connect of the first request, ms.
    pub connect: Metric,
    /// Gaps after which the first request took longer than 95 % of the warm controls, connection cost of each left out.
    pub seen: Proportion,
    /// First requests that failed.
    pub failed: u64,
    /// In words: the penalty, or that none was seen up to this gap.
    pub detail: String,
}

/// Bursts of one cell: from rest to `size` requests at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bursts {
    /// Requests of each burst, as planned.
    pub size: u32,
    /// Bursts.
    pub n: u64,
    /// First to last request of a burst handed to the kernel, ms: 5 ms is the promise.
    pub sent_within: Metric,
    /// TTFT at rest, ms.
    pub rest_ttft: Metric,
    /// TTFT of the burst, ms, over all attempts in `all_attempts`.
    pub ttft: Metric,
    /// Requests whose first attempt was refused with 429.
    pub refused: Proportion,
    /// Requests whose first attempt failed otherwise.
    pub failed: Proportion,
    /// From a burst's start to that of the first request after it whose TTFT is no longer than at rest (95 % of the
    /// requests there), ms: the median over bursts. No value where most bursts were not felt; a bound where the first
    /// request afterwards was quick already.
    pub recovery: Rate,
    /// What a reader must know beside it.
    pub notes: Vec<String>,
}
