//! `run.json`: what a run was and how far it came.

use inferometer_clock::{Mono, Wall};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the folder's format that this crate writes.
pub const SCHEMA: u32 = 1;

/// How far a run came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Still at work, or killed: a folder that nobody writes any more and that says this is incomplete.
    #[default]
    Running,
    /// Ended by its own stop rule.
    Complete,
    /// Ended early by a signal; the report was written.
    Interrupted,
}

/// One start of the process: the instant that its samples' times count from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Segment {
    /// The origin on `CLOCK_MONOTONIC`, nanoseconds.
    pub monotonic_origin_ns: u64,
    /// The wall time of the origin, RFC 3339: a label.
    pub wall_start: String,
    /// Where the origin lies on the run's own line of time, nanoseconds: 0 of the first segment. A later one lies
    /// behind every stamp of those before it, so that times of a run are on one line and no two segments overlap; how
    /// long nobody was there only the wall times tell.
    pub offset_ns: u64,
    /// From the origin to the end of what the process measured, nanoseconds; absent while it is at work, and where it was
    /// killed.
    pub used_ns: Option<u64>,
}

impl Segment {
    /// The first segment of a run, which starts at `origin`; the wall clock called it `wall`.
    pub fn new(origin: Mono, wall: Wall) -> Self {
        Self::at_offset(origin, wall, 0)
    }

    /// A segment whose origin lies `offset_ns` behind the start of the run's line of time.
    pub fn at_offset(origin: Mono, wall: Wall, offset_ns: u64) -> Self {
        Self {
            monotonic_origin_ns: origin.as_nanos(),
            wall_start: wall.to_string(),
            offset_ns,
            used_ns: None,
        }
    }

    /// Notes that the process measures nothing any more, `now`.
    pub fn end(&mut self, now: Mono) {
        self.used_ns = Some(now.as_nanos().saturating_sub(self.monotonic_origin_ns));
    }
}

/// The head of a run's folder. Plan, environment, study, cells, client and self-check are opaque JSON here: the crates
/// above give them their meaning. The caller has removed every key from what it puts in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Version of the folder's format, [`SCHEMA`].
    pub schema: u32,
    /// Version of inferometer that wrote it.
    pub version: String,
    /// Unique name of the run; every sample carries it.
    pub run_id: String,
    /// Wall time of creation, RFC 3339: a label, and the head of the folder's name.
    pub created: String,
    /// The command line, keys removed.
    pub argv: Vec<String>,
    /// How far the run came.
    pub state: State,
    /// Starts of the process, in order; `sample.segment` is an index into it.
    pub segments: Vec<Segment>,
    /// The resolved plan.
    pub plan: Value,
    /// The machine, its system and the client's build.
    pub environment: Value,
    /// What is compared and decided (`metrics::Study`).
    pub study: Value,
    /// What the runner knew of each cell (`metrics::CellContext`), filled as cells end.
    pub cells: Vec<Value>,
    /// The client's health over the whole run.
    pub client: Value,
    /// How well this machine can measure.
    pub self_check: Value,
}

impl Manifest {
    /// The manifest of a run that begins: [`SCHEMA`], this version, state running, all else empty.
    pub fn new(run_id: impl Into<String>, created: Wall) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            run_id: run_id.into(),
            created: created.to_string(),
            ..Self::default()
        }
    }
}
