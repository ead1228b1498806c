//! What a plan declares beyond its cells: who the targets are, what is compared, and what a profile needs.

use serde::{Deserialize, Serialize};

use crate::{Gate, PairGate};

/// What the figures of a run are for. It stands in `run.json` (`study`), so that comparisons and decisions can be made
/// again from the folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Study {
    /// The targets, in the plan's order.
    pub targets: Vec<TargetInfo>,
    /// What decisions are asked for.
    pub profiles: Vec<Profile>,
    /// When two targets count as equal.
    pub equivalence: Equivalence,
    /// Conditions that hold one target against another, or against a baseline run.
    pub pair_gates: Vec<PairGate>,
    /// Requests a month, for the cost of a month; `None` prints none.
    pub monthly_requests: Option<u64>,
    /// Seeds every resampling, so that a report made again says the same.
    pub seed: u64,
}

/// One target, as far as a comparison needs to know it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetInfo {
    /// Its name in samples.
    pub name: String,
    /// Who serves it: targets of one provider may fail together.
    pub provider: String,
    /// The model's name.
    pub model: String,
    /// Where it is asked, without credentials; `None` is not known.
    pub url: Option<String>,
    /// What it costs, as text.
    pub price: Option<String>,
    /// Where the price comes from and when it was true.
    pub price_source: Option<String>,
    /// Declared region.
    pub region: Option<String>,
    /// Declared precision of the weights.
    pub precision: Option<String>,
    /// Declared terms of use or retention.
    pub terms: Option<String>,
}

/// When two targets count as equal: the whole 90 % interval lies inside ±δ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Equivalence {
    /// δ of a ratio: 0.10 is 10 %.
    pub ratio: f64,
    /// δ of a difference of shares: 0.03 is 3 points.
    pub share: f64,
}

impl Default for Equivalence {
    fn default() -> Self {
        Self { ratio: 0.10, share: 0.03 }
    }
}

/// What a kind of application needs: constraints, one headline, an order; never a weighted sum.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    /// `chat`, `rag`, `batch`, `production`, `agent`.
    pub kind: ProfileKind,
    /// The workload it is decided on; `None` is every workload, one decision each.
    pub workload: Option<String>,
    /// The load it is decided on; `None` is the profile's own choice among those measured.
    pub load: Option<String>,
    /// What must hold, each as the condition that breaks it (`ttft_p95>1500ms`, `error_rate>1%`).
    pub limits: Vec<Gate>,
}

/// The kinds of application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileKind {
    /// A person waits: a first token that is quick and steady.
    #[default]
    Chat,
    /// Long prompts: prefill, and the cost of input.
    Rag,
    /// Nobody waits: throughput and cost.
    Batch,
    /// A service: its tail, its errors, its bursts.
    Production,
    /// Tools in a loop: valid calls, cached input.
    Agent,
}

impl ProfileKind {
    /// Every kind, in the order of the reports.
    pub const ALL: [ProfileKind; 5] = [
        ProfileKind::Chat,
        ProfileKind::Rag,
        ProfileKind::Batch,
        ProfileKind::Production,
        ProfileKind::Agent,
    ];

    /// The name in plans and summaries.
    pub const fn name(self) -> &'static str {
        match self {
            ProfileKind::Chat => "chat",
            ProfileKind::Rag => "rag",
            ProfileKind::Batch => "batch",
            ProfileKind::Production => "production",
            ProfileKind::Agent => "agent",
        }
    }
}
