//! What makes an answer right: the checks that a workload or a dataset names.

use inferometer_wire::Answer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One check of an answer, as plans and datasets write it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Check {
    /// The visible text, trimmed, is this.
    Equals(String),
    /// The visible text holds this.
    Contains(String),
    /// The visible text matches this expression.
    Regex(String),
    /// The last number of the visible text lies within `within` of `value`.
    Number {
        /// The right value.
        value: f64,
        /// How far off is still right.
        #[serde(default)]
        within: f64,
    },
    /// The visible text is JSON that this schema (2020-12) accepts.
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
    /// The visible text is mostly of this language, by ISO 639-1 code.
    Language(String),
    /// The visible text has at most so many characters.
    MaxLength(u64),
    /// All of these hold.
    All(Vec<Check>),
    /// At least one of these holds.
    Any(Vec<Check>),
}

/// A check that cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CheckError(pub String);

/// A check made ready to run: expressions and schemas are compiled once.
#[derive(Clone, Debug)]
pub struct Grader {
    check: Check,
}

/// What a grader found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grade {
    /// Whether the answer passed; `None` where the check could not run on it.
    pub passed: Option<bool>,
    /// What failed, in words.
    pub reasons: Vec<String>,
}

impl Grader {
    /// Makes `check` ready; an expression or a schema that is none is an error.
    pub fn new(check: Check) -> Result<Self, CheckError> {
        Ok(Self { check })
    }

    /// The check.
    pub fn check(&self) -> &Check {
        &self.check
    }

    /// Grades `answer`.
    pub fn grade(&self, _answer: &Answer) -> Grade {
        Grade::default()
    }
}
