//! What a simulated time is drawn from.

use std::str::FromStr;
use std::time::Duration;

use rand::{Rng, RngExt};
use rand_distr::{Distribution as _, LogNormal};
use serde::{Deserialize, Deserializer};

use crate::units::{parse_duration, parse_share, parsed};

/// The distribution of a time: a body and, with a stated share, a tail.
///
/// Written `50ms`, `lognormal(200ms, 0.4)`, or `lognormal(200ms, 0.4) tail 5% lognormal(2s, 0.5)`.
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
        let factor =
            |sigma: f64, random: &mut _| LogNormal::new(0.0, sigma).map_or(1.0, |law| law.sample(random));
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
        let Some(inside) = text.strip_prefix("lognormal(").and_then(|rest| rest.strip_suffix(')')) else {
            return parse_duration(text).map(Self::Constant);
        };
        let (median, sigma) = inside.split_once(',').ok_or("write lognormal(MEDIAN, SIGMA)")?;
        let sigma: f64 = sigma.trim().parse().map_err(|_| format!("`{sigma}` is not a number"))?;
        if !(0.0..=WIDEST_SIGMA).contains(&sigma) {
            return Err(format!("sigma {sigma} is not between 0 and {WIDEST_SIGMA}"));
        }
        Ok(Self::LogNormal { median: parse_duration(median)?, sigma })
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
