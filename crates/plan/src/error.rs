//! What a command line or a plan file can get wrong.

use std::fmt;
use std::path::PathBuf;

/// A command line or a plan file that cannot be run. Each message says what was wrong and what would be right.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A flag that is needed is not there.
    #[error("{flag} is missing: {remedy}")]
    Missing {
        /// The flag.
        flag: String,
        /// What to give.
        remedy: String,
    },
    /// A flag's value does not mean anything.
    #[error("{flag} '{value}': {reason}")]
    Value {
        /// The flag.
        flag: String,
        /// What was typed, without secrets.
        value: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// Two flags that do not go together.
    #[error("{first} and {second} do not go together: {reason}")]
    Conflict {
        /// One flag.
        first: String,
        /// The other.
        second: String,
        /// Why not.
        reason: &'static str,
    },
    /// The plan file cannot be read.
    #[error("cannot read the plan {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A plan file cannot be written.
    #[error("cannot write the plan {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The plan file says something that cannot be run.
    #[error(transparent)]
    File(#[from] Box<FileError>),
    /// The plan file says several things that cannot be run.
    #[error(transparent)]
    Several(#[from] Mistakes),
    /// A target's dialect has no words for what a prompt asks for.
    #[error("target {target}, workload {workload}, prompt {item}: {what}")]
    Unsayable {
        /// The target.
        target: String,
        /// The workload.
        workload: String,
        /// The prompt's id.
        item: String,
        /// What cannot be said, and the remedy.
        what: inferometer_wire::request::Unsayable,
    },
    /// A limit on money that nothing could hold a request to.
    #[error("a limit on money needs {needs}: {remedy}")]
    Money {
        /// What is not known.
        needs: String,
        /// What to give.
        remedy: &'static str,
    },
}

impl Error {
    /// Line and column in the plan file; what is of no place stands behind all that is.
    fn place(&self) -> (usize, usize) {
        match self {
            Self::File(error) => (error.line, error.column),
            _ => (usize::MAX, usize::MAX),
        }
    }

    /// A value of `flag` that does not mean anything.
    pub(crate) fn value(
        flag: impl Into<String>,
        value: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self::Value { flag: flag.into(), value: value.into(), reason: reason.into() }
    }
}

/// The most mistakes that are shown at once.
const MISTAKES_MAX: usize = 20;

/// Several mistakes of one plan file, in its order. Prints each as it would be alone, a blank line between them.
#[derive(Debug)]
pub struct Mistakes {
    /// Those that are shown; at most 20.
    pub shown: Vec<Error>,
    /// How many more there are.
    pub further: usize,
}

impl Mistakes {
    /// `errors` as one; `None` where there are none. What was found twice is one mistake.
    pub(crate) fn of(mut errors: Vec<Error>) -> Option<Error> {
        errors.sort_by_key(Error::place);
        errors.dedup_by(|a, b| matches!((a, b), (Error::File(a), Error::File(b)) if a == b));
        let further = errors.len().saturating_sub(MISTAKES_MAX);
        errors.truncate(MISTAKES_MAX);
        if errors.len() > 1 { Some(Self { shown: errors, further }.into()) } else { errors.pop() }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, error) in self.shown.iter().enumerate() {
            write!(f, "{}{error}", if nth == 0 { "" } else { "\n\n" })?;
        }
        match self.further {
            0 => Ok(()),
            1 => f.write_str("\n\nand 1 more mistake"),
            more => write!(f, "\n\nand {more} more mistakes"),
        }
    }
}

impl std::error::Error for Mistakes {}

/// What is wrong in a plan file, and where. Prints as `path:line:column: message` and the line with a caret.
#[derive(Debug, PartialEq, Eq)]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub message: String,
    /// The line, and a caret under what is wrong in it; what may be a key is left out.
    pub snippet: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, column, message, snippet } = self;
        write!(f, "{}:{line}:{column}: {message}\n{snippet}", path.display())
    }
}

impl std::error::Error for FileError {}
