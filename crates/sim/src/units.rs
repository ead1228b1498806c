//! Lengths of time and shares as they are typed: `50ms`, `5%`.

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// The longest time a configuration may name.
const LONGEST: Duration = Duration::from_secs(86_400);

/// Reads `50ms`, `1.5s`, `200us`, `10ns`, `2m` or `0`. At most a day.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let wrong = || format!("`{text}` is not a time: write a number with ns, us, ms, s or m, as in `50ms`");
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let seconds_per_unit = match unit.trim() {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "" if number == "0" => 1.0,
        _ => return Err(wrong()),
    };
    let number = f64::from_str(number).map_err(|_| wrong())?;
    let span = Duration::try_from_secs_f64(number * seconds_per_unit).map_err(|_| wrong())?;
    if span > LONGEST { Err(format!("`{text}` is longer than a day")) } else { Ok(span) }
}

/// Reads a share: `5%`, or a number from 0 to 1.
pub(crate) fn parse_share(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is not a share: write `5%`, or a number from 0 to 1");
    let share = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map_err(|_| wrong())? / 100.0,
        None => text.trim().parse().map_err(|_| wrong())?,
    };
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(wrong()) }
}

/// For `#[serde(deserialize_with)]` on a time.
pub(crate) fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    parsed(from, parse_duration)
}

/// For `#[serde(deserialize_with)]` on a time that may be absent.
pub(crate) fn some_duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    duration(from).map(Some)
}

/// For `#[serde(with)]` on a time that is also told.
pub(crate) mod text {
    use std::time::Duration;

    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::span(*span))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        super::duration(from)
    }
}

/// A time as it is typed: in the largest unit that it is a whole number of.
pub(crate) fn span(span: Duration) -> String {
    let nanos = span.as_nanos();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let unit = units.into_iter().find(|(length, _)| nanos.is_multiple_of(*length));
    let (length, name) = unit.unwrap_or((1, "ns"));
    format!("{}{name}", nanos / length)
}

/// For `#[serde(deserialize_with)]` on a share: a string such as `5%`, or a number from 0 to 1.
pub(crate) fn share<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    number_or_text(
        from,
        "a share such as 0.05 or \"5%\"",
        |number| parse_share(&number.to_string()),
        parse_share,
    )
}

/// Reads a string through `parse`.
pub(crate) fn parsed<'de, D, T>(from: D, parse: fn(&str) -> Result<T, String>) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
{
    parse(&String::deserialize(from)?).map_err(de::Error::custom)
}

/// Reads a value that is typed as a number or as text.
pub(crate) fn number_or_text<'de, D, T>(
    from: D,
    expected: &'static str,
    number: fn(f64) -> Result<T, String>,
    text: fn(&str) -> Result<T, String>,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
{
    struct Either<T> {
        expected: &'static str,
        number: fn(f64) -> Result<T, String>,
        text: fn(&str) -> Result<T, String>,
    }
    impl<T> de::Visitor<'_> for Either<T> {
        type Value = T;
        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str(self.expected)
        }
        fn visit_f64<E: de::Error>(self, value: f64) -> Result<T, E> {
            (self.number)(value).map_err(E::custom)
        }
        fn visit_i64<E: de::Error>(self, value: i64) -> Result<T, E> {
            self.visit_f64(value as f64)
        }
        fn visit_u64<E: de::Error>(self, value: u64) -> Result<T, E> {
            self.visit_f64(value as f64)
        }
        fn visit_str<E: de::Error>(self, value: &str) -> Result<T, E> {
            (self.text)(value).map_err(E::custom)
        }
    }
    from.deserialize_any(Either { expected, number, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let check = |text: &str, millis: Option<f64>| {
            let got = parse_duration(text).ok().map(|span| span.as_secs_f64() * 1e3);
            assert_eq!(got, millis, "{text}");
        };
        check("50ms", Some(50.0));
        check(" 1.5s ", Some(1500.0));
        check("200us", Some(0.2));
        check("2 m", Some(120_000.0));
        check("0", Some(0.0));
        let told = |text: &str| span(parse_duration(text).unwrap());
        assert_eq!(["0", "1.5s", "2m", "50us", "10ns"].map(told), ["0s", "1500ms", "120s", "50us", "10ns"]);
        for wrong in ["", "50", "ms", "-1ms", "1h", "1e3ms", "2000m", "1.2.3s"] {
            check(wrong, None);
        }
    }

    #[test]
    fn shares() {
        assert_eq!(parse_share("5%"), Ok(0.05));
        assert_eq!(parse_share("1"), Ok(1.0));
        assert!(parse_share("101%").is_err());
        assert!(parse_share("-0.1").is_err());
        assert!(parse_share("NaN").is_err());
    }
}
