//! Changes to an answer that no measure may notice, or that one should: combined with a name by `+`.

use std::io::Write;
use std::str::FromStr;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::chunk::{Chunk, Facts, Say, Usage};
use crate::dialect::Dialect;
use crate::reply::{Content, Event, Sheet};

/// A change to an answer. Applied in this order, whatever order they are named in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Transform {
    /// A role-only opener before everything (W01).
    Opener,
    /// An event whose choice has no delta, in the middle (W20).
    NoDelta,
    /// A prompt filter before everything (W21).
    PromptFilter,
    /// A usage-only event (W27).
    UsageOnly,
    /// A padding field in each event.
    Padding,
    /// `event:`, `id:` and `retry:` lines (W62).
    Fields,
    /// No space after the colon of `data:` (W58).
    NoSpace,
    /// A comment before each event (W60).
    Comments,
    /// The last event without its blank line (W69).
    Unterminated,
    /// Lines end with CRLF (W59).
    CrLf,
    /// Lines end with CR (W59).
    Cr,
    /// Two events in each write (W65).
    Pairs,
    /// Everything at once at the end (W72).
    Burst,
    /// Compressed, flushed after each event (W71).
    Gzip,
    /// Compressed, not flushed until the end (W71).
    GzipWhole,
    /// Each byte in a write of its own (W66).
    SingleBytes,
    /// `stream_options` refused (W35).
    RefuseStreamOptions,
}

const NAMES: [(&str, Transform); 17] = [
    ("w01", Transform::Opener),
    ("w20", Transform::NoDelta),
    ("w21", Transform::PromptFilter),
    ("w27", Transform::UsageOnly),
    ("padding", Transform::Padding),
    ("w62", Transform::Fields),
    ("w58", Transform::NoSpace),
    ("w60", Transform::Comments),
    ("unterminated", Transform::Unterminated),
    ("w59", Transform::CrLf),
    ("w59cr", Transform::Cr),
    ("w65", Transform::Pairs),
    ("w72", Transform::Burst),
    ("w71", Transform::Gzip),
    ("w71whole", Transform::GzipWhole),
    ("w66", Transform::SingleBytes),
    ("w35", Transform::RefuseStreamOptions),
];

impl FromStr for Transform {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, transform)| *transform).ok_or_else(|| {
            let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
            format!("no transform `{text}`: there are {}", names.join(", "))
        })
    }
}

/// Applies `transforms` to `sheet`, each once and at its place in the order.
pub(crate) fn apply(transforms: &[Transform], sheet: &mut Sheet) {
    let mut transforms = transforms.to_vec();
    transforms.sort_unstable();
    transforms.dedup();
    for transform in transforms {
        transform.apply(sheet);
    }
}

impl Transform {
    fn apply(self, sheet: &mut Sheet) {
        match self {
            Self::Opener => {
                let opener = Chunk { role: true, ..Chunk::default() };
                insert_first(sheet, chat(&opener));
            }
            Self::PromptFilter => insert_first(sheet, PROMPT_FILTER.into()),
            Self::NoDelta => insert_no_delta(sheet),
            Self::UsageOnly => insert_usage(sheet),
            Self::Padding => {
                bodies(sheet, |_, body| replace(body, b"data: {", b"data: {\"obfuscation\":\"x9Qz\","));
            }
            Self::Fields => bodies(sheet, |i, body| {
                let lines = format!("event: message\nid: {i}\nretry: 3000\n");
                if body.starts_with(b"data:") { [lines.as_bytes(), body].concat() } else { body.to_vec() }
            }),
            Self::NoSpace => bodies(sheet, |_, body| replace(body, b"data: ", b"data:")),
            Self::Comments => insert_comments(sheet),
            Self::Unterminated => {
                if let Some(last) = sheet.events.iter_mut().rev().find(|event| event.body.ends_with(b"\n\n"))
                {
                    last.body.pop();
                }
            }
            Self::CrLf => bodies(sheet, |_, body| replace(body, b"\n", b"\r\n")),
            Self::Cr => bodies(sheet, |_, body| replace(body, b"\n", b"\r")),
            Self::Pairs => sheet.events = sheet.events.chunks(2).map(merged).collect(),
            Self::Burst => sheet.events = vec![merged(&sheet.events)],
            Self::Gzip => compress(sheet, true),
            Self::GzipWhole => compress(sheet, false),
            Self::SingleBytes => sheet.single_bytes = true,
            Self::RefuseStreamOptions => {}
        }
    }

