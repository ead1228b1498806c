//! What a request asks for, as far as a simulated provider cares.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::chunk::Dialect;

/// One request's wishes.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) dialect: Dialect,
    /// Empty where the request names none.
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) include_usage: bool,
    /// Of the prompt's JSON text.
    pub(crate) prompt_hash: u64,
    /// Words of the prompt's JSON text between white space: a cheap stand-in for a token count.
    pub(crate) input_tokens: u64,
    /// The body, to look for refused fields.
    body: Vec<u8>,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(default, borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    max_tokens: Option<u32>,
    #[serde(default)]
    max_completion_tokens: Option<u32>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    #[serde(default, borrow)]
    messages: Option<&'a RawValue>,
    #[serde(default, borrow)]
    prompt: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: Option<bool>,
}

impl Ask {
    /// Reads a request's body; the error is for the client to read.
    pub(crate) fn parse(dialect: Dialect, bytes: Vec<u8>) -> Result<Self, String> {
        let body: Body = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        let prompt = match dialect {
            Dialect::Chat => body.messages.ok_or("`messages` is missing")?,
            Dialect::Completions => body.prompt.ok_or("`prompt` is missing")?,
        };
        let mut hasher = DefaultHasher::new();
        hasher.write(prompt.get().as_bytes());
        Ok(Self {
            dialect,
            model: body.model.unwrap_or_default().into_owned(),
            stream: body.stream.unwrap_or(false),
            max_tokens: body.max_completion_tokens.or(body.max_tokens),
            include_usage: body.stream_options.and_then(|options| options.include_usage).unwrap_or(false),
            prompt_hash: hasher.finish(),
            input_tokens: prompt.get().split_ascii_whitespace().count() as u64,
            body: bytes,
        })
    }

    /// The first of `fields` that the body has. Only looked for where something is refused.
    pub(crate) fn first_of<'f>(&self, fields: &'f [impl AsRef<str>]) -> Option<&'f str> {
        if fields.is_empty() {
            return None;
        }
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&self.body).ok()?;
        fields.iter().map(AsRef::as_ref).find(|field| {
            // `a&b`: refused only when both are there.
            field.split('&').all(|name| object.contains_key(name))
        })
    }
}

impl Ask {
    /// The contents of all messages, a blank line between two; of a completion, the prompt.
    pub(crate) fn prompt_text(&self) -> String {
        let Ok(body) = serde_json::from_slice::<Value>(&self.body) else { return String::new() };
        let texts: Vec<String> = match self.dialect {
            Dialect::Chat => {
                let messages = body.get("messages").and_then(Value::as_array);
                messages
                    .into_iter()
                    .flatten()
                    .filter_map(|message| message.get("content"))
                    .map(text_of)
                    .collect()
            }
            Dialect::Completions => body.get("prompt").into_iter().map(text_of).collect(),
        };
        texts.join("\n\n")
    }
}

/// The text of a message's content, which is a string or a list of parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.get("text").unwrap_or(part).as_str()).collect()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_needs() {
        let ask = Ask::parse(
            Dialect::Chat,
            br#"{"model":"m","stream":true,"max_tokens":9,"stream_options":{"include_usage":true},
                "messages":[{"role":"user","content":"one two three"}],"x":1}"#
                .to_vec(),
        )
        .unwrap();
        assert_eq!((ask.model.as_str(), ask.stream, ask.max_tokens), ("m", true, Some(9)));
        assert_eq!((ask.include_usage, ask.input_tokens), (true, 3));
        assert_eq!(ask.first_of(&["y", "x"]), Some("x"));
        assert_eq!(ask.first_of(&["x&y"]), None);
        assert_eq!(ask.first_of(&["x&max_tokens"]), Some("x&max_tokens"));
    }

    #[test]
    fn the_text_of_a_prompt() {
        let check = |dialect, body: &str, text: &str| {
            assert_eq!(Ask::parse(dialect, body.into()).unwrap().prompt_text(), text);
        };
        let parts = r#"[{"type":"text","text":"b"},{"type":"text","text":"c"}]"#;
        let body = format!(
            r#"{{"messages":[{{"content":"a"}},{{"role":"assistant","content":null}},{{"content":{parts}}}]}}"#
        );
        check(Dialect::Chat, &body, "a\n\n\n\nbc");
        check(Dialect::Completions, r#"{"prompt":"a b"}"#, "a b");
        check(Dialect::Completions, r#"{"prompt":["a","b"]}"#, "ab");
    }

    #[test]
    fn wrong_bodies_are_errors() {
        for wrong in ["", "[]", "{}", r#"{"prompt":"a"}"#, r#"{"messages":[],"max_tokens":-1}"#] {
            assert!(Ask::parse(Dialect::Chat, wrong.into()).is_err(), "{wrong}");
        }
    }
}
