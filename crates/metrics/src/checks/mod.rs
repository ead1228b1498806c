//! Checks that one answer cannot pass or fail: they hold the answers of a cell, of a target's cells, or of a pair of
//! targets against each other.
//!
//! | id | what is looked for | over | it takes |
//! |---|---|---|---|
//! | logprob.text | log probabilities of another text (`judge` looks at each answer) | the cell | answers with log probabilities |
//! | model.echo | another model's name than before | the target's cells | two answers that name a model |
//! | replay | an answer given before | the cell | ids that tell answers apart, or a prompt asked twice at a temperature |
//! | input.truncated | the server's count of prompts stands still while ours grows | the target's cells | prompts of very different length |
//! | stream_diff | a stream ends otherwise than the whole answer | two targets that differ in nothing else | the same prompts at temperature 0 |
//!
//! What it takes may be absent: then a check is unavailable, which is not passed. They state what was seen, never why.

mod echo;
mod replay;
mod seen;
mod stream_diff;
mod truncated;

use serde::{Deserialize, Serialize};

use crate::Study;
use crate::kept::Finished;

pub(crate) use seen::Seen;

/// How a check over several answers came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// It looked, and there was nothing.
    Passed,
    /// There was something: `why` says what.
    Found,
    /// It could not look: `why` says what it takes. Not passed.
    #[default]
    Unavailable,
}

/// A check over several answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CellCheck {
    /// `logprob.text`, `model.echo`, `replay`, `input.truncated`, `stream_diff`.
    pub id: String,
    /// How it came out.
    pub state: CheckState,
    /// Answers, or pairs of them, that were looked at.
    pub n: u64,
    /// Those of them in which it found something.
    pub found: u64,
    /// What was found, or what it would have taken to look; empty where it passed.
    pub why: String,
}

/// What a check came to; its id is added by the table.
struct Outcome {
    n: u64,
    found: u64,
    why: Option<String>,
}

impl Outcome {
    fn unavailable(why: &str) -> Self {
        Outcome { n: 0, found: 0, why: Some(why.to_owned()) }
    }

    const fn passed(n: u64) -> Self {
        Outcome { n, found: 0, why: None }
    }

    const fn found(found: u64, n: u64, why: String) -> Self {
        Outcome { n, found, why: Some(why) }
    }

    fn named(self, id: &str) -> CellCheck {
        let state = match (&self.why, self.found) {
            (None, _) => CheckState::Passed,
            (Some(_), 0) => CheckState::Unavailable,
            (Some(_), _) => CheckState::Found,
        };
        let why = self.why.unwrap_or_default();
        CellCheck { id: id.to_owned(), state, n: self.n, found: self.found, why }
    }
}

/// One cell, and the run that it is part of.
#[derive(Clone, Copy)]
struct View<'a> {
    study: &'a Study,
    cells: &'a [Finished],
    cell: &'a Finished,
}

impl<'a> View<'a> {
    /// The cells of the same target, this one among them.
    fn of_target(self) -> impl Iterator<Item = &'a Finished> {
        self.cells.iter().filter(move |other| other.context.target == self.cell.context.target)
    }
}

type Check = fn(View<'_>) -> Outcome;

/// A further check is a row here.
const CHECKS: [(&str, Check); 5] = [
    ("logprob.text", |view| view.cell.seen.logprobs()),
    ("model.echo", echo::changed),
    ("replay", replay::replayed),
    ("input.truncated", truncated::truncated),
    ("stream_diff", stream_diff::differs),
];

/// Runs every check on every cell that was asked anything; what was found is a warning too.
pub(crate) fn add(study: &Study, cells: &mut [Finished]) {
    let of = |cell: &Finished| -> Vec<CellCheck> {
        let view = View { study, cells, cell };
        CHECKS.iter().map(|(id, check)| check(view).named(id)).collect()
    };
    let checked: Vec<_> = cells.iter().map(of).collect();
    for (cell, checks) in cells.iter_mut().zip(checked) {
        let found = checks.iter().filter(|check| check.state == CheckState::Found);
        cell.summary.warnings.extend(found.map(|check| format!("{}: {}", check.id, check.why)));
        cell.summary.checks = checks;
    }
}
