//! Small answers that the tests of each dialect write.

use super::{Speak, Writer};
use crate::chunk::{Call, Chunk, Facts, Say, Usage, Whole, escaped};

/// What is known of each of them before its first byte: two of five tokens are reasoning.
pub(super) fn facts() -> Facts<'static> {
    Facts { usage: usage(), first_ns: 50_000_000, token_ns: 1e7, ..Facts::of("\"m\"") }
}

pub(super) fn usage() -> Usage {
    Usage { reasoning: Some(2), cached: Some(3), ..Usage::new(7, 5) }
}

pub(super) fn role() -> Chunk {
    Chunk { role: true, ..Chunk::default() }
}

pub(super) fn reasoning(text: &str) -> Chunk {
    Chunk { reasoning: Some(("reasoning_content", escaped(text))), ..Chunk::default() }
}

pub(super) fn text(text: &str) -> Chunk {
    Chunk { content: Some(escaped(text)), ..Chunk::default() }
}

fn call(call: Call) -> Chunk {
    Chunk { call: Some(call), ..Chunk::default() }
}

fn finish(reason: &str) -> Chunk {
    Chunk { finish: Some(reason.into()), ..Chunk::default() }
}

fn told() -> Chunk {
    Chunk { usage: Some(usage()), ..Chunk::default() }
}

/// Reasoning, two pieces of text, its end and its usage.
pub(super) fn answer(reason: &str) -> Vec<Chunk> {
    vec![role(), reasoning(" so"), text(" a"), text("\"b"), finish(reason), told()]
}

/// A tool call in two pieces.
pub(super) fn tool_call() -> Vec<Chunk> {
    let arguments = |text| call(Call::Arguments(escaped(text)));
    let opens = call(Call::Opens("f".into()));
    vec![role(), opens, arguments("{\"a\""), arguments(":1}"), finish("tool_calls"), told()]
}

/// The bytes of each of `chunks` and of the end.
pub(super) fn events(speak: &dyn Speak, chunks: &[Chunk]) -> Vec<String> {
    let mut writer = speak.writer(facts());
    let mut events: Vec<_> = chunks.iter().map(|chunk| written(&mut *writer, Say::Chunk(chunk))).collect();
    events.push(written(&mut *writer, Say::Done));
    events
}

/// The bytes of an error and of the end after it, behind a piece of text.
pub(super) fn broken(speak: &dyn Speak) -> Vec<String> {
    let mut writer = speak.writer(facts());
    written(&mut *writer, Say::Chunk(&text(" a")));
    [Say::Error, Say::Done].map(|say| written(&mut *writer, say)).into()
}

fn written(writer: &mut dyn Writer, say: Say) -> String {
    String::from_utf8(writer.event(say)).unwrap()
}

/// The body of a whole answer with reasoning and text, or with a tool call.
pub(super) fn whole(speak: &dyn Speak, calls: bool) -> String {
    let text = |text: &str| if calls { String::new() } else { escaped(text) };
    let whole = Whole {
        content: text(" a\"b"),
        reasoning: text(" so"),
        call: calls.then(|| ("f".into(), escaped("{\"a\":1}"))),
        finish: Some(if calls { "tool_calls" } else { "stop" }.into()),
        usage: Some(usage()),
        vectors: None,
    };
    String::from_utf8(speak.whole(&whole, facts())).unwrap()
}

/// The body of an HTTP error.
pub(super) fn error(speak: &dyn Speak, status: u16, code: &str) -> String {
    let body = speak.error(status, code, "why").events.remove(0).body;
    String::from_utf8(body).unwrap()
}
