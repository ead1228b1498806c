//! Values as they are typed: times, lists of counts, lists of rates.

use std::str::FromStr;
use std::time::Duration;

use inferometer_price::Decimal;

/// A time: `250ms`, `30s`, `2m`, `1h`; a bare number is seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

/// The longest time that can be asked for: thirty days.
const MAX_SPAN_S: f64 = 30.0 * 86_400.0;

impl FromStr for Span {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let typed = typed.trim();
        let digits = typed.find(|c: char| c.is_alphabetic()).unwrap_or(typed.len());
        let (number, unit) = typed.split_at(digits);
        let scale = match unit {
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "" | "s" | "sec" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3_600.0,
            other => return Err(format!("unknown unit '{other}': use ms, s, m or h, as in 500ms or 30s")),
        };
        let number: f64 =
            number.trim().parse().map_err(|_| "not a time: write 500ms, 30s, 2m or 1h".to_string())?;
        let seconds = number * scale;
        if !(0.0..=MAX_SPAN_S).contains(&seconds) {
            return Err("not between 0 and 30 days".to_string());
        }
        Ok(Self(Duration::from_secs_f64(seconds)))
    }
}

/// A share: `10%` or `0.1`; above 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let typed = typed.trim();
        let (number, divisor) = typed.strip_suffix('%').map_or((typed, 1.0), |percent| (percent, 100.0));
        let share = number.trim().parse::<f64>().ok().map(|number| number / divisor);
        let share = share.filter(|share| *share > 0.0 && *share <= 1.0);
        share.map(Self).ok_or_else(|| "not a share: write 10% or 0.1".to_string())
    }
}

/// An amount of US dollars, exactly: `5`, `0.25` or `$5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dollars(pub Decimal);

impl FromStr for Dollars {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let typed = typed.trim();
        let number = typed.strip_prefix('$').unwrap_or(typed);
        let amount = Decimal::from_str_exact(number).ok().filter(|amount| *amount > Decimal::ZERO);
        amount.map(Self).ok_or_else(|| "not an amount above 0: write US dollars as in 5 or 0.25".to_string())
    }
}

/// A whole number, as a flag's value.
pub(crate) fn whole<T: FromStr>(typed: &str) -> Result<T, String> {
    typed.trim().parse().map_err(|_| "not a whole number in range: write digits alone, as in 100".to_string())
}

/// A finite number, as a flag's value.
pub(crate) fn decimal(typed: &str) -> Result<f64, String> {
    match typed.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("not a number: write it as 2 or 0.5".to_string()),
    }
}

/// A list of counts from 1: `16`, or `1,4,16` for a curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts(pub Vec<u32>);

impl FromStr for Counts {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        list(typed, |part| match part.parse::<u32>() {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(format!("'{part}' is not a whole number from 1: write 16, or 1,4,16 for a curve")),
        })
        .map(Self)
    }
}

/// A list of rates in requests a second, above 0: `20`, or `5,10,20` for a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates(pub Vec<f64>);

/// The highest rate that can be asked for: beyond what one machine can send.
const MAX_RATE: f64 = 1e6;

impl FromStr for Rates {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        list(typed, |part| match part.parse::<f64>() {
            Ok(rate) if rate > 0.0 && rate <= MAX_RATE => Ok(rate),
            _ => {
                Err(format!("'{part}' is not a rate in requests a second: write 20, or 5,10,20 for a curve"))
            }
        })
        .map(Self)
    }
}

/// The longest list: a curve of more points is a mistake.
const MAX_POINTS: usize = 64;

fn list<T: PartialEq>(typed: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    let parts: Vec<&str> = typed.split(',').map(str::trim).collect();
    if parts.len() > MAX_POINTS {
        return Err(format!("{} values: at most {MAX_POINTS} in one run", parts.len()));
    }
    let mut values: Vec<T> = Vec::with_capacity(parts.len());
    for part in parts {
        let value = parse(part)?;
        // Cells are told apart by their loads' names.
        if values.contains(&value) {
            return Err(format!("'{part}' stands twice: each point of a curve is measured once"));
        }
        values.push(value);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        for (typed, right) in
            [("250ms", 250), ("30s", 30_000), ("1.5", 1_500), (".5s", 500), ("30", 30_000), ("2 m", 120_000)]
                .map(|(typed, ms)| (typed, Some(ms)))
                .into_iter()
                .chain(["", "s", "-1s", "5 parsecs", "1e99h", "NaN", "10d"].map(|typed| (typed, None)))
        {
            let read = typed.parse::<Span>().ok().map(|span| span.0.as_millis());
            assert_eq!(read, right, "{typed}");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(whole::<u32>(" 16"), Ok(16));
        assert_eq!(decimal("0.5"), Ok(0.5));
        for typed in ["", "-1", "1.5", "4294967296", "1e3", "5 parsecs"] {
            assert!(whole::<u32>(typed).is_err(), "{typed}");
        }
        for typed in ["", "NaN", "inf", "1,5"] {
            assert!(decimal(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn lists() {
        assert_eq!("1, 4,16".parse(), Ok(Counts(vec![1, 4, 16])));
        assert_eq!("0.5,20".parse(), Ok(Rates(vec![0.5, 20.0])));
        for typed in ["", "0", "1,", "-1", "4.5", "99999999999", "4,1,4"] {
            assert!(typed.parse::<Counts>().is_err(), "{typed}");
        }
        for typed in ["", "0", "inf", "NaN", "1;2", "1e9", "5,5.0"] {
            assert!(typed.parse::<Rates>().is_err(), "{typed}");
        }
    }
}
