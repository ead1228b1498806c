//! One choice of an answer, as far as it has come.

use crate::answer::Transcript;
use crate::error;
use crate::finish::Finish;
use crate::flags::{Flag, Flags};
use crate::logprobs::Spelling;
use crate::pieces::Pieces;
use crate::template::Channel;
use crate::think::Think;
use crate::tools::Tools;

/// Deltas in a row that must each extend the one before until the stream is called cumulative (W18).
const CUMULATIVE_AFTER: u32 = 3;

/// One choice so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChoiceState {
    pub(crate) index: u64,
    transcript: Transcript,
    tools: Tools,
    finish: Option<(Finish, String)>,
    think: Think,
    repeats: Repeats,
}

/// What one event added, over its choices.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Added {
    pub(crate) answer: bool,
    pub(crate) output: bool,
    pub(crate) opaque: bool,
    pub(crate) tool: bool,
    pub(crate) chars: usize,
}

impl ChoiceState {
    pub(crate) fn new(index: u64) -> ChoiceState {
        ChoiceState { index, ..ChoiceState::default() }
    }

    /// Whether nothing has been said yet on any channel.
    pub(crate) fn is_silent(&self) -> bool {
        let Transcript { content, reasoning, refusal, audio, has_audio, .. } = &self.transcript;
        [content, reasoning, refusal, audio].iter().all(|text| text.is_empty())
            && !has_audio
            && self.tools.is_empty()
    }

    /// How many tool calls were begun.
    pub(crate) fn tool_calls(&self) -> usize {
        self.tools.len()
    }

    /// Adds what an event carried for this choice. `tags`: content after a think block is answer.
    pub(crate) fn add(&mut self, pieces: Pieces<'_>, tags: bool, added: &mut Added, flags: &mut Flags) {
        if !pieces.content.is_empty() {
            self.add_content(&pieces.content, tags, added, flags);
        }
        self.add_reasoning(&pieces.reasoning.text, added);
        added.opaque |= pieces.reasoning.opaque;
        flags.set_if(pieces.reasoning.unknown_shape, Flag::UnknownReasoningShape);
        added.note(&pieces.refusal, true);
        self.transcript.refusal.push_str(&pieces.refusal);
        added.note(&pieces.audio, true);
        self.transcript.audio.push_str(&pieces.audio);
        self.transcript.has_audio |= pieces.has_audio;
        added.answer |= pieces.has_audio;
        added.output |= pieces.has_audio;
        for piece in pieces.tools {
            let chars = self.tools.add(*piece);
            added.tool |= chars > 0;
            added.note_chars(chars, true);
        }
    }

    /// Adds one text and nothing else, which is what most events do.
    pub(crate) fn add_text(
        &mut self,
        (channel, text): (Channel, &str),
        tags: bool,
        added: &mut Added,
        flags: &mut Flags,
    ) {
        match channel {
            Channel::Content => self.add_content(text, tags, added, flags),
            Channel::Reasoning => self.add_reasoning(text, added),
        }
    }

    fn add_reasoning(&mut self, text: &str, added: &mut Added) {
        added.note(text, false);
        self.transcript.reasoning.push_str(text);
    }

    fn add_content(&mut self, text: &str, tags: bool, added: &mut Added, flags: &mut Flags) {
        self.repeats.note(&self.transcript.content, text);
        self.transcript.content.push_str(text);
        self.think = self.think.advance(&self.transcript.content);
        let closed = self.think == Think::Closed;
        flags.set_if(closed || matches!(self.think, Think::Open(_)), Flag::ThinkTags);
        let is_answer = self.think.is_answer(&self.transcript.content) && (tags || !closed);
        added.note(text, is_answer);
    }

    /// Adds what the log probabilities of further tokens spell.
    pub(crate) fn spell(&mut self, more: Spelling) {
        self.transcript.spelling.append(more);
    }

    /// Takes a finish reason; the first one stays. The first one, where this says otherwise of whether the answer is
    /// whole: that a call is an ordinary stop, or the same again, is no news.
    pub(crate) fn finish(&mut self, raw: &str) -> Option<&str> {
        let later = Finish::parse(raw)?;
        let is_new = self.finish.is_none();
        let (first, said) = self.finish.get_or_insert_with(|| (later, error::label(raw).to_owned()));
        let is_whole = |finish: Finish| matches!(finish, Finish::Stop | Finish::ToolCalls);
        let is_told = ![*first, later].contains(&Finish::Unknown);
        (!is_new && is_told && is_whole(*first) != is_whole(later)).then_some(said.as_str())
    }

    /// Takes an ordinary stop after a call for a call: said by a dialect that has no word of its own for that.
    pub(crate) fn stop_is_call(&mut self) {
        let has_calls = !self.tools.is_empty();
        if let Some((finish @ Finish::Stop, _)) = self.finish.as_mut().filter(|_| has_calls) {
            *finish = Finish::ToolCalls;
        }
    }

    pub(crate) fn finished(&self) -> Option<Finish> {
        self.finish.as_ref().map(|(finish, _)| *finish)
    }

    pub(crate) fn is_cumulative(&self) -> bool {
        self.repeats.every && self.repeats.count >= CUMULATIVE_AFTER
    }

    /// The transcript and the raw finish reason.
    pub(crate) fn into_parts(self) -> (Transcript, Option<(Finish, String)>) {
        (Transcript { tools: self.tools.into_calls(), ..self.transcript }, self.finish)
    }
}

impl Added {
    fn note(&mut self, text: &str, answer: bool) {
        self.note_chars(text.chars().count(), answer);
    }

    fn note_chars(&mut self, chars: usize, answer: bool) {
        self.output |= chars > 0;
        self.answer |= answer && chars > 0;
        self.chars += chars;
    }
}

/// Whether each content delta extends the one before it.
#[derive(Clone, Debug)]
struct Repeats {
    every: bool,
    count: u32,
    /// Where the last delta begins in the content.
    last: usize,
}

impl Default for Repeats {
    fn default() -> Self {
        Repeats { every: true, count: 0, last: 0 }
    }
}

impl Repeats {
    fn note(&mut self, content: &str, delta: &str) {
        if !self.every {
            return;
        }
        let last = content.get(self.last..).unwrap_or_default();
        if !last.is_empty() {
            self.every = delta.len() > last.len() && delta.starts_with(last);
            self.count += 1;
        }
        self.last = content.len();
    }
}
