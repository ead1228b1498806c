//! Answers of real servers, served again as they were recorded.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::{Branch, Line, Part, Script, Step, Time, When};
use crate::reply::Content;

/// The longest recording, in bytes.
const MAX_CAPTURE: u64 = 64 * 1024 * 1024;

/// Headers of the recorded connection that are not those of ours.
const OF_THE_CONNECTION: [&str; 4] = ["connection", "content-length", "keep-alive", "transfer-encoding"];

impl Script {
    /// Serves the recorded HTTP answer at `path`: its head, then its body without chunk framing, an event every `gap`.
    pub(crate) fn of_capture(path: &Path, gap: Duration) -> io::Result<Self> {
        let wrong =
            |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()));
        let size = std::fs::metadata(path).map_err(|error| wrong(&error.to_string()))?.len();
        if size > MAX_CAPTURE {
            return Err(wrong("longer than a recording may be"));
        }
        let bytes = std::fs::read(path).map_err(|error| wrong(&error.to_string()))?;
        let (head, body) = split_head(&bytes).ok_or_else(|| wrong("no head of an HTTP answer"))?;
        let mut part = Part { steps: steps(body, gap), ..Part::default() };
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        part.status = status.and_then(|status| status.parse().ok()).ok_or_else(|| wrong("no HTTP status"))?;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let name = name.to_ascii_lowercase();
            if !OF_THE_CONNECTION.contains(&name.as_str()) {
                part.headers.push((name, value.trim().to_owned()));
            }
        }
        Ok(Self { branches: vec![Branch { when: When::Always, part }] })
    }
}

/// The head and the body of an answer.
fn split_head(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = |mark: &[u8]| Some(bytes.windows(mark.len()).position(|at| at == mark)? + mark.len());
    let end = [end(b"\r\n\r\n"), end(b"\n\n")].into_iter().flatten().min()?;
    let (head, body) = bytes.split_at_checked(end)?;
    Some((std::str::from_utf8(head).ok()?, body))
}

/// The body in pieces, each of which ends with a blank line.
fn steps(body: &[u8], gap: Duration) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let end = rest.windows(2).position(|at| at == b"\n\n").map_or(rest.len(), |at| at + 2);
        let (event, after) = rest.split_at(end);
        rest = after;
        let ns = u64::try_from(gap.as_nanos()).unwrap_or(u64::MAX).saturating_mul(steps.len() as u64);
        let line = Line::Raw(event.to_vec(), Content::default());
        steps.push(Step { times: vec![Time { ns, per_request: false }], events: vec![line] });
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_taken_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answer.txt");
        std::fs::write(
            &path,
            "HTTP/1.1 429 Slow\r\nA: b c\r\nConnection: close\r\n\r\ndata: a\n\ndata: b\n\ndata:",
        )
        .unwrap();
        let script = Script::of_capture(&path, Duration::from_nanos(7)).unwrap();
        let part = script.part(1, 1).unwrap();
        assert_eq!(
            (part.status, part.headers.as_slice()),
            (429, [("a".to_owned(), "b c".to_owned())].as_slice())
        );
        let events: Vec<_> = part.lines().map(Line::size).collect();
        assert_eq!(events, [9, 9, 5]);
        assert_eq!(part.steps[2].times[0].ns, 14);
        for wrong in ["", "HTTP/1.1 200 OK\r\n", "nonsense\n\nbody"] {
            std::fs::write(&path, wrong).unwrap();
            let error = Script::of_capture(&path, Duration::ZERO).unwrap_err().to_string();
            assert!(error.contains("answer.txt"), "{error}");
        }
    }
}
