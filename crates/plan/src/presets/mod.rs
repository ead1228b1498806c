//! Providers by name: where they are asked, which variable holds the key, what is known of how they speak.
//!
//! The rows are data, in `presets.toml` beside this. A row is a convenience and a hypothesis with a date, never a
//! claim: whatever a target says itself overrides it, and nothing is judged by it.

mod words;

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::LazyLock;

use inferometer_wire::Dialect;
use inferometer_wire::request::TokenField;
use serde::{Deserialize, Deserializer};

pub use self::words::{Reasoning, ReasoningWords};
pub(crate) use self::words::{Unspelled, spelled};

/// What is known of a provider. What is not known is absent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// What a plan calls it.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Base URL; `${VARIABLES}` in it say where one's own account or region is.
    pub url: String,
    /// How it speaks there.
    #[serde(deserialize_with = "parsed")]
    pub dialect: Dialect,
    /// Base URLs of its other dialects, where they are others.
    #[serde(default)]
    pub doors: BTreeMap<String, String>,
    /// The variable that its own tools keep the key in.
    pub key_env: Option<String>,
    /// The command that prints a key, where no variable holds one.
    pub key_cmd: Option<String>,
    /// Which field carries the token limit, in the dialects that know two.
    #[serde(default, deserialize_with = "token_field")]
    pub token_field: Option<TokenField>,
    /// Parameters that it refuses, or takes without effect.
    #[serde(default)]
    pub refused: Vec<String>,
    /// What levels of reasoning are called; what the dialect calls them goes for the rest.
    #[serde(default)]
    pub reasoning: Vec<ReasoningWords>,
    /// Where the text of reasoning stands in an answer.
    #[serde(default)]
    pub reasoning_text: Vec<String>,
    /// Where the tokens of reasoning are counted.
    pub reasoning_tokens: Option<String>,
    /// What is unusual in its usage.
    pub usage: Option<String>,
    /// Headers that say its rate limits; empty where it is known to send none.
    pub ratelimit: Option<Vec<String>>,
    /// Hosts or fields that keep data in a region.
    #[serde(default)]
    pub residency: Vec<String>,
    /// Terms of use.
    pub terms: Option<String>,
    /// What it says of keeping data.
    pub retention: Option<String>,
    /// What it offers against cold starts: keep-warm or provisioned capacity.
    pub warm: Option<String>,
    /// Since when it answers no more: a date.
    pub retired: Option<String>,
    /// Where the row comes from: a file of a published package and its version, or an address.
    pub sources: Vec<String>,
    /// When they were read: a date.
    pub read: String,
    /// Whether requests have shown that the row holds.
    pub verified: bool,
}

/// What a dialect calls levels of reasoning.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DialectWords {
    #[serde(deserialize_with = "parsed")]
    pub(crate) name: Dialect,
    pub(crate) reasoning: Vec<ReasoningWords>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for people, and held by a test"))]
    pub(crate) sources: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    dialect: Vec<DialectWords>,
    provider: Vec<Preset>,
}

#[expect(clippy::expect_used, reason = "the table is compiled in, and a test reads it")]
static TABLE: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("presets.toml")).expect("presets.toml is a table of presets")
});

/// Every preset, by name.
pub fn presets() -> &'static [Preset] {
    &TABLE.provider
}

/// The preset of this name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    presets().iter().find(|preset| preset.name == name)
}

/// What dialects call levels of reasoning, whoever speaks them.
pub(crate) fn dialect_words() -> &'static [DialectWords] {
    &TABLE.dialect
}

impl Preset {
    /// The base URL where `dialect` is spoken.
    pub(crate) fn door(&self, dialect: Dialect) -> &str {
        self.doors.get(dialect.name()).unwrap_or(&self.url)
    }

    /// `url` with each `${VARIABLE}` replaced by what `env` holds; the name of the first that is not set otherwise.
    pub(crate) fn filled(url: &str, env: impl Fn(&str) -> Option<String>) -> Result<String, String> {
        let mut pieces = url.split("${");
        let mut filled = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (variable, rest) = piece.split_once('}').unwrap_or((piece, ""));
            let held = env(variable).filter(|held| !held.trim().is_empty());
            filled += held.ok_or_else(|| variable.to_owned())?.trim();
            filled += rest;
        }
        Ok(filled)
    }

    /// Whether `env` holds what it takes to ask there, the key and what its URL needs, and it still answers.
    pub(crate) fn is_ready(&self, env: impl Fn(&str) -> Option<String>) -> bool {
        let is_set = |variable: &str| env(variable).is_some_and(|held| !held.trim().is_empty());
        self.retired.is_none()
            && self.key_env.as_deref().is_some_and(is_set)
            && Self::filled(&self.url, &env).is_ok()
    }

    /// Where its terms and what it says of keeping data are to be read, and on whose word; nothing where neither is known.
    pub(crate) fn links(&self) -> Option<String> {
        let named = [("terms", &self.terms), ("retention", &self.retention)];
        let links = named.into_iter().filter_map(|(name, link)| Some(format!("{name} {}", link.as_ref()?)));
        let links = links.collect::<Vec<_>>().join(", ");
        (!links.is_empty())
            .then(|| format!("{links}; by Inferometer's table of providers, read {}", self.read))
    }

    /// Whether it serves on this machine, and asks for no key.
    pub fn is_local(&self) -> bool {
        self.url.starts_with("http://127.0.0.1")
    }
}

fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: std::fmt::Display>>(from: D) -> Result<T, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

