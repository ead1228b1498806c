//! What a request asks for, as far as a simulated provider cares.

use std::hash::{DefaultHasher, Hasher};

use serde_json::Value;

use crate::dialect::{Address, Dialect, Refused};
use crate::vectors::Wanted;

/// What one request asks for, in no dialect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// Empty where the request names none.
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) max_tokens: Option<u32>,
    /// Whether a stream is to end with its usage: in many dialects, always.
    pub(crate) include_usage: bool,
    /// Of the prompt's JSON text.
    pub(crate) prompt_hash: u64,
    /// Words of the prompt's JSON text between white space: a cheap stand-in for a token count.
    pub(crate) input_tokens: u64,
    /// Vectors, instead of text.
    pub(crate) vectors: Option<Wanted>,
}

impl Wishes {
    /// No wishes yet, about the prompt whose parts have these JSON texts.
    pub(crate) fn of(prompt: &[&str]) -> Self {
        let mut hasher = DefaultHasher::new();
        let mut input_tokens = 0;
        for part in prompt {
            hasher.write(part.as_bytes());
            input_tokens += part.split_ascii_whitespace().count() as u64;
        }
        Self { prompt_hash: hasher.finish(), input_tokens, ..Self::default() }
    }
}

/// A request for an answer.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) dialect: Dialect,
    pub(crate) wishes: Wishes,
    /// The body, to look for refused fields.
    body: Vec<u8>,
}

impl Ask {
    /// Reads a request's body.
    pub(crate) fn parse(dialect: Dialect, at: Address, body: Vec<u8>) -> Result<Self, Refused> {
        Ok(Self { dialect, wishes: dialect.read(at, &body)?, body })
    }

    /// The first of `fields` that the body has. Only looked for where something is refused.
    pub(crate) fn first_of<'f>(&self, fields: &'f [impl AsRef<str>]) -> Option<&'f str> {
        if fields.is_empty() {
            return None;
        }
        let object: serde_json::Map<String, Value> = serde_json::from_slice(&self.body).ok()?;
        fields.iter().map(AsRef::as_ref).find(|field| {
            // `a&b`: refused only when both are there.
            field.split('&').all(|name| object.contains_key(name))
        })
    }

    /// The contents of all messages, a blank line between two; of a completion, the prompt.
    pub(crate) fn prompt_text(&self) -> String {
        serde_json::from_slice(&self.body)
            .map_or_else(|_| String::new(), |body| self.dialect.prompt_text(&body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found() {
        let body = br#"{"max_tokens":9,"messages":[],"x":1}"#;
        let ask = Ask::parse(Dialect::CHAT, Address::default(), body.to_vec()).unwrap();
        assert_eq!(ask.first_of(&["y", "x"]), Some("x"));
        assert_eq!(ask.first_of(&["x&model"]), None);
        assert_eq!(ask.first_of(&["x&max_tokens"]), Some("x&max_tokens"));
    }

    #[test]
    fn prompts_are_counted_and_told_apart() {
        let (one, two) = (Wishes::of(&["one two three"]), Wishes::of(&["one", "two three "]));
        assert_eq!((one.input_tokens, two.input_tokens), (3, 3));
        assert_ne!(one.prompt_hash, two.prompt_hash);
    }
}
