//! A number that JSON can hold.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Digits that a figure is written with: a nanosecond in a quarter of an hour, and far finer than any interval.
const SIGNIFICANT_DIGITS: usize = 12;

/// A figure: finite, or positive infinity ("never"). Never NaN: what does not exist is `None`.
///
/// In JSON a finite figure is a number and infinity the string `"inf"`.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub struct Num(f64);

impl Num {
    /// Never.
    pub const INFINITY: Num = Num(f64::INFINITY);

    /// `value` to twelve significant digits; `None` for NaN and negative infinity.
    pub fn new(value: f64) -> Option<Num> {
        if value.is_nan() || value == f64::NEG_INFINITY {
            return None;
        }
        if value.is_infinite() {
            return Some(Num::INFINITY);
        }
        let digits = SIGNIFICANT_DIGITS - 1;
        Some(Num(format!("{value:.digits$e}").parse().unwrap_or(value)))
    }

    /// As a float; infinity is infinity.
    pub fn get(self) -> f64 {
        self.0
    }

    /// As a float, unless it is infinity.
    pub fn finite(self) -> Option<f64> {
        self.0.is_finite().then_some(self.0)
    }
}

impl fmt::Debug for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// As a float, with its precision and width; infinity is `inf`.
impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Serialize for Num {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { serializer.serialize_f64(self.0) } else { serializer.serialize_str("inf") }
    }
}

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumVisitor)
    }
}

struct NumVisitor;

impl Visitor<'_> for NumVisitor {
    type Value = Num;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or \"inf\"")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Num, E> {
        Num::new(value).ok_or_else(|| E::custom("not a number"))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Num, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Num, E> {
        self.visit_f64(value as f64)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Num, E> {
        if value == "inf" {
            Ok(Num::INFINITY)
        } else {
            Err(E::custom("the only word for a number is \"inf\""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: f64, json: &str) {
        let written = serde_json::to_string(&Num::new(value)).unwrap();
        assert_eq!(written, json);
        assert_eq!(
            serde_json::from_str::<Option<Num>>(&written).unwrap(),
            Num::new(value),
            "{json} comes back"
        );
    }

    #[test]
    fn is_strict_json_and_comes_back() {
        check(0.1 + 0.2, "0.3");
        check(400.0, "400.0");
        check(f64::INFINITY, "\"inf\"");
        check(f64::NAN, "null");
        check(f64::NEG_INFINITY, "null");
        check(1.0 / 3.0, "0.333333333333");
        check(f64::MIN_POSITIVE, "2.22507385851e-308");
        assert!(serde_json::from_str::<Num>("\"Infinity\"").is_err());
        assert_eq!(serde_json::from_str::<Num>("-3").unwrap().get(), -3.0);
    }

    #[test]
    fn the_largest_float_stays_finite_or_becomes_infinity() {
        let largest = Num::new(f64::MAX).unwrap();
        let text = serde_json::to_string(&largest).unwrap();
        assert_eq!(serde_json::from_str::<Num>(&text).unwrap(), largest);
    }
}
