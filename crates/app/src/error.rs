//! Every way a command can fail, as one message and one exit status.

use crate::Exit;

/// A command that did not do what was asked. The message says what happened, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The arguments cannot be run.
    #[error(transparent)]
    Plan(#[from] inferometer_plan::Error),
    /// The prompts cannot be made or read.
    #[error(transparent)]
    Workload(#[from] inferometer_workload::Error),
    /// The run's folder cannot be written or read.
    #[error(transparent)]
    Record(#[from] inferometer_record::RecordError),
    /// The load could not be run.
    #[error(transparent)]
    Load(#[from] inferometer_load::Error),
    /// The load needs more than this machine gives.
    #[error(
        "this load needs {needed} open files and the system allows {have}: ask for fewer requests in flight, or raise \
         the limit (ulimit -Hn)"
    )]
    FileLimit {
        /// Open files that the load needs.
        needed: u64,
        /// Open files that the system allows.
        have: u64,
    },
    /// The one request before the load shows that the load would be in vain.
    #[error("preflight failed: {0}")]
    Preflight(String),
    /// A run is to go on under another plan than it began with.
    #[error(
        "{path} was begun with another plan, first in `{key}`: give the plan that it was begun with (only budget, gates \
         and profiles may change), or measure anew without --resume"
    )]
    OtherPlan {
        /// The run's folder.
        path: String,
        /// The first key that differs.
        key: String,
    },
    /// A gate that cannot be held against this run.
    #[error("--fail-if: {0}")]
    Gate(String),
    /// Samples could not be written as a table.
    #[error("{path}: {reason}")]
    Export {
        /// The file.
        path: String,
        /// What went wrong.
        reason: String,
    },
    /// What is to be simulated does not make sense.
    #[error("{path}: {reason}")]
    Simulation {
        /// The file that says what is simulated.
        path: String,
        /// What is wrong in it.
        reason: String,
    },
    /// A book or a list of prices is not as it should be, or lacks a price.
    #[error("{path}: {reason}")]
    Prices {
        /// The file.
        path: String,
        /// What is wrong in it.
        reason: String,
    },
    /// What was found cannot be written into a plan.
    #[error("{what} is left as it is: {reason}")]
    Discover {
        /// The plan.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The simulator could not start.
    #[error("the simulator could not start: {0}")]
    Simulator(String),
    /// The system refused something.
    #[error("{doing}: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
    /// What was recorded does not make sense.
    #[error("{path}: run.json does not describe a run of this version ({source})")]
    Manifest {
        /// The run's folder.
        path: String,
        /// Why.
        source: serde_json::Error,
    },
}

impl Error {
    /// What the process exits with.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Plan(_)
            | Self::Workload(_)
            | Self::FileLimit { .. }
            | Self::OtherPlan { .. }
            | Self::Gate(_)
            | Self::Simulation { .. }
            | Self::Prices { .. }
            | Self::Discover { .. }
            | Self::Record(inferometer_record::RecordError::Twice(_))
            | Self::Load(
                inferometer_load::Error::Transport(_)
                | inferometer_load::Error::Address(_)
                | inferometer_load::Error::Check(_),
            ) => Exit::Usage,
            Self::Preflight(_) => Exit::Preflight,
            Self::Record(_)
            | Self::Load(_)
            | Self::Simulator(_)
            | Self::Export { .. }
            | Self::System { .. }
            | Self::Manifest { .. } => Exit::Internal,
        }
    }
}
