//! What a simulated time is drawn from.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rand::{Rng, RngExt};
use rand_distr::{Distribution as _, LogNormal};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::{self, parse_duration, parse_share, parsed};

/// The distribution of a time: a body and, with a stated share, a tail.
///
/// Written `50ms` (or `constant(50ms)`), `lognormal(200ms, 0.4)`, or `lognormal(200ms, 0.4) tail 5% lognormal(2s, 0.5)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// What most draws come from.
    pub body: Part,
    /// What the rest come from, with its share in 0..=1.
    pub tail: Option<(f64, Part)>,
}

/// One component of a [`Distribution`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// Always the same.
    Constant(Duration),
    /// median · exp(sigma · Z), Z standard normal.
    LogNormal {
        /// The median.
        median: Duration,
        /// Standard deviation of the logarithm; 0 to 5.
        sigma: f64,
    },
}

/// The widest lognormal: at 5 sigma its p99 is 100,000 medians.
const WIDEST_SIGMA: f64 = 5.0;

/// No draw is longer than this.
const LONGEST_DRAW: Duration = Duration::from_secs(3_600);

impl Distribution {
    /// Always `span`.
    pub const fn constant(span: Duration) -> Self {
        Self { body: Part::Constant(span), tail: None }
    }

    /// One draw, at most an hour. Takes the same number of numbers from `random` whichever part is hit, so that draws
    /// made after it stay the same.
    pub(crate) fn draw(&self, random: &mut impl Rng) -> Duration {
        let pick: f64 = random.random();
        let part = match self.tail {
            Some((share, tail)) if pick < share => tail,
            _ => self.body,
        };
        let span = match part {
            Part::Constant(span) => span,
            Part::LogNormal { median, sigma } => {
                Duration::try_from_secs_f64(median.as_secs_f64() * factor(sigma, random))
                    .unwrap_or(LONGEST_DRAW)
            }
        };
        span.min(LONGEST_DRAW)
    }
}

/// exp(sigma · Z), Z standard normal.
fn factor(sigma: f64, random: &mut impl Rng) -> f64 {
    LogNormal::new(0.0, sigma).map_or(1.0, |law| law.sample(random))
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((body, tail)) = text.split_once(" tail ") else {
            return Ok(Self { body: text.parse()?, tail: None });
        };
        let (share, part) =
            tail.trim().split_once(' ').ok_or("after `tail` come a share and a distribution")?;
        Ok(Self { body: body.parse()?, tail: Some((parse_share(share)?, part.parse()?)) })
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let Some(inside) = inside(text, "lognormal(") else {
            return parse_duration(inside(text, "constant(").unwrap_or(text)).map(Self::Constant);
        };
        let (median, sigma) = median_and_sigma(inside)?;
        Ok(Self::LogNormal { median: parse_duration(median)?, sigma })
    }
}

/// What stands behind `opening` and before a closing bracket.
fn inside<'t>(text: &'t str, opening: &str) -> Option<&'t str> {
    text.strip_prefix(opening)?.strip_suffix(')')
}

fn median_and_sigma(inside: &str) -> Result<(&str, f64), String> {
    let (median, sigma) = inside.split_once(',').ok_or("write lognormal(MEDIAN, SIGMA)")?;
    let sigma: f64 = sigma.trim().parse().map_err(|_| format!("`{sigma}` is not a number"))?;
    if !(0.0..=WIDEST_SIGMA).contains(&sigma) {
        return Err(format!("sigma {sigma} is not between 0 and {WIDEST_SIGMA}"));
    }
    Ok((median, sigma))
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(span) => f.write_str(&units::span(*span)),
            Self::LogNormal { median, sigma } => write!(f, "lognormal({}, {sigma})", units::span(*median)),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.body)?;
        match self.tail {
            Some((share, part)) => write!(f, " tail {}% {part}", (share * 1e8).round() / 1e6),
            None => Ok(()),
        }
    }
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// The distribution of a number of tokens. Written `300`, or `lognormal(300, 0.5)` with the median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// Always the same.
    Fixed(u32),
    /// median · exp(sigma · Z), Z standard normal, rounded.
    LogNormal {
        /// The median.
        median: u32,
        /// Standard deviation of the logarithm; 0 to 5.
        sigma: f64,
    },
}

