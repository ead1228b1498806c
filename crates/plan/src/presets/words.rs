//! What a level of reasoning is called: by provider, dialect and model.

use std::fmt;
use std::str::FromStr;

use inferometer_wire::Dialect;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Preset, dialect_words};

/// How much a model is to reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reasoning {
    /// Not at all.
    Off,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// At most so many tokens.
    Budget(u32),
}

impl Reasoning {
    /// The levels by name.
    pub(crate) const LEVELS: [(&'static str, Reasoning); 4] =
        [("off", Self::Off), ("low", Self::Low), ("medium", Self::Medium), ("high", Self::High)];
}

impl fmt::Display for Reasoning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = Self::LEVELS.into_iter().find(|(_, level)| level == self);
        match (level, self) {
            (Some((name, _)), _) => f.write_str(name),
            (None, Self::Budget(tokens)) => write!(f, "{tokens}"),
            (None, _) => Ok(()),
        }
    }
}

impl FromStr for Reasoning {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let level = Self::LEVELS.into_iter().find_map(|(name, level)| (name == text).then_some(level));
        let budget = || text.parse().ok().filter(|tokens| *tokens > 0).map(Self::Budget);
        level.or_else(budget).ok_or_else(|| "write off, low, medium, high, or a budget in tokens".to_owned())
    }
}

/// What levels of reasoning are called in a request: JSON objects that are merged into its body.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReasoningWords {
    /// The dialect's name; the provider's first one where absent.
    pub dialect: Option<String>,
    /// Pieces of models' names, of which one is to stand in a model's, whatever its case; any model where empty.
    #[serde(default)]
    pub models: Vec<String>,
    /// None.
    pub off: Option<String>,
    /// A little.
    pub low: Option<String>,
    /// Some.
    pub medium: Option<String>,
    /// Much.
    pub high: Option<String>,
    /// At most `{N}` tokens.
    pub budget: Option<String>,
}

/// What stands for the budget in a template.
const BUDGET: &str = "\"{N}\"";

impl ReasoningWords {
    fn fits(&self, model: &str) -> bool {
        let model = model.to_lowercase();
        self.models.is_empty() || self.models.iter().any(|piece| model.contains(piece.as_str()))
    }

    fn template(&self, level: Reasoning) -> Option<&str> {
        match level {
            Reasoning::Off => self.off.as_deref(),
            Reasoning::Low => self.low.as_deref(),
            Reasoning::Medium => self.medium.as_deref(),
            Reasoning::High => self.high.as_deref(),
            Reasoning::Budget(_) => self.budget.as_deref(),
        }
    }

    /// Each name of a level with its template, for people.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let budget = std::iter::once(("a budget", Reasoning::Budget(1)));
        let all = Reasoning::LEVELS.into_iter().chain(budget);
        all.filter_map(|(name, level)| Some((name, self.template(level)?)))
    }

    /// The names of what it has words for.
    fn known(&self) -> Vec<&'static str> {
        self.named().map(|(name, _)| name).collect()
    }

    fn spell(&self, level: Reasoning) -> Option<Map<String, Value>> {
        let template = self.template(level)?;
        let text = match level {
            Reasoning::Budget(tokens) => template.replace(BUDGET, &tokens.to_string()),
            _ => template.to_owned(),
        };
        serde_json::from_str(&text).ok()
    }
}

/// Why a level of reasoning cannot be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unspelled {
    /// Nobody knows what this dialect calls it there.
    Unknown,
    /// It has words for these alone.
    Has(Vec<&'static str>),
}

