//! The workloads that ship: tasks of our own, generated from a seed so that no provider can have learnt them, each with
//! a check that decides whether an answer was useful.
//!
//! A task depends on seed, kind, input length and place alone; [`Oracle`] knows an answer of either sort to each, so
//! that a simulated model of a stated accuracy can be served.

mod chat;
mod chat_long;
mod classify;
mod code;
mod code_text;
mod code_tree;
mod dice;
mod extract;
mod length;
mod oracle;
mod rag;
mod reason;
mod stock;
mod summarise;
mod task;
mod tools;

use std::fmt;
use std::str::FromStr;

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use crate::{Error, Lengths};
use dice::Dice;
pub use oracle::{Oracle, Solution};
pub use task::Reply;
use task::Task;

/// A kind of workload that ships.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shipped {
    /// Short questions.
    Chat,
    /// Conversations whose last question is about something said earlier.
    ChatLong,
    /// Many passages, one of which holds the answer.
    Rag,
    /// Reports to be shortened.
    Summarise,
    /// Orders to be turned into JSON.
    Extract,
    /// Arithmetic and logic in words.
    Reason,
    /// Functions whose result is to be stated.
    Code,
    /// Requests that one of five tools fulfils.
    Tools,
    /// Messages to be given one of five labels.
    Classify,
}

/// What is said of a kind.
struct Facts {
    name: &'static str,
    description: &'static str,
    max_tokens: u32,
}

/// A name that is none of the kinds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no workload is called {0:?}: there are chat, chat-long, rag, summarise, extract, reason, code, tools, classify"
)]
pub struct UnknownShipped(pub String);

/// Tokens of a conversation where the plan states none.
const CHAT_LONG_INPUT: Lengths = Lengths { mean: 900, stddev: 200.0 };

/// Tokens of a report where the plan states none.
const SUMMARISE_INPUT: Lengths = Lengths { mean: 1_200, stddev: 200.0 };

/// Tokens of passages where the plan states none: every length as likely as its double.
const RAG_INPUT: std::ops::RangeInclusive<u32> = 4_096..=32_768;

impl Shipped {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 9] = [
        Self::Chat,
        Self::ChatLong,
        Self::Rag,
        Self::Summarise,
        Self::Extract,
        Self::Reason,
        Self::Code,
        Self::Tools,
        Self::Classify,
    ];

    /// The shortest input, in tokens, that any kind with a stated length can have; a shorter one comes out longer.
    pub const INPUT_MIN: u32 = 512;

    /// The name in plans and records.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// One line about it.
    pub const fn description(self) -> &'static str {
        self.facts().description
    }

    /// The token budget of an answer where the plan states none: several times what a right answer needs, but for
    /// models that think. Those need a budget of their own, which is a finding and not a fault.
    pub const fn default_max_tokens(self) -> u32 {
        self.facts().max_tokens
    }

    /// Whether the plan may state its input length.
    pub const fn takes_input(self) -> bool {
        matches!(self, Self::ChatLong | Self::Rag | Self::Summarise)
    }

    const fn facts(self) -> Facts {
        let (name, description, max_tokens) = match self {
            Self::Chat => {
                ("chat", "short questions, each new; answers in plain English or with one word", 400)
            }
            Self::ChatLong => {
                ("chat-long", "a conversation, and a question about something said earlier in it", 128)
            }
            Self::Rag => {
                ("rag", "4k to 32k tokens of passages, one of which holds the code that is asked for", 64)
            }
            Self::Summarise => ("summarise", "a report to be cut to 80 words that keep four facts", 256),
            Self::Extract => {
                ("extract", "an order in words, to be given as a JSON object of exactly its values", 256)
            }
            Self::Reason => ("reason", "arithmetic and logic in words, several steps to one number", 1_024),
            Self::Code => ("code", "a small function and its inputs; the model states what it returns", 768),
            Self::Tools => {
                ("tools", "something to do and five tools: the right call with the right arguments", 256)
            }
            Self::Classify => ("classify", "a customer's message, to be given one of five labels", 16),
        };
        Facts { name, description, max_tokens }
    }

    /// Whether these input lengths can be had.
    pub(crate) fn check_input(self, input: Option<Lengths>) -> Result<(), Error> {
        match input {
            None => Ok(()),
            Some(_) if !self.takes_input() => Err(Error::InputUnused { kind: self }),
            Some(input) if input.mean < Self::INPUT_MIN => {
                Err(Error::InputShort { kind: self, mean: input.mean })
            }
            Some(input) => input.check("input"),
        }
    }
}

/// The tasks of a kind under a seed.
#[derive(Clone, Debug)]
pub(crate) struct Tasks {
    kind: Shipped,
    seed: u64,
    /// Lengths that the plan states.
    input: Option<Lengths>,
    recipe: Recipe,
}

/// How a task is made.
#[derive(Clone, Debug)]
enum Recipe {
    /// It has the length that it has.
    Short(fn(&mut Dice) -> Task),
    /// It has a number of tokens: these, where the plan states none.
    Long(fn(&mut Dice, usize) -> Task, Lengths),
    /// Passages, drawn once.
    Passages(rag::Library),
}

impl Tasks {
    /// The tasks of `kind`; `input` states their lengths where it is not the kind's own.
    pub(crate) fn new(kind: Shipped, seed: u64, input: Option<Lengths>) -> Self {
        let recipe = match kind {
            Shipped::Chat => Recipe::Short(chat::task),
            Shipped::ChatLong => Recipe::Long(chat_long::task, CHAT_LONG_INPUT),
            // No task stands at the last place there is: its draws are the library's.
            Shipped::Rag => {
                Recipe::Passages(rag::Library::new(&mut Dice::new(seed, kind as usize, u64::MAX)))
            }
            Shipped::Summarise => Recipe::Long(summarise::task, SUMMARISE_INPUT),
            Shipped::Extract => Recipe::Short(extract::task),
            Shipped::Reason => Recipe::Short(reason::task),
            Shipped::Code => Recipe::Short(code::task),
            Shipped::Tools => Recipe::Short(tools::task),
            Shipped::Classify => Recipe::Short(classify::task),
        };
        Self { kind, seed, input, recipe }
    }

    /// The kind.
    pub(crate) fn kind(&self) -> Shipped {
        self.kind
    }

    /// The task at `seq`.
    pub(crate) fn task(&self, seq: u64) -> Task {
        let mut dice = Dice::new(self.seed, self.kind as usize, seq);
        match &self.recipe {
            Recipe::Short(make) => make(&mut dice),
            Recipe::Long(make, lengths) => {
                let tokens = self.input.unwrap_or(*lengths).draw(dice.rng());
                make(&mut dice, tokens as usize)
            }
            Recipe::Passages(library) => {
                let tokens = match self.input {
                    Some(input) => input.draw(dice.rng()),
                    None => rag_tokens(&mut dice),
                };
                library.task(&mut dice, tokens as usize)
            }
        }
    }
}

/// A length whose logarithm is uniform over [`RAG_INPUT`].
fn rag_tokens(dice: &mut Dice) -> u32 {
    let (low, high) = (f64::from(*RAG_INPUT.start()).ln(), f64::from(*RAG_INPUT.end()).ln());
    dice.rng().random_range(low..=high).exp().round() as u32
}

impl fmt::Display for Shipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Shipped {
    type Err = UnknownShipped;

    fn from_str(name: &str) -> Result<Self, UnknownShipped> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| UnknownShipped(name.to_owned()))
    }
}

#[cfg(test)]
mod tests;
