//! Files that survive a crash: lines appended through a buffer, and whole files replaced atomically.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::IgnoredAny;

use crate::RecordError;
use crate::reader::MAX_LINE_BYTES;

/// Bytes a line file gathers before it hands them to the kernel early.
const BUFFER_BYTES: usize = 256 * 1024;

/// A file of JSON lines, only ever appended to.
#[derive(Debug)]
pub(crate) struct LineFile {
    path: PathBuf,
    out: BufWriter<File>,
    line: Vec<u8>,
}

impl LineFile {
    /// Creates the file; one that exists is an error.
    pub(crate) fn create(path: PathBuf) -> Result<Self, RecordError> {
        let file = OpenOptions::new().append(true).create_new(true).open(&path);
        let file = file.map_err(|source| RecordError::Create { path: path.clone(), source })?;
        Ok(Self { path, out: BufWriter::with_capacity(BUFFER_BYTES, file), line: Vec::new() })
    }

    /// Opens the file for appending after its first `lines` lines, or after its last whole one; what follows is cut off.
    /// A file that does not exist is made.
    pub(crate) fn reopen(path: PathBuf, lines: Option<u64>) -> Result<Self, RecordError> {
        let opened = (|| {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
            let (kept, is_ended) = kept(BufReader::new(&mut file), lines)?;
            file.set_len(kept)?;
            if !is_ended {
                file.write_all(b"\n")?;
            }
            Ok(file)
        })();
        let file = opened.map_err(|source| RecordError::Create { path: path.clone(), source })?;
        Ok(Self { path, out: BufWriter::with_capacity(BUFFER_BYTES, file), line: Vec::new() })
    }

    /// Appends `record` as one line.
    pub(crate) fn push(&mut self, record: &impl Serialize) -> Result<(), RecordError> {
        self.line.clear();
        let made = serde_json::to_writer(&mut self.line, record).map_err(std::io::Error::from);
        made.map_err(|source| self.failed(source))?;
        keep_on_one_line(&mut self.line);
        self.line.push(b'\n');
        let written = self.out.write_all(&self.line);
        written.map_err(|source| self.failed(source))
    }

    /// Whether the buffer is half full: time to flush before it does so by itself.
    pub(crate) fn is_filling(&self) -> bool {
        self.out.buffer().len() >= BUFFER_BYTES / 2
    }

    /// Hands everything to the kernel: a kill loses nothing that came before.
    pub(crate) fn flush(&mut self) -> Result<(), RecordError> {
        let flushed = self.out.flush();
        flushed.map_err(|source| self.failed(source))
    }

    /// Hands everything to the disk.
    pub(crate) fn sync(&mut self) -> Result<(), RecordError> {
        self.flush()?;
        let synced = self.out.get_ref().sync_all();
        synced.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: std::io::Error) -> RecordError {
        RecordError::Write { path: self.path.clone(), source }
    }
}

/// Bytes of `input` that its first `lines` lines take, and whether they end as a line does. A last line without its end
/// was torn, unless it is whole JSON.
fn kept(mut input: impl BufRead, lines: Option<u64>) -> std::io::Result<(u64, bool)> {
    let (mut kept, mut line) = (0, Vec::new());
    for _ in 0..lines.unwrap_or(u64::MAX) {
        line.clear();
        let read = input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? as u64;
        if line.last() == Some(&b'\n') {
            kept += read;
        } else if read > 0 && serde_json::from_slice::<IgnoredAny>(&line).is_ok() {
            return Ok((kept + read, false));
        } else {
            break;
        }
    }
    Ok((kept, true))
}

/// A server's verbatim JSON may hold line breaks between its tokens (never inside a string, where JSON forbids
/// them): as spaces they mean the same.
fn keep_on_one_line(line: &mut [u8]) {
    for byte in line {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

/// Replaces `dir/name` by `value` as JSON, so that a reader sees the old file or the new one and never a part.
pub(crate) fn replace(dir: &Path, name: &str, value: &impl Serialize) -> Result<(), RecordError> {
    let made = serde_json::to_vec_pretty(value).map_err(std::io::Error::from);
    let mut text = made.map_err(|source| RecordError::Write { path: dir.join(name), source })?;
    text.push(b'\n');
    replace_text(dir, name, &text)
}

/// Replaces `dir/name` by `text`, as [`replace`] does.
pub(crate) fn replace_text(dir: &Path, name: &str, text: &[u8]) -> Result<(), RecordError> {
    let path = dir.join(name);
    let fresh = dir.join(format!(".{name}.new"));
    let written = (|| {
        let mut file = File::create(&fresh)?;
        file.write_all(text)?;
        file.sync_all()?;
        std::fs::rename(&fresh, &path)?;
        sync_folder(dir)
    })();
    written.map_err(|source| RecordError::Write { path, source })
}

/// Makes a rename in `dir` last through a loss of power. Only unix lets a folder be opened for that.
fn sync_folder(dir: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A device that is always full stands for the disk that fills up during a run.
    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let full = Path::new("/dev/full");
        let file = OpenOptions::new().write(true).open(full).unwrap();
        let mut lines = LineFile { path: full.to_owned(), out: BufWriter::new(file), line: Vec::new() };
        lines.push(&1).unwrap();
        let error = lines.flush().unwrap_err();
        assert!(matches!(&error, RecordError::Write { path, .. } if path == full));
        assert!(error.to_string().starts_with("cannot write /dev/full: No space left"), "{error}");
        assert!(replace(Path::new("/no/such/folder"), "run.json", &1).is_err());
    }
}
