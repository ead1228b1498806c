//! What the client knew of its own health while a cell ran.

use serde::{Deserialize, Deserializer, Serialize};

/// The tail of a distribution that the runner kept as counts, in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lateness {
    /// Observations.
    pub n: u64,
    /// Median.
    pub p50_ms: Option<f64>,
    /// 99th percentile, nearest rank.
    pub p99_ms: Option<f64>,
    /// Largest.
    pub max_ms: Option<f64>,
}

/// The most that this machine can measure validly, by the self-check: a property of the machine when it was checked, held
/// against no cell's figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ceiling {
    /// Requests per second.
    pub requests_per_s: Option<f64>,
    /// Streamed events per second.
    pub events_per_s: Option<f64>,
    /// 99th percentile of (our stamp − the simulator's truth), ms.
    pub stamp_error_p99_ms: Option<f64>,
}

/// What the runner saw of itself while a cell ran. What it could not see is absent and not judged, but for the wake-up
/// lateness: without it no figure is valid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientHealth {
    /// How late a shard read what had arrived, or woke for a planned instant.
    pub wakeup_lateness: Lateness,
    /// Share of one core that each shard used, 0 to 1.
    #[serde(deserialize_with = "numbers")]
    pub shard_cpu: Vec<f64>,
    /// Share of the machine's time that went to other guests, 0 to 1.
    pub steal_share: Option<f64>,
    /// Largest step of the wall clock against the monotonic one, ms. Stamps do not feel it; the labels do.
    pub clock_step_ms: Option<f64>,
    /// Starts whose planned instant came before the load was told to stop, the dropped ones included.
    pub planned_starts: Option<u64>,
    /// Planned starts that never became a request.
    pub dropped_starts: u64,
    /// The realised schedule's own rate over those starts: (n − 1) / (last − first), per second.
    pub planned_rate: Option<f64>,
    /// How long requests waited for a connection.
    pub connection_wait: Lateness,
    /// Ended samples that found the channel to the writer full.
    pub channel_full: u64,
    /// The most that this machine can measure.
    pub ceiling: Option<Ceiling>,
}

/// A list of numbers. One that was not finite was written as null: it is left out, and the rest stays readable.
pub(crate) fn numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    Ok(Vec::<Option<f64>>::deserialize(deserializer)?.into_iter().flatten().collect())
}
