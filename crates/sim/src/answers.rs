//! Answers that say something: right ones and wrong ones to the prompts of the shipped workloads.

use inferometer_tokens::Tokenizer;
use inferometer_workload::{Lengths, Oracle, Reply, Shipped};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::random::{Purpose, random};
use crate::speech::{Piece, Words};

/// Prompts that a model can answer; to others it says word after word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tasks {
    /// Shipped workloads, by the names that plans give them.
    pub kinds: Vec<Shipped>,
    /// The seed of the run that asks.
    pub seed: u64,
    /// Prompts of each workload that are known.
    #[serde(default = "usual_count")]
    pub count: u64,
    /// Mean input tokens, where the run states its own for a workload that takes them.
    #[serde(default)]
    pub input: Option<u32>,
}

fn usual_count() -> u64 {
    10_000
}

impl Tasks {
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.kinds.is_empty() {
            return Err("`tasks` names no workload in `kinds`".into());
        }
        if self.count > Oracle::COUNT_MAX {
            return Err(format!("{} known prompts are more than {}", self.count, Oracle::COUNT_MAX));
        }
        Ok(())
    }

    /// Works out the answers.
    pub(crate) fn oracle(&self) -> Oracle {
        let input = self.input.map(|mean| Lengths { mean, stddev: 0.0 });
        let asked: Vec<_> =
            self.kinds.iter().map(|kind| (*kind, input.filter(|_| kind.takes_input()))).collect();
        Oracle::new(&asked, self.seed, self.count)
    }
}

/// What a model knows, and how often it is right.
#[derive(Clone, Debug)]
pub(crate) struct Knowledge {
    pub(crate) oracle: Oracle,
    /// Share of right answers, 0..=1.
    pub(crate) accuracy: f64,
    pub(crate) seed: u64,
}

impl Knowledge {
    /// The answer to the `nth` request, and whether it is right; none to a prompt that is not known.
    pub(crate) fn answer(&self, prompt: &str, nth: u64) -> Option<(Words, bool)> {
        let solution = self.oracle.answer(prompt)?;
        let right = random(self.seed, nth, Purpose::Right).random::<f64>() < self.accuracy;
        let reply = if right { solution.right } else { solution.wrong };
        let tokenizer = Tokenizer::o200k();
        let words = match reply {
            Reply::Text(text) => Words::of(tokenizer.split(&text), Piece::content),
            Reply::ToolCall { name, arguments } => {
                let call = Piece::call(&name, tokenizer.count(&name) as u32);
                Words::of(tokenizer.split(&arguments), Piece::arguments).after(call)
            }
        };
        Some((words, right))
    }
}
