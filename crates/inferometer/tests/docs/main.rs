//! The documentation keeps up with the code: `docs/run-folder.md` shows every field of every file of a run,
//! `docs/simulator.md` every key of its configuration, `docs/figures.md` every figure under its names, and `README.md` a report as it is.
//!
//! The tables of the first two are made from the types and their doc comments. To write them anew:
//!
//! ```text
//! INFEROMETER_WRITE_DOCS=1 cargo test --package inferometer --test docs
//! ```
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests: a panic is the failure")]

mod figures;
mod readme;
mod tables;
mod types;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
