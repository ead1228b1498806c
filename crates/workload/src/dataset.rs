//! Prompts from a file, read as a stream: only what is used is read, only what is used is held.
//!
//! An element is an object with `prompt` (a string), `messages` (a list, as in a chat request) or ShareGPT's
//! `conversations` (the first human turn is the prompt), and, if it likes, `id`, `max_tokens` or `output_tokens`, `check`
//! or `checks` (what makes its answer right), and `tools`, `tool_choice`, `response_format`, which go with its request.
//! A file is one element a line (JSONL), or one JSON array of elements; a byte order mark, CRLF and blank lines do no
//! harm.

mod element;
mod fault;
mod framing;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

pub use fault::Fault;
use fault::Problem;
use framing::Elements;

use crate::entry::Entry;
use crate::{Error, Note};

/// Prompts held where the number of requests is not known: a run limited by time cycles over these.
pub(crate) const PROMPTS_DEFAULT: u64 = 10_000;

/// Bytes of prompts held, however many are wanted; beyond it the run cycles over those it has.
pub(crate) const HELD_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Bytes read from the file at once.
const READ_BYTES: usize = 64 * 1024;

/// What was read of a dataset.
#[derive(Debug)]
pub(crate) struct Taken {
    /// At least one.
    pub(crate) entries: Vec<Entry>,
    pub(crate) notes: Vec<Note>,
}

/// Reads the first `wanted` prompts of the file at `path`.
pub(crate) fn read(path: &Path, wanted: Option<u64>) -> Result<Taken, Error> {
    let file = File::open(path).map_err(|source| Error::Open { path: path.into(), source })?;
    let input = BufReader::with_capacity(READ_BYTES, file);
    let taken = take(input, wanted.unwrap_or(PROMPTS_DEFAULT).max(1), HELD_BYTES_MAX)
        .map_err(|problem| Error::Dataset { path: path.into(), line: problem.line, fault: problem.fault })?;
    if taken.entries.is_empty() {
        let skipped = taken.notes.iter().any(|note| matches!(note, Note::Skipped { .. }));
        return Err(Error::Empty { path: path.into(), skipped });
    }
    Ok(taken)
}

/// Takes `wanted` prompts from `input`, or fewer where it ends, or where they are larger than `bytes_max` together.
fn take(input: impl BufRead, wanted: u64, bytes_max: usize) -> Result<Taken, Problem> {
    let mut elements = Elements::open(input)?;
    let mut taken = Taken { entries: Vec::new(), notes: Vec::new() };
    let (mut held, mut skipped) = (0, 0);
    while (taken.entries.len() as u64) < wanted {
        let Some(element) = elements.next()? else { break };
        let Some(entry) = element::parse(element)? else {
            skipped += 1;
            continue;
        };
        held += entry.bytes();
        taken.entries.push(entry);
        if held >= bytes_max {
            taken.notes.push(Note::HeldBound { prompts: taken.entries.len() as u64, bytes_max });
            break;
        }
    }
    if skipped > 0 {
        taken.notes.push(Note::Skipped { conversations: skipped });
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use super::*;

    /// Counts what is read, and never ends.
    struct Endless<'a> {
        line: Cursor<&'a [u8]>,
        bytes_read: &'a mut usize,
    }

    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.line.position() as usize == self.line.get_ref().len() {
                self.line.set_position(0);
            }
            let n = self.line.read(buffer)?;
            *self.bytes_read += n;
            Ok(n)
        }
    }

    fn endless(line: &str, wanted: u64, bytes_max: usize) -> (Taken, usize) {
        let mut bytes_read = 0;
        let input = Endless { line: Cursor::new(line.as_bytes()), bytes_read: &mut bytes_read };
        let taken = take(BufReader::with_capacity(READ_BYTES, input), wanted, bytes_max);
        (taken.unwrap_or_else(|problem| panic!("{problem:?}")), bytes_read)
    }

    #[test]
    fn s12_only_the_head_of_a_file_is_read() {
        let line = format!("{{\"prompt\":\"{}\"}}\n", "x".repeat(4_096 - 14));
        let (taken, bytes_read) = endless(&line, 1_000, HELD_BYTES_MAX);
        assert_eq!((taken.entries.len(), taken.notes.len()), (1_000, 0));
        assert!(bytes_read <= 1_000 * line.len() + READ_BYTES, "{bytes_read}");
    }

    #[test]
    fn what_is_held_is_bounded() {
        let (taken, _) = endless("{\"prompt\":\"0123456789\"}\n", 1_000_000, 10_000);
        assert!(taken.entries.iter().map(Entry::bytes).sum::<usize>() < 10_100);
        assert!(matches!(taken.notes[..], [Note::HeldBound { bytes_max: 10_000, .. }]));
    }

    #[test]
    fn conversations_without_a_human_are_skipped_and_said() {
        let json = br#"[{"conversations":[]},{"conversations":[{"from":"human","value":"H"}]},{"conversations":[]}]"#;
        let taken = take(&json[..], 2, HELD_BYTES_MAX).expect("valid");
        assert_eq!(taken.entries.len(), 1);
        assert!(matches!(taken.notes[..], [Note::Skipped { conversations: 2 }]));
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        bolero::check!().with_iterations(2_000).with_type::<Vec<u8>>().for_each(|bytes| {
            for opening in ["", "[{\"prompt\":\"", "{\"messages\":[{\"role\":\"user\",\"content\":"] {
                let Ok(taken) = take(&[opening.as_bytes(), bytes].concat()[..], 8, 1_000) else { continue };
                taken.entries.iter().for_each(|entry| drop(entry.body.prompt("[nonce]\n\n")));
            }
        });
    }
}
