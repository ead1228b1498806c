//! Flags of `run` that say what becomes of a run, not what is measured.

use std::path::PathBuf;

use clap::Args;
use inferometer_report::Format;

use crate::ParquetWriter;

/// Where the run is kept and how it is shown.
#[derive(Args, Clone, Debug, Default)]
pub struct OutputFlags {
    /// What writes Parquet, where the binary brings it.
    #[arg(skip)]
    pub parquet_writer: Option<ParquetWriter>,
    /// Folder of the run [default: runs/TIME-NAME, the time in UTC]
    #[arg(long, value_name = "DIR", alias = "artifact-dir", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// What is printed at the end: table, json, md or csv
    #[arg(long, default_value = "table", help_heading = "Output")]
    pub format: Format,
    /// No progress line
    #[arg(long, help_heading = "Output")]
    pub no_progress: bool,
    /// Send the load without asking once first
    #[arg(long, help_heading = "Target")]
    pub no_preflight: bool,
    /// Exit 6 where the client was too slow for a valid result, 4 where a gate is unproven
    #[arg(long, help_heading = "Gates")]
    pub strict: bool,
    /// Do not keep the stamps of output events; figures that need them are left out
    #[arg(long, help_heading = "Output")]
    pub no_events: bool,
    /// Measure again how well this machine can measure
    #[arg(long, help_heading = "Output")]
    pub self_check: bool,
    /// Keep the samples as samples.parquet too
    #[arg(long, help_heading = "Output")]
    pub parquet: bool,
    /// Run that gates such as 'a.ttft_p95 > 1.1 * baseline.ttft_p95' are held against
    #[arg(long, value_name = "RUN", help_heading = "Gates")]
    pub baseline: Option<PathBuf>,
}
