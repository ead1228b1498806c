//! AIPerf's `profile_export.jsonl` as a run.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use inferometer_clock::Wall;
use serde_json::{Value, json};

use super::line::{Line, Place};
use crate::reader::Lines;
use crate::{Manifest, RecordError, Recording, SCHEMA, Segment, State, Stream};

/// Largest `profile_export_aiperf.json` that is looked into.
const SUMMARY_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The records that AIPerf writes of each request, read as a run of ours.
///
/// Names come from `profile_export_aiperf.json` beside the file, where that is there: the model is the target, its
/// concurrency or rate the load. Samples are flagged `imported` and `wall_clock` (AIPerf's starts are wall times); those
/// of a stream whose events were not exported `events_unknown`. Absent are: the phases of a connection, the server's
/// usage, the finish reason, what was said, and so verdict and cost: such a run can be compared in time, never in worth.
#[derive(Debug)]
pub struct AiperfExport {
    path: PathBuf,
    manifest: Manifest,
    place: Place,
}

impl AiperfExport {
    /// The name that AIPerf gives the file.
    pub const FILE: &'static str = "profile_export.jsonl";

    /// Reads the file once, to see that each line is a record and when the run began.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let mut lines = Lines::<Line>::open(path.to_owned())?;
        let mut origin_ns = u64::MAX;
        let mut count = 0_u64;
        while let Some(line) = lines.read().map_err(foreign)? {
            origin_ns = origin_ns.min(line.metadata.earliest_ns());
            count += 1;
        }
        let is_torn = lines.is_torn();
        if count == 0 {
            let reason = "it holds no record of AIPerf's".to_owned();
            return Err(RecordError::NotARun { path: path.to_owned(), reason });
        }
        let about = About::beside(path);
        let wall = Wall::from_unix_nanos(i64::try_from(origin_ns).unwrap_or(i64::MAX));
        let run_id = format!("aiperf-{}-{}", wall.compact(), about.id);
        let place = Place {
            run_id: run_id.clone(),
            target: about.target,
            workload: "aiperf".to_owned(),
            load: about.load,
            origin_ns,
        };
        let manifest = Manifest {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            run_id,
            created: wall.to_string(),
            state: if about.was_cancelled || is_torn { State::Interrupted } else { State::Complete },
            segments: vec![Segment { wall_start: wall.to_string(), ..Segment::default() }],
            environment: json!({
                "imported_from": "aiperf", "version": about.version, "file": path.display().to_string(),
                "records": count,
            }),
            ..Manifest::default()
        };
        Ok(Self { path: path.to_owned(), manifest, place })
    }
}

impl Recording for AiperfExport {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn stream(&self) -> Result<Stream<'_>, RecordError> {
        let mut lines = Lines::<Line>::open(self.path.clone())?;
        let mut nth = 0_u64;
        let mut failed = false;
        Ok(Box::new(std::iter::from_fn(move || {
            let line = if failed { None } else { lines.read().transpose() };
            failed = matches!(line, Some(Err(_)));
            nth += 1;
            line.map(|line| line.map(|line| line.record(&self.place, nth - 1)))
        })))
    }
}

/// What a file is whose first line is no record.
fn foreign(error: RecordError) -> RecordError {
    match error {
        RecordError::Line { path, line: 1, reason } => RecordError::NotARun {
            path,
            reason: format!("it is no folder, and its first line is no record of AIPerf's either ({reason})"),
        },
        other => other,
    }
}

/// What AIPerf says of the run as a whole. Nothing but these few values is taken: its configuration may hold keys.
#[derive(Debug, Default)]
struct About {
    target: String,
    load: String,
    id: String,
    version: Option<String>,
    was_cancelled: bool,
}

impl About {
    /// What the summary beside the export at `path` says; the folder's name where it says nothing.
    fn beside(path: &Path) -> Self {
        let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let folder = folder.filter(|name| !name.is_empty()).unwrap_or_else(|| "aiperf".to_owned());
        let summary = read_summary(&path.with_file_name("profile_export_aiperf.json")).unwrap_or_default();
        let text =
            |pointer: &str| Some(summary.pointer(pointer)?.as_str()?.chars().take(200).collect::<String>());
        let first = |pointers: &[&str]| pointers.iter().find_map(|pointer| text(pointer));
        let number = |pointer: &str| summary.pointer(pointer)?.as_f64();
        let concurrency = number("/input_config/loadgen/concurrency").map(|n| format!("c{n}"));
        let rate = number("/input_config/loadgen/request_rate").map(|rate| format!("rate{rate}"));
        Self {
            target: first(&["/input_config/endpoint/model_names/0", "/input_config/models/0"])
                .unwrap_or_else(|| folder.clone()),
            load: rate.or(concurrency).unwrap_or_else(|| "aiperf".to_owned()),
            id: first(&["/benchmark_id", "/run_info/benchmark_id"]).unwrap_or(folder),
            version: text("/aiperf_version"),
            was_cancelled: summary.pointer("/was_cancelled").and_then(Value::as_bool).unwrap_or(false),
        }
    }
}

/// The summary, where it is there and is one.
fn read_summary(path: &Path) -> Option<Value> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(SUMMARY_BYTES_MAX).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests;
