//! Conditions that fail a run: `--fail-if 'ttft_p95>500ms'`.

use std::fmt;
use std::str::FromStr;

use inferometer_stats::{ALPHA, Prob, gate};
use serde::{Deserialize, Serialize};

use crate::Num;
use crate::limit::Kind;
use crate::names::{all, canonical, name, nearest};

/// How a gate compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Op {
    /// Whether `value op limit` holds: the condition that fails.
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Op::Above => value > limit,
            Op::AtLeast => value >= limit,
            Op::Below => value < limit,
            Op::AtMost => value <= limit,
        }
    }

    /// Whether much is bad.
    pub fn is_upper(self) -> bool {
        matches!(self, Op::Above | Op::AtLeast)
    }
}

/// A condition on a cell that fails the run. As text it is what was typed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Gate {
    text: String,
    metric: &'static str,
    quantile: Option<Prob>,
    op: Op,
    limit: f64,
}

impl Gate {
    /// The figure's name in `summary.json`.
    pub fn metric(&self) -> &'static str {
        self.metric
    }

    /// The quantile of a distribution; `None` for a share, a rate or money.
    pub fn quantile(&self) -> Option<Prob> {
        self.quantile
    }

    /// How it compares.
    pub fn op(&self) -> Op {
        self.op
    }

    /// The limit in the figure's unit: ms, per second, 0 to 1, USD.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// The share of observations that may be on the bad side, where the gate is tested as a count.
    pub(crate) fn allowed_share(&self) -> Option<f64> {
        match (self.quantile, Kind::of(self.metric)) {
            (Some(p), _) if self.op.is_upper() => Some(p.complement_f64()),
            (Some(p), _) => Some(p.as_f64()),
            (None, Kind::Share) if self.op.is_upper() => Some(self.limit),
            (None, Kind::Share) => Some(1.0 - self.limit),
            (None, _) => None,
        }
    }

    /// The fewest observations that can prove this gate met, if not one of them is on the bad side. `None` where the
    /// gate is not tested as a count, or no number is enough.
    pub fn needed_n(&self) -> Option<u64> {
        let p = self.quantile?;
        gate::needed(0, if self.op.is_upper() { p } else { p.complement() }, ALPHA)
    }
}

/// How a gate came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateResult {
    /// Shown to hold at 95 % confidence.
    Met,
    /// Shown not to hold at 95 % confidence.
    Missed,
    /// The sample cannot tell.
    #[default]
    Unproven,
}

impl From<gate::Verdict> for GateResult {
    fn from(verdict: gate::Verdict) -> Self {
        match verdict {
            gate::Verdict::Met => GateResult::Met,
            gate::Verdict::Missed => GateResult::Missed,
            gate::Verdict::Unproven => GateResult::Unproven,
        }
    }
}

/// A gate held against a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GateOutcome {
    /// The gate as typed.
    pub gate: String,
    /// How it came out.
    pub result: GateResult,
    /// Observations on the bad side of the limit, where the gate is tested as a count: failures are among them.
    pub bad: Option<u64>,
    /// Observations that were cut before they showed their side.
    pub unknown: u64,
    /// Observations.
    pub n: u64,
    /// Observations that would prove it met if no further one were bad.
    pub needed_n: Option<u64>,
    /// The figure as measured.
    pub value: Option<Num>,
    /// In words.
    pub detail: String,
}

