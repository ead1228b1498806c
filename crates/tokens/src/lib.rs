//! Pinned token counts, and text of a stated token length.
//!
//! [`Tokenizer`] counts with OpenAI's o200k vocabulary, which is compiled in: no file, no network. [`TextMaker`] makes
//! text of exactly n such tokens out of ordinary words. Both are for before and after the measurement; a count between
//! two stamps would be measured too.
//!
//! Invariants: no count can panic or take more than n log n time, whatever the text; the same seed gives the same text
//! in every version of this crate.

mod hash;
mod merge;
mod pretoken;
mod text;
mod tokenizer;
mod vocabulary;

pub use text::{TextMaker, words};
pub use tokenizer::Tokenizer;
