//! What `--fail-if` takes: a condition on each cell, or one that holds a target against another.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Gate, GateError};

/// A condition that fails the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// On each cell: `ttft_p95>500ms`.
    Cell(Gate),
    /// On two targets, or on a target and its baseline: `a.ttft_p95 > 1.1 * b.ttft_p95`.
    Pair(PairGate),
}

/// A condition on two figures of the same kind: one target's against a factor times another's, or against the same
/// target's in a baseline run (`baseline.ttft_p95`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairGate {
    /// As typed.
    pub text: String,
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
        typed.parse().map(Condition::Cell)
    }
}