impl Count {
    /// The median.
    pub fn median(self) -> u32 {
        match self {
            Self::Fixed(count) | Self::LogNormal { median: count, .. } => count,
        }
    }

    pub(crate) fn draw(self, random: &mut impl Rng) -> u32 {
        match self {
            Self::Fixed(count) => count,
            // The cast takes what is too large to the largest.
            Self::LogNormal { median, sigma } => (f64::from(median) * factor(sigma, random)).round() as u32,
        }
    }
}

impl From<u32> for Count {
    fn from(count: u32) -> Self {
        Self::Fixed(count)
    }
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let count = |text: &str| {
            let wrong = |_| format!("`{text}` is not a number of tokens: write 300, or lognormal(300, 0.5)");
            text.trim().parse::<u32>().map_err(wrong)
        };
        let Some(inside) = inside(text, "lognormal(") else { return count(text).map(Self::Fixed) };
        let (median, sigma) = median_and_sigma(inside)?;
        Ok(Self::LogNormal { median: count(median)?, sigma })
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(count) => write!(f, "{count}"),
            Self::LogNormal { median, sigma } => write!(f, "lognormal({median}, {sigma})"),
        }
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(count) => to.serialize_u32(*count),
            Self::LogNormal { .. } => to.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        units::number_or_text(from, "a number of tokens", |number| number.to_string().parse(), str::parse)
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        parsed(from, str::parse)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn draws(text: &str, n: usize) -> Vec<f64> {
        let law: Distribution = text.parse().unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut millis: Vec<f64> = (0..n).map(|_| law.draw(&mut random).as_secs_f64() * 1e3).collect();
        millis.sort_by(f64::total_cmp);
        millis
    }

    #[test]
    fn constants_are_constant() {
        assert_eq!(draws("50ms", 3), [50.0, 50.0, 50.0]);
    }

    #[test]
    fn laws_are_told_as_they_are_written() {
        for text in [
            "50ms",
            "lognormal(200ms, 0.4)",
            "lognormal(200ms, 0.4) tail 5% lognormal(2s, 0.5)",
            "1s tail 0.7% 2s",
        ] {
            assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
        }
        assert_eq!("constant(1s)".parse::<Distribution>(), "1s".parse());
        for text in ["300", "lognormal(300, 0.5)"] {
            assert_eq!(text.parse::<Count>().unwrap().to_string(), text);
        }
        for wrong in ["", "-1", "1.5", "lognormal(300)", "lognormal(x, 1)"] {
            assert!(wrong.parse::<Count>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts_have_their_median() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let law = Count::LogNormal { median: 300, sigma: 0.5 };
        let mut counts: Vec<u32> = (0..2_001).map(|_| law.draw(&mut random)).collect();
        counts.sort_unstable();
        assert!((285..315).contains(&counts[1_000]), "{}", counts[1_000]);
    }

    #[test]
    fn the_median_and_the_tail_have_their_places() {
        let millis = draws("lognormal(200ms, 0.4)", 4_000);
        assert!((190.0..210.0).contains(&millis[2_000]), "{}", millis[2_000]);
        let millis = draws("100ms tail 5% 2s", 4_000);
        let tail = millis.iter().filter(|&&x| x == 2_000.0).count();
        assert!((150..250).contains(&tail), "{tail}");
        assert_eq!(millis.len() - tail, millis.iter().filter(|&&x| x == 100.0).count());
    }

    #[test]
    fn wrong_ones_say_what_would_be_right() {
        for wrong in
            ["", "lognormal(1s)", "lognormal(1s, 9)", "lognormal(x, 1)", "1s tail 1s", "1s tail 200% 1s"]
        {
            assert!(wrong.parse::<Distribution>().is_err(), "{wrong}");
        }
    }
}
