//! An answer while its events come: each is read, added, and told as an [`Event`].

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::answer::Progress;
use crate::choice::{Added, ChoiceState};
use crate::chunk::{Choice, Chunk};
use crate::dialect::Dialect;
use crate::error::{self, Fault};
use crate::event::{Event, Output};
use crate::finish::Finish;
use crate::flags::{Flag, Flags};
use crate::meter::Meter;
use crate::pieces::{Pieces, Reasoning};
use crate::sse::Frame;
use crate::template::{Channel, Found, Template};
use crate::usage::Tracker;
use crate::{chat, completions, mend};

/// Most choices that are kept apart; pieces of further ones join the last.
const MAX_CHOICES: usize = 128;

/// Most characters of output that are kept of one answer, all channels: ten times the longest that any model gives.
pub(crate) const MAX_OUTPUT: usize = 32 << 20;

/// Most output events of one answer: a token each, as many as no model gives.
const MAX_OUTPUT_EVENTS: u64 = 1 << 20;

/// What `[DONE]` looks like; matched as a prefix after trimming (W41).
pub(crate) const DONE: &[u8] = b"[DONE]";

/// Event names that are pings, whatever their data.
const PINGS: [&[u8]; 4] = [b"ping", b"heartbeat", b"keep-alive", b"keepalive"];

/// Bytes that are no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

/// The answer so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assembly {
    pub(crate) dialect: Dialect,
    /// Content after a think block counts as answer.
    pub(crate) think_tags: bool,
    pub(crate) choices: Vec<ChoiceState>,
    pub(crate) usage: Tracker,
    pub(crate) meter: Meter,
    pub(crate) template: Template,
    pub(crate) model: String,
    pub(crate) id: String,
    pub(crate) timing: String,
    pub(crate) fault: Option<Fault>,
    pub(crate) unreadable: Option<Unreadable>,
    pub(crate) done: bool,
    /// Characters of output so far.
    pub(crate) chars: usize,
    /// Output events so far.
    pub(crate) outputs: u64,
    /// JSON objects that were read.
    pub(crate) chunks: u64,
    pub(crate) keepalives: u64,
    pub(crate) malformed: u64,
    pub(crate) ignored: u64,
    pub(crate) flags: Flags,
}

impl Assembly {
    /// Takes one frame of the stream.
    pub(crate) fn frame(&mut self, frame: Frame<'_>, sink: &mut impl FnMut(Event)) {
        match frame {
            Frame::Comment => self.keep_alive(sink),
            Frame::TooLarge => self.too_large(),
            Frame::Error(value) => self.foreign_error(value),
            Frame::Event { name, data } => self.event(name, data.trim_ascii(), sink),
        }
    }

    /// How far it has come.
    pub(crate) fn progress(&self) -> Progress {
        if self.done {
            Progress::Done
        } else if !self.choices.is_empty() && self.choices.iter().all(|choice| choice.finished().is_some()) {
            Progress::Finished
        } else {
            Progress::Open
        }
    }

