//! What figures are made from, wherever it was recorded.

use std::path::Path;

use crate::{AiperfExport, Manifest, RUN_FILE, RecordError, Recorded, RunReader};

/// Samples in the order they ended, each with its events. It ends after an error.
pub type Stream<'a> = Box<dyn Iterator<Item = Result<Recorded, RecordError>> + 'a>;

/// Something that was recorded: a run's folder, another tool's export, a pool of several.
pub trait Recording: std::fmt::Debug {
    /// What the run was.
    fn manifest(&self) -> &Manifest;

    /// Its samples. May be called again.
    fn stream(&self) -> Result<Stream<'_>, RecordError>;
}

impl Recording for RunReader {
    fn manifest(&self) -> &Manifest {
        self.manifest()
    }

    fn stream(&self) -> Result<Stream<'_>, RecordError> {
        Ok(Box::new(self.samples()?))
    }
}

/// Opens what `path` names: a run's folder, AIPerf's `profile_export.jsonl`, or the folder that holds one.
pub fn open_recording(path: &Path) -> Result<Box<dyn Recording>, RecordError> {
    let export = path.join(AiperfExport::FILE);
    if path.is_file() {
        Ok(Box::new(AiperfExport::open(path)?))
    } else if !path.join(RUN_FILE).exists() && export.is_file() {
        Ok(Box::new(AiperfExport::open(&export)?))
    } else {
        Ok(Box::new(RunReader::open(path)?))
    }
}
