//! A prompt that is held, before a nonce is put in front.

use std::sync::Arc;

use inferometer_judge::Grader;
use inferometer_wire::request::Prompt;
use serde_json::{Map, Value};

use crate::messages::Messages;

/// A prompt that is held.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) body: Body,
    /// The token limit that the prompt brings along.
    pub(crate) max_tokens: Option<u32>,
    /// Further fields of the request.
    pub(crate) parameters: Arc<Map<String, Value>>,
    /// What makes its answer right.
    pub(crate) grader: Option<Arc<Grader>>,
    /// Bytes that parameters and check took in the file.
    pub(crate) extra_bytes: usize,
}

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Text(String),
    Messages(Messages),
}

impl Entry {
    /// Bytes of memory that the entry takes, about.
    pub(crate) fn bytes(&self) -> usize {
        let body = match &self.body {
            Body::Text(text) => text.len(),
            Body::Messages(messages) => messages.json().len(),
        };
        size_of::<Self>() + self.id.len() + body + self.extra_bytes
    }
}

impl Body {
    /// The prompt as it is sent, `prefix` in front of its first text.
    pub(crate) fn prompt(&self, prefix: &str) -> Prompt {
        match self {
            Self::Text(text) => Prompt::Text([prefix, text].concat()),
            Self::Messages(messages) => Prompt::Raw(messages.with_prefix(prefix)),
        }
    }
}
