//! The simulator over real sockets, read by a client that knows nothing of HTTP but its bytes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod answers;
mod capacity;
mod client;
mod connections;
mod dialects;
mod models;
mod scenarios;
