//! An answer while its events come: each is read, added, and told as an [`Event`].

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::answer::Progress;
use crate::binary::Found as Binary;
use crate::choice::{Added, ChoiceState};
use crate::dialect::{Dialect, Message};
use crate::error::{self, Fault};
use crate::event::{Event, Output};
use crate::flags::{Flag, Flags};
use crate::lines::Line;
use crate::mend;
use crate::meter::Meter;
use crate::sse::Frame;
use crate::step::Step;
use crate::template::{Found, Template};
use crate::usage::Tracker;
use crate::vectors::Vectors;

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
    /// Of an answer that is no text.
    pub(crate) vectors: Option<Vectors>,
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
    /// Bytes that log probabilities spell so far.
    pub(crate) spelt: usize,
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

    /// Takes one line of the stream.
    pub(crate) fn line(&mut self, line: Line<'_>, sink: &mut impl FnMut(Event)) {
        match line {
            Line::TooLarge => self.too_large(),
            Line::Text(text) => self.event(b"", text, sink),
        }
    }

    /// Takes one message of a binary stream.
    pub(crate) fn found(&mut self, found: Binary<'_>, sink: &mut impl FnMut(Event)) {
        match found {
            Binary::TooLarge => self.too_large(),
            Binary::Damaged(damage) => {
                self.refuse(damage.code(), damage.message().to_owned());
                self.done = true;
            }
            Binary::Event { name, payload } => self.event(name, payload.trim_ascii(), sink),
            Binary::Fault { .. } if self.done => self.ignored += 1,
            Binary::Fault { code, said } => {
                let fault = error::read(&String::from_utf8_lossy(said));
                let named = error::shorten(&String::from_utf8_lossy(code));
                self.fail(Fault { code: named.or(fault.code), ..fault });
            }
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

    /// Takes one JSON text, of an event of this name or a whole answer.
    pub(crate) fn json(&mut self, name: &[u8], bytes: &[u8], sink: &mut impl FnMut(Event)) {
        // Far faster than the lossy reading, which is for the rest.
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(bytes),
        };
        self.flags.set_if(matches!(text, Cow::Owned(_)), Flag::InvalidUtf8);
        // The derived readers would take an array's elements for fields.
        if !text.starts_with('{') {
            self.malformed(&text);
        } else if self.read(name, &text, sink).is_err() {
            self.mended(name, &text, sink);
        }
    }

    /// Takes an event that adds one text and in all else is one that was taken before.
    fn repeated(&mut self, found: &Found<'_>, sink: &mut impl FnMut(Event)) {
        self.template.hit();
        self.chunks += 1;
        let at = self.place(found.index);
        let Some(state) = self.choices.get_mut(at) else { return };
        let mut added = Added::default();
        state.add_text((found.channel, &found.text), self.think_tags, &mut added, &mut self.flags);
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
        // What is like an event that was read is an object with output in it, and none of the below.
        let has_own_meaning = name == b"error" || PINGS.contains(&name);
        if let Some(found) = self.template.find(data).filter(|_| !self.done && !has_own_meaning) {
            return self.repeated(&found, sink);
        }
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
            self.json(name, data, sink);
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

    fn mended(&mut self, name: &[u8], text: &str, sink: &mut impl FnMut(Event)) {
        let Some(mended) = mend::mend(text) else { return self.malformed(text) };
        if self.read(name, &mended.json, sink).is_ok() {
            self.flags.set_if(mended.had_half_surrogates, Flag::InvalidUtf8);
        } else {
            self.malformed(text);
        }
    }

    /// Has the dialect read a message, and tells what it added.
    fn read(
        &mut self,
        name: &[u8],
        text: &str,
        sink: &mut impl FnMut(Event),
    ) -> Result<(), serde_json::Error> {
        let speech = self.dialect.speech();
        let mut step = Step::new(self);
        speech.read(Message { name, text }, &mut step)?;
        let Step { added, running, is_ping, .. } = step;
        self.chunks += 1;
        if is_ping {
            self.keep_alive(sink);
        } else {
            self.tell(added, running, sink);
            self.bound(added.chars);
        }
        Ok(())
    }

    /// Counts a message that cannot be read; `told` is what is said of it: its text, or the reason.
    pub(crate) fn malformed(&mut self, told: &str) {
        self.malformed += 1;
        let shown = error::shorten(told).unwrap_or_default();
        self.refuse("malformed_event", shown);
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

    /// The choice of this index, opened where it is new.
    pub(crate) fn choice(&mut self, index: u64) -> Option<&mut ChoiceState> {
        let at = self.place(index);
        self.choices.get_mut(at)
    }

    /// The choice of this index, where it was opened or joined the last.
    pub(crate) fn seen(&self, index: u64) -> Option<&ChoiceState> {
        let found = self.choices.iter().find(|choice| choice.index == index);
        found.or_else(|| self.choices.get(MAX_CHOICES - 1))
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
