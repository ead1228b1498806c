//! The counts of one usage object, under all the names they go by.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::cost;
use super::count::Count;
use crate::flags::{Flag, Flags};

/// The counts that one or several usage objects stated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) prompt: Option<u64>,
    pub(super) completion: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) reasoning: Option<u64>,
    pub(super) cache_read: Option<u64>,
    pub(super) cache_write: Option<u64>,
    /// The prompt was called `input_tokens` alone.
    pub(super) input_named: bool,
    /// The cache was counted under Anthropic's names, which stand beside the input.
    pub(super) cache_beside: bool,
    pub(super) cost: Option<String>,
}

/// A usage object. Names: OpenAI chat and responses, Anthropic, DeepSeek (`prompt_cache_hit_tokens`),
/// Moonshot (`cached_tokens`), SGLang (`reasoning_tokens`), OpenRouter (`cost`), DeepInfra (`estimated_cost`).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Object<'a> {
    prompt_tokens: Count,
    input_tokens: Count,
    completion_tokens: Count,
    output_tokens: Count,
    total_tokens: Count,
    reasoning_tokens: Count,
    cached_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
    prompt_cache_hit_tokens: Count,
    prompt_tokens_details: Option<Details>,
    input_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
    output_tokens_details: Option<Details>,
    #[serde(borrow)]
    cost: Option<&'a RawValue>,
    #[serde(borrow)]
    total_cost: Option<&'a RawValue>,
    #[serde(borrow)]
    estimated_cost: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    #[serde(rename = "cached_tokens")]
    cached: Count,
    #[serde(rename = "cache_write_tokens")]
    cache_write: Count,
    #[serde(rename = "reasoning_tokens")]
    reasoning: Count,
}

impl Counts {
    /// Reads one usage object. What is no count is left out and flagged.
    pub(super) fn read(json: &str, flags: &mut Flags) -> Counts {
        let is_object = json.trim_start().starts_with('{');
        let Some(object) = serde_json::from_str::<Object<'_>>(json).ok().filter(|_| is_object) else {
            flags.set(Flag::UsageInvalid);
            return Counts::default();
        };
        let input = object.prompt_tokens_details.or(object.input_tokens_details).unwrap_or_default();
        let output = object.completion_tokens_details.or(object.output_tokens_details).unwrap_or_default();
        let beside = [object.cache_read_input_tokens, object.cache_creation_input_tokens];
        Counts {
            prompt: pick([object.prompt_tokens, object.input_tokens], flags),
            completion: pick([object.completion_tokens, object.output_tokens], flags),
            total: pick([object.total_tokens], flags),
            reasoning: pick([output.reasoning, object.reasoning_tokens], flags),
            cache_read: pick(
                [input.cached, beside[0], object.prompt_cache_hit_tokens, object.cached_tokens],
                flags,
            ),
            cache_write: pick([input.cache_write, beside[1]], flags),
            input_named: object.prompt_tokens == Count::Absent && object.input_tokens != Count::Absent,
            cache_beside: beside.iter().any(|count| count.valid().is_some()),
            cost: [object.cost, object.total_cost, object.estimated_cost]
                .into_iter()
                .flatten()
                .find_map(stated_cost),
        }
    }

    /// Takes a later object: per field the last valid count wins, 0 never replaces a positive one,
    /// a decrease is flagged. Never adds (W31, W39).
    pub(super) fn merge(&mut self, later: Counts, flags: &mut Flags) {
        for (field, count) in [
            (&mut self.prompt, later.prompt),
            (&mut self.completion, later.completion),
            (&mut self.total, later.total),
            (&mut self.reasoning, later.reasoning),
            (&mut self.cache_read, later.cache_read),
            (&mut self.cache_write, later.cache_write),
        ] {
            flags.set_if(count.is_some() && count < *field, Flag::UsageNonmonotonic);
            let keeps = count.is_none() || (count == Some(0) && field.is_some());
            *field = if keeps { *field } else { count };
        }
        self.input_named |= later.input_named;
        self.cache_beside |= later.cache_beside;
        self.cost = later.cost.or(self.cost.take());
    }

    /// Whether it states any count.
    pub(super) fn is_empty(&self) -> bool {
        [self.prompt, self.completion, self.total, self.reasoning, self.cache_read, self.cache_write]
            .iter()
            .all(Option::is_none)
    }
}

/// One count of several names: the first positive one, else the first.
fn pick<const N: usize>(names: [Count; N], flags: &mut Flags) -> Option<u64> {
    flags.set_if(names.contains(&Count::Invalid), Flag::UsageInvalid);
    let stated = || names.iter().filter_map(|count| count.valid());
    stated().find(|count| *count > 0).or_else(|| stated().next())
}

/// A cost, or the total in an object of costs (Perplexity).
fn stated_cost(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Costs<'a> {
        #[serde(borrow)]
        total_cost: &'a RawValue,
    }
    let json = raw.get();
    cost::decimal(json)
        .or_else(|| cost::decimal(serde_json::from_str::<Costs<'_>>(json).ok()?.total_cost.get()))
}
