//! The JSON of one streamed event, and of a whole answer, written by hand: what a client is tested against must not
//! come from the client's own encoder.

use std::fmt::Write as _;

use crate::price::Cost;

/// How a request asks, by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `/v1/chat/completions`
    Chat,
    /// `/v1/completions`
    Completions,
}

impl Dialect {
    const fn id(self) -> &'static str {
        match self {
            Self::Chat => "chatcmpl-sim",
            Self::Completions => "cmpl-sim",
        }
    }
}

/// A moment in the past: `created` labels and measures nothing.
const CREATED: u64 = 1_796_051_544;

/// The id of every tool call: an answer has one at most.
const CALL_ID: &str = "call_sim";

/// Token counts of a usage object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) prompt: u64,
    pub(crate) completion: u64,
    pub(crate) reasoning: Option<u64>,
    pub(crate) cached: Option<u64>,
    /// US dollars.
    pub(crate) cost: Option<Cost>,
}

impl Usage {
    pub(crate) const fn new(prompt: u64, completion: u64) -> Self {
        Self { prompt, completion, reasoning: None, cached: None, cost: None }
    }

    fn write(self, out: &mut String) {
        let (prompt, completion) = (self.prompt, self.completion);
        let total = prompt.saturating_add(completion);
        let _ = write!(
            out,
            r#"{{"prompt_tokens":{prompt},"completion_tokens":{completion},"total_tokens":{total}"#
        );
        if let Some(cached) = self.cached {
            let _ = write!(out, r#","prompt_tokens_details":{{"cached_tokens":{cached}}}"#);
        }
        if let Some(reasoning) = self.reasoning {
            let _ = write!(out, r#","completion_tokens_details":{{"reasoning_tokens":{reasoning}}}"#);
        }
        if let Some(cost) = self.cost {
            let _ = write!(out, r#","cost":{cost}"#);
        }
        out.push('}');
    }
}

/// What one event says. Texts stand between the quotes as they are: their author has escaped them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) role: bool,
    pub(crate) content: Option<String>,
    /// The key it comes under, and the text.
    pub(crate) reasoning: Option<(&'static str, String)>,
    pub(crate) call: Option<Call>,
    pub(crate) finish: Option<String>,
    pub(crate) usage: Option<Usage>,
    /// `x_groq.usage` (W32).
    pub(crate) groq: Option<Usage>,
}

/// A part of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Its beginning: the name.
    Opens(String),
    /// Some of its arguments.
    Arguments(String),
}

impl Call {
    fn write(&self) -> String {
        match self {
            Self::Opens(name) => format!(
                r#""tool_calls":[{{"index":0,"id":"{CALL_ID}","type":"function","function":{{"name":"{name}","arguments":""}}}}]"#
            ),
            Self::Arguments(text) => {
                format!(r#""tool_calls":[{{"index":0,"function":{{"arguments":"{text}"}}}}]"#)
            }
        }
    }
}

/// `text` as it stands between the quotes of a JSON string.
pub(crate) fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

impl Chunk {
    fn has_choice(&self) -> bool {
        let says = self.content.is_some() || self.reasoning.is_some() || self.call.is_some();
        self.role || says || self.finish.is_some()
    }

    /// The whole event, `data: ` to blank line. `model` is a JSON string with its quotes.
    pub(crate) fn event(&self, dialect: Dialect, model: &str) -> Vec<u8> {
        let mut out = String::with_capacity(256);
        let object = match dialect {
            Dialect::Chat => "chat.completion.chunk",
            Dialect::Completions => "text_completion",
        };
        let id = dialect.id();
        let _ = write!(
            out,
            r#"data: {{"id":"{id}","object":"{object}","created":{CREATED},"model":{model},"choices":["#
        );
        if self.has_choice() {
            self.write_choice(&mut out, dialect);
        }
        out.push(']');
        if let Some(usage) = self.usage {
            out.push_str(r#","usage":"#);
            usage.write(&mut out);
        }
        if let Some(usage) = self.groq {
            out.push_str(r#","x_groq":{"usage":"#);
            usage.write(&mut out);
            out.push('}');
        }
        out.push_str("}\n\n");
        out.into_bytes()
    }

    fn write_choice(&self, out: &mut String, dialect: Dialect) {
        let content = self.content.as_deref();
        match dialect {
            Dialect::Chat => {
                let mut fields = Vec::new();
                if self.role {
                    fields.push(r#""role":"assistant""#.to_owned());
                }
                if let Some((key, text)) = &self.reasoning {
                    fields.push(format!(r#""{key}":"{text}""#));
                }
                if content.is_some() || self.role {
                    fields.push(format!(r#""content":"{}""#, content.unwrap_or_default()));
                }
                fields.extend(self.call.as_ref().map(Call::write));
                let _ = write!(out, r#"{{"index":0,"delta":{{{}}}"#, fields.join(","));
            }
            Dialect::Completions => {
                let text = content.or(self.reasoning.as_ref().map(|(_, text)| text.as_str()));
                let _ = write!(out, r#"{{"index":0,"text":"{}""#, text.unwrap_or_default());
            }
        }
        match &self.finish {
            Some(reason) => {
                let _ = write!(out, r#","finish_reason":"{reason}"}}"#);
            }
            None => out.push_str(r#","finish_reason":null}"#),
        }
    }
}

/// A whole answer that was not streamed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whole {
    pub(crate) content: String,
    pub(crate) reasoning: String,
    /// Name and arguments.
    pub(crate) call: Option<(String, String)>,
    pub(crate) finish: Option<String>,
    pub(crate) usage: Option<Usage>,
}

impl Whole {
    /// The body. `model` is a JSON string with its quotes.
    pub(crate) fn body(&self, dialect: Dialect, model: &str) -> Vec<u8> {
        let mut out = String::new();
        let object = match dialect {
            Dialect::Chat => "chat.completion",
            Dialect::Completions => "text_completion",
        };
        let (id, content) = (dialect.id(), &self.content);
        let _ = write!(
            out,
            r#"{{"id":"{id}","object":"{object}","created":{CREATED},"model":{model},"choices":[{{"index":0,"#
        );
        match dialect {
            Dialect::Chat => {
                let _ = write!(out, r#""message":{{"role":"assistant","content":"{content}""#);
                if !self.reasoning.is_empty() {
                    let _ = write!(out, r#","reasoning_content":"{}""#, self.reasoning);
                }
                if let Some((name, arguments)) = &self.call {
                    let _ = write!(
                        out,
                        r#","tool_calls":[{{"id":"{CALL_ID}","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}]"#
                    );
                }
                out.push('}');
            }
            Dialect::Completions => {
                let _ = write!(out, r#""text":"{}{content}""#, self.reasoning);
            }
        }
        let finish = self.finish.as_ref().map_or("null".to_owned(), |reason| format!("\"{reason}\""));
        let _ = write!(out, r#","finish_reason":{finish}}}]"#);
        if let Some(usage) = self.usage {
            out.push_str(r#","usage":"#);
            usage.write(&mut out);
        }
        out.push('}');
        out.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_these_bytes() {
        let check = |chunk: Chunk, dialect, choices_and_more: &str| {
            let event = String::from_utf8(chunk.event(dialect, "\"m\"")).unwrap();
            let (_, rest) = event.split_once(r#""choices":"#).unwrap();
            assert_eq!(rest, format!("{choices_and_more}\n\n"));
        };
        let role = Chunk { role: true, ..Chunk::default() };
        check(
            role,
            Dialect::Chat,
            r#"[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
        );
        let text = Chunk { content: Some(" a".into()), finish: Some("stop".into()), ..Chunk::default() };
        check(
            text.clone(),
            Dialect::Chat,
            r#"[{"index":0,"delta":{"content":" a"},"finish_reason":"stop"}]}"#,
        );
        check(text, Dialect::Completions, r#"[{"index":0,"text":" a","finish_reason":"stop"}]}"#);
        let usage = Chunk { usage: Some(Usage::new(7, 5)), ..Chunk::default() };
        check(
            usage,
            Dialect::Chat,
            r#"[],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}}"#,
        );
        let call = Chunk { call: Some(Call::Arguments(escaped("{\"a\":1}"))), ..Chunk::default() };
        check(
            call,
            Dialect::Chat,
            r#"[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]},"finish_reason":null}]}"#,
        );
    }

    #[test]
    fn whole_answers_are_json() {
        let whole = Whole { content: " a".into(), reasoning: " r".into(), ..Whole::default() };
        let body: serde_json::Value = serde_json::from_slice(&whole.body(Dialect::Chat, "\"m\"")).unwrap();
        assert_eq!(body["choices"][0]["message"]["reasoning_content"], " r");
        let body: serde_json::Value =
            serde_json::from_slice(&whole.body(Dialect::Completions, "\"m\"")).unwrap();
        assert_eq!(body["choices"][0]["text"], " r a");
    }
}
