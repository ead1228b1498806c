//! Why a cell could not be run.

use std::io;

/// A cell that could not be run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be asked.
    #[error("{0} is not an address that can be asked")]
    Address(String),
    /// The workload's check cannot run.
    #[error("a check that cannot run: {0}")]
    Check(#[from] inferometer_judge::CheckError),
    /// The transport cannot be set up for this target: its certificate file, its proxy.
    #[error(transparent)]
    Transport(#[from] inferometer_transport::Error),
    /// The machine gave no thread, runtime or timer.
    #[error("the runner could not start: {0}")]
    Start(#[from] io::Error),
    /// The run that goes on cannot be read.
    #[error(transparent)]
    Record(#[from] inferometer_record::RecordError),
    /// What the run that goes on knew of its cells does not make sense.
    #[error("{path}: run.json does not describe a run of this version ({source})")]
    Manifest {
        /// The run's folder.
        path: String,
        /// Why.
        source: serde_json::Error,
    },
    /// Whoever took the samples failed.
    #[error(transparent)]
    Sink(crate::SinkError),
}
