//! Targets held against each other: what differs, by how much, and how sure that is.

use serde::{Deserialize, Serialize};

use crate::kept::Kept;
use crate::{Num, Rate, Study};

/// Every pair of targets on every figure that can be compared.
pub(crate) fn compare(_study: &Study, _cells: &[Kept<'_>]) -> Vec<Comparison> {
    Vec::new()
}

/// One pair of targets on one figure: `value` is a against b.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// Name of the workload.
    pub workload: String,
    /// Name of the load.
    pub load: String,
    /// The first target.
    pub a: String,
    /// The second target.
    pub b: String,
    /// The figure by name (`metrics::name`).
    pub metric: String,
    /// What of it is compared.
    pub statistic: Statistic,
    /// `ratio` (a ÷ b), `ms` or `share` (a − b).
    pub unit: String,
    /// The profile of whose declared family this is a member; `None` is exploratory.
    pub family: Option<String>,
    /// Pairs, or observations of each side where nothing is paired.
    pub n: u64,
    /// a against b, with its 95 % interval.
    pub value: Rate,
    /// p of the test, before any correction.
    pub p: Option<Num>,
    /// p by Holm's correction within the family.
    pub p_holm: Option<Num>,
    /// What can be said of a.
    pub verdict: Standing,
    /// Pairs that would be needed to tell, as a range simulated from the data; only where they cannot be told apart.
    pub needed_n: Option<[u64; 2]>,
    /// What a reader must know beside it.
    pub notes: Vec<String>,
}

/// What of a figure is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Paired log ratios: Wilcoxon's signed ranks, Hodges and Lehmann's estimate.
    #[default]
    Typical,
    /// Difference of 95th percentiles, MOVER.
    P95,
    /// Difference of 99th percentiles, MOVER.
    P99,
    /// Difference of paired shares, Newcombe's method 10.
    Share,
    /// Ratio of costs per useful answer, resampled over prompts.
    CostPerUseful,
    /// Ratio of rates (throughput), from batch means.
    Rate,
}

/// What can be said of a, held against b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// a is better.
    Better,
    /// a is worse.
    Worse,
    /// The 90 % interval lies within ±δ.
    Equivalent,
    /// The sample cannot tell.
    #[default]
    NotDistinguishable,
}
