//! Writing a run's folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use inferometer_clock::Mono;
use serde::Serialize;

use crate::file::{LineFile, replace};
use crate::{
    EVENTS_FILE, Events, Manifest, RUN_FILE, RecordError, RunReader, SAMPLES_FILE, SUMMARY_FILE, Sample,
    Segment, State, TEXTS_FILE, Text,
};

/// Samples wait at most this long in our own buffers, given that [`RunWriter::tick`] is called at least as often:
/// half of the second that a kill may cost.
pub const FLUSH_INTERVAL: Duration = Duration::from_millis(500);

/// A run does not start with less room than this on its disk.
pub const MIN_FREE_BYTES: u64 = 16 * 1024 * 1024;

/// Folders of the same second and name that are tried before giving up.
const MAX_SUFFIX: u32 = 10_000;

/// Longest name that goes into a folder's name, in characters.
const MAX_NAME_CHARS: usize = 80;

/// The one writer of a run's folder.
#[derive(Debug)]
pub struct RunWriter {
    dir: PathBuf,
    manifest: Manifest,
    samples: LineFile,
    events: Option<LineFile>,
    texts: Option<LineFile>,
    flushed: Option<Mono>,
}

impl RunWriter {
    /// Makes the folder and every file in it, so that whatever is wrong with the disk is said before the first
    /// request. `out` is used as it is and must be empty or new; without it the folder is
    /// `root/<UTC time>-<name>`, with `-2`, `-3`, … where that exists. `with_events` false leaves out `events.jsonl`.
    pub fn create(
        out: Option<&Path>,
        root: &Path,
        name: &str,
        manifest: Manifest,
        with_events: bool,
    ) -> Result<Self, RecordError> {
        let dir = match out {
            Some(out) => claim(out)?,
            None => make_fresh(root, &folder_name(&manifest.created, name))?,
        };
        need_room(&dir)?;
        let samples = LineFile::create(dir.join(SAMPLES_FILE))?;
        let events = if with_events { Some(LineFile::create(dir.join(EVENTS_FILE))?) } else { None };
        replace(&dir, RUN_FILE, &manifest)?;
        Ok(Self { dir, manifest, samples, events, texts: None, flushed: None })
    }

    /// Goes on with the run in `dir`, whose writer ended or was killed, in a further `segment`: what a kill tore off is
    /// cut (its count is [`Samples::tail`](crate::Samples::tail)'s), events whose sample never came as well, and the
    /// state is running again. Whether the plan is the same is the caller's to compare.
    pub fn reopen(dir: &Path, segment: Segment) -> Result<Self, RecordError> {
        let reader = RunReader::open(dir)?;
        need_room(dir)?;
        let mut samples = reader.samples()?;
        let (mut whole, mut matched) = (0, 0);
        for recorded in samples.by_ref() {
            whole += 1;
            matched += u64::from(recorded?.1.is_some());
        }
        let reopen = |name: &str, lines| {
            let path = dir.join(name);
            path.exists().then(|| LineFile::reopen(path, lines)).transpose()
        };
        // Both files have one order: events that were matched are the first ones.
        let events = reopen(EVENTS_FILE, Some(matched))?;
        let texts = reopen(TEXTS_FILE, None)?;
        let samples = LineFile::reopen(dir.join(SAMPLES_FILE), Some(whole))?;
        let manifest = reader.manifest().clone();
        let mut writer = Self { dir: dir.to_owned(), manifest, samples, events, texts, flushed: None };
        writer.update(|manifest| {
            manifest.state = State::Running;
            manifest.segments.push(segment);
        })?;
        Ok(writer)
    }

    /// Makes `texts.jsonl` as well: from now on [`RunWriter::push_text`] keeps prompts and answers.
    pub fn keep_texts(&mut self) -> Result<(), RecordError> {
        if self.texts.is_none() {
            self.texts = Some(LineFile::create(self.dir.join(TEXTS_FILE))?);
        }
        Ok(())
    }

    /// The run's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The manifest as it will be written next.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Changes the manifest and writes it.
    pub fn update(&mut self, change: impl FnOnce(&mut Manifest)) -> Result<(), RecordError> {
        change(&mut self.manifest);
        replace(&self.dir, RUN_FILE, &self.manifest)
    }

