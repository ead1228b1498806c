//! Request bodies.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
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

/// One request in full, in no dialect's words.
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
    /// The field that carries it, in the dialects that know two.
    pub token_field: TokenField,
    /// The temperature; not sent where absent.
    pub temperature: Option<f64>,
    /// Whether a stream is asked for usage (`stream_options.include_usage`); some servers refuse the field (W35).
    pub include_usage: bool,
    /// What the prompt asks for beyond that (tools, a schema, stop sequences), under chat's names: each dialect says it
    /// in its own words, or refuses to. One of a field's own name replaces ours.
    pub parameters: Option<&'a Map<String, Value>>,
    /// Further fields in the dialect's own words, merged last at the top level: one of the same name replaces ours, or
    /// joins it where it is a table of options (`generationConfig`).
    pub extra: Option<&'a Map<String, Value>>,
}

/// What a dialect has no words for, or cannot do without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsayable {
    /// The dialect.
    pub dialect: Dialect,
    /// What it cannot say: a parameter's name, or a part of a message.
    pub what: String,
    /// It is not there, and must be.
    pub is_missing: bool,
}

impl fmt::Display for Unsayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dialect, what, is_missing } = self;
        if *is_missing {
            return write!(f, "the dialect {dialect} cannot ask without `{what}`: give it a value");
        }
        write!(f, "the dialect {dialect} cannot say `{what}`: ask without it, or in a dialect that can")
    }
}

impl std::error::Error for Unsayable {}

/// The body as JSON; an error where the dialect cannot say all of it.
pub fn body(ask: &Ask<'_>) -> Result<Vec<u8>, Unsayable> {
    ask.dialect.speech().body(ask)
}

impl Ask<'_> {
    /// That this dialect cannot say `what`.
    pub(crate) fn unsayable(&self, what: impl Into<String>) -> Unsayable {
        Unsayable { dialect: self.dialect, what: what.into(), is_missing: false }
    }

    /// An error where this is neither `said` nor among the extra fields: the dialect must be told.
    pub(crate) fn require(&self, name: &str, said: bool) -> Result<(), Unsayable> {
        if said || self.extra.is_some_and(|extra| extra.contains_key(name)) {
            return Ok(());
        }
        Err(Unsayable { is_missing: true, ..self.unsayable(name) })
    }

    /// An error at the first of these parameters that is wished for.
    pub(crate) fn refuse(&self, wished: &[(&str, bool)]) -> Result<(), Unsayable> {
        let first = wished.iter().find(|(_, is_wished)| *is_wished);
        first.map_or(Ok(()), |(name, _)| Err(self.unsayable(*name)))
    }
}