    /// The request field that it refuses.
    pub(crate) const fn refuses(self) -> Option<&'static str> {
        match self {
            Self::RefuseStreamOptions => Some("stream_options"),
            _ => None,
        }
    }
}

const PROMPT_FILTER: &str = "data: {\"id\":\"\",\"model\":\"\",\"choices\":[],\"prompt_filter_results\":[{\"prompt_index\":0,\
                             \"content_filter_results\":{}}]}\n\n";

const NO_DELTA: &str = "data: {\"choices\":[{\"index\":0,\"finish_reason\":null,\"content_filter_offsets\":{\"check_offset\":1}}]}\n\n";

/// The event of a chat.
fn chat(chunk: &Chunk) -> Vec<u8> {
    Dialect::CHAT.writer(Facts::of("\"sim\"")).event(Say::Chunk(chunk))
}

fn other(at_ns: u64, body: Vec<u8>) -> Event {
    Event { at_ns, body, content: Content::default() }
}

/// Puts an event half-way to the first.
fn insert_first(sheet: &mut Sheet, body: Vec<u8>) {
    let at_ns = sheet.events.first().map_or(0, |event| event.at_ns / 2);
    sheet.events.insert(0, other(at_ns, body));
}

/// Puts an event without delta behind the first output.
fn insert_no_delta(sheet: &mut Sheet) {
    if let Some(at) = sheet.events.iter().position(|event| event.content.is_output()) {
        let at_ns = sheet.events.get(at).map_or(0, |event| event.at_ns);
        sheet.events.insert(at + 1, other(at_ns, NO_DELTA.into()));
    }
}

/// Puts a usage-only event before `[DONE]`, which says what usage says anyway.
fn insert_usage(sheet: &mut Sheet) {
    let Some((prompt, completion)) = sheet.said.usage else { return };
    let usage = Chunk { usage: Some(Usage::new(prompt, completion)), ..Chunk::default() };
    let done = sheet.events.iter().position(|event| event.body.starts_with(b"data: [DONE]"));
    let at = done.unwrap_or(sheet.events.len());
    let at_ns = sheet.events.last().map_or(0, |event| event.at_ns);
    sheet.events.insert(at, other(at_ns, chat(&usage)));
}

/// Puts a comment before each event, half-way from the one before.
fn insert_comments(sheet: &mut Sheet) {
    let mut before = 0;
    let events = std::mem::take(&mut sheet.events);
    for event in events {
        let at_ns = before + event.at_ns.saturating_sub(before) / 2;
        before = event.at_ns;
        sheet.events.push(other(at_ns, b": keep-alive\n\n".to_vec()));
        sheet.events.push(event);
    }
}

/// Rewrites each body.
fn bodies(sheet: &mut Sheet, rewrite: impl Fn(usize, &[u8]) -> Vec<u8>) {
    for (i, event) in sheet.events.iter_mut().enumerate() {
        event.body = rewrite(i, &event.body);
    }
}

/// `body` with each `from` at the start of a line, or each line end, replaced by `to`.
fn replace(body: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + to.len());
    let mut rest = body;
    let mut line_start = true;
    while let Some((&byte, after)) = rest.split_first() {
        if rest.starts_with(from) && (line_start || from == b"\n") {
            out.extend_from_slice(to);
            rest = rest.get(from.len()..).unwrap_or_default();
            line_start = from == b"\n";
        } else {
            out.push(byte);
            line_start = byte == b'\n';
            rest = after;
        }
    }
    out
}

/// Several events in one write, at the time of the last.
fn merged(events: &[Event]) -> Event {
    Event {
        at_ns: events.last().map_or(0, |event| event.at_ns),
        body: events.iter().flat_map(|event| event.body.iter().copied()).collect(),
        content: events.iter().fold(Content::default(), |all, event| all.and(event.content)),
    }
}

