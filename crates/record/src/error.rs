//! What can go wrong with a run's folder.

use std::io;
use std::path::PathBuf;

/// A run's folder that cannot be written or read. The text says what was wrong and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// `--out` names a folder that already holds something.
    #[error("{} is not empty: a run never writes over another; name a new folder", .0.display())]
    NotEmpty(PathBuf),
    /// The folder or a file in it cannot be made.
    #[error("cannot create {}: {source}", path.display())]
    Create {
        /// What was to be made.
        path: PathBuf,
        /// Why it could not be.
        source: io::Error,
    },
    /// The disk has too little room to start a run.
    #[error("{} has {have} bytes free, a run needs at least {need}", path.display())]
    NoSpace {
        /// The run's folder.
        path: PathBuf,
        /// Bytes that are free.
        have: u64,
        /// Bytes that must be.
        need: u64,
    },
    /// Writing failed: the disk is full, or the file went away.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why it could not be written.
        source: io::Error,
    },
    /// Reading failed.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why it could not be read.
        source: io::Error,
    },
    /// The file holds something else than it should.
    #[error("{} is not a run of inferometer: {reason}", path.display())]
    NotARun {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        reason: String,
    },
    /// One run among several that are to be pooled stands there more than once.
    #[error("the run {0} is given twice: it would count twice; name each run once")]
    Twice(String),
    /// The run was written by a later version.
    #[error("{} has schema {found}; this version reads up to {known}: use a newer inferometer", path.display())]
    Newer {
        /// The manifest.
        path: PathBuf,
        /// The schema it names.
        found: u32,
        /// The latest schema that this version knows.
        known: u32,
    },
    /// A complete line that is no valid record.
    #[error("{}, line {line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What was wrong.
        reason: String,
    },
}
