//! The decoder: an answer's bytes in any cut become events and, at the end, an [`Answer`].

use serde_json::value::RawValue;

use crate::answer::{Answer, End, Outcome, Progress, Transcript};
use crate::assembly::{Assembly, DONE};
use crate::binary::Messages;
use crate::choice::ChoiceState;
use crate::dialect::{Dialect, Framing};
use crate::error::{self, Fault};
use crate::event::Event;
use crate::finish::Finish;
use crate::flags::{Flag, Flags};
use crate::lines::Lines;
use crate::sse::Framer;
use crate::usage::Usage;
use crate::whole::{State, Whole};

/// Most bytes that are kept of the body of a refusal (W55).
pub const MAX_ERROR_BODY: usize = 64 << 10;

/// What a JSON array means that holds no error.
const JSON_ARRAY: &str =
    "a JSON array is neither a stream nor an answer: Gemini sends one where the address says no alt=sse";

/// What is known when the headers have come.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The content type, where there is one.
    pub content_type: Option<&'a str>,
    /// Whether a stream was asked for.
    pub streaming: bool,
}

/// Reads one answer. Feed it every read, then [`Decoder::finish`] it.
#[derive(Clone, Debug)]
pub struct Decoder {
    body: Body,
    assembly: Assembly,
    asked_for_stream: bool,
    content_type: String,
    /// The body was cut into events.
    streamed: bool,
}

/// The first byte decides how a body is framed, not its content type, which is often wrong.
#[derive(Clone, Debug)]
enum Body {
    /// Only white space, or a byte order mark, so far (W61, W70).
    Lead,
    /// Events.
    Stream(Framer),
    /// A JSON text a line.
    Lines(Lines),
    /// Amazon's binary messages.
    Binary(Messages),
    /// One JSON document.
    Whole(Whole),
    /// The beginning of a refusal's body.
    Refused(Vec<u8>),
    /// Nothing more is read.
    Closed,
}

impl Decoder {
    /// A decoder for the answer that `head` begins.
    pub fn new(dialect: Dialect, head: Head<'_>) -> Decoder {
        let is_success = (200..300).contains(&head.status);
        Decoder {
            body: if is_success { Body::Lead } else { Body::Refused(Vec::new()) },
            assembly: Assembly { dialect, ..Assembly::default() },
            asked_for_stream: head.streaming,
            content_type: head.content_type.unwrap_or_default().trim().to_ascii_lowercase(),
            streamed: false,
        }
    }

    /// Takes content after a leading think block for the answer. Without this, a stream that begins with
    /// such a block has no answer event at all (W07).
    #[must_use]
    pub fn with_think_tags(mut self) -> Decoder {
        self.assembly.think_tags = true;
        self
    }

