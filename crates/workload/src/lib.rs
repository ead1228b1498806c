//! What is asked: built-in prompts, generated text of a stated length, datasets.

mod source;

pub use source::{Cache, Lengths, Source};
