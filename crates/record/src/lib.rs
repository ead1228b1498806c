//! The sample and the run: types and the crash-safe log.

mod sample;

pub use sample::{Events, Phase, Sample, Status, TokensSource, Verdict};
