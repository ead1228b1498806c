//! The events of a streamed message, and which block is open.

use std::fmt::Write as _;

use super::{SIGNATURE, message, stop_reason, tool_use, usage};
use crate::chunk::{Call, Chunk, Facts, Say, Usage};
use crate::dialect::Writer;

/// An answer's events.
pub(super) struct Events<'a> {
    facts: Facts<'a>,
    started: bool,
    open: Option<Block>,
    /// Blocks that were closed: the index of the open one.
    closed: u32,
    /// Why the message ends, once it does.
    reason: Option<&'static str>,
    /// Whether the reason and the usage were told.
    told: bool,
    failed: bool,
}

/// What a block is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Thinking,
    Text,
    Tool,
}

impl Writer for Events<'_> {
    fn event(&mut self, say: Say) -> Vec<u8> {
        let mut out = String::new();
        match say {
            Say::Chunk(chunk) => self.chunk(chunk, &mut out),
            Say::Error => {
                self.failed = true;
                event(&mut out, "error", r#""error":{"type":"api_error","message":"engine stopped"}"#);
            }
            Say::Malformed => out.push_str("event: content_block_delta\ndata: {\"type\":\"content_blo\n\n"),
            Say::Done if self.failed => {}
            Say::Done => {
                self.start(&mut out);
                self.close(&mut out);
                self.end(self.facts.usage, &mut out);
                event(&mut out, "message_stop", "");
            }
        }
        out.into_bytes()
    }
}

impl<'a> Events<'a> {
    pub(super) const fn new(facts: Facts<'a>) -> Self {
        Self { facts, started: false, open: None, closed: 0, reason: None, told: false, failed: false }
    }

