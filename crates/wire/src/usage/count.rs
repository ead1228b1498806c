//! One count of a usage object.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Largest count that is believed: 2^53, above which a JSON number is no longer exact in most readers.
const MAX_COUNT: u64 = 1 << 53;

/// A count as stated: valid, or absent, or no count at all (W39).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Count {
    #[default]
    Absent,
    Invalid,
    Valid(u64),
}

impl Count {
    pub(super) fn valid(self) -> Option<u64> {
        match self {
            Count::Valid(count) => Some(count),
            Count::Absent | Count::Invalid => None,
        }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Stated)
    }
}

struct Stated;

impl<'de> Visitor<'de> for Stated {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Count, E> {
        Ok(Count::Absent)
    }

    fn visit_u64<E>(self, count: u64) -> Result<Count, E> {
        Ok(if count <= MAX_COUNT { Count::Valid(count) } else { Count::Invalid })
    }

    /// `12.0` is a count in languages that have one kind of number.
    fn visit_f64<E>(self, count: f64) -> Result<Count, E> {
        let is_count = count.fract() == 0.0 && (0.0..=MAX_COUNT as f64).contains(&count);
        Ok(if is_count { Count::Valid(count as u64) } else { Count::Invalid })
    }

    /// Only negative numbers come here.
    fn visit_i64<E>(self, _: i64) -> Result<Count, E> {
        Ok(Count::Invalid)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Count, E> {
        Ok(Count::Invalid)
    }

    fn visit_str<E>(self, _: &str) -> Result<Count, E> {
        Ok(Count::Invalid)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Count, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Count::Invalid)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Count, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Count::Invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_count() {
        for (json, expected) in [
            ("null", Count::Absent),
            ("0", Count::Valid(0)),
            ("12", Count::Valid(12)),
            ("12.0", Count::Valid(12)),
            ("9007199254740992", Count::Valid(1 << 53)),
            ("9007199254740993", Count::Invalid),
            ("1e300", Count::Invalid),
            ("-1", Count::Invalid),
            ("1.5", Count::Invalid),
            ("\"12\"", Count::Invalid),
            ("true", Count::Invalid),
            ("[1]", Count::Invalid),
            ("{\"n\":1}", Count::Invalid),
        ] {
            assert_eq!(serde_json::from_str::<Count>(json).unwrap(), expected, "{json}");
        }
    }
}
