//! The runner: it asks as a plan says, and emits one sample per attempt.
//!
//! ```text
//!             orders                        bounded channel
//! conductor ─────────► shard (a thread: runtime, connections) ─► attempt ─┐
//!   lanes: who runs    shard ─► attempt ──────────────────────────────────┴─► worker: appraise ─► Sink
//!   what, and when                                              purse ◄── settled
//! ```
//!
//! A lane is one cell; those of one workload and load run side by side, and a cell alone is one lane. Everything is a
//! value: the *arrival* (a [`Schedule`] of planned starts, each of which is one request or, in a closed load, a slot that
//! asks again; or a script of episodes), the *course* of a lane through it (what is still to be sent), a *phase* (the piece
//! that runs). A further load is a further schedule or script, never another runner. The shards only send, read and
//! stamp; counting tokens, judging and pricing happen on the calling thread.
//!
//! | question | module |
//! |---|---|
//! | whose turn is it, and what is given up? | `conductor`, `conductor::turns`, `course`, `pace` |
//! | when does a request start? | `schedule`, `phase`, `share`, `episode` and `play` |
//! | what happens to one request? | `request`, `attempt`, `guard`, `retry` |
//! | what becomes of an attempt? | `worker`, `appraise`, `classify`, `verdict`, `redact` |
//! | may it be sent at all? | `purse` |
//! | with which key? | `keeper` |
//! | does it have to wait, for a limit that was told? | `gate` |
//! | what was done before, and when is it enough? | `past`, `precision` |
//! | how did the client fare? | `heart`, `health`, `context` |

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
mod gate;
mod guard;
mod headers;
mod health;
mod heart;
mod keeper;
mod lane;
mod pace;
mod past;
mod phase;
mod play;
mod precision;
mod purse;
mod receive;
mod redact;
mod repeats;
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
pub use receive::receive;
pub use runner::{Runner, Sink, SinkError};
pub use schedule::{Schedule, Start};
