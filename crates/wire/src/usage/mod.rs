//! What the server counted, in one form.
//!
//! Counts come once or many times, in the standard place or in an extension, under several names, and add up in
//! several ways. `counts` reads one usage object, `tracker` merges those of a stream, `identity` finds the
//! arithmetic that the numbers themselves satisfy.

mod cost;
mod count;
mod counts;
mod identity;
mod tracker;

use serde_json::value::RawValue;

pub(crate) use tracker::Tracker;

/// Where a usage comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UsageSource {
    /// The standard `usage` field.
    Server,
    /// An extension (`x_groq.usage`); taken only where no standard usage came (W32).
    ServerExt,
}

impl UsageSource {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            UsageSource::Server => "server",
            UsageSource::ServerExt => "server_ext",
        }
    }
}

/// How the counts of a usage add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// total = prompt + completion; cached and reasoning tokens are inside (OpenAI).
    Inclusive,
    /// total = prompt + completion + reasoning (W36).
    Additive,
    /// Cached tokens stand beside the input (Anthropic; W38).
    Disjoint,
    /// The stated total is none of these sums.
    Unknown,
}

impl Identity {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Identity::Inclusive => "inclusive",
            Identity::Additive => "additive",
            Identity::Disjoint => "disjoint",
            Identity::Unknown => "unknown",
        }
    }
}

/// The server's count of one answer. A count that the server did not give is absent, never 0.
#[derive(Clone, Debug)]
pub struct Usage {
    /// The last usage object that told anything, as it came.
    pub verbatim: Box<RawValue>,
    /// Where it stood.
    pub source: UsageSource,
    /// Prompt tokens, cached ones included.
    pub input: Option<u64>,
    /// Output tokens, reasoning included.
    pub output: Option<u64>,
    /// Reasoning tokens. Absent where the server states none or 0 although reasoning text came (W37).
    pub reasoning: Option<u64>,
    /// Prompt tokens read from a cache.
    pub cache_read: Option<u64>,
    /// Prompt tokens written to a cache.
    pub cache_write: Option<u64>,
    /// How the counts add up.
    pub identity: Identity,
    /// What the provider says this answer cost, in US dollars: a plain decimal.
    pub cost: Option<String>,
    /// Reasoning was seen, but its share of the output was not stated.
    pub reasoning_unsplit: bool,
}

/// A usage whose parts do not overlap: what money is reckoned from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Normal {
    /// Prompt tokens neither read from a cache nor written to one.
    pub input_uncached: Option<u64>,
    /// Prompt tokens read from a cache.
    pub cache_read: Option<u64>,
    /// Prompt tokens written to a cache.
    pub cache_write: Option<u64>,
    /// Output tokens that are not reasoning. Absent where reasoning was seen but its share is not known: then
    /// `output` can be priced as a whole only if reasoning costs what output costs.
    pub output_visible: Option<u64>,
    /// Reasoning tokens.
    pub output_reasoning: Option<u64>,
    /// All output tokens: visible and reasoning.
    pub output: Option<u64>,
}

impl Usage {
    /// The parts that do not overlap: input_uncached = input − cache_read − cache_write and
    /// output_visible = output − reasoning, each at least 0.
    pub fn normal(&self) -> Normal {
        let cached = self.cache_read.unwrap_or(0).saturating_add(self.cache_write.unwrap_or(0));
        let visible = self.output.map(|output| output.saturating_sub(self.reasoning.unwrap_or(0)));
        Normal {
            input_uncached: self.input.map(|input| input.saturating_sub(cached)),
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            output_visible: visible.filter(|_| !self.reasoning_unsplit),
            output_reasoning: self.reasoning,
            output: self.output,
        }
    }
}
