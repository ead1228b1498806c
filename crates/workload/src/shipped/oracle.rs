//! The answers to the tasks that ship, found by what was asked: for simulated models.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::Arc;

use super::{Reply, Shipped, Tasks};
use crate::Lengths;

/// An answer of either sort to one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The kind of the task.
    pub kind: Shipped,
    /// Passes the task's check.
    pub right: Reply,
    /// Fails it, in the right form and language.
    pub wrong: Reply,
}

/// Knows the tasks of a plan by their text. Cheap to clone.
///
/// It holds a hash and a place for each prompt, some 24 bytes, and makes the task again to tell its answer.
#[derive(Clone, Debug)]
pub struct Oracle {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    kinds: Vec<Tasks>,
    /// From the hash of a prompt to the index of its kind, and its place.
    places: HashMap<u64, (u32, u32)>,
}

impl Oracle {
    /// Prompts known of each kind, at most.
    pub const COUNT_MAX: u64 = 100_000;

    /// Learns the first `count` prompts (at most [`Oracle::COUNT_MAX`]) of each kind with its input lengths (`None` is
    /// the kind's own) under the plan's `seed`. Takes some 10 µs for each prompt, 0.1 ms for
    /// a long one.
    pub fn new(asked: &[(Shipped, Option<Lengths>)], seed: u64, count: u64) -> Self {
        let count = count.min(Self::COUNT_MAX) as u32;
        let kinds: Vec<Tasks> = asked.iter().map(|(kind, input)| Tasks::new(*kind, seed, *input)).collect();
        let mut places = HashMap::new();
        for (nth, tasks) in kinds.iter().enumerate() {
            for seq in 0..count {
                let prompt = tasks.task(u64::from(seq)).asked.prompt("");
                places.insert(hash(&prompt.text()), (nth as u32, seq));
            }
        }
        Self { inner: Arc::new(Inner { kinds, places }) }
    }

    /// The answers to a prompt, which is all contents of a request's messages, joined by a blank line. A nonce in front
    /// (`[six words]` and a blank line) is passed over. `None` where the prompt is none of those learnt.
    pub fn answer(&self, prompt_text: &str) -> Option<Solution> {
        let Inner { kinds, places } = &*self.inner;
        let place = |text: &str| places.get(&hash(text));
        let (nth, seq) = place(prompt_text).or_else(|| place(without_nonce(prompt_text)?))?;
        let tasks = kinds.get(*nth as usize)?;
        let task = tasks.task(u64::from(*seq));
        Some(Solution { kind: tasks.kind(), right: task.right, wrong: task.wrong })
    }
}

/// What stands behind `[…]` and a blank line.
fn without_nonce(text: &str) -> Option<&str> {
    let (nonce, rest) = text.strip_prefix('[')?.split_once("]\n\n")?;
    (!nonce.contains('\n')).then_some(rest)
}

/// The same in one process, which is as long as it is kept.
fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}
