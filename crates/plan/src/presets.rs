//! Providers by name: where they are asked, which variable holds the key, how they want the token limit.
//!
//! A row is a convenience, never a claim: `url`, `api_key_env` and `max_completion_tokens` of a target override it.

use inferometer_wire::request::TokenField;

/// A provider whose chat completions are OpenAI's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// What a plan calls it.
    pub name: &'static str,
    /// Base URL.
    pub url: &'static str,
    /// The variable that its own documentation keeps the key in; `None` where no key is needed.
    pub key_env: Option<&'static str>,
    /// Which field carries the token limit.
    pub token_field: TokenField,
    /// Where the row comes from.
    pub source: &'static str,
    /// When that was read: year and month.
    pub read: &'static str,
}

const fn row(
    name: &'static str,
    url: &'static str,
    key_env: Option<&'static str>,
    token_field: TokenField,
    source: &'static str,
) -> Preset {
    Preset { name, url, key_env, token_field, source, read: "2026-09" }
}

use TokenField::{MaxCompletionTokens as New, MaxTokens as Old};

/// Every preset, by name.
#[rustfmt::skip] // a table
pub const PRESETS: &[Preset] = &[
    row("cerebras", "https://api.cerebras.ai/v1", Some("CEREBRAS_API_KEY"), New, "inference-docs.cerebras.ai"),
    row("dashscope", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", Some("DASHSCOPE_API_KEY"), Old, "alibabacloud.com/help/model-studio"),
    row("deepinfra", "https://api.deepinfra.com/v1/openai", Some("DEEPINFRA_API_KEY"), Old, "deepinfra.com/docs"),
    row("deepseek", "https://api.deepseek.com/v1", Some("DEEPSEEK_API_KEY"), Old, "api-docs.deepseek.com"),
    row("fireworks", "https://api.fireworks.ai/inference/v1", Some("FIREWORKS_API_KEY"), Old, "docs.fireworks.ai"),
    row("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", Some("GEMINI_API_KEY"), Old, "ai.google.dev/gemini-api/docs/openai"),
    row("groq", "https://api.groq.com/openai/v1", Some("GROQ_API_KEY"), New, "console.groq.com/docs/openai"),
    row("llama.cpp", "http://127.0.0.1:8080/v1", None, Old, "github.com/ggml-org/llama.cpp, tools/server"),
    row("mistral", "https://api.mistral.ai/v1", Some("MISTRAL_API_KEY"), Old, "docs.mistral.ai"),
    row("moonshot", "https://api.moonshot.ai/v1", Some("MOONSHOT_API_KEY"), Old, "platform.moonshot.ai/docs"),
    row("ollama", "http://127.0.0.1:11434/v1", None, Old, "docs.ollama.com"),
    row("openai", "https://api.openai.com/v1", Some("OPENAI_API_KEY"), New, "platform.openai.com/docs"),
    row("openrouter", "https://openrouter.ai/api/v1", Some("OPENROUTER_API_KEY"), Old, "openrouter.ai/docs"),
    row("together", "https://api.together.xyz/v1", Some("TOGETHER_API_KEY"), Old, "docs.together.ai"),
    row("vllm", "http://127.0.0.1:8000/v1", None, Old, "docs.vllm.ai"),
    row("xai", "https://api.x.ai/v1", Some("XAI_API_KEY"), Old, "docs.x.ai"),
    row("zai", "https://api.z.ai/api/paas/v4", Some("ZAI_API_KEY"), Old, "docs.z.ai"),
];

/// The preset of this name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use inferometer_wire::{Dialect, endpoint};

    use super::*;

    #[test]
    fn rows_are_usable_and_in_order() {
        assert!(PRESETS.is_sorted_by_key(|preset| preset.name));
        for row in PRESETS {
            let address = endpoint(row.url, Dialect::Chat, "m", true).unwrap();
            assert_eq!(address, format!("{}/chat/completions", row.url));
            assert_eq!(row.key_env.is_none(), row.url.starts_with("http://127.0.0.1"), "{}", row.name);
            assert!(!row.source.is_empty() && row.read.len() == 7);
        }
    }
}
