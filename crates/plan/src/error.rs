//! What a command line can get wrong.

/// A command line that cannot be run. Each message says what was wrong and what would be right.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A flag that is needed is not there.
    #[error("{flag} is missing: {remedy}")]
    Missing {
        /// The flag.
        flag: &'static str,
        /// What to give.
        remedy: &'static str,
    },
    /// A flag's value does not mean anything.
    #[error("{flag} '{value}': {reason}")]
    Value {
        /// The flag.
        flag: &'static str,
        /// What was typed, without secrets.
        value: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// Two flags that do not go together.
    #[error("{first} and {second} do not go together: {reason}")]
    Conflict {
        /// One flag.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// Why not.
        reason: &'static str,
    },
}

impl Error {
    /// A value of `flag` that does not mean anything.
    pub(crate) fn value(flag: &'static str, value: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Value { flag, value: value.into(), reason: reason.into() }
    }
}