    /// Takes the bytes of one read; tells the events that they complete.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut impl FnMut(Event)) {
        match &mut self.body {
            Body::Lead => self.lead(bytes, sink),
            Body::Stream(framer) => {
                framer.feed(bytes, &mut |frame| self.assembly.frame(frame, sink));
                // No need to wait for the blank line of `[DONE]` (W41).
                self.assembly.done |= framer.pending().trim_ascii_start().starts_with(DONE);
            }
            Body::Lines(lines) => lines.feed(bytes, &mut |line| self.assembly.line(line, sink)),
            Body::Binary(messages) => messages.feed(bytes, &mut |found| self.assembly.found(found, sink)),
            Body::Whole(whole) => match whole.feed(bytes) {
                State::Open => {}
                State::Complete => self.read_whole(),
                State::TooLarge => {
                    self.assembly.too_large();
                    self.body = Body::Closed;
                }
            },
            Body::Refused(kept) => {
                let room = MAX_ERROR_BODY.saturating_sub(kept.len());
                kept.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
            }
            Body::Closed => {}
        }
    }

    /// How far the answer has come.
    pub fn progress(&self) -> Progress {
        match &self.body {
            Body::Refused(kept) if kept.len() >= MAX_ERROR_BODY => Progress::Done,
            Body::Refused(_) | Body::Lead => Progress::Open,
            _ => self.assembly.progress(),
        }
    }

    /// Takes the end; tells what stood there unfinished (W69) and gives the answer.
    pub fn finish(mut self, end: End, sink: &mut impl FnMut(Event)) -> Answer {
        let refusal = match std::mem::replace(&mut self.body, Body::Closed) {
            Body::Stream(framer) if end != End::Cut => {
                self.flush(sink, |assembly, sink| {
                    framer.finish(&mut |frame| assembly.frame(frame, sink));
                });
                None
            }
            Body::Lines(lines) if end != End::Cut => {
                self.flush(sink, |assembly, sink| {
                    lines.finish(&mut |line| assembly.line(line, sink));
                });
                None
            }
            Body::Binary(messages) => {
                self.assembly
                    .flags
                    .set_if(messages.is_unfinished() && end != End::Cut, Flag::UnterminatedEvent);
                None
            }
            Body::Refused(kept) => Some(error::read_body(&kept)),
            _ => None,
        };
        let outcome = refusal.map_or_else(|| self.outcome(end), http_error);
        self.answer(outcome)
    }

    fn lead(&mut self, bytes: &[u8], sink: &mut impl FnMut(Event)) {
        let is_lead = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0xEF | 0xBB | 0xBF);
        let length = bytes.iter().take_while(|byte| is_lead(byte)).count();
        let Some(rest) = bytes.get(length..).filter(|rest| !rest.is_empty()) else { return };
        let is_json = matches!(rest, [b'{' | b'[', ..]);
        self.body = match self.assembly.dialect.speech().framing() {
            Framing::Lines if is_json && self.asked_for_stream => Body::Lines(Lines::default()),
            _ if is_json => Body::Whole(Whole::default()),
            // A message's length begins so; text does not.
            Framing::Binary if matches!(rest, [..0x20, ..]) => Body::Binary(Messages::default()),
            _ => Body::Stream(Framer::default()),
        };
        self.streamed = !matches!(self.body, Body::Whole(_));
        self.feed(rest, sink);
    }

    /// A whole document holds no output events: its parts did not come one after the other.
    fn read_whole(&mut self) {
        let Body::Whole(whole) = std::mem::replace(&mut self.body, Body::Closed) else { return };
        self.assembly.flags.set_if(self.asked_for_stream, Flag::NotStreamed);
        let document = whole.bytes();
        if document.starts_with(b"[") {
            match error::in_list(document) {
                Some(fault) => self.assembly.fail(fault),
                None => self.assembly.refuse("json_array", JSON_ARRAY.to_owned()),
            }
        } else {
            self.assembly.json(b"", document, &mut |_| {});
        }
        let assembly = &mut self.assembly;
        if let Some(fault) = assembly.fault.as_mut().filter(|_| self.asked_for_stream) {
            fault.code.get_or_insert_with(|| "not_a_stream".to_owned());
        } else if assembly.fault.is_none() && assembly.choices.is_empty() && assembly.vectors.is_none() {
            let (code, message) = no_answer(&self.content_type, document);
            assembly.refuse(code, message);
        }
        assembly.done = true;
    }

    /// Takes what stands unfinished at the end of the body: `last` tells it.
    fn flush<S: FnMut(Event)>(&mut self, sink: &mut S, last: impl FnOnce(&mut Assembly, &mut S)) {
        let assembly = &mut self.assembly;
        let (chunks, malformed, flags) = (assembly.chunks, assembly.malformed, assembly.flags);
        let unreadable = assembly.unreadable.clone();
        last(assembly, sink);
        if assembly.chunks > chunks {
            assembly.flags.set(Flag::UnterminatedEvent);
        } else {
            // A last event that cannot be read is a cut one, not a malformed one.
            (assembly.malformed, assembly.flags, assembly.unreadable) = (malformed, flags, unreadable);
        }
    }

    fn outcome(&mut self, end: End) -> Outcome {
        let progress = self.assembly.progress();
        if let Some(Fault { code, message }) = self.assembly.fault.take() {
            return Outcome::StreamError { code, message };
        }
        if let Some(found) = self.assembly.unreadable.take() {
            return Outcome::Protocol { code: found.code, message: found.message };
        }
        match end {
            _ if progress > Progress::Open => {
                self.assembly.flags.set_if(end == End::Broken, Flag::UncleanClose);
                Outcome::Complete
            }
            End::Eof if self.is_foreign() => Outcome::Protocol {
                code: "not_a_stream",
                message: format!("content type {} with no event in it", self.content_type),
            },
            End::Eof => Outcome::Truncated,
            End::Broken => Outcome::Broken,
            End::Cut => Outcome::Cut,
        }
    }

    /// Nothing was read of it, and its content type says that it is neither events nor JSON.
    fn is_foreign(&self) -> bool {
        let is_binary = self.assembly.dialect.speech().framing() == Framing::Binary;
        let own = if is_binary { "vnd.amazon.eventstream" } else { "text/event-stream" };
        let known = [own, "text/event-stream", "json"].iter().any(|kind| self.content_type.contains(kind));
        self.assembly.chunks == 0 && !self.content_type.is_empty() && !known
    }

    fn answer(self, outcome: Outcome) -> Answer {
        let Assembly { dialect, mut choices, vectors, usage, meter, model, id, timing, mut flags, .. } =
            self.assembly;
        choices.sort_by_key(|choice| choice.index);
        let cumulative = choices.iter().any(ChoiceState::is_cumulative);
        flags.set_if(cumulative, Flag::CumulativeDeltas);
        let mut parts = choices.into_iter().map(ChoiceState::into_parts);
        let (transcript, finish) = parts.next().unwrap_or_default();
        let others: Vec<_> = parts.map(|(transcript, _)| transcript).collect();
        let has_reasoning = |said: &Transcript| !said.reasoning.is_empty();
        let reasoning_seen =
            flags.contains(Flag::ThinkTags) || has_reasoning(&transcript) || others.iter().any(has_reasoning);
        let usage = usage.finish(reasoning_seen, &mut flags).map(|usage| match vectors {
            // Where nothing is generated, 0 output tokens are no count of any.
            Some(_) => Usage { output: None, reasoning: None, ..usage },
            None => usage,
        });
        let (finish, finish_reason) = finish.unzip();
        let own = dialect.speech().finish_reasons();
        let mut answer = Answer {
            outcome,
            finish_is_own: finish_reason.as_deref().is_some_and(|reason| own.contains(&reason)),
            finish_reason,
            finish,
            usage,
            transcript,
            others,
            vectors,
            model: Some(model).filter(|text| !text.is_empty()),
            id: Some(id).filter(|text| !text.is_empty()),
            server_timing: RawValue::from_string(timing).ok(),
            streamed: self.streamed,
            event_tokens: meter.source().filter(|_| self.streamed),
            keepalives: self.assembly.keepalives,
            malformed: self.assembly.malformed,
            ignored: self.assembly.ignored,
            flags,
        };
        answer.flags = flags_at_end(&answer, reasoning_seen);
        answer
    }
}

