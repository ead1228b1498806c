//! The samples of a run as a Parquet file: a leaf that only the binary uses, so that nothing else waits for its build.
//!
//! The table is `record`'s ([`inferometer_record::COLUMNS`]): flat, one row for each sample, every column optional.
//! Counts and times are signed 64-bit integers, so that a difference of two may be negative in whatever reads them;
//! costs stay exact decimals, as text; verbatim JSON is of type JSON. The file's metadata holds the unit of each column
//! that has one (`inferometer.unit.COLUMN`) and the run's manifest (`inferometer.manifest`).

mod columns;

use std::io::Write;
use std::sync::Arc;

use inferometer_record::{COLUMNS, Manifest, RecordError, Recording};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;

use columns::Columns;

/// Rows gathered before they are written: some 20 MB of samples.
const GROUP_ROWS: usize = 16_384;

/// Why samples could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The samples cannot be read.
    #[error(transparent)]
    Read(#[from] RecordError),
    /// The file cannot be written.
    #[error("cannot write Parquet: {0}")]
    Write(#[from] ParquetError),
}

/// Writes the samples of `recording` to `out` as a Parquet file, snappy-compressed, in the order in which they ended.
/// Returns how many.
pub fn export_parquet(recording: &dyn Recording, out: impl Write + Send) -> Result<u64, ExportError> {
    let properties = properties(recording.manifest());
    let mut writer = SerializedFileWriter::new(out, Arc::new(columns::schema()?), properties)?;
    let mut columns = Columns::default();
    let mut count = 0;
    for recorded in recording.stream()? {
        columns.push(&recorded?.0);
        count += 1;
        if columns.rows() >= GROUP_ROWS {
            columns.write(&mut writer)?;
        }
    }
    if columns.rows() > 0 {
        columns.write(&mut writer)?;
    }
    writer.close()?;
    Ok(count)
}

fn properties(manifest: &Manifest) -> WriterPropertiesPtr {
    let units = COLUMNS.iter().filter(|column| !column.unit.is_empty());
    let units = units.map(|column| {
        KeyValue::new(format!("inferometer.unit.{}", column.name), Some(column.unit.to_owned()))
    });
    let manifest = serde_json::to_string(manifest).ok();
    let metadata = units.chain([KeyValue::new("inferometer.manifest".to_owned(), manifest)]).collect();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("inferometer ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(metadata));
    Arc::new(properties.build())
}

#[cfg(test)]
mod tests;
