//! What is kept of each answer for the checks over several.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use inferometer_record::Sample;

use super::Outcome;
use crate::fill::has_flag;
use crate::row::key;

/// Answers of a cell that are kept; the checks do not look at later ones.
const MAX_ANSWERS: usize = 1_000_000;

/// Distinct model names that are counted; a server that makes up a new one for each answer fills no memory.
const MAX_NAMES: usize = 64;

/// Verdict flags that make an answer another kind of answer, whatever its words.
const KINDS: [&str; 12] = [
    "empty",
    "reasoning_only",
    "refusal",
    "json_invalid",
    "json_truncated",
    "json_wrapped",
    "schema_invalid",
    "finish_tool_mismatch",
    "tool_arguments_invalid",
    "tool_arguments_schema",
    "tool_text_leaked",
    "tool_unknown",
];

/// The kind of an answer: how it ended, and what was wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    end: &'static str,
    /// A bit for each of [`KINDS`].
    flags: u16,
}

impl Kind {
    fn new(sample: &Sample) -> Self {
        let has = |name: &str| sample.verdict_flags.iter().any(|flag| flag == name);
        let flags = KINDS.iter().enumerate().filter(|(_, name)| has(name)).map(|(at, _)| 1 << at).sum();
        let end = match sample.finish_reason.as_deref() {
            _ if has_flag(sample, "capped") => "length",
            _ if has_flag(sample, "content_filtered") => "content_filter",
            Some("tool_calls" | "tool_use" | "function_call") => "tool_calls",
            Some(_) => "stop",
            None => "no finish reason",
        };
        Kind { end, flags }
    }

    /// In words: `stop`, `stop with schema_invalid`.
    pub(super) fn words(self) -> String {
        let set = KINDS.iter().enumerate().filter(|(at, _)| self.flags & (1 << at) != 0);
        let flags: Vec<&str> = set.map(|(_, name)| *name).collect();
        if flags.is_empty() { self.end.to_owned() } else { format!("{} with {}", self.end, flags.join(", ")) }
    }
}

/// One complete answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answered {
    /// Which prompt: the hash of its id.
    pub(super) prompt: u64,
    /// Which text: the hash of its hash.
    pub(super) text: Option<NonZeroU64>,
    /// Which id: its hash.
    pub(super) id: Option<NonZeroU64>,
    /// Whether the request asked for what repeats.
    pub(super) repeatable: Option<bool>,
    /// Prompt tokens: stated by the server, and counted by us.
    pub(super) input: Option<(u32, u32)>,
    /// Output tokens by our count.
    pub(super) tokens: u64,
    pub(super) grade: Option<bool>,
    pub(super) kind: Kind,
    pub(super) was_streamed: bool,
}

impl Answered {
    fn new(sample: &Sample) -> Self {
        let hash = |text: &Option<String>| {
            let text = text.as_ref().filter(|text| !text.trim().is_empty())?;
            NonZeroU64::new(key(text))
        };
        let tokens = |count: Option<u64>| u32::try_from(count?).ok().filter(|count| *count > 0);
        Answered {
            prompt: key(&sample.prompt_id),
            text: hash(&sample.answer_hash),
            id: hash(&sample.response_id),
            repeatable: sample.repeatable,
            input: tokens(sample.input_tokens).zip(tokens(sample.counted_input_tokens)),
            tokens: sample.counted_output_tokens.unwrap_or(0),
            grade: sample.grade,
            kind: Kind::new(sample),
            was_streamed: !has_flag(sample, "not_streamed"),
        }
    }
}

/// The complete answers of a cell, as the checks read them: about 80 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(super) answers: Vec<Answered>,
    /// How often each model was named as the one that answered.
    pub(super) models: BTreeMap<String, u64>,
    with_logprobs: u64,
    logprobs_differ: u64,
    logprobs_unreadable: u64,
}

impl Seen {
    /// Takes the final sample of a request that was answered.
    pub(crate) fn push(&mut self, sample: &Sample) {
        if self.answers.len() < MAX_ANSWERS {
            self.answers.push(Answered::new(sample));
        }
        if let Some(model) = sample.model_echo.as_ref().filter(|model| !model.is_empty())
            && (self.models.len() < MAX_NAMES || self.models.contains_key(model))
        {
            *self.models.entry(model.clone()).or_default() += 1;
        }
        let has = |name: &str| u64::from(sample.verdict_flags.iter().any(|flag| flag == name));
        self.with_logprobs += u64::from(has_flag(sample, "logprobs"));
        self.logprobs_differ += has("logprob_text_differs");
        self.logprobs_unreadable += has("logprob_text_unavailable");
    }

    /// What `judge` found of the log probabilities of each answer.
    pub(super) fn logprobs(&self) -> Outcome {
        let n = self.with_logprobs.saturating_sub(self.logprobs_unreadable);
        match (n, self.logprobs_differ, self.logprobs_unreadable) {
            (_, found @ 1.., _) => {
                let why = format!("the log probabilities of {found} of {n} answers spell another text");
                Outcome::found(found, n, why)
            }
            (0, _, 0) => Outcome::unavailable("no answer came with log probabilities"),
            (0, ..) => {
                Outcome::unavailable("the tokens of the log probabilities have no text that can be read")
            }
            _ => Outcome::passed(n),
        }
    }
}
