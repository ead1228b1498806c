//! What an answer says, event by event or as a whole, in no dialect yet.

use crate::price::Cost;
use crate::vectors::Vectors;

/// A moment in the past: `created` labels and measures nothing.
pub(crate) const CREATED: u64 = 1_796_051_544;

/// Token counts of a usage object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) prompt: u64,
    pub(crate) completion: u64,
    /// Part of `completion`.
    pub(crate) reasoning: Option<u64>,
    /// Part of `prompt`.
    pub(crate) cached: Option<u64>,
    /// US dollars.
    pub(crate) cost: Option<Cost>,
}

impl Usage {
    pub(crate) const fn new(prompt: u64, completion: u64) -> Self {
        Self { prompt, completion, reasoning: None, cached: None, cost: None }
    }
}

/// What one event says. Texts stand between the quotes as they are: their author has escaped them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) role: bool,
    pub(crate) content: Option<String>,
    /// The key it comes under, where keys are not the dialect's own, and the text.
    pub(crate) reasoning: Option<(&'static str, String)>,
    pub(crate) call: Option<Call>,
    /// Why the answer ends, in OpenAI's words: `stop`, `length`, `tool_calls`.
    pub(crate) finish: Option<String>,
    pub(crate) usage: Option<Usage>,
    /// `x_groq.usage` (W32).
    pub(crate) groq: Option<Usage>,
}

/// A part of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Its beginning: the name.
    Opens(String),
    /// Some of its arguments.
    Arguments(String),
}

impl Chunk {
    /// Whether it says anything but usage.
    pub(crate) fn has_choice(&self) -> bool {
        let says = self.content.is_some() || self.reasoning.is_some() || self.call.is_some();
        self.role || says || self.finish.is_some()
    }
}

/// What a stream says next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Say<'c> {
    Chunk(&'c Chunk),
    /// The engine has stopped.
    Error,
    /// An event that cannot be read.
    Malformed,
    /// The end of all.
    Done,
}

/// What is known of an answer before its first byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    /// The model's name as a JSON string, with its quotes.
    pub(crate) model: &'a str,
    /// What usage will say at the end.
    pub(crate) usage: Usage,
    /// Nanoseconds from the start of work to the first token.
    pub(crate) first_ns: u64,
    /// Nanoseconds from one token to the next.
    pub(crate) token_ns: f64,
}

impl<'a> Facts<'a> {
    /// The model's name is all that is known.
    pub(crate) const fn of(model: &'a str) -> Self {
        Self { model, usage: Usage::new(0, 0), first_ns: 0, token_ns: 0.0 }
    }
}

/// `text` as it stands between the quotes of a JSON string.
pub(crate) fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

/// A whole answer that was not streamed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whole {
    pub(crate) content: String,
    pub(crate) reasoning: String,
    /// Name and arguments.
    pub(crate) call: Option<(String, String)>,
    /// In place of all that.
    pub(crate) vectors: Option<Vectors>,
    pub(crate) finish: Option<String>,
    pub(crate) usage: Option<Usage>,
}