    fn chunk(&mut self, chunk: &Chunk, out: &mut String) {
        self.start(out);
        if let Some((_, text)) = &chunk.reasoning {
            self.open(Block::Thinking, r#"{"type":"thinking","thinking":"","signature":""}"#, out);
            self.delta("thinking_delta", "thinking", text, out);
        }
        if let Some(text) = &chunk.content {
            self.open(Block::Text, r#"{"type":"text","text":""}"#, out);
            self.delta("text_delta", "text", text, out);
        }
        match &chunk.call {
            Some(Call::Opens(name)) => {
                // Another call's block stays no other call's.
                self.close(out);
                self.open(Block::Tool, &tool_use(name, "{}"), out);
            }
            Some(Call::Arguments(text)) => self.delta("input_json_delta", "partial_json", text, out),
            None => {}
        }
        if let Some(finish) = &chunk.finish {
            self.close(out);
            self.reason = Some(stop_reason(finish));
        }
        if let Some(usage) = chunk.usage.filter(|_| self.reason.is_some()) {
            self.end(usage, out);
        }
    }

    /// The message's beginning, once. Its usage counts the one token that every message has.
    fn start(&mut self, out: &mut String) {
        if !std::mem::replace(&mut self.started, true) {
            let usage = usage(Usage { completion: self.facts.usage.completion.min(1), ..self.facts.usage });
            let message = message(self.facts, "", "null", &usage);
            event(out, "message_start", &format!(r#""message":{message}"#));
        }
    }

    /// Opens a block, unless it is the open one. Behind the first comes a ping.
    fn open(&mut self, block: Block, empty: &str, out: &mut String) {
        if self.open == Some(block) {
            return;
        }
        self.close(out);
        self.open = Some(block);
        event(out, "content_block_start", &format!(r#""index":{},"content_block":{empty}"#, self.closed));
        if self.closed == 0 {
            event(out, "ping", "");
        }
    }

    fn delta(&self, kind: &str, key: &str, text: &str, out: &mut String) {
        let fields = format!(r#""index":{},"delta":{{"type":"{kind}","{key}":"{text}"}}"#, self.closed);
        event(out, "content_block_delta", &fields);
    }

    /// Closes the open block; thinking is signed first.
    fn close(&mut self, out: &mut String) {
        let Some(block) = self.open.take() else { return };
        if block == Block::Thinking {
            self.delta("signature_delta", "signature", SIGNATURE, out);
        }
        event(out, "content_block_stop", &format!(r#""index":{}"#, self.closed));
        self.closed += 1;
    }

    /// The reason and the usage up to the end, once.
    fn end(&mut self, total: Usage, out: &mut String) {
        if !std::mem::replace(&mut self.told, true) {
            let (reason, usage) = (self.reason.unwrap_or("end_turn"), usage(total));
            let fields =
                format!(r#""delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{usage}"#);
            event(out, "message_delta", &fields);
        }
    }
}

/// Appends an event of this name, which stands in its data too.
fn event(out: &mut String, name: &str, fields: &str) {
    let comma = if fields.is_empty() { "" } else { "," };
    let _ = write!(out, "event: {name}\ndata: {{\"type\":\"{name}\"{comma}{fields}}}\n\n");
}

#[cfg(test)]
mod tests {
    use super::super::Anthropic;
    use crate::dialect::testing::{answer, broken, events, tool_call};

    /// `EVENT DATA` of each line as the bytes of a stream.
    fn bytes(lines: &[&str]) -> String {
        let event = |line: &&str| {
            let (name, fields) = line.split_once(' ').unwrap_or((line, ""));
            let comma = if fields.is_empty() { "" } else { "," };
            format!("event: {name}\ndata: {{\"type\":\"{name}\"{comma}{fields}}}\n\n")
        };
        lines.iter().map(event).collect()
    }

    const START: &str = r#"message_start "message":{"id":"msg_sim","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":3,"output_tokens":1}}"#;
    const USAGE: &str = r#""usage":{"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":3,"output_tokens":5}"#;

    fn end(reason: &str) -> String {
        format!(r#"message_delta "delta":{{"stop_reason":"{reason}","stop_sequence":null}},{USAGE}"#)
    }

    #[test]
    fn blocks_open_and_close_round_what_is_said() {
        let expected: [&[&str]; 7] = [
            &[START],
            &[
                r#"content_block_start "index":0,"content_block":{"type":"thinking","thinking":"","signature":""}"#,
                "ping",
                r#"content_block_delta "index":0,"delta":{"type":"thinking_delta","thinking":" so"}"#,
            ],
            &[
                r#"content_block_delta "index":0,"delta":{"type":"signature_delta","signature":"c2lt"}"#,
                r#"content_block_stop "index":0"#,
                r#"content_block_start "index":1,"content_block":{"type":"text","text":""}"#,
                r#"content_block_delta "index":1,"delta":{"type":"text_delta","text":" a"}"#,
            ],
            &[r#"content_block_delta "index":1,"delta":{"type":"text_delta","text":"\"b"}"#],
            &[r#"content_block_stop "index":1"#],
            &[&end("end_turn")],
            &["message_stop"],
        ];
        assert_eq!(events(&Anthropic, &answer("stop")), expected.map(bytes));
    }

    #[test]
    fn a_tool_call_is_a_block() {
        let expected: [&[&str]; 7] = [
            &[START],
            &[
                r#"content_block_start "index":0,"content_block":{"type":"tool_use","id":"toolu_sim","name":"f","input":{}}"#,
                "ping",
            ],
            &[r#"content_block_delta "index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}"#],
            &[r#"content_block_delta "index":0,"delta":{"type":"input_json_delta","partial_json":":1}"}"#],
            &[r#"content_block_stop "index":0"#],
            &[&end("tool_use")],
            &["message_stop"],
        ];
        assert_eq!(events(&Anthropic, &tool_call()), expected.map(bytes));
    }

    #[test]
    fn ends_without_usage_or_with_an_error() {
        let told = events(&Anthropic, &answer("length")[..5]);
        assert_eq!(told[5], bytes(&[&end("max_tokens"), "message_stop"]));
        let error = bytes(&[r#"error "error":{"type":"api_error","message":"engine stopped"}"#]);
        assert_eq!(broken(&Anthropic), [error, String::new()]);
        // Nothing said at all.
        assert_eq!(events(&Anthropic, &[]), [bytes(&[START, &end("end_turn"), "message_stop"])]);
    }
}
