//! What one message adds to an answer: the only words that a dialect has for it.

use serde_json::value::RawValue;

use crate::assembly::{Assembly, MAX_OUTPUT};
use crate::choice::{Added, ChoiceState};
use crate::error::{self, Fault};
use crate::finish::Finish;
use crate::flags::Flag;
use crate::logprobs::{Logprobs, Spelling};
use crate::pieces::Pieces;
use crate::template::Channel;
use crate::vectors::Vectors;

/// One message being read, and the answer that it belongs to.
pub(crate) struct Step<'s> {
    answer: &'s mut Assembly,
    pub(crate) added: Added,
    /// The output tokens that a running usage states by now.
    pub(crate) running: Option<u64>,
    pub(crate) is_ping: bool,
}

impl<'s> Step<'s> {
    pub(crate) fn new(answer: &'s mut Assembly) -> Self {
        Step { answer, added: Added::default(), running: None, is_ping: false }
    }

    /// The model and the answer's id, where the message names them. The first of each stay.
    pub(crate) fn label(&mut self, model: &str, id: &str) {
        for (known, named) in [(&mut self.answer.model, model), (&mut self.answer.id, id)] {
            if known.is_empty() {
                known.push_str(error::label(named));
            }
        }
    }

    /// The server's own times, as JSON; the last stay.
    pub(crate) fn timing(&mut self, json: &str) {
        self.answer.timing.clear();
        self.answer.timing.push_str(json);
    }

    /// A usage object under any of the names that [`crate::usage`] knows: running, cumulative or final. Objects of one
    /// answer are merged, never added.
    pub(crate) fn usage(&mut self, json: &str) {
        self.running = self.answer.usage.standard(json, &mut self.answer.flags);
    }

    /// A usage object that stands outside the standard place: counts only where no standard one comes.
    pub(crate) fn usage_extension(&mut self, usage: &RawValue) {
        self.answer.usage.extension(usage.get(), &mut self.answer.flags);
    }

    /// What the logprobs of a choice list. What they spell is kept up to the bound of the answer itself.
    pub(crate) fn logprobs(&mut self, choice: u64, logprobs: Logprobs) {
        self.answer.meter.logprobs(logprobs.count);
        let Logprobs { mut spelling, .. } = logprobs;
        if spelling == Spelling::Absent {
            return;
        }
        self.answer.flags.set(Flag::Logprobs);
        self.answer.spelt = self.answer.spelt.saturating_add(spelling.len());
        if self.answer.spelt > MAX_OUTPUT {
            spelling = Spelling::Unreadable;
        }
        if let Some(state) = self.answer.choice(choice) {
            state.spell(spelling);
        }
    }

    /// Whether nothing has been said yet in this choice.
    pub(crate) fn is_silent(&self, choice: u64) -> bool {
        self.answer.seen(choice).is_none_or(ChoiceState::is_silent)
    }

    /// New output of a choice. A dialect that gives one answer at a time has choice 0 alone.
    pub(crate) fn add(&mut self, choice: u64, pieces: Pieces<'_>) {
        let tags = self.answer.think_tags;
        let mut flags = self.answer.flags;
        if let Some(state) = self.answer.choice(choice) {
            state.add(pieces, tags, &mut self.added, &mut flags);
        }
        self.answer.flags = flags;
    }

    /// The vectors that the answer consists of.
    pub(crate) fn vectors(&mut self, vectors: Vectors) {
        self.answer.vectors = Some(vectors);
    }

    /// The message cannot be read, for a reason that its beginning does not show.
    pub(crate) fn malformed(&mut self, reason: &str) {
        self.answer.malformed(reason);
    }

    /// A tool call that comes whole, and with nothing to tell it from others (W12).
    pub(crate) fn add_call(&mut self, choice: u64, name: &str, arguments: &str) {
        let index = self.answer.seen(choice).map_or(0, |choice| choice.tool_calls() as u64);
        self.add(choice, Pieces::call(index, "", name, arguments));
    }

    /// Whether a tool was called.
    pub(crate) fn has_calls(&self, choice: u64) -> bool {
        self.answer.seen(choice).is_some_and(|choice| choice.tool_calls() > 0)
    }

    /// A finish reason in the server's words; empty text is none, and the first one stays. A reason that means an error
    /// ends the answer as one; of two that cannot both be true, nobody knows which is.
    pub(crate) fn finish(&mut self, choice: u64, reason: &str) {
        let Some(state) = self.answer.choice(choice) else { return };
        let changed = state
            .finish(reason)
            .map(|first| format!("it ended by {first}, and then by {}", error::label(reason)));
        if state.finished() == Some(Finish::Error) && self.answer.fault.is_none() {
            self.answer.fault = Some(Fault { code: Some("error".to_owned()), message: None });
        }
        if let Some(message) = changed {
            self.answer.refuse("finish_changed", message);
        }
    }

    /// Whether this choice has a finish reason.
    pub(crate) fn is_finished(&self, choice: u64) -> bool {
        self.answer.seen(choice).is_some_and(|choice| choice.finished().is_some())
    }

    /// A finish reason of a dialect that has no word for a turn that ends in a call: an ordinary stop after one is that.
    pub(crate) fn finish_turn(&mut self, choice: u64, reason: &str) {
        self.finish(choice, reason);
        if let Some(state) = self.answer.choice(choice) {
            state.stop_is_call();
        }
    }

    /// An error in place of output, of any shape.
    pub(crate) fn fail(&mut self, json: &str) {
        self.answer.fail(error::read(json));
    }

    /// Nothing of interest follows.
    pub(crate) fn done(&mut self) {
        self.answer.done = true;
    }

    /// The message is a sign of life and nothing else.
    pub(crate) fn ping(&mut self) {
        self.is_ping = true;
    }

    /// The message is of a kind that this dialect does not know: counted, and mostly passed over.
    pub(crate) fn ignore(&mut self) {
        self.answer.ignored += 1;
    }

    /// Messages that differ from this one in a single plain text need not be read: `text` is that text, borrowed from
    /// `message`, all that the message adds.
    pub(crate) fn learn(&mut self, message: &str, (channel, choice, text): (Channel, u64, &str)) {
        self.answer.template.learn(message, channel, choice, text);
    }
}
