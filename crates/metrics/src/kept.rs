//! Cells that are summed up and still there to be held against each other.

use inferometer_stats::Point;

use crate::checks::Seen;
use crate::distribution::Population;
use crate::figures::{self, FIGURES};
use crate::row::Row;
use crate::{CellContext, CellSummary, Gate, GateOutcome, evaluate};

/// A cell after its summary.
pub(crate) struct Finished {
    pub(crate) summary: CellSummary,
    pub(crate) context: CellContext,
    /// Every attempt of the measured phase that started in the window, in start order.
    pub(crate) attempts: Vec<Row>,
    /// Every complete answer, as the checks over several of them read it.
    pub(crate) seen: Seen,
}

impl Finished {
    pub(crate) fn kept(&self) -> Kept<'_> {
        Kept { summary: &self.summary, context: &self.context, attempts: &self.attempts }
    }
}

/// A cell as comparisons and decisions read it.
#[derive(Clone, Copy)]
pub(crate) struct Kept<'a> {
    pub(crate) summary: &'a CellSummary,
    pub(crate) context: &'a CellContext,
    /// Every attempt of the measured phase that started in the window, in start order.
    pub(crate) attempts: &'a [Row],
}

impl<'a> Kept<'a> {
    /// The final attempt of each request, in start order.
    pub(crate) fn requests(self) -> impl Iterator<Item = &'a Row> {
        self.attempts.iter().filter(|row| row.is_final)
    }

    /// The distribution of a figure over all attempts, failures at infinity; `None` of what is no such distribution.
    pub(crate) fn population(self, metric: &str) -> Option<Population> {
        let figure = FIGURES.iter().find(|figure| figure.name == metric)?;
        figures::all_attempts(figure, self.attempts)
    }

    /// Holds a condition against the cell, on all attempts.
    pub(crate) fn gate(self, gate: &Gate) -> GateOutcome {
        evaluate::gate(gate, self.summary, &|metric| self.population(metric))
    }
}

impl Row {
    /// A figure of the whole request ([`figures::of_request`]) as a number to be ranked: a timeout is a failure like any
    /// other, hence infinite; what the run itself cut says nothing.
    pub(crate) fn request_value(&self, metric: &str) -> Option<f64> {
        match figures::of_request(metric, self)? {
            Point::Exact(value) => Some(value),
            Point::Above(_) => self.status.is_failure().then_some(f64::INFINITY),
        }
    }
}
