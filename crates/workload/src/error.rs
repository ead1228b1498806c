//! Why prompts cannot be had.

use std::io;
use std::path::PathBuf;

use crate::{Fault, Lengths, Shipped};

/// Why prompts cannot be had, and what would be right.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A dataset is wrong somewhere.
    #[error("dataset {}, line {line}: {fault}", path.display())]
    Dataset {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong there.
        #[source]
        fault: Fault,
    },
    /// A dataset without a prompt.
    #[error(
        "dataset {} {}: give at least one line such as {{\"prompt\": \"…\"}}", path.display(),
        if *skipped { "has no conversation in which a human speaks" } else { "is empty" }
    )]
    Empty {
        /// The file.
        path: PathBuf,
        /// Whether it has conversations, but none with a human turn.
        skipped: bool,
    },
    /// An input length for a workload whose tasks have the length that they have.
    #[error("{kind} takes no input length: chat-long, rag and summarise do")]
    InputUnused {
        /// The workload.
        kind: Shipped,
    },
    /// An input length too short for what must be said.
    #[error("{kind} cannot be asked in {mean} tokens: give a mean of at least {min}", min = Shipped::INPUT_MIN)]
    InputShort {
        /// The workload.
        kind: Shipped,
        /// The mean that was asked for.
        mean: u32,
    },
    /// Numbers of tokens that cannot be drawn.
    #[error(
        "{of} tokens cannot have mean {} and standard deviation {}: give a mean from 1 to {max} and a deviation from 0 \
         to {max}", lengths.mean, lengths.stddev, max = Lengths::MAX
    )]
    Lengths {
        /// `input` or `output`.
        of: &'static str,
        /// What was asked for.
        lengths: Lengths,
    },
    /// A dataset that is not there, or not ours to read.
    #[error("cannot open dataset {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
