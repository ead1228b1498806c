//! A JSON value of which text is expected, but anything may come: no shape of one field fails an event.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Text, borrowed where it has no escapes; or nothing; or something else.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum Loose<'a> {
    /// `null`, or no such key.
    #[default]
    Absent,
    Text(Cow<'a, str>),
    /// A whole number, as an index is: nearly every event has one.
    Count(u64),
    /// Another number, a boolean, an array or an object; boxed, since it is rare and events are moved about.
    Other(Box<Value>),
}

impl<'a> Loose<'a> {
    /// The text; empty where there is none.
    pub(crate) fn text(&self) -> &str {
        match self {
            Loose::Text(text) => text,
            Loose::Absent | Loose::Count(_) | Loose::Other(_) => "",
        }
    }

    /// The text; empty where there is none.
    pub(crate) fn into_text(self) -> Cow<'a, str> {
        match self {
            Loose::Text(text) => text,
            Loose::Absent | Loose::Count(_) | Loose::Other(_) => Cow::Borrowed(""),
        }
    }

    /// The text, or the JSON of whatever came in its place.
    pub(crate) fn into_text_or_json(self) -> Cow<'a, str> {
        match self {
            Loose::Other(value) => Cow::Owned(value.to_string()),
            Loose::Count(count) => Cow::Owned(count.to_string()),
            text => text.into_text(),
        }
    }

    pub(crate) fn as_u64(&self) -> Option<u64> {
        match self {
            Loose::Count(count) => Some(*count),
            Loose::Absent | Loose::Text(_) | Loose::Other(_) => None,
        }
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Loose::Absent)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Loose<'de>, E> {
        Ok(Loose::Absent)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Loose<'de>, E> {
        Ok(other(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Loose<'de>, E> {
        Ok(other(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Loose<'de>, E> {
        Ok(Loose::Count(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Loose<'de>, E> {
        Ok(other(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Loose<'de>, E> {
        Ok(Loose::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Loose<'de>, E> {
        Ok(Loose::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Loose<'de>, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(seq)).map(other)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Loose<'de>, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(map)).map(other)
    }
}

fn other<'a>(value: impl Into<Value>) -> Loose<'a> {
    Loose::Other(Box::new(value.into()))
}