/// What `level` is called where `provider` is asked for `model` in `dialect`: by the provider's own words, else by the
/// dialect's.
pub(crate) fn spelled(
    level: Reasoning,
    provider: Option<&Preset>,
    dialect: Dialect,
    model: &str,
) -> Result<Map<String, Value>, Unspelled> {
    let own = provider.into_iter().flat_map(|preset| {
        let speaks = move |words: &&ReasoningWords| {
            words.dialect.as_deref().unwrap_or(preset.dialect.name()) == dialect.name()
        };
        preset.reasoning.iter().filter(speaks)
    });
    let common =
        dialect_words().iter().filter(|words| words.name == dialect).flat_map(|words| &words.reasoning);
    let words = own.chain(common).find(|words| words.fits(model)).ok_or(Unspelled::Unknown)?;
    words.spell(level).ok_or_else(|| Unspelled::Has(words.known()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{preset, presets};
    use super::*;

    #[test]
    fn every_template_is_an_object_with_its_budget() {
        let own =
            presets().iter().flat_map(|preset| preset.reasoning.iter().map(|words| (&*preset.name, words)));
        let common = dialect_words().iter().flat_map(|dialect| {
            assert!(!dialect.sources.is_empty(), "{}", dialect.name);
            dialect.reasoning.iter().map(|words| (dialect.name.name(), words))
        });
        for (name, words) in own.chain(common) {
            assert!(!words.known().is_empty(), "{name}");
            assert!(words.dialect.iter().all(|name| name.parse::<Dialect>().is_ok()), "{name}");
            assert!(words.models.iter().all(|piece| *piece == piece.to_lowercase()), "{name}");
            for (level, template) in words.named() {
                let level = level.parse().unwrap_or(Reasoning::Budget(77));
                let spelled = words.spell(level).unwrap_or_else(|| panic!("{name}: {template}"));
                let shown = serde_json::to_string(&spelled).unwrap();
                let has_budget = matches!(level, Reasoning::Budget(_));
                assert_eq!(shown.contains("77"), has_budget, "{name}: {template}");
                assert!(!shown.contains("{N}") && !spelled.is_empty(), "{name}: {template}");
            }
        }
    }

    #[test]
    fn words_by_provider_dialect_and_model() {
        use Dialect::{Chat, Gemini, Messages, Responses};
        use Reasoning::{Budget, High, Medium, Off};
        let check = |provider: &str,
                     dialect: Dialect,
                     model: &str,
                     level: Reasoning,
                     right: Result<Value, &[&str]>| {
            let said = spelled(level, preset(provider), dialect, model);
            let right = right.map_err(|has| match has {
                [] => Unspelled::Unknown,
                has => Unspelled::Has(preset_words(has)),
            });
            assert_eq!(said.map(Value::Object), right, "{provider} {dialect} {model} {level}");
        };
        check("groq", Chat, "openai/gpt-oss-120b", High, Ok(json!({"reasoning_effort": "high"})));
        check("groq", Chat, "openai/gpt-oss-120b", Off, Err(&["low", "medium", "high"]));
        check("groq", Chat, "qwen/Qwen3-32B", Off, Ok(json!({"reasoning_effort": "none"})));
        check("groq", Chat, "llama-4", Off, Err(&[]));
        check("deepseek", Chat, "deepseek-flash", Medium, Err(&["off", "low", "high"]));
        check("deepseek", Messages, "deepseek-flash", Off, Ok(json!({"thinking": {"type": "disabled"}})));
        check("openai", Responses, "gpt-5.6", High, Ok(json!({"reasoning": {"effort": "high"}})));
        let budget = |tokens: u32| json!({"thinking": {"type": "enabled", "budget_tokens": tokens}});
        check("none", Messages, "claude-haiku-4-5", Budget(2048), Ok(budget(2048)));
        check("anthropic", Messages, "claude-opus-5", Budget(2048), Err(&["off", "low", "medium", "high"]));
        let level = json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}});
        check("gemini", Gemini, "gemini-2.5-flash", Off, Ok(level));
        check("gemini", Gemini, "gemini-2.5-pro", Off, Err(&["low", "medium", "high", "a budget"]));
        check("none", Chat, "m", High, Err(&[]));
    }

    fn preset_words(names: &[&str]) -> Vec<&'static str> {
        let known = ["off", "low", "medium", "high", "a budget"];
        known.into_iter().filter(|name| names.contains(name)).collect()
    }

    #[test]
    fn levels_as_they_are_typed() {
        for (typed, right) in [("off", Some(Reasoning::Off)), (" 512", Some(Reasoning::Budget(512)))] {
            assert_eq!(typed.parse().ok(), right);
        }
        for typed in ["0", "-1", "none", "", "1.5"] {
            assert!(typed.parse::<Reasoning>().is_err(), "{typed}");
        }
    }
}
