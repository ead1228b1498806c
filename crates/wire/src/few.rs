//! A list that nearly always has one element, which then needs no allocation.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};

/// Most elements that are kept: an empty element takes three bytes to send and hundreds to hold.
const MAX_ELEMENTS: usize = 1024;

/// A JSON array, its first element inline; `null` is the empty one.
#[derive(Debug)]
pub(crate) struct Few<T> {
    first: Option<T>,
    rest: Vec<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Few { first: None, rest: Vec::new() }
    }
}

impl<T> From<T> for Few<T> {
    fn from(one: T) -> Self {
        Few { first: Some(one), rest: Vec::new() }
    }
}

impl<T> Few<T> {
    /// The element, where there is just one.
    pub(crate) fn only(&self) -> Option<&T> {
        self.first.as_ref().filter(|_| self.rest.is_empty())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.rest)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Elements<T> {
            type Value = Few<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array or null")
            }

            fn visit_unit<E>(self) -> Result<Few<T>, E> {
                Ok(Few::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Few<T>, A::Error> {
                let mut few = Few { first: seq.next_element()?, rest: Vec::new() };
                while few.rest.len() < MAX_ELEMENTS - 1 {
                    let Some(element) = seq.next_element()? else { return Ok(few) };
                    few.rest.push(element);
                }
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(few)
            }
        }

        deserializer.deserialize_any(Elements(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_kept() {
        let long = format!("[{}0]", "0,".repeat(5000));
        for (json, kept) in [("null", 0), ("[]", 0), ("[1]", 1), ("[1,2,3]", 3), (&long, MAX_ELEMENTS)] {
            let few: Few<u8> = serde_json::from_str(json).unwrap();
            assert_eq!((few.is_empty(), few.into_iter().count()), (kept == 0, kept));
        }
    }
}
