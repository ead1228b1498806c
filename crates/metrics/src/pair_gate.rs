//! A condition that holds one target against another, or against itself in a baseline run:
//! `--fail-if 'a.ttft_p95 > 1.1 * b.ttft_p95'`.

use std::fmt;
use std::str::FromStr;

use inferometer_stats::Prob;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::gate::{read_figure, read_op};
use crate::names::distance;
use crate::{CellSummary, GateError, Op};

/// The word that stands for the same target in the baseline run. A target of that name is quoted.
const BASELINE: &str = "baseline";

/// A condition on two figures of the same kind. As text it is what was typed:
/// `[workload/]target.figure`, one of `> >= < <=`, `[factor *] [workload/]target.figure` or `baseline.figure`. A target
/// whose name holds spaces or comparisons is quoted, with `'` or `"`.
#[derive(Clone, Debug, PartialEq)]
pub struct PairGate {
    text: String,
    left: Reference,
    /// `None` is the baseline run.
    right: Option<Reference>,
    op: Op,
    factor: f64,
    metric: &'static str,
    quantile: Option<Prob>,
}

/// A target, or a target on one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    name: String,
}

impl Reference {
    /// Whether it is this cell's target, alone or behind the names of its workload or its workload and load.
    pub(crate) fn is(&self, cell: &CellSummary) -> bool {
        let before = |text: &str, after: &str| -> Option<String> {
            Some(text.strip_suffix(after)?.strip_suffix('/')?.to_owned())
        };
        self.name == cell.target
            || before(&self.name, &cell.target).is_some_and(|rest| {
                rest == cell.workload || rest == format!("{}/{}", cell.workload, cell.load)
            })
    }

    /// Whether a workload may stand before the target's name.
    pub(crate) fn is_of_one_workload(&self) -> bool {
        self.name.contains('/')
    }

    /// Whether it names this target at all.
    fn names(&self, target: &str) -> bool {
        self.name == target || self.name.strip_suffix(target).is_some_and(|rest| rest.ends_with('/'))
    }
}

impl PairGate {
    /// Whether it is held against a baseline run.
    pub fn needs_baseline(&self) -> bool {
        self.right.is_none()
    }

    /// An error where a side names none of these targets, with the nearest right name.
    pub fn check(&self, targets: &[&str]) -> Result<(), GateError> {
        for reference in [Some(&self.left), self.right.as_ref()].into_iter().flatten() {
            if !targets.iter().any(|target| reference.names(target)) {
                let nearest = targets.iter().min_by_key(|target| distance(&reference.name, target));
                return Err(GateError::Target {
                    given: reference.name.clone(),
                    nearest: nearest.map_or_else(String::new, |target| (*target).to_owned()),
                });
            }
        }
        Ok(())
    }

    pub(crate) fn left(&self) -> &Reference {
        &self.left
    }

    pub(crate) fn right(&self) -> Option<&Reference> {
        self.right.as_ref()
    }

    pub(crate) fn op(&self) -> Op {
        self.op
    }

    /// What the right side is multiplied by.
    pub(crate) fn factor(&self) -> f64 {
        self.factor
    }

    /// The figure of both sides, and the quantile of a distribution.
    pub(crate) fn figure(&self) -> (&'static str, Option<Prob>) {
        (self.metric, self.quantile)
    }

    /// Whether the text is meant as one of these, rightly written or not: a name and a figure on the left, or a factor
    /// on the right.
    pub(crate) fn is_meant(text: &str) -> bool {
        let (left, right) = text.split_at(operator(text).unwrap_or(text.len()));
        let is_named = |side: &str| split_figure(side.trim()).is_some();
        is_named(left) || right.contains('*')
    }
}

impl FromStr for PairGate {
    type Err = GateError;

    fn from_str(typed: &str) -> Result<Self, GateError> {
        let text = typed.trim();
        let form = || GateError::Pair(text.to_owned());
        let (left, rest) = text.split_at(operator(text).ok_or_else(form)?);
        let (op, right) = read_op(rest).ok_or_else(form)?;
        let (factor, right) = read_factor(right)?;
        let (left_name, left_figure) = split_figure(left.trim()).ok_or_else(form)?;
        let (right_name, right_figure) = split_figure(right.trim()).ok_or_else(form)?;
        let (metric, quantile) = read_figure(&left_figure.to_ascii_lowercase())?;
        if read_figure(&right_figure.to_ascii_lowercase())? != (metric, quantile) {
            let (left, right) = (left_figure.to_owned(), right_figure.to_owned());
            return Err(GateError::Figures { left, right });
        }
        if left_name == BASELINE || left_name == right_name {
            return Err(form());
        }
        let reference = |name: &str| Reference { name: unquote(name).to_owned() };
        Ok(PairGate {
            text: text.to_owned(),
            left: reference(left_name),
            right: (right_name != BASELINE).then(|| reference(right_name)),
            op,
            factor,
            metric,
            quantile,
        })
    }
}

/// Where the comparison stands: outside quotes.
fn operator(text: &str) -> Option<usize> {
    let mut quote = None;
    text.char_indices().find_map(|(at, c)| {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None if matches!(c, '<' | '>') => return Some(at),
            _ => {}
        }
        None
    })
}

/// A factor and what it multiplies; 1 where there is none.
fn read_factor(text: &str) -> Result<(f64, &str), GateError> {
    let is_quoted_before = |at: usize| text.get(..at).is_some_and(|before| before.contains(['\'', '"']));
    let Some(at) = text.find('*').filter(|at| !is_quoted_before(*at)) else { return Ok((1.0, text)) };
    let (factor, rest) = text.split_at(at);
    let read = factor.trim().parse().ok().filter(|factor: &f64| factor.is_finite() && *factor > 0.0);
    let factor = read.ok_or_else(|| GateError::Factor(factor.trim().to_owned()))?;
    Ok((factor, rest.get(1..).unwrap_or_default()))
}

