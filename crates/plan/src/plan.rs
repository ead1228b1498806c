//! The plan: cells and the protocol they are measured by.

use std::time::Duration;

use inferometer_judge::Check;
use inferometer_metrics::{Equivalence, Gate, Objectives, PairGate, Profile};
use inferometer_price::Decimal;
use inferometer_workload::{Cache, Source};
use serde::Serialize;

use crate::load::{as_optional_seconds, as_seconds};
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
    /// What makes an answer right, where the prompt does not say so itself.
    pub check: Option<Check>,
    /// Whether a degraded answer (cut at the limit, JSON in a fence) is useful; `None` is: where a limit was asked for.
    pub degraded_is_useful: Option<bool>,
}

/// Cells in turn: every target is asked the same prompts in the same blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Blocks {
    /// Fixes the order of targets in each block.
    pub order_seed: u64,
    /// At concurrency above 1 and in open loads a block is one slice of this length for each target.
    #[serde(serialize_with = "as_seconds", rename = "slice_s")]
    pub slice: Duration,
    /// So many blocks a target may lag behind the others, before its trials are given up.
    pub max_lag: u32,
    /// Ask all targets of a block at once, each with its own slots, instead of in turn. A block is then one prompt per
    /// slot; right where targets share nothing, wrong for two servers on one machine.
    pub together: bool,
    /// A trial that takes longer than this no longer holds up the other targets.
    #[serde(serialize_with = "as_seconds", rename = "patience_s")]
    pub patience: Duration,
}

/// Stop early once one figure is known well enough: looked at only at n₀ · 2ᵏ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Precision {
    /// Which figure (`time_to_first_token`) and quantile, as in a gate: `ttft_p50`.
    pub figure: String,
    /// max(hi − x, x − lo) / x, at most.
    pub goal: f64,
}

/// What a run may use up. The first bound that is reached ends it; none is passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Budget {
    /// Requests of all phases.
    pub requests: Option<u64>,
    /// Prompt and output tokens of all phases.
    pub tokens: Option<u64>,
    /// US dollars: input plus token limit × output price is reserved before each request.
    pub money: Option<Decimal>,
    /// Wall time.
    #[serde(serialize_with = "as_optional_seconds", rename = "time_s")]
    pub time: Option<Duration>,
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
    /// Cells in turn; `None` runs one after the other.
    pub blocks: Option<Blocks>,
    /// When to stop before the stop rule does.
    pub precision: Option<Precision>,
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
    /// What each cell must meet.
    pub gates: Vec<Gate>,
    /// What one target must meet against another, or against a baseline.
    pub pair_gates: Vec<PairGate>,
    /// What decisions are asked for.
    pub profiles: Vec<Profile>,
    /// When two targets count as equal.
    pub equivalence: Equivalence,
    /// Requests a month, for the cost of a month.
    pub monthly_requests: Option<u64>,
    /// What the run may use up.
    pub budget: Budget,
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
        let all = self.targets.iter().flat_map(move |target| {
            self.workloads
                .iter()
                .flat_map(move |workload| self.loads.iter().map(move |load| Cell { target, workload, load }))
        });
        all.filter(Cell::is_wanted)
    }
}

impl Cell<'_> {
    /// Whether the load is meant for this target and this workload.
    fn is_wanted(&self) -> bool {
        let names = |names: &Option<Vec<String>>, name: &String| {
            names.as_ref().is_none_or(|names| names.contains(name))
        };
        names(&self.load.targets, &self.target.name) && names(&self.load.workloads, &self.workload.name)
    }
}