    /// Appends an attempt that has ended, with the stamps of its output events; flushes when it is time.
    pub fn push(&mut self, sample: &Sample, events: Option<&Events>, now: Mono) -> Result<(), RecordError> {
        if let (Some(file), Some(events)) = (&mut self.events, events) {
            file.push(events)?;
        }
        self.samples.push(sample)?;
        if self.samples.is_filling() {
            // Of its own accord the buffer would hand over samples whose events are still in theirs.
            self.flush()?;
        }
        self.tick(now)
    }

    /// Appends what an attempt asked and was told, before its sample; nothing without [`RunWriter::keep_texts`].
    pub fn push_text(&mut self, text: &Text) -> Result<(), RecordError> {
        self.texts.as_mut().map_or(Ok(()), |file| file.push(text))
    }

    /// Flushes when [`FLUSH_INTERVAL`] has passed since the last flush. Call it at least as often while nothing ends.
    pub fn tick(&mut self, now: Mono) -> Result<(), RecordError> {
        match self.flushed {
            Some(last) if now - last < FLUSH_INTERVAL => Ok(()),
            _ => {
                self.flushed = Some(now);
                self.flush()
            }
        }
    }

    /// Hands every line to the kernel. Samples last: one in the file has its events and texts there too.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        for file in self.events.iter_mut().chain(&mut self.texts) {
            file.flush()?;
        }
        self.samples.flush()
    }

    /// Writes `summary.json`, replacing one that is there.
    pub fn write_summary(&self, summary: &impl Serialize) -> Result<(), RecordError> {
        write_summary(&self.dir, summary)
    }

    /// Ends the run: everything on the disk, the manifest with its last state. Returns the folder.
    pub fn finish(mut self, state: State) -> Result<PathBuf, RecordError> {
        for file in self.events.iter_mut().chain(&mut self.texts) {
            file.sync()?;
        }
        self.samples.sync()?;
        self.update(|manifest| manifest.state = state)?;
        Ok(self.dir)
    }
}

/// Writes `summary.json` into the folder of a run that has ended.
pub(crate) fn write_summary(dir: &Path, summary: &impl Serialize) -> Result<(), RecordError> {
    replace(dir, SUMMARY_FILE, summary)
}

/// Takes the folder that the user named: made where it does not exist, refused where it holds anything.
fn claim(out: &Path) -> Result<PathBuf, RecordError> {
    let failed = |source| RecordError::Create { path: out.to_owned(), source };
    fs::create_dir_all(out).map_err(failed)?;
    let mut entries = fs::read_dir(out).map_err(failed)?;
    if entries.next().is_some() {
        return Err(RecordError::NotEmpty(out.to_owned()));
    }
    Ok(out.to_owned())
}

/// Makes `root/name`, or the first of `root/name-2`, `root/name-3`, … that does not exist. `create_dir` decides, so
/// that two runs of one second cannot both believe that they made it.
fn make_fresh(root: &Path, name: &str) -> Result<PathBuf, RecordError> {
    fs::create_dir_all(root).map_err(|source| RecordError::Create { path: root.to_owned(), source })?;
    let mut dir = root.join(name);
    for suffix in 2..=MAX_SUFFIX {
        match fs::create_dir(&dir) {
            Ok(()) => return Ok(dir),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                dir = root.join(format!("{name}-{suffix}"));
            }
            Err(source) => return Err(RecordError::Create { path: dir, source }),
        }
    }
    Err(RecordError::Create { path: dir, source: io::ErrorKind::AlreadyExists.into() })
}

/// `20261130T151224Z-name`: sorts by time and is a valid file name on every system.
fn folder_name(created: &str, name: &str) -> String {
    let time: String =
        created.chars().take("2026-11-30T15:12:24".len()).filter(char::is_ascii_alphanumeric).collect();
    let clean = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let name: String = name.chars().take(MAX_NAME_CHARS).map(clean).collect();
    let name = name.trim_matches(['-', '.']);
    format!("{time}Z-{}", if name.is_empty() { "run" } else { name })
}

/// Refuses a disk on which the run's first minutes would already fail.
#[cfg(unix)]
fn need_room(dir: &Path) -> Result<(), RecordError> {
    let Ok(disk) = rustix::fs::statvfs(dir) else { return Ok(()) };
    let have = disk.f_bavail.saturating_mul(disk.f_frsize);
    if have < MIN_FREE_BYTES {
        return Err(RecordError::NoSpace { path: dir.to_owned(), have, need: MIN_FREE_BYTES });
    }
    Ok(())
}

/// Where free space cannot be asked for, the files made up front are the check.
#[cfg(not(unix))]
fn need_room(_dir: &Path) -> Result<(), RecordError> {
    Ok(())
}
