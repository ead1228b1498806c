//! What is asked: built-in prompts, generated text of a stated length, tasks with checks, datasets.
//!
//! A plan names a [`Source`]; [`Prompts::prepare`] reads and checks it before the load starts; [`Prompts::item`] says
//! what request `seq` asks, without I/O, the same whoever asks and in whatever order.
//!
//! | question | module |
//! |---|---|
//! | where do prompts come from? | `source`, `builtin`, `synthetic`, `shipped`, `dataset` |
//! | what does a workload that ships ask, and what passes? | `shipped`: one module a kind |
//! | what would a right answer be? | `shipped::oracle` |
//! | how long are they? | `lengths` |
//! | why does no prefix cache know them? | `nonce`, `messages` (its place in a conversation) |
//! | what is wrong with a dataset? | `dataset::fault` |
//! | what must a report say? | `note` |
//!
//! Invariants: a dataset is read no further than it is used, and what is held of it is bounded; each draw depends on
//! seed and `seq` alone; a file can be wrong in any way without a panic.

mod builtin;
mod dataset;
mod entry;
mod error;
mod lengths;
mod messages;
mod nonce;
mod note;
mod prompts;
mod shipped;
mod source;
mod synthetic;

pub use dataset::Fault;
pub use error::Error;
pub use note::Note;
pub use prompts::{Item, Prompts};
pub use shipped::{Oracle, Reply, Shipped, Solution, UnknownShipped};
pub use source::{Cache, Lengths, Source};
