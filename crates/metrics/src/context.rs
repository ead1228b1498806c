//! What the runner knew of a cell that its samples do not say.

use inferometer_record::Sample;
use serde::{Deserialize, Serialize};

use crate::{ClientHealth, Gate, Objectives};

/// A span of the run: nanoseconds from its origin, both ends included (the last end of a run is its window's end).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// First nanosecond inside.
    pub from_ns: u64,
    /// Last nanosecond inside.
    pub to_ns: u64,
}

impl Window {
    /// Whether `at_ns` lies inside.
    pub fn contains(self, at_ns: u64) -> bool {
        self.from_ns <= at_ns && at_ns <= self.to_ns
    }

    /// Its length in seconds; `None` where it has none.
    pub fn seconds(self) -> Option<f64> {
        let span = self.to_ns.saturating_sub(self.from_ns);
        (span > 0).then(|| span as f64 / 1e9)
    }
}

/// How requests arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Each of so many slots sends its next request when the last one has ended.
    Closed {
        /// Requests in flight at once.
        slots: u32,
    },
    /// Planned instants, whatever the server does.
    Open {
        /// Requests per second that were asked for.
        asked_rate: Option<f64>,
    },
    /// Idle for so long, then one request and a warm control; again and again.
    ColdStart {
        /// The idle gap, s.
        gap_s: f64,
    },
    /// From rest to so many at once; again and again.
    Burst {
        /// Requests of each burst.
        size: u32,
    },
    /// Not recorded: the run was killed before it could say.
    #[default]
    Unknown,
}

impl Arrival {
    /// Without a limit there is no rate that was asked for; JSON has no infinity.
    pub(crate) fn finite(self) -> Self {
        match self {
            Arrival::Open { asked_rate } => {
                Arrival::Open { asked_rate: asked_rate.filter(|rate| rate.is_finite()) }
            }
            other => other,
        }
    }
}

/// What the runner knew of a cell. It stands in `run.json` (`cells[]`), so that the summary can be made again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CellContext {
    /// Name of the target, as in its samples.
    pub target: String,
    /// Name of the workload, as in its samples.
    pub workload: String,
    /// Name of the load, as in its samples.
    pub load: String,
    /// How requests arrived.
    pub arrival: Arrival,
    /// The measured window. Without it: from the first start to the last end of the measured samples.
    pub window: Option<Window>,
    /// The slices of an interleaved plan, inside the window: what lies between them belongs to other targets. Empty
    /// where the cell ran in one piece.
    pub slices: Vec<Window>,
    /// Trials given up because the target lagged too far behind the others.
    pub missing: u64,
    /// Closed loop whose targets run at once: share of its slots' time that they waited for slower targets.
    pub held_share: Option<f64>,
    /// Why nothing, or not all, was measured: the target's own words.
    pub gap: Option<String>,
    /// Whether the load stopped at a count of requests: ramp and drain are then part of the window.
    pub limited_by_count: bool,
    /// Closed loop: the instant at which every slot had finished a request. Derived from the samples where absent.
    pub all_slots_finished_ns: Option<u64>,
    /// Closed loop: the instant at which a slot first found no work. Derived from the samples where absent.
    pub first_idle_ns: Option<u64>,
    /// Limits that each request should keep (`--goodput`).
    pub objectives: Objectives,
    /// Conditions that fail the run (`--fail-if`).
    pub gates: Vec<Gate>,
    /// TTFT limits in ms whose exceeding is counted; empty for the house's own.
    #[serde(deserialize_with = "crate::health::numbers")]
    pub ttft_limits_ms: Vec<f64>,
    /// Whether a degraded answer is useful for this workload.
    pub degraded_is_useful: bool,
    /// Whether `events.jsonl` was written (`--no-events` drops what needs it).
    pub no_events: bool,
    /// Whether prompts were made so that no cache can hold them: a cached share is then a warning.
    pub cache_busted: bool,
    /// The client's health while the cell ran.
    pub health: ClientHealth,
    /// Of a run that went on: why what was measured before is not valid.
    pub not_valid_before: Vec<String>,
}

/// Share of the slots' time that may go to waiting for other targets before the cell's rates are no longer its target's.
const MAX_HELD_SHARE: f64 = 0.05;

impl CellContext {
    /// The share of its slots' time that waiting for slower targets took, where it was too much for a rate to be the
    /// target's own.
    pub(crate) fn held_back(&self) -> Option<f64> {
        self.held_share.filter(|share| *share > MAX_HELD_SHARE)
    }

    /// Whether `sample` belongs to this cell.
    pub fn owns(&self, sample: &Sample) -> bool {
        self.target == sample.target && self.workload == sample.workload && self.load == sample.load
    }
}
