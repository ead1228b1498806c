//! Prompts and answers, kept on request.

use serde::{Deserialize, Serialize};

/// What one attempt asked and what it was told: a line of `texts.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// The request, as in its samples.
    pub request: u64,
    /// The attempt, as in its sample.
    pub attempt: u32,
    /// The prompt's text.
    pub prompt: String,
    /// What each choice of the answer said, as far as it came; empty where nothing did.
    pub answers: Vec<Said>,
}

/// What one choice said. Parts that did not come are left out of the line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Said {
    /// Visible text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// Reasoning that came on its own channel.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The text of a refusal.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub refusal: String,
    /// Tool calls, in the order in which they were opened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Call>,
}

/// One tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The function's name.
    pub name: String,
    /// The arguments as they came.
    pub arguments: String,
}
