//! The sample and the run: types and the crash-safe log.
//!
//! A run is a folder. [`RunWriter`] makes it: `run.json` (a [`Manifest`], always replaced whole), `samples.jsonl` and
//! `events.jsonl` (appended as each attempt ends, handed to the kernel at least each second), `summary.json`.
//! [`RunReader`] reads it again, also one whose writer was killed: what was written is data, the torn end is counted.
//!
//! What another tool recorded is read as a run as well ([`AiperfExport`]), and several runs as one ([`Pool`]): each is a
//! [`Recording`]. [`COLUMNS`] is the sample as a table, for export.
//!
//! Every line is strict JSON: a number that is not finite is written as null, and a line break inside a server's
//! verbatim JSON becomes a space.

mod error;
mod export;
mod file;
mod import;
mod manifest;
mod pool;
mod reader;
mod recording;
mod sample;
mod text;
mod writer;

pub use error::RecordError;
pub use export::{COLUMNS, Column, ColumnKind, ColumnValue, export_csv};
pub use import::AiperfExport;
pub use manifest::{Manifest, SCHEMA, Segment, State};
pub use pool::{Part, Pool};
pub use reader::{Recorded, RunReader, Samples, Tail};
pub use recording::{Recording, Stream, open_recording};
pub use sample::{Events, Phase, Sample, Status, TokensSource, Verdict};
pub use text::{Call, Said, Text};
pub use writer::{FLUSH_INTERVAL, MIN_FREE_BYTES, RunWriter};

/// The run's manifest.
pub const RUN_FILE: &str = "run.json";
/// One sample a line.
pub const SAMPLES_FILE: &str = "samples.jsonl";
/// The output events of each sample, in the samples' order.
pub const EVENTS_FILE: &str = "events.jsonl";
/// Prompts and answers, where the run keeps them.
pub const TEXTS_FILE: &str = "texts.jsonl";
/// Every figure.
pub const SUMMARY_FILE: &str = "summary.json";
/// The report as one page.
pub const REPORT_FILE: &str = "report.html";