/// The fields of a body while it is written. A field whose name is among the extra ones is theirs.
pub(crate) struct Fields<'a> {
    ask: &'a Ask<'a>,
    json: Vec<u8>,
    /// Names of the extra fields that are written already, with ours.
    joined: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(ask: &'a Ask<'a>) -> Self {
        Fields { ask, json: vec![b'{'], joined: Vec::new() }
    }

    /// Writes a field of ours, unless an extra one takes its place.
    pub(crate) fn put(&mut self, name: &str, value: impl Serialize) -> &mut Self {
        if self.ask.extra.is_none_or(|extra| !extra.contains_key(name)) {
            self.write(name, &value);
        }
        self
    }

    /// Writes a table of options of ours, and into it what an extra table of the same name says, which goes first.
    pub(crate) fn put_options(&mut self, name: &'static str, options: impl Serialize) -> &mut Self {
        let extra = self.ask.extra.and_then(|extra| extra.get(name));
        let (Some(Value::Object(extra)), Ok(Value::Object(mut both))) =
            (extra, serde_json::to_value(&options))
        else {
            return self.put(name, options);
        };
        both.extend(extra.clone());
        self.write(name, &both);
        self.joined.push(name);
        self
    }

    /// Writes a field where there is a value.
    pub(crate) fn put_some(&mut self, name: &str, value: Option<impl Serialize>) -> &mut Self {
        if let Some(value) = value {
            self.put(name, value);
        }
        self
    }

    /// Writes a list where there is anything in it.
    pub(crate) fn put_all(&mut self, name: &str, values: &[impl Serialize]) -> &mut Self {
        self.put_some(name, Some(values).filter(|values| !values.is_empty()))
    }

    /// Writes a field of ours in chat's words, which a parameter of the same name replaces.
    fn put_default(&mut self, name: &str, value: impl Serialize) {
        if self.ask.parameters.is_none_or(|parameters| !parameters.contains_key(name)) {
            self.put(name, value);
        }
    }

    /// Writes what chat and completions have in common: stream, token limit, temperature.
    pub(crate) fn put_sampling(&mut self) -> &mut Self {
        let ask = self.ask;
        self.put_default("stream", ask.stream);
        if ask.stream && ask.include_usage {
            self.put_default("stream_options", StreamOptions { include_usage: true });
        }
        if let Some(max_tokens) = ask.max_tokens {
            self.put_default(ask.token_field.name(), max_tokens);
        }
        if let Some(temperature) = ask.temperature {
            self.put_default("temperature", temperature);
        }
        self
    }

    /// Writes the parameters as they are: for a dialect whose words they are in.
    pub(crate) fn put_parameters(&mut self) -> &mut Self {
        for (name, value) in self.ask.parameters.into_iter().flatten() {
            self.put(name, value);
        }
        self
    }

    /// The body, the extra fields last.
    pub(crate) fn into_json(mut self) -> Vec<u8> {
        for (name, value) in self.ask.extra.into_iter().flatten() {
            if !self.joined.contains(&name.as_str()) {
                self.write(name, value);
            }
        }
        self.json.push(b'}');
        self.json
    }

    #[expect(
        clippy::expect_used,
        reason = "text keys, numbers and JSON values only: serde_json refuses none of them"
    )]
    fn write(&mut self, name: &str, value: &impl Serialize) {
        if self.json.len() > 1 {
            self.json.push(b',');
        }
        serde_json::to_writer(&mut self.json, name).expect("a name is always JSON");
        self.json.push(b':');
        serde_json::to_writer(&mut self.json, value).expect("a field is always JSON");
    }
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
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
            parameters: None,
            extra: None,
        }
    }

    fn check(ask: &Ask<'_>, expected: &str) {
        assert_eq!(String::from_utf8(body(ask).unwrap()).unwrap(), expected);
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
    fn parameters_replace_ours_and_extra_fields_both() {
        let prompt = Prompt::Text("hi".to_owned());
        let parameters = serde_json::json!({"seed": 7, "temperature": 1});
        let extra = serde_json::json!({"seed": 8});
        let ask = Ask {
            parameters: parameters.as_object(),
            include_usage: false,
            max_tokens: None,
            ..ask(&prompt)
        };
        let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"#;
        check(&ask, &format!(r#"{body}"seed":7,"temperature":1}}"#));
        check(&Ask { extra: extra.as_object(), ..ask }, &format!(r#"{body}"temperature":1,"seed":8}}"#));
    }

    /// A level of reasoning stands beside the token limit there, or beside the schema.
    #[test]
    fn extra_options_join_ours() {
        let prompt = Prompt::Text("hi".to_owned());
        let schema =
            serde_json::json!({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}});
        let read = |dialect, extra: Value, pointer: &str| {
            let ask =
                Ask { dialect, parameters: schema.as_object(), extra: extra.as_object(), ..ask(&prompt) };
            let text = String::from_utf8(body(&ask).unwrap()).unwrap();
            let name = pointer.split('/').nth(1).unwrap();
            assert_eq!(text.matches(&format!("\"{name}\":")).count(), 1, "{text}");
            serde_json::from_str::<Value>(&text).unwrap().pointer(pointer).cloned()
        };
        let level = serde_json::json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}, "temperature": 1}});
        let gemini =
            |pointer: &str| read(Dialect::Gemini, level.clone(), &format!("/generationConfig/{pointer}"));
        assert_eq!(gemini("maxOutputTokens"), Some(8.into()));
        assert_eq!(gemini("thinkingConfig/thinkingBudget"), Some(0.into()));
        assert_eq!(gemini("temperature"), Some(1.into()));
        let effort = serde_json::json!({"output_config": {"effort": "low"}});
        let messages =
            |pointer: &str| read(Dialect::Messages, effort.clone(), &format!("/output_config/{pointer}"));
        assert_eq!(messages("effort"), Some("low".into()));
        assert_eq!(messages("format/type"), Some("json_schema".into()));
        let context = serde_json::json!({"options": {"num_ctx": 4096}});
        assert_eq!(read(Dialect::Ollama, context, "/options/num_predict"), Some(8.into()));
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