/// A name, quotes and all, and the figure behind its last dot. The dot of `p99.9` belongs to the figure.
fn split_figure(side: &str) -> Option<(&str, &str)> {
    let quote = side.chars().next().filter(|c| matches!(c, '\'' | '"'));
    if let Some(quote) = quote {
        let end = 1 + side.get(1..)?.find(quote)?;
        let figure = side.get(end + 1..)?.strip_prefix('.')?;
        return (end > 1 && !figure.is_empty()).then_some((side.get(..=end)?, figure));
    }
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let mut dots = side.rmatch_indices('.').map(|(at, _)| at);
    let last = dots.next()?;
    let dot = if is_number(side.get(last + 1..)?) { dots.next()? } else { last };
    let (name, figure) = (side.get(..dot)?, side.get(dot + 1..)?);
    let is_plain = !name.is_empty() && !name.contains(char::is_whitespace);
    (is_plain && !figure.is_empty()).then_some((name, figure))
}

fn unquote(name: &str) -> &str {
    let inner = |quote: char| name.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"')).unwrap_or(name)
}

impl fmt::Display for PairGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for PairGate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for PairGate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::name;

    fn check(typed: &str, left: &str, right: Option<&str>, factor: f64, figure: (&str, Option<Prob>)) {
        let gate: PairGate = typed.parse().unwrap();
        let sides = (gate.left.name.as_str(), gate.right.as_ref().map(|right| right.name.as_str()));
        assert_eq!((sides, gate.factor, gate.figure()), ((left, right), factor, figure), "{typed}");
        let json = serde_json::to_string(&gate).unwrap();
        assert_eq!(serde_json::from_str::<PairGate>(&json).unwrap(), gate);
    }

    #[test]
    fn typed_and_read() {
        let p95 = (name::TTFT, Some(Prob::P95));
        check("target-a.ttft_p95 > 1.1 * target-b.ttft_p95", "target-a", Some("target-b"), 1.1, p95);
        check("a.ttft_p95>b.TTFT_p95", "a", Some("b"), 1.0, p95);
        check("a.ttft_p95 > 1.2*baseline.ttft_p95", "a", None, 1.2, p95);
        check("a.ttft_p95 > 'baseline'.ttft_p95", "a", Some("baseline"), 1.0, p95);
        check(
            "groq:openai/gpt-oss-20b@eu.1.ttft_p99.9 >= 2 * v1.2.ttft_p999",
            "groq:openai/gpt-oss-20b@eu.1",
            Some("v1.2"),
            2.0,
            (name::TTFT, Some(Prob::P999)),
        );
        check(
            "'fast > one'.error_rate > 3 * \"it's * slow\".error_rate",
            "fast > one",
            Some("it's * slow"),
            3.0,
            (name::ERROR_RATE, None),
        );
        check(
            "chat/a.throughput < 0.9 * chat/b.tps",
            "chat/a",
            Some("chat/b"),
            0.9,
            (name::TOKENS_RATE, None),
        );
    }

    fn check_error(typed: &str, error: &str) {
        assert_eq!(
            typed.parse::<PairGate>().map_err(|error| error.to_string()),
            Err(error.to_owned()),
            "{typed}"
        );
    }

    #[test]
    fn errors_say_what_would_be_right() {
        for typed in [
            "a.ttft_p95 > 500ms",
            "a.ttft_p95",
            "a.ttft_p95 > 1.1 *",
            "a.ttft_p95 > a.ttft_p95",
            "baseline.ttft_p95 > a.ttft_p95",
            "'a.ttft_p95 > b.ttft_p95",
            ".ttft_p95 > b.ttft_p95",
            "",
        ] {
            check_error(typed, &GateError::Pair(typed.to_owned()).to_string());
        }
        check_error(
            "a.ttft_p95 > fast * b.ttft_p95",
            "`fast` is no factor: give a number above 0, such as 1.1",
        );
        check_error("a.ttft_p95 > -1 * b.ttft_p95", "`-1` is no factor: give a number above 0, such as 1.1");
        check_error(
            "a.ttft_p95 > b.ttft_p99",
            "`ttft_p95` against `ttft_p99`: both sides must be the same figure",
        );
        check_error(
            "a.tfft_p95 > b.ttft_p95",
            "there is no figure `tfft_p95` to gate on: did you mean `ttft_p95`?",
        );
    }

    #[test]
    fn names_are_checked_against_the_targets() {
        let gate: PairGate = "chat/fast.ttft_p95 > 1.1 * slwo.ttft_p95".parse().unwrap();
        assert_eq!(gate.check(&["fast", "slwo"]), Ok(()));
        let error = gate.check(&["fast", "slow"]).unwrap_err().to_string();
        assert_eq!(error, "there is no target `slwo`: did you mean `slow`?");
        let baseline: PairGate = "fast.ttft_p95 > baseline.ttft_p95".parse().unwrap();
        assert!(baseline.needs_baseline() && baseline.check(&["fast"]).is_ok());
    }

    #[test]
    fn a_reference_finds_its_cells() {
        let cell = CellSummary {
            target: "org/m".to_owned(),
            workload: "chat".to_owned(),
            load: "c1".to_owned(),
            ..CellSummary::default()
        };
        for (name, is) in [
            ("org/m", true),
            ("chat/org/m", true),
            ("chat/c1/org/m", true),
            ("rag/org/m", false),
            ("m", false),
        ] {
            assert_eq!(Reference { name: name.to_owned() }.is(&cell), is, "{name}");
        }
    }
}
