//! The messages of a stream, and which block is open.

use super::{SIGNATURE, TOOL_USE, metrics, stop_reason, usage_of};
use crate::chunk::{Call, Chunk, Facts, Say, Usage};
use crate::dialect::Writer;

/// What each payload is filled up with, so that its length tells less of its text.
const PADDING: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// An answer's messages.
pub(super) struct Events<'a> {
    facts: Facts<'a>,
    started: bool,
    open: Option<Block>,
    /// Blocks that were closed: the index of the open one.
    closed: u32,
    /// Whether the reason was told, and the usage.
    finished: bool,
    told: bool,
    failed: bool,
}

/// What a block is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Reasoning,
    Text,
    Tool,
}

impl Writer for Events<'_> {
    fn event(&mut self, say: Say) -> Vec<u8> {
        let mut out = Vec::new();
        match say {
            Say::Chunk(chunk) => self.chunk(chunk, &mut out),
            Say::Error => {
                self.failed = true;
                let kind =
                    [(":exception-type", "internalServerException"), JSON, (":message-type", "exception")];
                message(&mut out, &kind, r#"{"message":"engine stopped"}"#);
            }
            Say::Malformed => message(&mut out, &named("contentBlockDelta"), r#"{"contentBlockInd"#),
            Say::Done if self.failed => {}
            Say::Done => {
                self.start(&mut out);
                self.finish("stop", &mut out);
                self.end(self.facts.usage, &mut out);
            }
        }
        out
    }
}

impl<'a> Events<'a> {
    pub(super) const fn new(facts: Facts<'a>) -> Self {
        Self { facts, started: false, open: None, closed: 0, finished: false, told: false, failed: false }
    }

    fn chunk(&mut self, chunk: &Chunk, out: &mut Vec<u8>) {
        self.start(out);
        if let Some((_, text)) = &chunk.reasoning {
            self.open(Block::Reasoning, out);
            self.delta(&format!(r#"{{"reasoningContent":{{"text":"{text}"}}}}"#), out);
        }
        if let Some(text) = &chunk.content {
            self.open(Block::Text, out);
            self.delta(&format!(r#"{{"text":"{text}"}}"#), out);
        }
        match &chunk.call {
            Some(Call::Opens(name)) => {
                // Another call's block stays no other call's.
                self.close(out);
                self.open(Block::Tool, out);
                let start = format!(r#"{{"toolUse":{{"name":"{name}","toolUseId":"{TOOL_USE}"}}}}"#);
                let fields = format!(r#""contentBlockIndex":{},"start":{start}"#, self.closed);
                event(out, "contentBlockStart", &fields);
            }
            Some(Call::Arguments(text)) => {
                self.delta(&format!(r#"{{"toolUse":{{"input":"{text}"}}}}"#), out);
            }
            None => {}
        }
        if let Some(reason) = &chunk.finish {
            self.finish(reason, out);
        }
        if let Some(usage) = chunk.usage.filter(|_| self.finished) {
            self.end(usage, out);
        }
    }

    /// The message's beginning, once.
    fn start(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.started, true) {
            event(out, "messageStart", r#""role":"assistant""#);
        }
    }

    /// Opens a block, unless it is the open one: only that of a call says so.
    fn open(&mut self, block: Block, out: &mut Vec<u8>) {
        if self.open != Some(block) {
            self.close(out);
            self.open = Some(block);
        }
    }

    fn delta(&self, delta: &str, out: &mut Vec<u8>) {
        let fields = format!(r#""contentBlockIndex":{},"delta":{delta}"#, self.closed);
        event(out, "contentBlockDelta", &fields);
    }

    /// Closes the open block; reasoning is signed first.
    fn close(&mut self, out: &mut Vec<u8>) {
        let Some(block) = self.open.take() else { return };
        if block == Block::Reasoning {
            self.delta(&format!(r#"{{"reasoningContent":{{"signature":"{SIGNATURE}"}}}}"#), out);
        }
        event(out, "contentBlockStop", &format!(r#""contentBlockIndex":{}"#, self.closed));
        self.closed += 1;
    }

    /// The reason, once.
    fn finish(&mut self, reason: &str, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.finished, true) {
            self.close(out);
            event(out, "messageStop", &format!(r#""stopReason":"{}""#, stop_reason(reason)));
        }
    }

    /// The usage of all, once.
    fn end(&mut self, total: Usage, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.told, true) {
            let (metrics, usage) = (metrics(self.facts, total), usage_of(total));
            event(out, "metadata", &format!(r#""metrics":{metrics},"usage":{usage}"#));
        }
    }
}

const JSON: (&str, &str) = (":content-type", "application/json");

const fn named(name: &str) -> [(&str, &str); 3] {
    [(":event-type", name), JSON, (":message-type", "event")]
}

/// Appends an event with these fields, and padding.
fn event(out: &mut Vec<u8>, name: &str, fields: &str) {
    let padding = PADDING.get(..1 + fields.len() % PADDING.len()).unwrap_or(PADDING);
    message(out, &named(name), &format!(r#"{{{fields},"p":"{padding}"}}"#));
}

/// Appends a message: two lengths and their checksum, headers, payload, and the checksum of all.
fn message(out: &mut Vec<u8>, headers: &[(&str, &str)], payload: &str) {
    let mut head = Vec::new();
    for (name, value) in headers {
        head.push(name.len() as u8);
        head.extend_from_slice(name.as_bytes());
        // Text, its length in two bytes.
        head.push(7);
        head.extend_from_slice(&(value.len() as u16).to_be_bytes());
        head.extend_from_slice(value.as_bytes());
    }
    let start = out.len();
    let total = 12 + head.len() + payload.len() + 4;
    out.extend_from_slice(&(total as u32).to_be_bytes());
    out.extend_from_slice(&(head.len() as u32).to_be_bytes());
    sum(out, start);
    out.extend_from_slice(&head);
    out.extend_from_slice(payload.as_bytes());
    sum(out, start);
}

/// Appends the checksum of what stands behind `start`.
fn sum(out: &mut Vec<u8>, start: usize) {
    let sum = crc32fast::hash(out.get(start..).unwrap_or_default());
    out.extend_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::Bedrock;
    use super::*;
    use crate::dialect::Speak;
    use crate::dialect::testing::{answer, facts, text, tool_call};

    /// One message, byte for byte as Amazon's own libraries test it.
    #[test]
    fn a_message_is_these_bytes() {
        let mut bytes = Vec::new();
        message(&mut bytes, &[("content-type", "application/json")], "{'foo':'bar'}");
        let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        let right = "0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e\
                     7b27666f6f273a27626172277d8d9c08b1";
        assert_eq!(hex, right);
    }

    /// `NAME PAYLOAD` of each message, without its padding.
    fn told(mut bytes: &[u8]) -> Vec<String> {
        let mut told = Vec::new();
        while let Some(length) = bytes.first_chunk() {
            let (message, rest) = bytes.split_at(u32::from_be_bytes(*length) as usize);
            let headers = u32::from_be_bytes(message[4..8].try_into().unwrap()) as usize;
            let (kind, payload) = message[12..message.len() - 4].split_at(headers);
            let kind = &kind[2 + usize::from(kind[0])..];
            let kind = &kind[2..2 + usize::from(u16::from_be_bytes([kind[0], kind[1]]))];
            let payload = std::str::from_utf8(payload).unwrap();
            let payload = payload.split(",\"p\":").next().unwrap();
            told.push(format!("{} {payload}", std::str::from_utf8(kind).unwrap()));
            bytes = rest;
        }
        told
    }

    fn events(says: &[Say<'_>]) -> Vec<Vec<String>> {
        let mut writer = Bedrock.writer(facts());
        says.iter().map(|say| told(&writer.event(*say))).collect()
    }

    fn chunks(chunks: &[Chunk]) -> Vec<Vec<String>> {
        events(&chunks.iter().map(Say::Chunk).chain([Say::Done]).collect::<Vec<_>>())
    }

    const START: &str = r#"messageStart {"role":"assistant""#;
    const USAGE: &str = r#"metadata {"metrics":{"latencyMs":100},"usage":{"cacheReadInputTokens":3,"cacheWriteInputTokens":0,"inputTokens":4,"outputTokens":5,"totalTokens":12}"#;

    #[test]
    fn blocks_open_and_close_round_what_is_said() {
        let delta = |index: u32, delta: &str| {
            format!(r#"contentBlockDelta {{"contentBlockIndex":{index},"delta":{{{delta}}}"#)
        };
        let stop = |index: u32| format!(r#"contentBlockStop {{"contentBlockIndex":{index}"#);
        let end = |reason: &str| format!(r#"messageStop {{"stopReason":"{reason}""#);
        assert_eq!(
            chunks(&answer("length")),
            [
                vec![START.to_owned()],
                vec![delta(0, r#""reasoningContent":{"text":" so"}"#)],
                vec![
                    delta(0, r#""reasoningContent":{"signature":"c2lt"}"#),
                    stop(0),
                    delta(1, r#""text":" a""#),
                ],
                vec![delta(1, r#""text":"\"b""#)],
                vec![stop(1), end("max_tokens")],
                vec![USAGE.to_owned()],
                vec![],
            ]
        );
        let opens = r#"contentBlockStart {"contentBlockIndex":0,"start":{"toolUse":{"name":"f","toolUseId":"tooluse_sim"}}"#;
        assert_eq!(
            chunks(&tool_call()),
            [
                vec![START.to_owned()],
                vec![opens.to_owned()],
                vec![delta(0, r#""toolUse":{"input":"{\"a\""}"#)],
                vec![delta(0, r#""toolUse":{"input":":1}"}"#)],
                vec![stop(0), end("tool_use")],
                vec![USAGE.to_owned()],
                vec![],
            ]
        );
        // Without usage, and without a reason, the end still comes.
        assert_eq!(chunks(&answer("stop")[..5])[5], [USAGE]);
        assert_eq!(chunks(&answer("stop")[..4])[4], [stop(1), end("end_turn"), USAGE.to_owned()]);
    }

    #[test]
    fn errors_end_it() {
        let text = text(" a");
        let seen = events(&[Say::Chunk(&text), Say::Error, Say::Done]);
        assert_eq!(seen[1], [r#"internalServerException {"message":"engine stopped"}"#]);
        assert!(seen[2].is_empty());
        assert_eq!(events(&[Say::Malformed])[0], [r#"contentBlockDelta {"contentBlockInd"#]);
    }
}
