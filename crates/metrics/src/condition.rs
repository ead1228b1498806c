//! What `--fail-if` takes: a condition on each cell, or one that holds a target against another.

use std::fmt;
use std::str::FromStr;

use crate::{Gate, GateError, PairGate};

/// A condition that fails the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// On each cell: `ttft_p95>500ms`.
    Cell(Gate),
    /// On two targets, or on a target and its baseline: `a.ttft_p95 > 1.1 * b.ttft_p95`.
    Pair(PairGate),
}

impl Condition {
    /// The condition on each cell, where it is one.
    pub fn cell(&self) -> Option<&Gate> {
        match self {
            Condition::Cell(gate) => Some(gate),
            Condition::Pair(_) => None,
        }
    }

    /// The condition on two targets, where it is one.
    pub fn pair(&self) -> Option<&PairGate> {
        match self {
            Condition::Pair(gate) => Some(gate),
            Condition::Cell(_) => None,
        }
    }
}

impl FromStr for Condition {
    type Err = GateError;

    fn from_str(typed: &str) -> Result<Self, Self::Err> {
        if PairGate::is_meant(typed) {
            typed.parse().map(Condition::Pair)
        } else {
            typed.parse().map(Condition::Cell)
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Cell(gate) => gate.fmt(f),
            Condition::Pair(gate) => gate.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_before_the_figure_makes_a_pair() {
        for (typed, is_pair) in [
            ("ttft_p95>500ms", Ok(false)),
            ("ttft_p99.9>1.5s", Ok(false)),
            ("a.ttft_p95 > b.ttft_p95", Ok(true)),
            ("'a b'.ttft_p95 > 2 * baseline.ttft_p95", Ok(true)),
            ("a.ttft_p95>500ms", Err(true)),
            ("ttft_p95 > 1.1 * b.ttft_p95", Err(true)),
            ("ttft_p95=500", Err(false)),
            ("nonsense", Err(false)),
        ] {
            let read = typed.parse::<Condition>();
            let found = match &read {
                Ok(condition) => Ok(condition.pair().is_some()),
                Err(error) => Err(matches!(error, GateError::Pair(_))),
            };
            assert_eq!(found, is_pair, "{typed}");
            assert!(read.is_err_and(|_| is_pair.is_err()) || is_pair.is_ok());
        }
    }
}
