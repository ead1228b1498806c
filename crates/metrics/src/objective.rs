//! What each request should keep: `--goodput "ttft:300 tpot:20 e2el:5000"`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::limit::Kind;
use crate::names::{canonical, name, nearest, short};

/// The figures of a single request that an objective can limit.
const METRICS: [&str; 6] =
    [name::TTFT, name::TTFA, name::TPOT, name::LATENCY, name::CHUNK_GAP_MAX, name::SPEED];

/// The same as people type them, for error texts.
const METRIC_NAMES: &str = "ttft, ttfa, tpot, e2el, chunk_gap_max, speed";

/// One limit on one figure of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    metric: &'static str,
    limit: f64,
}

impl Objective {
    /// The figure's name in `summary.json`.
    pub fn metric(self) -> &'static str {
        self.metric
    }

    /// The limit in the figure's unit: an upper one on times (ms), a lower one on speeds (tokens/s).
    pub fn limit(self) -> f64 {
        self.limit
    }

    /// Whether `value` breaks it.
    pub(crate) fn is_missed_by(self, value: f64) -> bool {
        if Kind::of(self.metric) == Kind::Speed { value < self.limit } else { value > self.limit }
    }
}

/// All limits that a request should keep; a request is good when it keeps every one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Objectives(Vec<Objective>);

impl Objectives {
    /// Each limit, in the order typed.
    pub fn iter(&self) -> impl Iterator<Item = Objective> + '_ {
        self.0.iter().copied()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The limit on `metric`, where there is one.
    pub fn limit(&self, metric: &str) -> Option<f64> {
        self.iter().find(|objective| objective.metric == metric).map(Objective::limit)
    }
}

/// Objectives that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectiveError {
    /// Not `name:limit`.
    #[error("`{0}` is no objective: write name:limit, such as ttft:300 (milliseconds)")]
    Form(String),
    /// A name that no request has a figure for.
    #[error("no request has a figure `{given}`: did you mean `{nearest}`, or one of {METRIC_NAMES}?")]
    Metric {
        /// As typed.
        given: String,
        /// The right name nearest to it.
        nearest: &'static str,
    },
    /// A limit that cannot be read.
    #[error("`{given}` is no limit for {metric}: give {expected}")]
    Limit {
        /// The figure.
        metric: &'static str,
        /// As typed.
        given: String,
        /// What would be right.
        expected: &'static str,
    },
    /// Two limits on one figure.
    #[error("{0} has two limits")]
    Twice(&'static str),
}

impl FromStr for Objectives {
    type Err = ObjectiveError;

    /// `name:limit` pairs between spaces or commas. Times without a unit are milliseconds.
    fn from_str(text: &str) -> Result<Self, ObjectiveError> {
        let mut objectives = Objectives::default();
        for item in text.split([' ', ',', '\t', '\n']).filter(|item| !item.is_empty()) {
            let objective = parse(item)?;
            if objectives.limit(objective.metric).is_some() {
                return Err(ObjectiveError::Twice(short(objective.metric)));
            }
            objectives.0.push(objective);
        }
        Ok(objectives)
    }
}

fn parse(item: &str) -> Result<Objective, ObjectiveError> {
    let (given, limit) = item.split_once(':').ok_or_else(|| ObjectiveError::Form(item.to_owned()))?;
    let known = canonical(&given.to_ascii_lowercase()).filter(|own| METRICS.contains(own));
    let metric = known.ok_or_else(|| ObjectiveError::Metric {
        given: given.to_owned(),
        nearest: nearest(given, METRICS.into_iter().map(short)).unwrap_or("ttft"),
    })?;
    let kind = Kind::of(metric);
    let limit = kind.parse(limit).ok_or_else(|| ObjectiveError::Limit {
        metric: short(metric),
        given: limit.to_owned(),
        expected: kind.example(),
    })?;
    Ok(Objective { metric, limit })
}

/// As it can be typed.
impl fmt::Display for Objectives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, objective) in self.iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            write!(f, "{space}{}:{}", short(objective.metric), objective.limit)?;
        }
        Ok(())
    }
}

impl TryFrom<String> for Objectives {
    type Error = ObjectiveError;

    fn try_from(text: String) -> Result<Self, ObjectiveError> {
        text.parse()
    }
}

impl From<Objectives> for String {
    fn from(objectives: Objectives) -> String {
        objectives.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, read: Result<&str, &str>) {
        let got = typed.parse::<Objectives>();
        let got = got.as_ref().map(Objectives::to_string).map_err(ObjectiveError::to_string);
        assert_eq!(got, read.map(str::to_owned).map_err(str::to_owned), "{typed}");
    }

    #[test]
    fn typed_and_read() {
        check("ttft:300 tpot:20 e2el:5000", Ok("ttft:300 tpot:20 e2el:5000"));
        check("time_to_first_token:2s,request_latency:5000ms", Ok("ttft:2000 e2el:5000"));
        check(" TTFA:1.5s  speed:50 ", Ok("ttfa:1500 speed:50"));
        check("", Ok(""));
        check(
            "ttft=300",
            Err("`ttft=300` is no objective: write name:limit, such as ttft:300 (milliseconds)"),
        );
        check(
            "tft:300",
            Err(
                "no request has a figure `tft`: did you mean `ttft`, or one of ttft, ttfa, tpot, e2el, chunk_gap_max, speed?",
            ),
        );
        check("ttft:fast", Err("`fast` is no limit for ttft: give a time such as 300, 300ms or 2s"));
        check("ttft:1 time_to_first_token:2", Err("ttft has two limits"));
    }

    #[test]
    fn the_names_in_the_error_are_the_names() {
        assert_eq!(METRICS.map(short).join(", "), METRIC_NAMES);
    }

    #[test]
    fn which_side_is_bad() {
        let objectives: Objectives = "ttft:300 speed:50".parse().unwrap();
        let missed: Vec<bool> =
            objectives.iter().flat_map(|o| [49.0, 50.0, 300.0, 301.0].map(|v| o.is_missed_by(v))).collect();
        assert_eq!(missed, [false, false, false, true, true, false, false, false]);
    }
}
