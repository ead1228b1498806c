//! One way to check an answer: literal bytes in, what was seen out, the same in every cut.

use inferometer_wire::{Answer, Decoder, Dialect, End, Event, Head, Outcome, Output};
use serde_json::Value;

/// An answer's bytes with all that surrounds them.
#[derive(Clone)]
pub(crate) struct Scenario {
    pub(crate) body: Vec<u8>,
    pub(crate) dialect: Dialect,
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) streaming: bool,
    pub(crate) end: End,
    pub(crate) think_tags: bool,
}

/// A streamed chat answer of these very bytes, ended cleanly.
pub(crate) fn bytes(body: impl AsRef<[u8]>) -> Scenario {
    Scenario {
        body: body.as_ref().to_vec(),
        dialect: Dialect::Chat,
        status: 200,
        content_type: "text/event-stream",
        streaming: true,
        end: End::Eof,
        think_tags: false,
    }
}

/// A streamed chat answer whose events carry this data.
pub(crate) fn events(data: &[&str]) -> Scenario {
    bytes(data.iter().flat_map(|data| ["data: ", data, "\n\n"]).collect::<String>())
}

/// The same of events that are named as their data names them.
pub(crate) fn named_events(data: &[&str]) -> Scenario {
    let name = |data: &str| serde_json::from_str::<Value>(data).unwrap()["type"].as_str().unwrap().to_owned();
    bytes(
        data.iter()
            .flat_map(|data| ["event: ", &name(data), "\ndata: ", data, "\n\n"].map(str::to_owned))
            .collect::<String>(),
    )
}

/// One message of Amazon's binary event stream: its headers, all of them text, and its payload.
pub(crate) fn message(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let header = |(name, value): &(&str, &str)| {
        let length = u16::try_from(value.len()).unwrap().to_be_bytes();
        [&[u8::try_from(name.len()).unwrap()], name.as_bytes(), &[7], &length, value.as_bytes()].concat()
    };
    let headers: Vec<u8> = headers.iter().flat_map(header).collect();
    let lengths = [16 + headers.len() + payload.len(), headers.len()];
    let mut bytes: Vec<u8> =
        lengths.iter().flat_map(|length| u32::try_from(*length).unwrap().to_be_bytes()).collect();
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend([&headers, payload].concat());
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

/// An event of such a stream.
pub(crate) fn binary_event(name: &str, payload: &str) -> Vec<u8> {
    let kind = [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")];
    message(&kind, payload.as_bytes())
}

impl Scenario {
    /// Feeds the body in pieces of `size` bytes.
    pub(crate) fn run(&self, size: usize) -> (Vec<Event>, Answer) {
        let cuts: Vec<usize> = (0..self.body.len()).step_by(size).skip(1).collect();
        self.run_cut(&cuts)
    }

    /// Feeds the body cut at these places, which ascend.
    pub(crate) fn run_cut(&self, cuts: &[usize]) -> (Vec<Event>, Answer) {
        let content_type = Some(self.content_type).filter(|kind| !kind.is_empty());
        let head = Head { status: self.status, content_type, streaming: self.streaming };
        let mut decoder = Decoder::new(self.dialect, head);
        if self.think_tags {
            decoder = decoder.with_think_tags();
        }
        let mut seen = Vec::new();
        let mut start = 0;
        for end in cuts.iter().copied().chain([self.body.len()]) {
            decoder.feed(&self.body[start..end], &mut |event| seen.push(event));
            start = end;
        }
        let answer = decoder.finish(self.end, &mut |event| seen.push(event));
        (seen, answer)
    }

    /// Checks events, outcome and flags, whole and in small pieces. Events: `a3` three characters of answer,
    /// `t3` of a tool call, `r3` of reasoning, `a3/2` two tokens by the server, `k` a keep-alive, `o` opaque reasoning.
    #[track_caller]
    pub(crate) fn check(&self, events: &str, outcome: &str, flags: &str) -> Answer {
        let (seen, answer) = self.run(usize::MAX);
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(notation(&seen), events, "events of {text}");
        assert_eq!(describe(&answer.outcome), outcome, "outcome of {text}");
        assert_eq!(answer.flags.names().collect::<Vec<_>>().join(" "), flags, "flags of {text}");
        for size in [1, 2, 7] {
            let (cut, cut_answer) = self.run(size);
            assert_eq!(notation(&cut), events, "events in pieces of {size} of {text}");
            assert_eq!(format!("{cut_answer:?}"), format!("{answer:?}"), "answer in pieces of {size}");
        }
        answer
    }
}

/// Events in the notation of [`Scenario::check`].
pub(crate) fn notation(events: &[Event]) -> String {
    let words: Vec<String> = events.iter().map(notate).collect();
    words.join(" ")
}

fn notate(event: &Event) -> String {
    match event {
        Event::Output(output) => {
            let channel = match output {
                Output { tool: true, .. } => "t",
                Output { answer: true, .. } => "a",
                _ => "r",
            };
            let tokens = output.tokens.map(|tokens| format!("/{tokens}")).unwrap_or_default();
            format!("{channel}{}{tokens}", output.chars)
        }
        Event::Opaque => "o".to_owned(),
        Event::KeepAlive => "k".to_owned(),
    }
}

/// An outcome in a line: its name, then code and message, `-` where absent.
pub(crate) fn describe(outcome: &Outcome) -> String {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    match outcome {
        Outcome::Complete => "complete".to_owned(),
        Outcome::HttpError { code, message } => format!("http_error {} {}", or_dash(code), or_dash(message)),
        Outcome::StreamError { code, message } => {
            format!("stream_error {} {}", or_dash(code), or_dash(message))
        }
        Outcome::Truncated => "truncated".to_owned(),
        Outcome::Protocol { code, .. } => format!("protocol {code}"),
        Outcome::Broken => "broken".to_owned(),
        Outcome::Cut => "cut".to_owned(),
    }
}

/// `{"choices":[{"index":0,"delta":{"content":TEXT}}]}`
pub(crate) const A: &str = r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}"#;
/// A second piece of content, three characters.
pub(crate) const B: &str = r#"{"choices":[{"index":0,"delta":{"content":" bc"}}]}"#;
/// The finish reason `stop` on an empty delta.
pub(crate) const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
/// A usage chunk.
pub(crate) const USAGE: &str =
    r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}}"#;
/// The end.
pub(crate) const DONE: &str = "[DONE]";
/// The opener that only names the role.
pub(crate) const ROLE: &str = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#;