fn http_error(Fault { code, message }: Fault) -> Outcome {
    Outcome::HttpError { code, message }
}

/// What a document without choices is.
fn no_answer(content_type: &str, document: &[u8]) -> (&'static str, String) {
    let is_ollama = memchr::memmem::find(document, b"\"done\":").is_some();
    if content_type.contains("ndjson") || is_ollama {
        return (
            "ndjson",
            "newline-delimited JSON: an Ollama native address? Its OpenAI one is /v1".to_owned(),
        );
    }
    ("not_an_answer", error::shorten(&String::from_utf8_lossy(document)).unwrap_or_default())
}

/// Flags that only the whole answer shows.
fn flags_at_end(answer: &Answer, reasoning_seen: bool) -> Flags {
    let mut flags = answer.flags;
    let complete = answer.outcome == Outcome::Complete;
    let stated = |count: fn(&Usage) -> Option<u64>| answer.usage.as_ref().and_then(count).unwrap_or(0);
    let silent =
        !reasoning_seen && answer.transcripts().all(|said| said.is_answerless() && said.content.is_empty());
    let has_end = answer.finish.is_some() || answer.vectors.is_some();
    flags.set_if(complete && !has_end, Flag::NoFinishReason);
    flags.set_if(answer.finish == Some(Finish::Length), Flag::Capped);
    flags.set_if(answer.finish == Some(Finish::ContentFilter), Flag::ContentFiltered);
    flags.set_if(answer.finish == Some(Finish::Unknown), Flag::FinishUnknown);
    flags.set_if(stated(|usage| usage.reasoning) > 0 && !reasoning_seen, Flag::HiddenReasoning);
    flags.set_if(complete && silent && stated(|usage| usage.output) > 0, Flag::OutputInvisible);
    flags
}
