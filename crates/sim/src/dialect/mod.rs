//! Ways of asking a model and of answering: one file each, and one row of [`TABLE`].
//!
//! A dialect says which requests are its own, reads them into the neutral [`Wishes`], and writes what the model says as
//! bytes. When anything is said, what goes wrong and what it costs is decided elsewhere, for all dialects alike.

mod anthropic;
mod azure;
mod bedrock;
mod chat;
mod completions;
mod embeddings;
mod gemini;
mod ollama;
mod responses;
#[cfg(test)]
mod testing;

use std::fmt::Debug;
use std::ops::Deref;

use serde_json::Value;

use crate::ask::Wishes;
use crate::chunk::{Facts, Say, Whole};
use crate::http::Head;
use crate::limit::Level;
use crate::reply::Sheet;

/// Every dialect that is spoken here. The first speaks where a request is in none.
static TABLE: [&dyn Speak; 9] = [
    &chat::Chat,
    &completions::Completions,
    &anthropic::Anthropic,
    &azure::Azure,
    &gemini::Gemini,
    &ollama::Ollama,
    &responses::Responses,
    &bedrock::Bedrock,
    &embeddings::Embeddings,
];

/// A dialect, as a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect(usize);

impl Dialect {
    /// `/v1/chat/completions`, and every answer to what is in no dialect.
    pub(crate) const CHAT: Self = Self(0);

    /// How many there are.
    pub(crate) const COUNT: usize = TABLE.len();

    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// The dialect of a question that goes to `at`, and where it goes.
    pub(crate) fn heard(at: Address<'_>) -> Option<(Self, Address<'_>)> {
        let dialect = Self::all().find(|dialect| dialect.hears(at));
        dialect.map(|dialect| (dialect, at))
    }

    /// Its row.
    pub(crate) const fn row(self) -> usize {
        self.0
    }
}

impl Deref for Dialect {
    type Target = dyn Speak;

    fn deref(&self) -> &Self::Target {
        *TABLE.get(self.0).unwrap_or(&TABLE[0])
    }
}

/// Where a request goes, behind the server's prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address<'h> {
    pub(crate) path: &'h str,
    /// Without its question mark; empty where there is none.
    pub(crate) query: &'h str,
}

impl<'h> Address<'h> {
    /// Where a request goes, behind each of `prefixes` that it may be behind.
    pub(crate) fn behind(prefixes: &[String], path: &'h str, query: &'h str) -> impl Iterator<Item = Self> {
        let behind = prefixes.iter().filter_map(move |prefix| path.strip_prefix(prefix.as_str()));
        behind.map(move |path| Self { path, query })
    }
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    /// In OpenAI's words; other dialects go by the status.
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Refused {
    /// A request that cannot be understood.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { status: 400, code: "invalid_request_error", message: message.into() }
    }
}

impl From<serde_json::Error> for Refused {
    fn from(error: serde_json::Error) -> Self {
        Self::invalid(error.to_string())
    }
}

/// One dialect.
pub(crate) trait Speak: Debug + Sync {
    /// Whether a POST to this address is a question in this dialect.
    fn hears(&self, at: Address) -> bool;

    /// Whether the request shows `key` as this dialect's clients do.
    fn shows(&self, head: &Head, key: &str) -> bool {
        head.bearer() == Some(key)
    }

    /// What a request asks for.
    fn read(&self, at: Address, body: &[u8]) -> Result<Wishes, Refused>;

    /// The contents of all messages of a body, a blank line between two.
    fn prompt_text(&self, body: &Value) -> String;

    /// Writes the events of one streamed answer.
    fn writer<'a>(&self, facts: Facts<'a>) -> Box<dyn Writer + 'a>;

    /// The body of an answer that is not streamed.
    fn whole(&self, whole: &Whole, facts: Facts) -> Vec<u8>;

    /// The body of an answer that is not streamed and fails after its status of 200 was told.
    fn broken(&self) -> Vec<u8> {
        let sheet = self.error(500, "internal", "engine stopped");
        sheet.events.into_iter().flat_map(|event| event.body).collect()
    }

    /// An HTTP error, head and body.
    fn error(&self, status: u16, code: &str, message: &str) -> Sheet;

    /// The content type of a streamed answer.
    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    /// Whether a streamed answer has an event before its first output.
    fn opens(&self) -> bool {
        true
    }

    /// Whether the bytes of an event depend on nothing but the event. Such events are made once for all answers.
    fn is_stateless(&self) -> bool {
        false
    }

    /// Whether each event states the usage up to it.
    fn counts_along(&self) -> bool {
        false
    }

    /// The response header with the request's own name.
    fn request_id_header(&self) -> &'static str {
        "x-request-id"
    }

    /// The response headers that tell the limit of requests; OpenAI's, unless the dialect has its own or none.
    fn limit_headers(&self, level: Level) -> Vec<(String, String)> {
        let header = |name: &str, value: String| (format!("x-ratelimit-{name}-requests"), value);
        vec![
            header("limit", level.limit.to_string()),
            header("remaining", level.remaining.to_string()),
            header("reset", format!("{:.3}s", level.reset.as_secs_f64())),
        ]
    }
}

/// Writes one answer's events, and knows what it has written.
pub(crate) trait Writer {
    /// The bytes of the next thing that is said, framed as the dialect frames its events; empty where it is told later.
    fn event(&mut self, say: Say) -> Vec<u8>;
}

/// Stands for the signature of what was thought.
const SIGNATURE: &str = "c2lt";

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

/// The texts of the `content` of each of `messages`.
fn contents(messages: Option<&Value>) -> Vec<String> {
    let messages = messages.and_then(Value::as_array).into_iter().flatten();
    messages.filter_map(|message| message.get("content")).map(text_of).collect()
}

/// The texts of `system` and of all messages, a blank line between two.
fn conversation(body: &Value) -> String {
    let system = body.get("system").map(text_of);
    let texts: Vec<_> = system.into_iter().chain(contents(body.get("messages"))).collect();
    texts.join("\n\n")
}

/// A segment of a path, its percent signs decoded; what is no UTF-8 then is replaced.
fn segment(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits =
            after.get(..2).filter(|_| byte == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(byte));
        rest = if decoded.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The value of `name` in a query, as it stands there.
fn parameter<'h>(query: &'h str, name: &str) -> Option<&'h str> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// A tool call's arguments, which are escaped, as the object that they are; empty where a limit has cut them.
fn object(arguments: &str) -> String {
    let text = serde_json::from_str::<String>(&format!("\"{arguments}\"")).unwrap_or_default();
    let whole = serde_json::from_str::<serde_json::Map<String, Value>>(&text).is_ok();
    if whole { text } else { "{}".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let check = |text: &str, decoded: &str| assert_eq!(segment(text), decoded);
        check("a.b-1:0", "a.b-1:0");
        check("a%3A0%2", "a:0%2");
        check("%zz%ff", "%zz\u{fffd}");
        assert_eq!(parameter("a=b&alt=sse", "alt"), Some("sse"));
        assert_eq!(parameter("salt=sse", "alt"), None);
    }

    #[test]
    fn arguments_become_objects() {
        assert_eq!(object(r#"{\"a\":1}"#), r#"{"a":1}"#);
        assert_eq!(object(r#"{\"a\""#), "{}");
        assert_eq!(object("7"), "{}");
    }
}
