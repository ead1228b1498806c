//! Which price is that of a model?

use std::fmt;

use strsim::levenshtein;

use super::{Book, Row};
use crate::Price;

/// Most names that are suggested.
const NEAREST_MAX: usize = 3;

/// The longest name that is compared, in characters.
const COMPARED_CHARS_MAX: usize = 100;

/// A price that a book does not hold, and the nearest that it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// The provider that was asked for.
    pub provider: String,
    /// The model that was asked for.
    pub model: String,
    /// `model at provider`, nearest first.
    pub nearest: Vec<String>,
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no price for '{}' at '{}'", self.model, self.provider)?;
        if !self.nearest.is_empty() {
            write!(f, ": the nearest names are {}", self.nearest.join(", "))?;
        }
        Ok(())
    }
}

impl std::error::Error for NotFound {}

impl Book {
    /// The row of a model at a provider. Names match, in this order: as they are; by an alias; without regard to case and
    /// punctuation, with the provider's usual other names, a host's address, and the model's vendor prefix left out.
    /// A date or a variant (`-2025-04-14`, `:free`) is never left out, since it may cost something else. Where several
    /// rows match and differ in price, none does.
    pub fn find(&self, provider: &str, model: &str) -> Result<&Row, NotFound> {
        let exact = self.rows.iter().find(|row| row.provider == provider && row.goes_by(model));
        exact.or_else(|| self.find_loosely(provider, model)).ok_or_else(|| NotFound {
            provider: provider.to_owned(),
            model: model.to_owned(),
            nearest: self.nearest(provider, model),
        })
    }

    /// The price of a model at a provider, by the rules of [`Book::find`].
    pub fn price(&self, provider: &str, model: &str) -> Option<Price> {
        self.find(provider, model).ok().map(|row| row.price.clone())
    }

    fn find_loosely(&self, provider: &str, model: &str) -> Option<&Row> {
        let (providers, wanted) = (provider_names(provider), model_name(model));
        let is_wanted = |name: &String| model_name(name) == wanted;
        let mut matching = self.rows.iter().filter(|row| {
            let own = provider_names(&row.provider);
            own.iter().any(|name| providers.contains(name))
                && (is_wanted(&row.model) || row.aliases.iter().any(is_wanted))
        });
        let first = matching.next()?;
        let same =
            |row: &Row| row.price.named() == first.price.named() && row.price.tiers == first.price.tiers;
        matching.all(same).then_some(first)
    }

    fn nearest(&self, provider: &str, model: &str) -> Vec<String> {
        let (providers, wanted) = (provider_names(provider), short(&model_name(model)));
        let mut near: Vec<(usize, bool, &Row)> = self
            .rows
            .iter()
            .filter_map(|row| {
                let name = short(&model_name(&row.model));
                let away = levenshtein(&name, &wanted);
                let begins = name.starts_with(&wanted) || wanted.starts_with(&name);
                let elsewhere = !provider_names(&row.provider).iter().any(|name| providers.contains(name));
                let is_near = !name.is_empty() && (begins || 3 * away <= wanted.len().max(3));
                is_near.then_some((away, elsewhere, row))
            })
            .collect();
        near.sort_by(|a, b| (a.1, a.0, a.2.key()).cmp(&(b.1, b.0, b.2.key())));
        near.iter()
            .take(NEAREST_MAX)
            .map(|(_, _, row)| format!("'{}' at '{}'", row.model, row.provider))
            .collect()
    }
}

impl Row {
    fn goes_by(&self, model: &str) -> bool {
        self.model == model || self.aliases.iter().any(|alias| alias == model)
    }
}

/// Names under which one provider goes in different places, without `ai` at the end.
const SAME_PROVIDERS: [&[&str]; 6] = [
    &["gemini", "google", "generativelanguage"],
    &["bedrock", "bedrockconverse", "amazonbedrock"],
    &["x", "grok"],
    &["dashscope", "alibaba", "qwen"],
    &["zhipu", "z", "bigmodel"],
    &["moonshot", "kimi"],
];

