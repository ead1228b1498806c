//! A generated task: what is asked, what makes the answer right, and an answer of either sort.

use std::sync::Arc;

use inferometer_judge::Check;
use inferometer_wire::request::{Message, Prompt};
use serde_json::{Map, Value};

/// What a simulated model says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Visible text.
    Text(String),
    /// One tool call.
    ToolCall {
        /// The tool's name.
        name: String,
        /// Its arguments: a JSON object.
        arguments: String,
    },
}

/// A task of a kind that ships.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) asked: Asked,
    /// Further fields of the request.
    pub(crate) parameters: Arc<Map<String, Value>>,
    pub(crate) check: Check,
    /// Passes the check.
    pub(crate) right: Reply,
    /// Fails it, and looks as good.
    pub(crate) wrong: Reply,
}

/// What is asked, before a nonce stands in front.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Text(String),
    /// At least one.
    Messages(Vec<Message>),
}

impl Task {
    /// A task that asks one text and is answered by a text.
    pub(super) fn text(
        asked: String,
        check: Check,
        right: impl Into<String>,
        wrong: impl Into<String>,
    ) -> Self {
        Self {
            asked: Asked::Text(asked),
            parameters: Arc::default(),
            check,
            right: Reply::Text(right.into()),
            wrong: Reply::Text(wrong.into()),
        }
    }
}

impl Asked {
    /// The prompt as it is sent, `prefix` in front of its first text.
    pub(crate) fn prompt(self, prefix: &str) -> Prompt {
        match self {
            Self::Text(text) if prefix.is_empty() => Prompt::Text(text),
            Self::Text(text) => Prompt::Text([prefix, &text].concat()),
            Self::Messages(mut messages) => {
                if let Some(first) = messages.first_mut() {
                    first.content.insert_str(0, prefix);
                }
                Prompt::Messages(messages)
            }
        }
    }
}

/// The answer is this word and nothing else, however a model likes to dress one.
pub(super) fn one_word(word: &str) -> Check {
    let capital = capitalised(word);
    let words = [word, &capital];
    let different = if capital == word { &words[..1] } else { &words };
    let dressed = |word: &&str| {
        [
            (*word).to_owned(),
            format!("{word}."),
            format!("\"{word}\""),
            format!("**{word}**"),
            format!("`{word}`"),
        ]
    };
    Check::Any(different.iter().flat_map(dressed).map(Check::Equals).collect())
}

/// The answer holds this text and is no longer than `characters`: whoever recites everything has not answered.
pub(super) fn short_with(text: impl Into<String>, characters: u64) -> Check {
    Check::All(vec![Check::Contains(text.into()), Check::MaxLength(characters)])
}

/// The last number of the answer is exactly this.
pub(super) fn number(value: i64) -> Check {
    Check::Number { value: value as f64, within: 0.0 }
}

/// `word` with a capital.
pub(super) fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
