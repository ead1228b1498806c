//! What the tokens of log probabilities spell, to be held against the text beside them.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::loose::Loose;

/// U+FFFD in UTF-8: what some servers state as the bytes of half a character.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// Characters that stand for others in a vocabulary's own spelling of its tokens (byte-level BPE), and for what was lost.
const NO_TEXT: [char; 3] = ['Ġ', 'Ċ', '\u{FFFD}'];

/// The tokens of a choice's log probabilities, put together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Spelling {
    /// No log probabilities came for content.
    #[default]
    Absent,
    /// They came, and what they spell cannot be known: half a character without its bytes, a token in its vocabulary's
    /// own spelling, or more than is kept.
    Unreadable,
    /// The bytes that they spell.
    Bytes(Vec<u8>),
}

impl Spelling {
    /// How many bytes are kept.
    pub(crate) fn len(&self) -> usize {
        match self {
            Spelling::Absent | Spelling::Unreadable => 0,
            Spelling::Bytes(bytes) => bytes.len(),
        }
    }

    /// Adds what follows. One token that cannot be read makes the whole unreadable.
    pub(crate) fn append(&mut self, more: Spelling) {
        match (&mut *self, more) {
            (Spelling::Unreadable, _) | (_, Spelling::Absent) => {}
            (Spelling::Bytes(bytes), Spelling::Bytes(more)) => bytes.extend_from_slice(&more),
            (_, more) => *self = more,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        match self {
            Spelling::Unreadable => {}
            Spelling::Absent => *self = Spelling::Bytes(bytes.to_vec()),
            Spelling::Bytes(known) => known.extend_from_slice(bytes),
        }
    }

    /// Adds a token of which only its text is known.
    fn push_text(&mut self, token: &str) {
        if token.contains(NO_TEXT) || token.starts_with("<0x") {
            *self = Spelling::Unreadable;
        } else {
            self.push(token.replace('▁', " ").as_bytes());
        }
    }

    fn push_token(&mut self, token: &Token<'_>) {
        let stated = token.bytes.map(|raw| serde_json::from_str::<Vec<u8>>(raw.get()));
        match stated {
            Some(Ok(bytes)) if bytes != REPLACEMENT => self.push(&bytes),
            Some(_) => *self = Spelling::Unreadable,
            None => self.push_text(token.token.text()),
        }
    }
}

/// What the log probabilities of one message say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Logprobs {
    /// Tokens listed: chat's `content` and `refusal`, completions' `tokens`.
    pub(crate) count: u64,
    /// What those of the content spell.
    pub(crate) spelling: Spelling,
}

impl Logprobs {
    /// Reads a choice's `logprobs`; of a shape that is not known, nothing.
    pub(crate) fn read(raw: &RawValue) -> Logprobs {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Lists {
            content: List,
            refusal: List,
            tokens: List,
        }
        let Lists { content, refusal, tokens } = serde_json::from_str(raw.get()).unwrap_or_default();
        let mut spelling = content.0.spelling;
        spelling.append(tokens.0.spelling);
        Logprobs { count: content.0.count + refusal.0.count + tokens.0.count, spelling }
    }
}

/// A list of tokens, folded as it is read: an empty element takes three bytes to send and many to hold.
#[derive(Debug, Default)]
struct List(Logprobs);

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements;

        impl<'de> Visitor<'de> for Elements {
            type Value = List;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array or null")
            }

            fn visit_unit<E>(self) -> Result<List, E> {
                Ok(List::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List, A::Error> {
                let mut list = Logprobs::default();
                while let Some(element) = seq.next_element::<Element<'de>>()? {
                    list.count += 1;
                    match element {
                        // Stands for a token of another channel (sglang#26778).
                        Element::Null => {}
                        Element::Text(text) => list.spelling.push_text(&text),
                        Element::Token(token) => list.spelling.push_token(&token),
                        Element::Unknown => list.spelling = Spelling::Unreadable,
                    }
                }
                Ok(List(list))
            }
        }

        deserializer.deserialize_any(Elements)
    }
}

/// A token of chat's lists.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Token<'a> {
    #[serde(borrow)]
    token: Loose<'a>,
    #[serde(borrow)]
    bytes: Option<&'a RawValue>,
}

/// What may stand in a list.
enum Element<'a> {
    Null,
    Text(Cow<'a, str>),
    Token(Token<'a>),
    Unknown,
}

impl<'de> Deserialize<'de> for Element<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Element<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Element::Null)
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Element::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Element::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Token::deserialize(MapAccessDeserializer::new(map)).map(Element::Token)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Element::Unknown)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Element::Unknown)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Element::Unknown)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Element::Unknown)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Element::Unknown)
            }
        }

        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `json` lists so many tokens, which spell `right`: `-` nothing, `?` what cannot be known.
    fn check(json: &str, count: u64, right: &str) {
        let raw = RawValue::from_string(json.to_owned()).unwrap();
        let spelling = match right {
            "-" => Spelling::Absent,
            "?" => Spelling::Unreadable,
            text => Spelling::Bytes(text.as_bytes().to_vec()),
        };
        assert_eq!(Logprobs::read(&raw), Logprobs { count, spelling }, "{json}");
    }

    #[test]
    fn tokens_spell_bytes() {
        let chat = |list: &str| format!(r#"{{"content":[{list}],"refusal":null}}"#);
        check(&chat(r#"{"token":"ma","bytes":[109,97]},{"token":"p","bytes":[112]}"#), 2, "map");
        // A character in two tokens is joined through its bytes, whatever stands for the halves.
        check(&chat(r#"{"token":"\ufffd","bytes":[195]},{"token":"\ufffd","bytes":[164]}"#), 2, "ä");
        check(&chat(r#"{"token":"\ufffd","bytes":null}"#), 1, "?");
        check(&chat(r#"{"token":"\ufffd","bytes":[239,191,189]}"#), 1, "?");
        check(&chat(r#"{"token":"Ġmap"}"#), 1, "?");
        check(&chat(r#"{"token":"<0xE8>"}"#), 1, "?");
        check(&chat(r#"{"token":"a","bytes":[999]}"#), 1, "?");
        check(&chat(r#"{"token":"▁map","bytes":null,"top_logprobs":[{"token":"x"}]}"#), 1, " map");
        check(&chat(r#"null,{"token":"a"}"#), 2, "a");
        check(&chat("7,true,[1]"), 3, "?");
        check(&chat(""), 0, "-");
        check(r#"{"tokens":["m","ap"],"token_logprobs":[-1,-2]}"#, 2, "map");
        check(r#"{"refusal":[{"token":"no"}]}"#, 1, "-");
        check(r#"{"content":7}"#, 0, "-");
        check("null", 0, "-");
    }
}