/// The names of a provider without case, punctuation and a final `ai`; of a host, each of its labels.
fn provider_names(provider: &str) -> Vec<String> {
    let is_host = provider.contains('.') && !provider.contains(' ') && !provider.contains('/');
    let labels: Vec<&str> = if is_host {
        let labels = provider.split(['.', ':']);
        labels
            .filter(|label| !["api", "com", "ai", "www", "net", "org", "xyz", "io"].contains(label))
            .collect()
    } else {
        vec![provider]
    };
    let mut names: Vec<String> =
        labels.into_iter().map(provider_name).filter(|name| !name.is_empty()).collect();
    let same =
        SAME_PROVIDERS.iter().find(|same| same.iter().any(|name| names.iter().any(|known| known == name)));
    names.extend(same.into_iter().flat_map(|same| same.iter().map(|name| (*name).to_owned())));
    names
}

fn provider_name(provider: &str) -> String {
    let name: String =
        provider.chars().filter(|c| c.is_alphanumeric() || *c == '/').flat_map(char::to_lowercase).collect();
    // Azure's two services have the same models at prices of their own.
    match name.strip_suffix("ai") {
        Some(stem) if name != "azureai" && !stem.is_empty() => stem.to_owned(),
        _ => name,
    }
}

/// A model's name in lower case, without its vendor's prefix; `:free` and dates stay.
fn model_name(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or_default();
    name.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

fn short(name: &str) -> String {
    name.chars().take(COMPARED_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Date;
    use super::*;

    fn book() -> Book {
        let date = Date::parse("2026-11-30").expect("a day");
        let row = |provider: &str, model: &str, price: &str| {
            Row::new(provider.into(), model.into(), price.parse().expect("a price"), "s".into(), date)
        };
        let mut aliased = row("openai", "gpt-4.1", "input=2,output=8");
        aliased.aliases = vec!["gpt-4.1-2025-04-14".into()];
        Book::new([
            aliased,
            row("openai", "gpt-4o", "input=2.5,output=10"),
            row("openai", "gpt-4o-2024-05-13", "input=5,output=15"),
            row("together_ai", "meta-llama/Llama-3.3-70B-Instruct-Turbo", "input=0.88,output=0.88"),
            row("gemini", "gemini-2.5-pro", "input=1.25,output=10"),
            row("azure", "gpt-4.1", "input=2.2,output=8.8"),
            row("azure_ai", "gpt-4.1", "input=3,output=9"),
            row("x", "a/same", "input=1,output=1"),
            row("x", "b/same", "input=2,output=1"),
        ])
    }

    #[test]
    fn names_match_where_they_surely_mean_the_same() {
        let check = |provider: &str, model: &str, right: Option<&str>| {
            let found =
                book().find(provider, model).ok().map(|row| row.price.input.expect("known").to_string());
            assert_eq!(found.as_deref(), right, "{model} at {provider}");
        };
        check("openai", "gpt-4.1", Some("2"));
        check("openai", "gpt-4.1-2025-04-14", Some("2"));
        check("OpenAI", "GPT-4.1", Some("2"));
        check("api.openai.com", "openai/gpt-4.1", Some("2"));
        check("openai", "gpt-4o-2024-05-13", Some("5"));
        check("openai", "gpt-4o-2024-11-20", None);
        check("openai", "gpt-4o:free", None);
        check("Together AI", "llama-3.3-70b-instruct-turbo", Some("0.88"));
        check("api.together.xyz", "meta-llama/Llama-3.3-70B-Instruct-Turbo", Some("0.88"));
        check("generativelanguage.googleapis.com", "gemini-2.5-pro", Some("1.25"));
        check("azure", "gpt-4.1", Some("2.2"));
        check("azure_ai", "gpt-4.1", Some("3"));
        check("groq", "gpt-4.1", None);
        check("x", "same", None);
        check("x", "a/same", Some("1"));
    }

    #[test]
    fn near_names_are_suggested() {
        let error = book().find("openai", "gpt-4o-2024-11-20").expect_err("not there").to_string();
        assert!(
            error.starts_with(
                "no price for 'gpt-4o-2024-11-20' at 'openai': the nearest names are 'gpt-4o-2024-05-13'"
            ),
            "{error}"
        );
        let error = book().find("openai", "gtp-4.1").expect_err("not there").to_string();
        assert!(error.contains("'gpt-4.1' at 'openai'"), "{error}");
        let error = book().find("openai", "unheard-of").expect_err("not there").to_string();
        assert_eq!(error, "no price for 'unheard-of' at 'openai'");
    }
}
