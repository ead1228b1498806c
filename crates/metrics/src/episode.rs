//! Loads that are made of episodes: cold starts after idle gaps, bursts from rest.

use serde::{Deserialize, Serialize};

use crate::{Metric, Proportion, Rate};

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
    /// Gaps whose penalty is beyond what the warm controls vary.
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
    /// Requests of each burst.
    pub size: u32,
    /// Bursts.
    pub n: u64,
    /// First to last request of a burst handed to the kernel, ms: 5 ms is the promise.
    pub sent_within: Metric,
    /// TTFT at rest, ms.
    pub rest_ttft: Metric,
    /// TTFT of the burst, ms, over all attempts in `all_attempts`.
    pub ttft: Metric,
    /// Refused with 429.
    pub refused: Proportion,
    /// Failed otherwise.
    pub failed: Proportion,
    /// From the burst's start until TTFT is back inside the warm interval, ms.
    pub recovery: Rate,
    /// What a reader must know beside it.
    pub notes: Vec<String>,
}
