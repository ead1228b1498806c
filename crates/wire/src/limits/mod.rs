//! How much a server says may be asked of it: every family of rate-limit headers in one form.
//!
//! | family | headers | reset |
//! |---|---|---|
//! | OpenAI, Azure, Groq, xAI, Fireworks | `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` | `6m0s`, `20ms` |
//! | Cerebras, SambaNova, Mistral | the same with a window behind them: `-requests-day`, `-tokens-per-minute` | seconds, or epoch |
//! | Anthropic | `anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}` | RFC 3339 |
//! | OpenRouter, Together | `x-ratelimit-{limit,remaining,reset}`, `x-tokenlimit-{limit,remaining}` | epoch ms, or seconds |
//! | IETF drafts | `ratelimit-{limit,remaining,reset}`; `ratelimit` and `ratelimit-policy` | seconds |
//!
//! A window or a kind stands only where the server told it. A header with a word in its name that is not known here
//! (`project`, `images`) counts something else and is left out.

mod name;
mod policy;
#[cfg(test)]
mod tests;
mod throttle;
mod value;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::retry::{retry_after, unix_seconds};
use name::Part;

pub use throttle::is_throttled;

/// Most limits that are kept of one answer.
pub const MAX_LIMITS: usize = 16;
/// Longest value that is read, in bytes.
const MAX_VALUE: usize = 512;

/// What a limit counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Requests.
    #[default]
    Requests,
    /// Tokens, of input and output together.
    Tokens,
    /// Tokens of the input.
    InputTokens,
    /// Tokens of the output.
    OutputTokens,
}

impl Kind {
    /// In words, for several of them.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Tokens => "tokens",
            Self::InputTokens => "input tokens",
            Self::OutputTokens => "output tokens",
        }
    }
}

/// One limit as an answer told it. Absent is not told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limit {
    /// What it counts.
    pub kind: Kind,
    /// Over how long, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_s: Option<u64>,
    /// How much may be asked in a window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// How much of it is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<u64>,
    /// Until all of it is there again, from the answer's headers, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset_ns: Option<u64>,
}

/// What an answer's headers told of limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Each limit, by kind and window.
    pub limits: Vec<Limit>,
    /// How long the server asks to wait before the next request.
    pub retry_after: Option<Duration>,
}

/// What `headers` tell, which came at `now_unix_ns` by our clock. Instants are held against the answer's own `Date`, where
/// it has one: both are of the server's clock, whatever ours says. What cannot be read is not told.
pub fn told(headers: &[(&str, &str)], now_unix_ns: i64) -> Told {
    let date = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("date"));
    let date_ns = date.and_then(|(_, value)| unix_seconds(value.trim())?.checked_mul(1_000_000_000));
    let now_ns = date_ns.unwrap_or(now_unix_ns);
    let mut limits = Limits::default();
    let mut policies = policy::Policies::default();
    for (name, value) in headers {
        let value = value.trim();
        if value.len() > MAX_VALUE {
            continue;
        }
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "ratelimit" => policies.push_state(value, now_ns),
            "ratelimit-policy" => policies.push_policy(value),
            _ => {
                if let Some(part) = name::part(&name) {
                    limits.push(part, value, now_ns);
                }
            }
        }
    }
    limits.0.extend(policies.finish());
    limits.0.retain(|limit| limit.limit.or(limit.remaining).is_some());
    limits.0.sort_by_key(|limit| (limit.kind, limit.window_s));
    limits.0.truncate(MAX_LIMITS);
    Told {
        limits: limits.0,
        retry_after: retry_after(headers.iter().copied(), now_ns.div_euclid(1_000_000_000)),
    }
}

/// The limits of one answer, while its headers are read.
#[derive(Default)]
struct Limits(Vec<Limit>);

impl Limits {
    fn push(&mut self, part: Part, value: &str, now_ns: i64) {
        let (number, window_s) = match part.what {
            name::What::Reset => (value::reset_ns(value, now_ns), None),
            name::What::Window => (value::reset_ns(value, now_ns).map(|ns| ns / 1_000_000_000), None),
            name::What::Limit | name::What::Remaining => value::quantity(value),
        };
        let Some(number) = number else { return };
        let Some(limit) = self.of(part.kind, part.window_s) else { return };
        let of_window = window_s.filter(|_| limit.window_s.is_none());
        limit.window_s = limit.window_s.or(of_window);
        // Of a header that comes twice, the first that can be read.
        let place = match part.what {
            name::What::Limit => &mut limit.limit,
            name::What::Remaining => &mut limit.remaining,
            name::What::Reset => &mut limit.reset_ns,
            name::What::Window => &mut limit.window_s,
        };
        place.get_or_insert(number);
    }

    /// The limit of this kind; the window that a name says tells two of a kind apart.
    fn of(&mut self, kind: Kind, window_s: Option<u64>) -> Option<&mut Limit> {
        let is_it = |limit: &Limit| limit.kind == kind && (window_s.is_none() || limit.window_s == window_s);
        let place = match self.0.iter().position(is_it) {
            Some(place) => place,
            None if self.0.len() < MAX_LIMITS => {
                self.0.push(Limit { kind, window_s, ..Limit::default() });
                self.0.len() - 1
            }
            None => return None,
        };
        self.0.get_mut(place)
    }
}
