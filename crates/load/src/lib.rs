//! The runner: it asks as a plan says, and emits one sample per attempt.
//!
//! ```text
//! schedule ─► shard (a thread: runtime, connections) ─► attempt ─┐ bounded channel
//!    phase: what the shards share                                ├─► worker: classify, appraise ─► Sink
//! schedule ─► shard ─► attempt ──────────────────────────────────┘
//! ```
//!
//! Arrival and stop rule are values: a [`schedule`](Schedule) of planned starts, each of which is one request or, in a
//! closed load, a slot that asks again until its phase is over. A further load is a further schedule, never another
//! runner. The shards only send, read and stamp; counting tokens, judging and pricing happen on the calling thread.

mod appraise;
mod ask;
mod attempt;
mod axis;
mod band;
mod classify;
mod conductor;
mod context;
mod control;
mod course;
mod episode;
mod error;
mod finished;
mod guard;
mod headers;
mod health;
mod heart;
mod lane;
mod pace;
mod past;
mod phase;
mod play;
mod precision;
mod purse;
mod redact;
mod request;
mod retry;
mod rules;
mod runner;
mod schedule;
mod seat;
mod shard;
mod share;
mod slices;
#[cfg(test)]
mod tests;
mod text;
mod verdict;
mod worker;

pub use control::{Control, Live};
pub use error::Error;
pub use lane::Lane;
pub use past::Past;
pub use purse::Amount;
pub use runner::{Runner, Sink, SinkError};
pub use schedule::{Schedule, Start};