/// A gate that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// No comparison in it.
    #[error("`{0}` is no condition: write figure, one of > >= < <=, limit, such as ttft_p95>500ms")]
    Form(String),
    /// A figure that does not exist.
    #[error("there is no figure `{given}` to gate on: did you mean `{nearest}`?")]
    Metric {
        /// As typed.
        given: String,
        /// The right name nearest to it.
        nearest: String,
    },
    /// A distribution without a quantile, or with something that is none.
    #[error(
        "`{given}`: say which quantile of {metric}, one of {metric}_p05, _p10, _p50, _p90, _p95, _p99, _p999"
    )]
    Quantile {
        /// As typed.
        given: String,
        /// The distribution.
        metric: String,
    },
    /// A quantile of what is one number.
    #[error("`{given}`: {metric} is one number and has no quantiles; write {metric}")]
    NoQuantile {
        /// As typed.
        given: String,
        /// The figure.
        metric: String,
    },
    /// A limit that cannot be read.
    #[error("`{given}` is no limit for {metric}: give {expected}")]
    Limit {
        /// The figure as typed.
        metric: String,
        /// As typed.
        given: String,
        /// What would be right.
        expected: &'static str,
    },
}

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let text = text.trim();
        let (figure, op, limit) = split(text).ok_or_else(|| GateError::Form(text.to_owned()))?;
        let (metric, quantile) = read_figure(&figure.to_ascii_lowercase())?;
        let kind = Kind::of(metric);
        let limit = kind.parse(limit).ok_or_else(|| GateError::Limit {
            metric: figure.to_owned(),
            given: limit.to_owned(),
            expected: kind.example(),
        })?;
        Ok(Gate { text: text.to_owned(), metric, quantile, op, limit })
    }
}

/// Figure, comparison and limit. Both sides must be there; `=` alone compares nothing.
fn split(text: &str) -> Option<(&str, Op, &str)> {
    let at = text.find(['<', '>'])?;
    let (figure, rest) = text.split_at(at);
    let ops = [(">=", Op::AtLeast), ("<=", Op::AtMost), (">", Op::Above), ("<", Op::Below)];
    let (op, limit) = ops.iter().find_map(|(sign, op)| rest.strip_prefix(sign).map(|limit| (*op, limit)))?;
    let (figure, limit) = (figure.trim(), limit.trim());
    (!figure.is_empty() && !limit.is_empty()).then_some((figure, op, limit))
}

fn read_figure(given: &str) -> Result<(&'static str, Option<Prob>), GateError> {
    if let Some(metric) = canonical(given) {
        return if is_single(metric) {
            Ok((metric, None))
        } else {
            Err(GateError::Quantile { given: given.to_owned(), metric: given.to_owned() })
        };
    }
    let (base, statistic) = given.rsplit_once('_').unwrap_or((given, ""));
    let Some(metric) = canonical(base) else {
        let meant =
            nearest(base, all()).into_iter().chain(nearest(given, all())).min_by_key(|name| name.len());
        let nearest = meant.unwrap_or("ttft").to_owned();
        let nearest =
            if canonical(&nearest).is_some_and(is_single) { nearest } else { format!("{nearest}_p95") };
        return Err(GateError::Metric { given: given.to_owned(), nearest });
    };
    if is_single(metric) {
        return Err(GateError::NoQuantile { given: given.to_owned(), metric: base.to_owned() });
    }
    match read_quantile(statistic) {
        Some(p) => Ok((metric, Some(p))),
        None => Err(GateError::Quantile { given: given.to_owned(), metric: base.to_owned() }),
    }
}

/// Figures that are one number for a cell.
fn is_single(metric: &str) -> bool {
    Kind::of(metric) != Kind::Time && !matches!(metric, name::SPEED | name::SPEED_E2E)
}

fn read_quantile(text: &str) -> Option<Prob> {
    match text {
        "p05" | "p5" => Prob::new(1, 20),
        "p10" => Prob::new(1, 10),
        "p50" | "median" => Some(Prob::P50),
        "p90" => Some(Prob::P90),
        "p95" => Some(Prob::P95),
        "p99" => Some(Prob::P99),
        "p999" | "p99.9" => Some(Prob::P999),
        _ => None,
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for Gate {
    type Error = GateError;

    fn try_from(text: String) -> Result<Self, GateError> {
        text.parse()
    }
}

impl From<Gate> for String {
    fn from(gate: Gate) -> String {
        gate.text
    }
}
