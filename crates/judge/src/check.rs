//! What makes an answer right: the checks that a workload or a dataset names.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One check of an answer, as plans and datasets write it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Check {
    /// The visible text is this; white space at both ends does not count.
    Equals(String),
    /// The visible text holds this.
    Contains(String),
    /// The visible text matches this expression somewhere.
    Regex(String),
    /// The last number of the visible text lies within `within` of `value`.
    Number {
        /// The right value.
        value: f64,
        /// How far off is still right.
        #[serde(default)]
        within: f64,
    },
    /// The visible text is JSON that this schema (2020-12) accepts. JSON in a fence is graded all the same; that it
    /// was wrapped is a flag of the verdict.
    JsonSchema(Value),
    /// The answer calls this tool; the arguments named here have these values.
    ToolCall {
        /// The tool's name.
        name: String,
        /// Arguments that must be so; others are free.
        #[serde(default)]
        arguments: Map<String, Value>,
    },
    /// The visible text is not blank.
    NotEmpty,
    /// The visible text is mostly of this language, by ISO 639-1 code. What is too short to tell is not graded.
    Language(String),
    /// The visible text, white space at both ends apart, has at most so many characters.
    MaxLength(u64),
    /// All of these hold.
    All(Vec<Check>),
    /// At least one of these holds.
    Any(Vec<Check>),
}

/// A check that cannot run: what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CheckError(pub String);
