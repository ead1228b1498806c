//! Conditions that fail a run: `--fail-if 'ttft_p95>500ms'`.

use std::fmt;
use std::str::FromStr;

use inferometer_stats::gate::{Verdict, needed};
use inferometer_stats::{ALPHA, Prob};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Num;
use crate::limit::Kind;
use crate::names::{all, canonical, distance, name, nearest};

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
#[derive(Clone, Debug, PartialEq)]
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
            (Some(p), _) if self.op.is_upper() => Some(p.complement().as_f64()),
            (Some(p), _) => Some(p.as_f64()),
            (None, Kind::Share) if self.op.is_upper() => Some(self.limit),
            (None, Kind::Share) => Some(1.0 - self.limit),
            (None, _) => None,
        }
    }

    /// The fewest observations that can prove this gate met, if not one of them is on the bad side. `None` where the
    /// gate is not tested as a count, or no number is enough.
    pub fn needed_n(&self) -> Option<u64> {
        self.needed_with(0)
    }

    /// The fewest observations that can prove this gate met with `bad` of them on the bad side.
    pub(crate) fn needed_with(&self, bad: u64) -> Option<u64> {
        needed(bad, self.allowed_share()?, ALPHA)
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

impl From<Verdict> for GateResult {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Met => GateResult::Met,
            Verdict::Missed => GateResult::Missed,
            Verdict::Unproven => GateResult::Unproven,
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
    /// Whether nobody looked: there is no evidence either way, and `detail` says what was not gathered.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_unmeasured: bool,
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

impl GateOutcome {
    /// A gate on what nobody looked at, and why: neither met nor missed.
    pub(crate) fn unmeasured(gate: String, why: &str) -> Self {
        GateOutcome { gate, is_unmeasured: true, detail: format!("not measured: {why}"), ..Self::default() }
    }
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
    /// No comparison of two targets in it.
    #[error(
        "`{0}` holds no target against another: write target.figure, one of > >= < <=, factor * target.figure (or \
         baseline.figure), such as a.ttft_p95 > 1.1 * b.ttft_p95"
    )]
    Pair(String),
    /// A factor that cannot be read.
    #[error("`{0}` is no factor: give a number above 0, such as 1.1")]
    Factor(String),
    /// Two different figures.
    #[error("`{left}` against `{right}`: both sides must be the same figure")]
    Figures {
        /// As typed.
        left: String,
        /// As typed.
        right: String,
    },
    /// A target that the plan does not have.
    #[error("there is no target `{given}`: did you mean `{nearest}`?")]
    Target {
        /// As typed.
        given: String,
        /// The right name nearest to it.
        nearest: String,
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
    let (op, limit) = read_op(rest)?;
    let (figure, limit) = (figure.trim(), limit.trim());
    (!figure.is_empty() && !limit.is_empty()).then_some((figure, op, limit))
}

/// The comparison that a text begins with, and what follows it.
pub(crate) fn read_op(text: &str) -> Option<(Op, &str)> {
    let ops = [(">=", Op::AtLeast), ("<=", Op::AtMost), (">", Op::Above), ("<", Op::Below)];
    ops.iter().find_map(|(sign, op)| text.strip_prefix(sign).map(|rest| (*op, rest)))
}

/// A figure as typed, in small letters: its own name, and the quantile of a distribution.
pub(crate) fn read_figure(given: &str) -> Result<(&'static str, Option<Prob>), GateError> {
    if let Some(metric) = canonical(given) {
        return if is_single(metric) {
            Ok((metric, None))
        } else {
            Err(GateError::Quantile { given: given.to_owned(), metric: given.to_owned() })
        };
    }
    let (base, statistic) = given.rsplit_once('_').unwrap_or((given, ""));
    let Some(metric) = canonical(base) else {
        // The statistic may be part of a wrong name (`eror_rate`) or stand behind it (`tfft_p95`).
        let candidates =
            [given, base].map(|wrong| nearest(wrong, all()).map(|name| (distance(wrong, name), name)));
        let nearest = candidates.into_iter().flatten().min().map_or("ttft", |(_, name)| name);
        let is_whole = canonical(nearest).is_some_and(is_single);
        let nearest = if is_whole { nearest.to_owned() } else { format!("{nearest}_p95") };
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
    let is_distribution = Kind::of(metric) == Kind::Time || matches!(metric, name::SPEED | name::SPEED_E2E);
    !is_distribution || metric == name::TTFT_SPREAD
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

impl Serialize for Gate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Gate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, read: Result<(&str, Option<Prob>, Op, f64), &str>) {
        let got = typed.parse::<Gate>();
        let got = got.as_ref().map(|g| (g.metric, g.quantile, g.op, g.limit)).map_err(GateError::to_string);
        assert_eq!(got, read.map_err(str::to_owned), "{typed}");
    }

    #[test]
    fn typed_and_read() {
        check("ttft_p95>500ms", Ok((name::TTFT, Some(Prob::P95), Op::Above, 500.0)));
        check(" time_to_first_token_p99.9 >= 2s ", Ok((name::TTFT, Some(Prob::P999), Op::AtLeast, 2000.0)));
        check("E2EL_p50>1s", Ok((name::LATENCY, Some(Prob::P50), Op::Above, 1000.0)));
        check("speed_p05<20", Ok((name::SPEED, Prob::new(1, 20), Op::Below, 20.0)));
        check("error_rate>1%", Ok((name::ERROR_RATE, None, Op::Above, 0.01)));
        check("goodput<95%", Ok((name::GOODPUT, None, Op::Below, 0.95)));
        check("output_token_throughput<=500/s", Ok((name::TOKENS_RATE, None, Op::AtMost, 500.0)));
        check("input_throughput<500", Ok((name::INPUT_RATE, None, Op::Below, 500.0)));
        check("cost_per_useful>$0.01", Ok((name::COST_PER_USEFUL, None, Op::Above, 0.01)));
    }

    #[test]
    fn errors_say_what_would_be_right() {
        let form = |typed: &str| {
            format!(
                "`{typed}` is no condition: write figure, one of > >= < <=, limit, such as ttft_p95>500ms"
            )
        };
        for typed in ["ttft_p95=500", "ttft_p95", ">500", "ttft_p95>", ""] {
            check(typed, Err(&form(typed)));
        }
        check("tfft_p95>1s", Err("there is no figure `tfft_p95` to gate on: did you mean `ttft_p95`?"));
        check("eror_rate>1%", Err("there is no figure `eror_rate` to gate on: did you mean `error_rate`?"));
        check("ttft_p95>fast", Err("`fast` is no limit for ttft_p95: give a time such as 300, 300ms or 2s"));
        check("error_rate>5", Err("`5` is no limit for error_rate: give a share such as 1% or 0.01"));
        check(
            "error_rate_p95>5%",
            Err("`error_rate_p95`: error_rate is one number and has no quantiles; write error_rate"),
        );
        let quantiles = "say which quantile of ttft, one of ttft_p05, _p10, _p50, _p90, _p95, _p99, _p999";
        check("ttft>1s", Err(&format!("`ttft`: {quantiles}")));
        check("ttft_mean>1s", Err(&format!("`ttft_mean`: {quantiles}")));
    }

    #[test]
    fn what_n_can_prove() {
        let needed = |typed: &str| typed.parse::<Gate>().unwrap().needed_n();
        assert_eq!(needed("ttft_p95>1s"), Some(59));
        assert_eq!(needed("ttft_p99>1s"), Some(299));
        assert_eq!(needed("speed_p05<20"), Some(59));
        assert_eq!(needed("error_rate>1%"), Some(299));
        assert_eq!(needed("goodput<95%"), Some(59));
        assert_eq!(needed("throughput<5"), None);
        assert_eq!(needed("error_rate>0%"), None);
    }

    #[test]
    fn is_a_string_in_json() {
        let gate: Gate = "ttft_p95>500ms".parse().unwrap();
        let json = serde_json::to_string(&gate).unwrap();
        assert_eq!(json, "\"ttft_p95>500ms\"");
        assert_eq!(serde_json::from_str::<Gate>(&json).unwrap(), gate);
        assert!(serde_json::from_str::<Gate>("\"nonsense\"").is_err());
    }
}
