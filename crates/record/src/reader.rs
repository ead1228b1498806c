//! Reading a run's folder again, also one whose writer was killed.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::file::replace_text;
use crate::writer::write_summary;
use crate::{
    EVENTS_FILE, Events, Manifest, REPORT_FILE, RUN_FILE, RecordError, SAMPLES_FILE, SCHEMA, Sample, State,
};

/// Longest line that is read: far above any sample, far below any memory.
pub(crate) const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// Largest manifest that is read.
const MAX_MANIFEST_BYTES: u64 = 64 * 1024 * 1024;

/// A run's folder, opened for reading.
#[derive(Debug)]
pub struct RunReader {
    dir: PathBuf,
    manifest: Manifest,
}

impl RunReader {
    /// Opens the folder and reads its manifest. Fields it does not know are ignored; a later schema is refused.
    pub fn open(dir: &Path) -> Result<Self, RecordError> {
        let path = dir.join(RUN_FILE);
        let failed = |source| RecordError::Read { path: path.clone(), source };
        let mut text = Vec::new();
        let file = File::open(&path).map_err(failed)?;
        file.take(MAX_MANIFEST_BYTES).read_to_end(&mut text).map_err(failed)?;
        let manifest = parse_manifest(&text, &path)?;
        Ok(Self { dir: dir.to_owned(), manifest })
    }

    /// The run's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The run's manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether the writer never said how the run ended: it was killed, or is still at work.
    pub fn is_incomplete(&self) -> bool {
        self.manifest.state == State::Running
    }

    /// Streams the samples in the order they ended, each with its events. May be called again.
    pub fn samples(&self) -> Result<Samples, RecordError> {
        let lines = Lines::open(self.dir.join(SAMPLES_FILE))?;
        let path = self.dir.join(EVENTS_FILE);
        let events = if fs::exists(&path).unwrap_or(true) { Some(Lines::open(path)?) } else { None };
        Ok(Samples { lines, events, pending: None, unmatched: 0 })
    }

    /// Writes `summary.json`, replacing one that is there.
    pub fn write_summary(&self, summary: &impl Serialize) -> Result<(), RecordError> {
        write_summary(&self.dir, summary)
    }

    /// Writes `report.html`, replacing one that is there.
    pub fn write_report(&self, page: &str) -> Result<(), RecordError> {
        replace_text(&self.dir, REPORT_FILE, page.as_bytes())
    }
}

fn parse_manifest(text: &[u8], path: &Path) -> Result<Manifest, RecordError> {
    /// The schema is looked at before anything else: a later one may have changed all the rest.
    #[derive(serde::Deserialize)]
    struct Head {
        schema: u32,
    }
    let not_a_run =
        |error: serde_json::Error| RecordError::NotARun { path: path.to_owned(), reason: error.to_string() };
    let Head { schema } = serde_json::from_slice(text).map_err(not_a_run)?;
    if schema > SCHEMA {
        return Err(RecordError::Newer { path: path.to_owned(), found: schema, known: SCHEMA });
    }
    serde_json::from_slice(text).map_err(not_a_run)
}

/// A sample and the stamps of its output events; no events where the run did not keep them or there were none.
pub type Recorded = (Sample, Option<Events>);

/// What was lost at the end of a folder whose writer was killed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Torn last lines of `samples.jsonl`: 0 or 1.
    pub torn_samples: u64,
    /// Torn last lines of `events.jsonl`: 0 or 1.
    pub torn_events: u64,
    /// Events whose sample is not there.
    pub unmatched_events: u64,
}

/// The stream of a run's samples. Fused: after an error it ends.
#[derive(Debug)]
pub struct Samples {
    lines: Lines<Sample>,
    events: Option<Lines<Events>>,
    pending: Option<Events>,
    unmatched: u64,
}

impl Samples {
    /// What was lost at the end; complete once the stream has ended.
    pub fn tail(&self) -> Tail {
        Tail {
            torn_samples: u64::from(self.lines.torn),
            torn_events: u64::from(self.events.as_ref().is_some_and(|events| events.torn)),
            unmatched_events: self.unmatched,
        }
    }

    fn read(&mut self) -> Result<Option<Recorded>, RecordError> {
        let Some(sample) = self.lines.read()? else {
            self.drain_events()?;
            return Ok(None);
        };
        let events = self.events_of(&sample)?;
        Ok(Some((sample, events)))
    }