    /// Takes one JSON text, of an event or a whole answer.
    pub(crate) fn json(&mut self, bytes: &[u8], sink: &mut impl FnMut(Event)) {
        if let Some(found) = self.template.find(bytes) {
            return self.repeated(&found, sink);
        }
        // Far faster than the lossy reading, which is for the rest.
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(bytes),
        };
        self.flags.set_if(matches!(text, Cow::Owned(_)), Flag::InvalidUtf8);
        // The derived readers would take an array's elements for fields.
        if !text.starts_with('{') {
            self.malformed(&text);
        } else if let Ok(chunk) = serde_json::from_str(&text) {
            self.template.learn(self.dialect, &chunk, &text);
            self.chunk(chunk, &text, sink);
        } else {
            self.mended(&text, sink);
        }
    }

    /// Takes an event that adds one text and in all else is one that was taken before.
    fn repeated(&mut self, found: &Found<'_>, sink: &mut impl FnMut(Event)) {
        self.template.hit();
        self.chunks += 1;
        let at = self.place(found.index);
        let Some(state) = self.choices.get_mut(at) else { return };
        let text = Cow::Borrowed(found.text);
        let pieces = match found.channel {
            Channel::Content => Pieces { content: text, ..Pieces::default() },
            Channel::Reasoning => {
                Pieces { reasoning: Reasoning { text, ..Reasoning::default() }, ..Pieces::default() }
            }
        };
        let mut added = Added::default();
        state.add(pieces, self.think_tags, &mut added, &mut self.flags);
        self.tell(added, None, sink);
        self.bound(added.chars);
    }

    /// Takes an error that ends the answer; it may explain the bare finish reason before it.
    pub(crate) fn fail(&mut self, fault: Fault) {
        if self.fault.as_ref().is_none_or(|known| known.message.is_none()) {
            self.fault = Some(fault);
        }
        self.done = true;
    }

    pub(crate) fn too_large(&mut self) {
        self.flags.set(Flag::EventTooLarge);
        self.refuse("event_too_large", format!("an event above {} MiB", crate::MAX_EVENT >> 20));
        self.done = true;
    }

    pub(crate) fn refuse(&mut self, code: &'static str, message: String) {
        self.unreadable.get_or_insert(Unreadable { code, message });
    }

    fn event(&mut self, name: &[u8], data: &[u8], sink: &mut impl FnMut(Event)) {
        // `[DONE]` may have been seen before its blank line came: it is not one that follows.
        if data.starts_with(DONE) {
            self.done = true;
        } else if self.done {
            self.ignored += 1;
        } else if name == b"error" {
            self.fail(error::read(&String::from_utf8_lossy(data)));
        } else if is_keep_alive(name, data) {
            self.keep_alive(sink);
        } else {
            self.json(data, sink);
        }
    }

    fn keep_alive(&mut self, sink: &mut impl FnMut(Event)) {
        self.keepalives += 1;
        sink(Event::KeepAlive);
    }

    fn foreign_error(&mut self, value: &[u8]) {
        let value = String::from_utf8_lossy(value);
        if !self.done && serde_json::from_str::<&RawValue>(&value).is_ok() {
            self.fail(error::read(&value));
        }
    }

    fn mended(&mut self, text: &str, sink: &mut impl FnMut(Event)) {
        if let Some(mended) = mend::mend(text)
            && let Ok(chunk) = serde_json::from_str(&mended.json)
        {
            self.flags.set_if(mended.had_half_surrogates, Flag::InvalidUtf8);
            self.chunk(chunk, &mended.json, sink);
        } else {
            self.malformed(text);
        }
    }

    fn malformed(&mut self, text: &str) {
        self.malformed += 1;
        let shown = error::shorten(text).unwrap_or_default();
        self.refuse("malformed_event", shown);
    }

    fn chunk(&mut self, chunk: Chunk<'_>, text: &str, sink: &mut impl FnMut(Event)) {
        self.chunks += 1;
        self.label(&chunk);
        let running = self.counts(&chunk);
        if error::is_error(&chunk) {
            self.fail(error::read(text));
        } else if chunk.choices.is_empty() && chunk.kind.text() == "ping" {
            self.keep_alive(sink);
        } else {
            let mut added = Added::default();
            for choice in chunk.choices {
                self.choice(choice, &mut added);
            }
            self.tell(added, running, sink);
            self.bound(added.chars);
        }
    }

    /// Ends an answer that would fill the memory.
    fn bound(&mut self, chars: usize) {
        self.chars += chars;
        if self.chars > MAX_OUTPUT {
            self.refuse("answer_too_large", format!("an answer above {} Mi characters", MAX_OUTPUT >> 20));
            self.done = true;
        }
        if self.outputs > MAX_OUTPUT_EVENTS {
            self.refuse("answer_too_large", format!("an answer above {} Mi events", MAX_OUTPUT_EVENTS >> 20));
            self.done = true;
        }
    }

    /// Takes model, id and the server's own times.
    fn label(&mut self, chunk: &Chunk<'_>) {
        if self.model.is_empty() {
            self.model.push_str(error::label(chunk.model.text()));
        }
        if self.id.is_empty() {
            self.id.push_str(error::label(chunk.id.text()));
        }
        if let Some(raw) = chunk.timings.or(chunk.x_groq).or(chunk.nvext).or(chunk.time_info) {
            self.timing.clear();
            self.timing.push_str(raw.get());
        }
    }

    /// Takes usage; returns the output tokens that the standard one states by now.
    fn counts(&mut self, chunk: &Chunk<'_>) -> Option<u64> {
        #[derive(serde::Deserialize)]
        struct Extension<'a> {
            #[serde(borrow)]
            usage: Option<&'a RawValue>,
        }
        let extension = chunk.x_groq.and_then(|raw| serde_json::from_str::<Extension<'_>>(raw.get()).ok());
        if let Some(usage) = extension.and_then(|extension| extension.usage) {
            self.usage.extension(usage.get(), &mut self.flags);
        }
        chunk.usage.and_then(|usage| self.usage.standard(usage.get(), &mut self.flags))
    }

    fn choice(&mut self, mut choice: Choice<'_>, added: &mut Added) {
        self.meter.logprobs(choice.logprob_count());
        let at = self.place(choice.index.as_u64().unwrap_or(0));
        let Some(state) = self.choices.get_mut(at) else { return };
        let pieces = match self.dialect {
            Dialect::Chat => chat::pieces(&mut choice, state.is_silent()),
            Dialect::Completions => completions::pieces(&mut choice),
        };
        state.add(pieces, self.think_tags, added, &mut self.flags);
        state.finish(choice.finish_reason.text());
        if state.finished() == Some(Finish::Error) && self.fault.is_none() {
            self.fault = Some(Fault { code: Some("error".to_owned()), message: None });
        }
    }

    fn place(&mut self, index: u64) -> usize {
        let found = self.choices.iter().position(|choice| choice.index == index);
        found.unwrap_or_else(|| {
            if self.choices.len() < MAX_CHOICES {
                self.choices.push(ChoiceState::new(index));
            }
            self.choices.len() - 1
        })
    }

    fn tell(&mut self, added: Added, running: Option<u64>, sink: &mut impl FnMut(Event)) {
        if added.output {
            // Running usage of several choices may be each choice's own: no differences there.
            let running = running.filter(|_| self.choices.len() == 1);
            let tokens = self.meter.output_event(running);
            let chars = u32::try_from(added.chars).unwrap_or(u32::MAX);
            self.outputs += 1;
            sink(Event::Output(Output { answer: added.answer, tool: added.tool, chars, tokens }));
        } else if added.opaque {
            sink(Event::Opaque);
        }
    }
}

/// Empty data, comment-like data, a ping by name, `null` (W56, W60, W64).
fn is_keep_alive(name: &[u8], data: &[u8]) -> bool {
    data.is_empty() || data.starts_with(b":") || data == b"null" || PINGS.contains(&name)
}
