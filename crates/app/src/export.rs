//! Samples as a table: CSV, or Parquet where the binary brings it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use clap::ValueEnum;
use inferometer_record::{Recording, export_csv};

use crate::console::say;
use crate::{Error, Exit};

/// What samples are exported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Table {
    /// One row a sample, RFC 4180
    Csv,
    /// One row a sample, typed columns
    Parquet,
}

impl Table {
    const fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// The file where none is named.
    pub(crate) fn file(self) -> String {
        format!("samples.{}", self.name())
    }
}

/// Writes samples as Parquet and returns how many, or why not. The crate behind it is heavy, so that only the binary
/// knows it and hands it in.
pub type ParquetWriter = fn(&dyn Recording, Box<dyn Write + Send>) -> Result<u64, String>;

/// Writes the samples of `recording` to `path`, which must not exist yet: what is there is never overwritten.
pub(crate) fn export(
    recording: &dyn Recording,
    table: Table,
    path: &Path,
    parquet: Option<ParquetWriter>,
) -> Result<Exit, Error> {
    let failed = |reason: String| Error::Export { path: path.display().to_string(), reason };
    if table == Table::Parquet && parquet.is_none() {
        return Err(failed(
            "this binary was built without Parquet (--no-default-features): --export csv".into(),
        ));
    }
    let file = File::create_new(path).map_err(|error| failed(error.to_string()))?;
    let mut out = BufWriter::new(file);
    let samples = match parquet.filter(|_| table == Table::Parquet) {
        Some(write) => write(recording, Box::new(out)).map_err(failed)?,
        None => export_csv(recording, path, &mut out)?,
    };
    say(&format!("{samples} samples in {}", path.display()));
    Ok(Exit::Done)
}