    /// Both files have one order, and a sample without output may have no events: the next events are this sample's
    /// or a later one's.
    fn events_of(&mut self, sample: &Sample) -> Result<Option<Events>, RecordError> {
        if self.pending.is_none()
            && let Some(events) = &mut self.events
        {
            self.pending = events.read()?;
        }
        let is_ours = |e: &mut Events| e.request == sample.request && e.attempt == sample.attempt;
        Ok(self.pending.take_if(is_ours))
    }

    fn drain_events(&mut self) -> Result<(), RecordError> {
        self.unmatched += u64::from(self.pending.take().is_some());
        if let Some(events) = &mut self.events {
            while events.read()?.is_some() {
                self.unmatched += 1;
            }
        }
        Ok(())
    }
}

impl Iterator for Samples {
    type Item = Result<Recorded, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read();
        if read.is_err() {
            self.lines.ended = true;
            self.events = None;
        }
        read.transpose()
    }
}

/// The records of a file of JSON lines.
#[derive(Debug)]
pub(crate) struct Lines<T, R = BufReader<File>> {
    path: PathBuf,
    input: R,
    text: Vec<u8>,
    line: u64,
    torn: bool,
    ended: bool,
    record: PhantomData<T>,
}

impl<T: DeserializeOwned> Lines<T> {
    pub(crate) fn open(path: PathBuf) -> Result<Self, RecordError> {
        match File::open(&path) {
            Ok(file) => Ok(Self::new(path, BufReader::new(file))),
            Err(source) => Err(RecordError::Read { path, source }),
        }
    }
}

impl<T: DeserializeOwned, R: BufRead> Lines<T, R> {
    fn new(path: PathBuf, input: R) -> Self {
        Self { path, input, text: Vec::new(), line: 0, torn: false, ended: false, record: PhantomData }
    }

    /// The next record. A last line without its line end that does not parse was torn by a kill: it is noted and the
    /// file ends there. Any other line that does not parse is an error.
    pub(crate) fn read(&mut self) -> Result<Option<T>, RecordError> {
        if self.ended {
            return Ok(None);
        }
        self.text.clear();
        let read = (&mut self.input).take(MAX_LINE_BYTES).read_until(b'\n', &mut self.text);
        let read = read.map_err(|source| RecordError::Read { path: self.path.clone(), source })?;
        self.line += 1;
        let whole = self.text.last() == Some(&b'\n');
        self.ended = !whole;
        if read == 0 {
            return Ok(None);
        }
        if !whole && read as u64 == MAX_LINE_BYTES {
            return Err(self.wrong(format!("longer than {MAX_LINE_BYTES} bytes")));
        }
        match serde_json::from_slice(&self.text) {
            Ok(record) => Ok(Some(record)),
            Err(_) if !whole => {
                self.torn = true;
                Ok(None)
            }
            Err(error) => Err(self.wrong(describe(&error))),
        }
    }

    /// Whether the last line was torn; known once the file has ended.
    pub(crate) fn is_torn(&self) -> bool {
        self.torn
    }

    fn wrong(&self, reason: String) -> RecordError {
        RecordError::Line { path: self.path.clone(), line: self.line, reason }
    }
}

/// The error's text without its "line 1", which would contradict the line of the file.
fn describe(error: &serde_json::Error) -> String {
    if error.is_io() {
        return io::Error::other("unreadable").to_string();
    }
    error.to_string().replace("line 1 column", "column")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads hostile bytes to their end, as samples and as events.
    fn read_all<T: DeserializeOwned>(bytes: &[u8]) -> (usize, bool, Option<RecordError>) {
        let mut lines = Lines::<T, &[u8]>::new(PathBuf::from("fuzz.jsonl"), bytes);
        let mut count = 0;
        loop {
            match lines.read() {
                Ok(Some(_)) => count += 1,
                Ok(None) => return (count, lines.torn, None),
                Err(error) => return (count, lines.torn, Some(error)),
            }
        }
    }

    /// Fuzz target of the JSONL reader; a bounded smoke of it runs with the tests.
    #[test]
    fn any_bytes_end_in_records_or_an_error_with_its_line() {
        bolero::check!().with_iterations(3_000).with_max_len(512).for_each(|bytes| {
            let most_lines = bytes.split(|byte| *byte == b'\n').count();
            for (count, torn, error) in [read_all::<Sample>(bytes), read_all::<Events>(bytes)] {
                assert!(count <= most_lines && !(torn && error.is_some()));
                if let Some(RecordError::Line { line, .. }) = error {
                    assert_eq!(line, count as u64 + 1, "all lines before the bad one were read");
                }
            }
            let with_head = [b"{}\n".as_slice(), bytes].concat();
            assert!(read_all::<Sample>(&with_head).0 >= 1, "what stands before is not lost");
        });
    }
}
