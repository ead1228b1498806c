//! Request bodies.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::dialect::Dialect;

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// What was said.
    pub content: String,
}

/// What is asked.
#[derive(Clone, Debug)]
pub enum Prompt {
    /// One text: chat sends it as a user's message.
    Text(String),
    /// A conversation.
    Messages(Vec<Message>),
    /// A conversation as a dataset holds it: a JSON array of messages, sent as it is.
    Raw(Box<RawValue>),
}

impl Prompt {
    /// The text alone: contents joined by a blank line. What completions are asked, and what is counted.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Prompt::Text(text) => Cow::Borrowed(text),
            Prompt::Messages(messages) => {
                let contents: Vec<_> = messages.iter().map(|message| message.content.as_str()).collect();
                Cow::Owned(contents.join("\n\n"))
            }
            Prompt::Raw(raw) => Cow::Owned(raw_text(raw)),
        }
    }
}

/// Which field carries the token limit: newer models refuse the old one, older servers do not know the new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenField {
    /// `max_tokens`.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

impl TokenField {
    /// The field's name.
    pub const fn name(self) -> &'static str {
        match self {
            TokenField::MaxTokens => "max_tokens",
            TokenField::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// One request in full.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// How the provider speaks.
    pub dialect: Dialect,
    /// The model.
    pub model: &'a str,
    /// The prompt.
    pub prompt: &'a Prompt,
    /// Whether to stream.
    pub stream: bool,
    /// The most tokens to answer with; no limit is sent where absent.
    pub max_tokens: Option<u32>,
    /// The field that carries it.
    pub token_field: TokenField,
    /// The temperature; not sent where absent.
    pub temperature: Option<f64>,
    /// Whether a stream is asked for usage (`stream_options.include_usage`); some servers refuse the field (W35).
    pub include_usage: bool,
    /// Further fields, merged last at the top level: one of the same name replaces ours.
    pub extra: Option<&'a Map<String, Value>>,
}

/// The body as JSON.
#[expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "text keys, numbers and JSON values only: serde_json refuses none of them"
)]
pub fn body(ask: &Ask<'_>) -> Vec<u8> {
    serde_json::to_vec(ask).expect("a request body is always JSON")
}

impl Serialize for Ask<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = Fields { map: serializer.serialize_map(None)?, extra: self.extra };
        fields.put("model", &self.model)?;
        match (self.dialect, self.prompt) {
            (Dialect::Completions, prompt) => fields.put("prompt", &prompt.text()),
            (Dialect::Chat, Prompt::Text(text)) => {
                fields.put("messages", &[Said { role: "user", content: text }])
            }
            (Dialect::Chat, Prompt::Messages(messages)) => fields.put("messages", messages),
            (Dialect::Chat, Prompt::Raw(messages)) => fields.put("messages", messages),
        }?;
        fields.put("stream", &self.stream)?;
        if self.stream && self.include_usage {
            fields.put("stream_options", &StreamOptions { include_usage: true })?;
        }
        if let Some(max_tokens) = self.max_tokens {
            fields.put(self.token_field.name(), &max_tokens)?;
        }
        if let Some(temperature) = self.temperature {
            fields.put("temperature", &temperature)?;
        }
        for (name, value) in self.extra.into_iter().flatten() {
            fields.map.serialize_entry(name, value)?;
        }
        fields.map.end()
    }
}

#[derive(Serialize)]
struct Said<'a> {
    role: &'a str,
    content: &'a str,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

struct Fields<'a, M> {
    map: M,
    extra: Option<&'a Map<String, Value>>,
}

impl<M: SerializeMap> Fields<'_, M> {
    /// Writes a field of ours, unless an extra one takes its place.
    fn put<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), M::Error> {
        match self.extra {
            Some(extra) if extra.contains_key(name) => Ok(()),
            _ => self.map.serialize_entry(name, value),
        }
    }
}

/// The contents of raw messages; of content in parts, their texts.
fn raw_text(raw: &RawValue) -> String {
    let messages: Vec<Value> = serde_json::from_str(raw.get()).unwrap_or_default();
    let contents = messages.iter().filter_map(|message| message.get("content"));
    let texts: Vec<&str> = contents.flat_map(content_texts).collect();
    texts.join("\n\n")
}

fn content_texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(prompt: &Prompt) -> Ask<'_> {
        Ask {
            dialect: Dialect::Chat,
            model: "m",
            prompt,
            stream: true,
            max_tokens: Some(8),
            token_field: TokenField::MaxTokens,
            temperature: Some(0.0),
            include_usage: true,
            extra: None,
        }
    }

    fn check(ask: &Ask<'_>, expected: &str) {
        assert_eq!(String::from_utf8(body(ask)).unwrap(), expected);
    }

    #[test]
    fn chat() {
        let prompt = Prompt::Text("say \"hi\"".to_owned());
        check(
            &ask(&prompt),
            r#"{"model":"m","messages":[{"role":"user","content":"say \"hi\""}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":8,"temperature":0.0}"#,
        );
        check(
            &Ask { stream: false, max_tokens: None, temperature: None, ..ask(&prompt) },
            r#"{"model":"m","messages":[{"role":"user","content":"say \"hi\""}],"stream":false}"#,
        );
    }

    #[test]
    fn completions() {
        let message =
            |role: &str, content: &str| Message { role: role.to_owned(), content: content.to_owned() };
        let prompt = Prompt::Messages(vec![message("system", "be brief"), message("user", "hi")]);
        let ask = Ask { dialect: Dialect::Completions, include_usage: false, ..ask(&prompt) };
        check(
            &ask,
            r#"{"model":"m","prompt":"be brief\n\nhi","stream":true,"max_tokens":8,"temperature":0.0}"#,
        );
    }

    #[test]
    fn raw_messages_stay_as_they_are() {
        let raw = r#"[{"role":"user", "content":[{"type":"text","text":"hi"}],"n":1.50}]"#;
        let prompt = Prompt::Raw(RawValue::from_string(raw.to_owned()).unwrap());
        let ask = Ask { token_field: TokenField::MaxCompletionTokens, include_usage: false, ..ask(&prompt) };
        check(
            &ask,
            &format!(
                r#"{{"model":"m","messages":{raw},"stream":true,"max_completion_tokens":8,"temperature":0.0}}"#
            ),
        );
        assert_eq!(prompt.text(), "hi");
    }

    #[test]
    fn extra_fields_replace_ours() {
        let prompt = Prompt::Text("hi".to_owned());
        let extra = serde_json::json!({"temperature": 1, "max_tokens": null, "ignore_eos": true});
        let ask = Ask { extra: extra.as_object(), include_usage: false, ..ask(&prompt) };
        check(
            &ask,
            r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"ignore_eos":true,"max_tokens":null,"temperature":1}"#,
        );
    }
}
