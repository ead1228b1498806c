//! The dialects: how a provider speaks. Each is one module with one [`Speech`], and one row of the table below.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::loose::Loose;
use crate::request::{Ask, Unsayable};
use crate::step::Step;

mod azure;
mod bedrock;
mod chat;
mod completions;
mod embeddings;
mod gemini;
mod messages;
mod ollama;
mod openai;
mod responses;

/// What stands in an address for one segment of any text, a model's name mostly.
pub(crate) const ANY: &str = "*";

/// How one dialect is spoken: where and what is sent, and what the messages of an answer mean.
pub(crate) trait Speech: Sync {
    /// The name on the command line and in records.
    fn name(&self) -> &'static str;

    /// The API's prefix, which a bare host gets; without slashes at its ends.
    fn prefix(&self) -> &'static str {
        "v1"
    }

    /// The segments of its endpoint's path below the prefix; [`ANY`] for the model's name. By them a whole endpoint
    /// address is known.
    fn tail(&self) -> &'static [&'static str];

    /// The endpoint's path below the prefix, for a model asked to stream or not.
    fn path(&self, model: &str, stream: bool) -> String {
        let _ = stream;
        let segments = self.tail().iter();
        let named: Vec<_> =
            segments.map(|part| if *part == ANY { segment(model) } else { (*part).into() }).collect();
        named.join("/")
    }

    /// Where the API lists its models, below the prefix; `None` where it does not, or not there.
    fn models(&self) -> Option<&'static str> {
        Some("models")
    }

    /// A parameter that its address must have, where the address does not have it already: name and value.
    fn query(&self, stream: bool) -> Option<(&'static str, &'static str)> {
        let _ = stream;
        None
    }

    /// Where a key goes.
    fn auth(&self) -> Auth {
        Auth::Bearer
    }

    /// Headers that every request has.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Whether an answer is text, made token by token: what can stream, be limited and end for a reason.
    fn generates(&self) -> bool {
        true
    }

    /// The finish reasons that its own documentation knows.
    fn finish_reasons(&self) -> &'static [&'static str] {
        &["stop", "length", "tool_calls", "function_call", "content_filter"]
    }

    /// How a stream is cut into messages.
    fn framing(&self) -> Framing {
        Framing::Events
    }

    /// What is sent. What the dialect has no words for is an error, never left out.
    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, Unsayable>;

    /// Reads one message of a stream, or a whole answer, and tells `step` what it adds. Nothing is told of a message
    /// that cannot be read.
    fn read(&self, message: Message<'_>, step: &mut Step<'_>) -> Result<(), serde_json::Error>;
}

/// One message of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    /// The event's name; empty where the framing gives none.
    pub(crate) name: &'a [u8],
    /// Its JSON, which begins with a brace.
    pub(crate) text: &'a str,
}

impl<'a> Message<'a> {
    /// Of what kind the message is: what its data says, or else the event's name (W62).
    fn kind<'k>(&self, said: &'k Loose<'_>) -> &'k str
    where
        'a: 'k,
    {
        match said.text() {
            // An event without a name is a `message`, and may say so.
            "" if self.name == b"message" => "",
            "" => std::str::from_utf8(self.name).unwrap_or_default(),
            kind => kind,
        }
    }
}

/// How a stream is cut into messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// A JSON text a line (W88).
    Lines,
    /// Amazon's binary event stream (W89).
    Binary,
}

/// Where a key goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// `authorization: Bearer …`.
    Bearer,
    /// A header of this name, its value the key alone.
    Header(&'static str),
}

/// The table: a row is the variant, its doc, and its speech.
macro_rules! dialects {
    ($($(#[$doc:meta])* $variant:ident => $speech:expr),+ $(,)?) => {
        /// How a provider speaks.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Dialect {
            $($(#[$doc])* $variant),+
        }

        impl Dialect {
            /// Every dialect, in the order of help texts.
            pub const ALL: &'static [Dialect] = &[$(Dialect::$variant),+];

            pub(crate) fn speech(self) -> &'static dyn Speech {
                match self {
                    $(Dialect::$variant => &$speech),+
                }
            }
        }
    };
}

dialects! {
    /// OpenAI's chat completions: messages in, deltas out.
    #[default]
    Chat => chat::Chat,
    /// OpenAI's older text completions: a prompt in, text out.
    Completions => completions::Completions,
    /// Azure OpenAI: chat at a deployment of one's own.
    Azure => azure::Azure,
    /// Gemini's native API.
    Gemini => gemini::Gemini,
    /// OpenAI's Responses.
    Responses => responses::Responses,
    /// Anthropic's Messages.
    Messages => messages::Messages,
    /// Ollama's native chat: newline-delimited JSON.
    Ollama => ollama::Ollama,
    /// Amazon Bedrock's Converse: a binary event stream.
    Bedrock => bedrock::Bedrock,
    /// OpenAI's embeddings: a text in, a vector out.
    Embeddings => embeddings::Embeddings,
}

impl Dialect {
    /// The name on the command line and in records.
    pub fn name(self) -> &'static str {
        self.speech().name()
    }

    /// Where a key goes, unless the provider says otherwise.
    pub fn auth(self) -> Auth {
        self.speech().auth()
    }

    /// Whether an answer is text, made token by token; otherwise it is vectors, which come whole.
    pub fn generates(self) -> bool {
        self.speech().generates()
    }

    /// What a request says it accepts, to stream or not.
    pub fn accept(self, stream: bool) -> &'static str {
        match self.speech().framing() {
            Framing::Binary if stream => "application/vnd.amazon.eventstream, application/json",
            Framing::Events | Framing::Lines if stream => "text/event-stream, application/json",
            _ => "application/json",
        }
    }

    /// Headers that every request has.
    pub fn headers(self) -> &'static [(&'static str, &'static str)] {
        self.speech().headers()
    }

    /// All names, for messages: `chat or completions`.
    fn names() -> String {
        let names: Vec<_> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }
}

/// A text of at least one character that stands in the message as it is.
fn borrowed<'a>(value: &'a Loose<'_>) -> Option<&'a str> {
    match value {
        Loose::Text(Cow::Borrowed(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// `text` as one segment of a path: all but letters, digits and `-._~` percent-encoded.
fn segment(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let encoded = text.bytes().map(|byte| match byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    Cow::Owned(encoded.collect())
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDialect(
    /// What was given.
    pub String,
);

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown dialect '{}': use {}", self.0, Dialect::names())
    }
}

impl std::error::Error for UnknownDialect {}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Dialect, UnknownDialect> {
        let known = Dialect::ALL.iter().copied().find(|dialect| dialect.name() == name);
        known.ok_or_else(|| UnknownDialect(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for dialect in Dialect::ALL {
            assert_eq!(dialect.to_string().parse(), Ok(*dialect));
        }
        let error = "sunset".parse::<Dialect>().unwrap_err().to_string();
        assert!(error.starts_with("unknown dialect 'sunset': use chat, "), "{error}");
    }

    #[test]
    fn a_model_s_name_is_one_segment() {
        assert_eq!(segment("gemini-2.5_x"), "gemini-2.5_x");
        assert_eq!(segment("a.b-v1:0/é"), "a.b-v1%3A0%2F%C3%A9");
    }
}
