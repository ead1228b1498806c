//! How it is asked: arrivals and when to stop, as values.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// One load: arrival and stop rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Load {
    /// Stands in every sample: `c16`, `poisson-20`.
    pub name: String,
    /// When requests start.
    pub arrival: Arrival,
    /// When no further request starts.
    pub stop: Stop,
    /// Whether requests wait where they would pass a limit that the target's answers told.
    pub respect_rate_limits: bool,
    /// Names of the targets that are asked so; `None` is all.
    pub targets: Option<Vec<String>>,
    /// Names of the workloads that are asked so; `None` is all.
    pub workloads: Option<Vec<String>>,
}

impl Load {
    /// A load named after its arrival.
    pub fn new(arrival: Arrival, stop: Stop) -> Self {
        let name = arrival.to_string();
        Self { name, arrival, stop, respect_rate_limits: false, targets: None, workloads: None }
    }
}

/// When requests start.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Arrival {
    /// As soon as one of `slots` is free.
    Closed {
        /// Requests in flight.
        slots: u32,
        /// The slots' first starts are spread evenly over this time: in lock-step they would queue behind each other
        /// in the client (64 at once cost a millisecond).
        #[serde(serialize_with = "as_seconds", rename = "ramp_s")]
        ramp: Duration,
    },
    /// By a plan that the seed fixes, whatever the server does.
    Open {
        /// Mean requests a second.
        rate: f64,
        /// How they are spaced.
        pattern: Pattern,
        /// At most so many in flight; waiting for a place counts as schedule lag.
        cap: Option<u32>,
    },
    /// Idle for `gap`, then the first request on a fresh connection and a warm control right after it; idle again, then
    /// the same on a kept connection. The stop rule counts these episodes.
    ColdStart {
        /// How long the target is left alone.
        #[serde(serialize_with = "as_seconds", rename = "gap_s")]
        gap: Duration,
    },
    /// From rest to `size` requests at once, all handed to the kernel within 5 ms; then one request at a time until the
    /// time to first token is back inside the warm interval. The stop rule counts these episodes.
    Burst {
        /// Requests at once.
        size: u32,
        /// How long the target is left alone before each burst.
        #[serde(serialize_with = "as_seconds", rename = "rest_s")]
        rest: Duration,
    },
}

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed { slots, .. } => write!(f, "c{slots}"),
            Self::Open { rate, pattern, cap } => {
                write!(f, "{pattern}-{rate}")?;
                cap.map_or(Ok(()), |cap| write!(f, "-c{cap}"))
            }
            Self::ColdStart { gap } => write!(f, "coldstart-{}s", gap.as_secs_f64()),
            Self::Burst { size, .. } => write!(f, "burst-{size}"),
        }
    }
}

/// The spacing of an open load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Evenly.
    Constant,
    /// Exponential gaps.
    Poisson,
    /// Gamma gaps of shape `burstiness`: 1 is Poisson, below 1 burstier, above 1 more even.
    Gamma {
        /// The shape.
        burstiness: f64,
    },
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Poisson => f.write_str("poisson"),
            Self::Gamma { burstiness } => write!(f, "gamma{burstiness}"),
        }
    }
}

/// No further request starts once either bound is reached; at least one is set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stop {
    /// So many requests.
    pub requests: Option<u64>,
    /// So long after the first planned start.
    #[serde(serialize_with = "as_optional_seconds", rename = "duration_s")]
    pub duration: Option<Duration>,
}

/// How long a request may take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Timeouts {
    /// Start to connection ready.
    #[serde(serialize_with = "as_seconds", rename = "connect_s")]
    pub connect: Duration,
    /// Start to first output event.
    #[serde(serialize_with = "as_optional_seconds", rename = "first_token_s")]
    pub first_token: Option<Duration>,
    /// Between two reads of the body.
    #[serde(serialize_with = "as_optional_seconds", rename = "idle_s")]
    pub idle: Option<Duration>,
    /// Start to end.
    #[serde(serialize_with = "as_seconds", rename = "total_s")]
    pub total: Duration,
}

pub(crate) fn as_seconds<S: serde::Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(span.as_secs_f64())
}

#[expect(clippy::ref_option, reason = "serde's signature")]
pub(crate) fn as_optional_seconds<S: serde::Serializer>(
    span: &Option<Duration>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match span {
        Some(span) => to.serialize_some(&span.as_secs_f64()),
        None => to.serialize_none(),
    }
}
