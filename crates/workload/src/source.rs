//! Where prompts come from, as a plan states it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Shipped;

/// Where prompts come from. `output`, where stated, draws each request's token limit; a prompt that brings its own
/// limit keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The short prompts that are compiled in.
    Builtin {
        /// Token limits of the answers.
        output: Option<Lengths>,
    },
    /// A file: lines of JSON, or one JSON array; which of the two is seen from its first character.
    Dataset {
        /// The file.
        path: PathBuf,
        /// Token limits of the answers whose prompt has none of its own.
        output: Option<Lengths>,
    },
    /// Tasks of our own with checks, generated from the seed.
    Shipped {
        /// Which.
        kind: Shipped,
        /// Tokens of the prompts, nonce and chat template aside, where the kind lets them be stated
        /// ([`Shipped::takes_input`]); the kind's own where absent.
        input: Option<Lengths>,
        /// Token limits of the answers.
        output: Option<Lengths>,
    },
    /// Generated text.
    Synthetic {
        /// Tokens of the prompts, nonce included, chat template not.
        input: Lengths,
        /// Token limits of the answers.
        output: Option<Lengths>,
    },
}

/// Numbers of tokens: normally distributed, rounded, redrawn where below 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// Mean in tokens, at least 1.
    pub mean: u32,
    /// Standard deviation in tokens; 0 makes every length the mean.
    pub stddev: f64,
}

/// What prompts do to a server's prefix cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// Prompts are sent as they are: a rerun, or a dataset that repeats itself, may be answered from the cache.
    AsIs,
    /// A nonce from seed and run id stands in front of each prompt, so that no prefix repeats.
    #[default]
    Bust,
    /// Prompts are sent as they are, each of them once before it is measured, so that a cache knows it.
    Warm,
}
