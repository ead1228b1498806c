//! A limit of requests: a bucket of tokens that fills at a steady rate.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use inferometer_clock::Mono;
use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
use crate::reply::Sheet;

/// How many requests are let in; others are refused with 429 and a `Retry-After`. Each answer tells the limit as its
/// dialect does: `x-ratelimit-limit-requests`, `-remaining-requests` and `-reset-requests` as OpenAI,
/// `anthropic-ratelimit-requests-*` with an instant as Anthropic; Gemini, Bedrock and Ollama tell none.
///
/// From rest, exactly `burst` of the requests that come at once are let in: a burst of 20 against `burst = 18` is
/// refused by a tenth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Requests a second that are let in for ever.
    pub requests_per_s: f64,
    /// Requests that are let in at once, after a rest.
    pub burst: u32,
}

/// The rates that a limit may have, in requests per second.
const RATES: std::ops::RangeInclusive<f64> = 1e-3..=1e6;

impl Limit {
    pub(crate) fn check(self) -> Result<(), String> {
        if !RATES.contains(&self.requests_per_s) {
            let (low, high) = (RATES.start(), RATES.end());
            return Err(format!(
                "a limit of {} requests a second is not from {low} to {high}",
                self.requests_per_s
            ));
        }
        if self.burst == 0 { Err("a limit with `burst = 0` lets nothing in".into()) } else { Ok(()) }
    }
}

/// The bucket, as full as it is.
#[derive(Debug)]
pub(crate) struct Bucket {
    limit: Limit,
    /// Requests that could be let in, and when that was.
    level: Mutex<(f64, Mono)>,
}

/// How far a limit is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// Requests that are let in at once, after a rest.
    pub(crate) limit: u32,
    /// Requests that would be let in now.
    pub(crate) remaining: u32,
    /// Until all of them are let in again.
    pub(crate) reset: Duration,
}

/// What the bucket says to a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pass {
    pub(crate) admitted: bool,
    /// Requests that could be let in now.
    level: f64,
    limit: Limit,
}

impl Bucket {
    /// A full bucket.
    pub(crate) fn new(limit: Limit) -> Self {
        Self { limit, level: Mutex::new((f64::from(limit.burst), Mono::from_nanos(0))) }
    }

    /// A request comes at `now`.
    pub(crate) fn ask(&self, now: Mono) -> Pass {
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let gained = (now - level.1).as_secs_f64() * self.limit.requests_per_s;
        let full = (level.0 + gained).min(f64::from(self.limit.burst));
        let admitted = full >= 1.0;
        *level = (if admitted { full - 1.0 } else { full }, now);
        Pass { admitted, level: level.0, limit: self.limit }
    }
}

impl Pass {
    /// How far the limit is used up.
    pub(crate) fn level(self) -> Level {
        let until_full = (f64::from(self.limit.burst) - self.level) / self.limit.requests_per_s;
        Level {
            limit: self.limit.burst,
            remaining: self.level as u32,
            reset: Duration::try_from_secs_f64(until_full).unwrap_or_default(),
        }
    }

    /// The refusal.
    pub(crate) fn refusal(self, dialect: Dialect) -> Sheet {
        let until_next = (1.0 - self.level) / self.limit.requests_per_s;
        let message = "Rate limit reached for requests";
        let mut sheet = dialect
            .error(429, "rate_limit_exceeded", message)
            .header("retry-after", &format!("{}", until_next.ceil().max(1.0)))
            .header("retry-after-ms", &format!("{}", (until_next * 1e3).round()));
        sheet.headers.extend(dialect.limit_headers(self.level()));
        sheet.fault = Some("limit");
        sheet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_let_in_by_its_size_and_then_by_the_rate() {
        let bucket = Bucket::new(Limit { requests_per_s: 5.0, burst: 18 });
        let start = Mono::from_nanos(1 << 50);
        let admitted = (0..20).filter(|_| bucket.ask(start).admitted).count();
        assert_eq!(admitted, 18);
        let check = |millis, admitted| {
            let pass = bucket.ask(start + Duration::from_millis(millis));
            assert_eq!(pass.admitted, admitted, "after {millis} ms");
            pass
        };
        let refused = check(100, false).refusal(Dialect::CHAT);
        let header = |name: &str| {
            let found = refused.headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        assert_eq!(
            (refused.status, header("retry-after"), header("retry-after-ms")),
            (429, Some("1"), Some("100"))
        );
        assert_eq!(header("x-ratelimit-limit-requests"), Some("18"));
        assert_eq!(header("x-ratelimit-remaining-requests"), Some("0"));
        assert_eq!(header("x-ratelimit-reset-requests"), Some("3.500s"));
        check(201, true);
        check(250, false);
        check(10_000, true);
    }

    #[test]
    fn limits_that_let_nothing_in_are_refused() {
        for (requests_per_s, burst) in [(0.0, 1), (f64::NAN, 1), (1.0, 0)] {
            assert!(Limit { requests_per_s, burst }.check().is_err(), "{requests_per_s}, {burst}");
        }
    }
}
