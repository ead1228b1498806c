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
/// Gemini (`promptTokenCount`), Bedrock (`inputTokens`), Ollama (`prompt_eval_count`), Moonshot (`cached_tokens`), SGLang (`reasoning_tokens`), OpenRouter (`cost`), DeepInfra (`estimated_cost`).
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
    prompt_eval_count: Count,
    eval_count: Count,
    #[serde(rename = "promptTokenCount")]
    prompt_token_count: Count,
    #[serde(rename = "candidatesTokenCount")]
    candidates_token_count: Count,
    #[serde(rename = "thoughtsTokenCount")]
    thoughts_token_count: Count,
    #[serde(rename = "totalTokenCount")]
    total_token_count: Count,
    #[serde(rename = "cachedContentTokenCount")]
    cached_content_token_count: Count,
    #[serde(rename = "inputTokens")]
    bedrock_input: Count,
    #[serde(rename = "outputTokens")]
    bedrock_output: Count,
    #[serde(rename = "totalTokens")]
    bedrock_total: Count,
    #[serde(rename = "cacheReadInputTokens")]
    bedrock_cache_read: Count,
    #[serde(rename = "cacheWriteInputTokens")]
    bedrock_cache_write: Count,
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
        let reads = [object.cache_read_input_tokens, object.bedrock_cache_read];
        let writes = [object.cache_creation_input_tokens, object.bedrock_cache_write];
        let beside = [reads, writes].concat();
        let named_input = [object.input_tokens, object.bedrock_input];
        let prompt = [object.prompt_tokens, object.prompt_token_count, object.prompt_eval_count];
        let inside =
            [object.prompt_cache_hit_tokens, object.cached_tokens, object.cached_content_token_count];
        Counts {
            input_named: prompt.iter().all(|count| *count == Count::Absent)
                && named_input.iter().any(|count| *count != Count::Absent),
            cache_beside: beside.iter().any(|count| count.valid().is_some()),
            prompt: pick(prompt.into_iter().chain(named_input), flags),
            completion: pick(
                [
                    object.completion_tokens,
                    object.output_tokens,
                    object.candidates_token_count,
                    object.bedrock_output,
                    object.eval_count,
                ],
                flags,
            ),
            total: pick([object.total_tokens, object.total_token_count, object.bedrock_total], flags),
            reasoning: pick([output.reasoning, object.reasoning_tokens, object.thoughts_token_count], flags),
            cache_read: pick([input.cached].into_iter().chain(reads).chain(inside), flags),
            cache_write: pick([input.cache_write].into_iter().chain(writes), flags),
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
fn pick(names: impl IntoIterator<Item = Count>, flags: &mut Flags) -> Option<u64> {
    let mut first = None;
    for count in names {
        flags.set_if(count == Count::Invalid, Flag::UsageInvalid);
        let better = count.valid().filter(|count| first.is_none_or(|first| first == 0 && *count > 0));
        first = better.or(first);
    }
    first
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
