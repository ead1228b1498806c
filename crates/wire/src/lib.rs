//! Bytes to meaning and back, without sockets: framing, the dialects of providers, usage, errors, request bodies.
//!
//! A [`Decoder`] takes the bytes of one answer in any cut and tells, in stream order, which events carried output;
//! the caller stamps each with the time of the read that delivered it. At the end it hands over an [`Answer`].
//! Nothing here can panic on input: whatever a server sends becomes an [`Outcome`] and flags.
//!
//! | question | module |
//! |---|---|
//! | where does an event end? | [`sse`], `lines`, `binary` |
//! | how does a provider speak? | `dialect`, a module each |
//! | what does an event carry? | `step` (what a dialect tells of it), `chunk` (OpenAI's JSON), `pieces` |
//! | need it be read at all? | `template` |
//! | what has the answer become so far? | `assembly`, `choice`, `tools` |
//! | how many tokens, of which kind? | [`usage`]; per event `meter`; what they spell, `logprobs` |
//! | what if the answer is no text? | [`Vectors`] |
//! | how did it end? | [`answer`], `finish`, `error` |
//! | what is sent? | [`request`], `wishes` (for dialects with words of their own), [`endpoint()`] |
//! | how is it signed, at Amazon? | [`sigv4`] |
//! | which models are there? | [`listing`] |
//! | when may one ask again? | [`retry_after`] |
//! | how much may be asked, and was it too much? | [`limits`] |

pub mod answer;
mod assembly;
mod binary;
mod choice;
mod chunk;
mod decoder;
mod dialect;
mod endpoint;
mod error;
mod event;
mod few;
mod finish;
mod flags;
pub mod limits;
mod lines;
pub mod listing;
mod logprobs;
mod loose;
mod mend;
mod meter;
mod pieces;
pub mod request;
mod retry;
pub mod sigv4;
pub mod sse;
mod step;
mod template;
mod think;
mod tools;
pub mod usage;
mod vectors;
mod whole;
mod wishes;

pub use answer::{Answer, End, Outcome, Progress, ToolCall, Transcript};
pub use decoder::{Decoder, Head, MAX_ERROR_BODY};
pub use dialect::{Auth, Dialect, UnknownDialect};
pub use endpoint::{ENDPOINT_RULE, UrlError, endpoint, models_address};
pub use error::MAX_MESSAGE;
pub use event::{Event, Output};
pub use finish::Finish;
pub use flags::{Flag, Flags};
pub use logprobs::Spelling;
pub use meter::EventTokens;
pub use retry::{RETRY_AFTER_CAP, retry_after};
pub use sse::MAX_EVENT;
pub use usage::{Identity, Normal, Usage, UsageSource};
pub use vectors::Vectors;
