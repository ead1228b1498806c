//! The plan: cells and the protocol they are measured by.

use std::time::Duration;

use inferometer_metrics::{Gate, Objectives};
use inferometer_workload::{Cache, Source};
use serde::Serialize;

use crate::load::as_seconds;
use crate::{Load, Secrets, Target, Timeouts};

/// What is asked.
#[derive(Clone, Debug, Serialize)]
pub struct Workload {
    /// Stands in every sample.
    pub name: String,
    /// Where prompts come from.
    pub source: Source,
    /// Sampling temperature.
    pub temperature: f64,
    /// Token limit of an answer, where the prompt has none of its own.
    pub max_tokens: Option<u32>,
}

/// How cells are measured.
#[derive(Clone, Debug, Serialize)]
pub struct Protocol {
    /// Requests of each cell that are sent first and dropped from the figures.
    pub warmup: u64,
    /// Further attempts at a failed request.
    pub retries: u32,
    /// Fixes prompts and schedules.
    pub seed: u64,
    /// Prefix caches.
    pub cache: Cache,
    /// How long a request may take.
    pub timeouts: Timeouts,
    /// Time for requests in flight to end once no more start.
    #[serde(serialize_with = "as_seconds", rename = "grace_s")]
    pub grace: Duration,
    /// Whether prompts and answers are kept beside the samples.
    pub keep_text: bool,
}

/// Everything that is to be measured. Serialises without keys.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// Name of the run.
    pub name: String,
    /// Where to ask.
    pub targets: Vec<Target>,
    /// What to ask.
    pub workloads: Vec<Workload>,
    /// How to ask.
    pub loads: Vec<Load>,
    /// How cells are measured.
    pub protocol: Protocol,
    /// What a request must meet to count as good.
    pub objectives: Option<Objectives>,
    /// What the run must meet.
    pub gates: Vec<Gate>,
    /// What must not be written anywhere.
    #[serde(skip)]
    pub secrets: Secrets,
}

/// Target × workload × load.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// Where to ask.
    pub target: &'a Target,
    /// What to ask.
    pub workload: &'a Workload,
    /// How to ask.
    pub load: &'a Load,
}

impl Plan {
    /// The cells in the order they are measured.
    pub fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        self.targets.iter().flat_map(move |target| {
            self.workloads
                .iter()
                .flat_map(move |workload| self.loads.iter().map(move |load| Cell { target, workload, load }))
        })
    }
}