fn token_field<'de, D: Deserializer<'de>>(from: D) -> Result<Option<TokenField>, D::Error> {
    let name = String::deserialize(from)?;
    let known = [TokenField::MaxTokens, TokenField::MaxCompletionTokens];
    let field = known.into_iter().find(|field| field.name() == name);
    field.map(Some).ok_or_else(|| serde::de::Error::custom(format!("{name} is no field for a token limit")))
}

#[cfg(test)]
mod tests {
    use inferometer_wire::endpoint;

    use super::*;

    /// What a variable of a URL may hold.
    #[expect(clippy::unnecessary_wraps, reason = "as an environment is read")]
    fn env(name: &str) -> Option<String> {
        Some(if name.ends_with("ENDPOINT") { "https://own.example".into() } else { "own".into() })
    }

    #[test]
    fn rows_are_complete_and_in_order() {
        assert!(presets().len() >= 38 && presets().is_sorted_by(|a, b| a.name < b.name));
        for row in presets() {
            let name = &row.name;
            assert!(!row.title.is_empty() && !row.verified, "{name}");
            assert!(row.sources.iter().all(|source| is_source(source)) && !row.sources.is_empty(), "{name}");
            assert!(is_date(&row.read), "{name}: {}", row.read);
            assert!(row.retired.iter().all(|retired| is_date(retired)), "{name}: {:?}", row.retired);
            let has_key = row.key_env.is_some() || row.key_cmd.is_some();
            assert_eq!(has_key, !row.is_local(), "{name}");
            for dialect in row.doors.keys().map(|dialect| dialect.parse().unwrap()).chain([row.dialect]) {
                let base = Preset::filled(row.door(dialect), env).unwrap();
                let address =
                    endpoint(&base, dialect, "m", true).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(address.starts_with(base.trim_end_matches('/')), "{name}: {address}");
            }
            for link in [&row.terms, &row.retention, &row.warm].into_iter().flatten() {
                assert!(link.starts_with("https://") && !row.is_local(), "{name}: {link}");
            }
        }
    }

    /// A file of a package with its version, or an address.
    fn is_source(source: &str) -> bool {
        let package = source.split_once(", ").and_then(|(package, _)| package.split_once(' '));
        let version =
            package.is_some_and(|(_, version)| version.split('.').all(|part| part.parse::<u32>().is_ok()));
        source.starts_with("https://") || version
    }

    fn is_date(text: &str) -> bool {
        let parts: Vec<_> = text.split('-').map(str::len).collect();
        parts == [4, 2, 2] && text.chars().all(|c| c.is_ascii_digit() || c == '-')
    }

    #[test]
    fn addresses_are_those_that_are_documented() {
        let check = |name: &str, dialect, right: &str| {
            let base = Preset::filled(preset(name).unwrap().door(dialect), env).unwrap();
            assert_eq!(endpoint(&base, dialect, "m", true).unwrap(), right);
        };
        check("anthropic", Dialect::Messages, "https://api.anthropic.com/v1/messages");
        check("anthropic", Dialect::Chat, "https://api.anthropic.com/v1/chat/completions");
        let azure = "https://own.example/openai/deployments/m/chat/completions?api-version=2024-10-21";
        check("azure", Dialect::Azure, azure);
        check(
            "cloudflare",
            Dialect::Chat,
            "https://api.cloudflare.com/client/v4/accounts/own/ai/v1/chat/completions",
        );
        check("deepseek", Dialect::Messages, "https://api.deepseek.com/anthropic/v1/messages");
        check("openai", Dialect::Responses, "https://api.openai.com/v1/responses");
        check("sambanova", Dialect::Messages, "https://api.sambanova.ai/v1/messages");
        check("minimax", Dialect::Messages, "https://api.minimax.io/anthropic/v1/messages");
        check("novita", Dialect::Chat, "https://api.novita.ai/openai/v1/chat/completions");
        check("ollama", Dialect::Ollama, "http://127.0.0.1:11434/api/chat");
        check("perplexity", Dialect::Chat, "https://api.perplexity.ai/chat/completions");
    }

    #[test]
    fn a_url_needs_its_variables() {
        let unset = |_: &str| None;
        assert_eq!(Preset::filled("https://h/${A}/x", env).as_deref(), Ok("https://h/own/x"));
        assert_eq!(Preset::filled("https://h/${A}/x", unset), Err("A".to_owned()));
        assert!(preset("azure").unwrap().is_ready(env) && !preset("azure").unwrap().is_ready(unset));
        assert!(!preset("vllm").unwrap().is_ready(env));
        assert!(!preset("github").unwrap().is_ready(env), "it is retired");
    }

    #[test]
    fn links_say_on_whose_word() {
        let links = |name: &str| preset(name).unwrap().links();
        let deepinfra = "terms https://deepinfra.com/terms, retention https://docs.deepinfra.com/account/data-privacy; \
                         by Inferometer's table of providers, read ";
        assert!(
            links("deepinfra").is_some_and(|links| links.starts_with(deepinfra)),
            "{:?}",
            links("deepinfra")
        );
        assert!(
            links("scaleway").is_some_and(|links| links.starts_with("retention ")),
            "{:?}",
            links("scaleway")
        );
        assert_eq!(links("vllm"), None);
    }

    #[test]
    fn unknown_keys_are_refused() {
        let row = "[[provider]]\nname = 'a'\ntitle = 'A'\nurl = 'http://h'\ndialect = 'chat'\nsources = []\n\
                   read = ''\nverified = false\n";
        let read = |text: &str| toml::from_str::<Table>(&format!("dialect = []\n{text}")).map(|_| ());
        assert_eq!(read(row), Ok(()));
        assert!(read(&format!("{row}speed = 'great'")).unwrap_err().message().contains("unknown field"));
        assert!(read(&format!("{row}token_field = 'tokens'")).is_err());
    }
}
