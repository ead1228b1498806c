//! The vectors of an answer that is no text: measured, not kept.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// The vectors of one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vectors {
    /// How many.
    pub count: u64,
    /// Components of each; 0 where there is no vector, or they are empty.
    pub dimensions: u64,
    /// Whether all components of one of them are 0: it has no direction.
    pub has_zero: bool,
}

/// Vectors of one answer that are not of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lengths(u64, u64);

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "vectors of {} and of {} components in one answer", self.0, self.1)
    }
}

impl Vectors {
    /// What some vectors have in common; an error where it is not their length.
    pub(crate) fn of(vectors: impl Iterator<Item = Vector>) -> Result<Self, Lengths> {
        let mut all = Vectors::default();
        for vector in vectors {
            if all.count > 0 && vector.dimensions != all.dimensions {
                return Err(Lengths(all.dimensions, vector.dimensions));
            }
            all.count += 1;
            all.dimensions = vector.dimensions;
            all.has_zero |= vector.dimensions > 0 && vector.is_zero;
        }
        Ok(all)
    }
}

/// One vector, as a list of numbers or as the base64 of 32-bit ones; anything else, and what is not finite, is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vector {
    dimensions: u64,
    is_zero: bool,
}

impl Vector {
    const EMPTY: Vector = Vector { dimensions: 0, is_zero: true };

    fn push(&mut self, component: f64) {
        self.dimensions += 1;
        self.is_zero &= component == 0.0;
    }
}

impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Components)
    }
}

struct Components;

impl<'de> Visitor<'de> for Components {
    type Value = Vector;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers, or base64")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut components: A) -> Result<Vector, A::Error> {
        let mut vector = Vector::EMPTY;
        // JSON has no number that is not finite, and what is too large for one is refused by its reader.
        while let Some(component) = components.next_element::<f64>()? {
            vector.push(component);
        }
        Ok(vector)
    }

    fn visit_str<E: Error>(self, base64: &str) -> Result<Vector, E> {
        let bytes = STANDARD.decode(base64).map_err(|error| E::custom(format!("no base64: {error}")))?;
        let (components, []) = bytes.as_chunks::<4>() else {
            return Err(E::custom(format!("{} bytes are no list of 32-bit numbers", bytes.len())));
        };
        let mut vector = Vector::EMPTY;
        for component in components {
            let component = f32::from_le_bytes(*component);
            if !component.is_finite() {
                return Err(E::custom(format!("a component is {component}")));
            }
            vector.push(component.into());
        }
        Ok(vector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base64(components: &[f32]) -> String {
        let bytes: Vec<u8> = components.iter().flat_map(|component| component.to_le_bytes()).collect();
        format!("\"{}\"", STANDARD.encode(bytes))
    }

    #[test]
    fn vectors_are_measured_or_refused() {
        let check = |json: &str, right: Result<(u64, bool), &str>| {
            let read = serde_json::from_str::<Vector>(json);
            match (read, right) {
                (Ok(vector), Ok(right)) => assert_eq!((vector.dimensions, vector.is_zero), right, "{json}"),
                (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{json}: {error}"),
                (read, _) => panic!("{json}: {read:?}"),
            }
        };
        check("[0.5,-1,2e-3]", Ok((3, false)));
        check("[0,0.0,-0.0]", Ok((3, true)));
        check("[]", Ok((0, true)));
        check(&base64(&[0.5, -1.0]), Ok((2, false)));
        check(&base64(&[0.0]), Ok((1, true)));
        check("\"\"", Ok((0, true)));
        check("[0.5,null]", Err("invalid type: null"));
        check("[0.5,\"1\"]", Err("invalid type: string"));
        check("[[0.5],[1]]", Err("invalid type: sequence"));
        check("[1e999]", Err("out of range"));
        check("[NaN]", Err("expected value"));
        check("{\"a\":1}", Err("a list of numbers, or base64"));
        check("\"AAAA AA\"", Err("no base64"));
        check("\"AAAAAA==\"", Ok((1, true)));
        check("\"AAAA\"", Err("3 bytes are no list"));
        check(&base64(&[1.0, f32::NAN]), Err("a component is NaN"));
        check(&base64(&[f32::NEG_INFINITY]), Err("a component is -inf"));
    }

    #[test]
    fn vectors_of_one_answer_have_one_length() {
        let of = |lengths: &[(u64, bool)]| {
            let vectors = lengths
                .iter()
                .map(|(dimensions, is_zero)| Vector { dimensions: *dimensions, is_zero: *is_zero });
            Vectors::of(vectors).map_err(|lengths| lengths.to_string())
        };
        assert_eq!(of(&[]), Ok(Vectors::default()));
        assert_eq!(of(&[(3, false), (3, true)]), Ok(Vectors { count: 2, dimensions: 3, has_zero: true }));
        assert_eq!(of(&[(0, true)]), Ok(Vectors { count: 1, dimensions: 0, has_zero: false }));
        assert_eq!(
            of(&[(3, false), (4, false)]),
            Err("vectors of 3 and of 4 components in one answer".to_owned())
        );
    }
}
