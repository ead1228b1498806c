//! Real failures of measuring tools as tests: the binary against the simulator, read from the run's folder.
//!
//! Times are held against the server's own stamps, which come from the same clock; what only a quiet machine can show
//! is checked under `INFEROMETER_QUIET=1`, and the dataset of 2 GB is made under `INFEROMETER_FULL=1`: `./test` runs the
//! cases that hold times once more with both, one after another. Counts are exact everywhere.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod bedrock;
mod bytes;
mod checks;
mod connections;
mod dialects;
mod embeddings;
mod failures;
mod first_token;
mod gaps;
mod harness;
mod interrupts;
mod keys;
mod limits;
mod load;
mod renewed;
mod statistics;
mod tls;
mod tokens;
mod wire;