/// Compresses the body with gzip; what the encoder keeps to itself comes with the last event.
fn compress(sheet: &mut Sheet, flush: bool) {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut kept = Content::default();
    for event in &mut sheet.events {
        // Writing to a vector does not fail.
        let _ = encoder.write_all(&event.body);
        if flush && !event.body.is_empty() {
            let _ = encoder.flush();
        }
        event.body = std::mem::take(encoder.get_mut());
        if !flush {
            kept = kept.and(std::mem::take(&mut event.content));
        }
    }
    let rest = encoder.finish().unwrap_or_default();
    if let Some(last) = sheet.events.last_mut() {
        last.body.extend_from_slice(&rest);
        last.content = last.content.and(kept);
    }
    sheet.headers.push(("content-encoding".into(), "gzip".into()));
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn sheet(bodies: &[&str]) -> Sheet {
        let mut sheet = Sheet::new(200);
        let event = |(i, body): (usize, &&str)| Event {
            at_ns: 100 * (i as u64 + 1),
            body: body.as_bytes().to_vec(),
            content: Content::answer(1),
        };
        sheet.events = bodies.iter().enumerate().map(event).collect();
        sheet.said.usage = Some((7, 2));
        sheet
    }

    fn check(names: &str, bodies: &[&str], expected: &[(u64, &str)]) {
        let mut sheet = sheet(bodies);
        let transforms: Vec<Transform> = names.split('+').map(|name| name.parse().unwrap()).collect();
        apply(&transforms, &mut sheet);
        let got: Vec<_> = sheet
            .events
            .iter()
            .map(|event| (event.at_ns, String::from_utf8_lossy(&event.body).into_owned()))
            .collect();
        let expected: Vec<_> = expected.iter().map(|(at, body)| (*at, (*body).to_owned())).collect();
        assert_eq!(got, expected, "{names}");
    }

    #[test]
    fn bytes_after_each_change() {
        let two = ["data: {\"a\":\"data: \"}\n\n", "data: [DONE]\n\n"];
        check("w58", &two, &[(100, "data:{\"a\":\"data: \"}\n\n"), (200, "data:[DONE]\n\n")]);
        check("w59", &two, &[(100, "data: {\"a\":\"data: \"}\r\n\r\n"), (200, "data: [DONE]\r\n\r\n")]);
        check("w59cr", &two[1..], &[(100, "data: [DONE]\r\r")]);
        check("w60", &two[1..], &[(50, ": keep-alive\n\n"), (100, "data: [DONE]\n\n")]);
        check("w62", &two[1..], &[(100, "event: message\nid: 0\nretry: 3000\ndata: [DONE]\n\n")]);
        check("unterminated+w58", &two[1..], &[(100, "data:[DONE]\n")]);
        check("padding", &two[..1], &[(100, "data: {\"obfuscation\":\"x9Qz\",\"a\":\"data: \"}\n\n")]);
        check("w65", &["a", "b", "c"], &[(200, "ab"), (300, "c")]);
        check("w72+w60", &["a"], &[(100, ": keep-alive\n\na")]);
        check("w20", &["a"], &[(100, "a"), (100, NO_DELTA)]);
        check("w21", &["a"], &[(50, PROMPT_FILTER), (100, "a")]);
    }

    #[test]
    fn added_usage_stands_before_done() {
        let mut sheet = sheet(&["data: {}\n\n", "data: [DONE]\n\n"]);
        apply(&[Transform::UsageOnly], &mut sheet);
        assert!(
            String::from_utf8_lossy(&sheet.events[1].body)
                .contains(r#""choices":[],"usage":{"prompt_tokens":7"#)
        );
    }

    #[test]
    fn compression_can_be_undone_and_a_flush_gives_each_event() {
        for (transform, all_have_bytes) in [(Transform::Gzip, true), (Transform::GzipWhole, false)] {
            let mut sheet = sheet(&["data: a\n\n", "data: b\n\n", "data: c\n\n"]);
            apply(&[transform], &mut sheet);
            let bytes: Vec<u8> = sheet.events.iter().flat_map(|event| event.body.clone()).collect();
            let mut text = String::new();
            flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
            assert_eq!(text, "data: a\n\ndata: b\n\ndata: c\n\n");
            assert_eq!(sheet.events[1].body.len() > 5, all_have_bytes);
            assert_eq!(sheet.events[2].content.tokens, if all_have_bytes { 1 } else { 3 });
        }
    }

    #[test]
    fn names_that_are_not_there_are_told() {
        assert!("w99".parse::<Transform>().unwrap_err().contains("w58"));
    }
}
