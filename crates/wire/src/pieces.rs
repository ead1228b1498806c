//! New output of one choice in one event, by channel, whichever dialect and shape it came in.

use std::borrow::Cow;

use crate::chunk::{FunctionDelta, ToolDelta};
use crate::few::Few;
use crate::loose::Loose;

/// New output of one choice. Empty text is no output; white space is.
#[derive(Debug, Default)]
pub(crate) struct Pieces<'a> {
    pub(crate) content: Cow<'a, str>,
    pub(crate) reasoning: Reasoning<'a>,
    pub(crate) refusal: Cow<'a, str>,
    pub(crate) tools: Few<Box<ToolDelta<'a>>>,
    pub(crate) audio: Cow<'a, str>,
    pub(crate) has_audio: bool,
}

impl<'a> Pieces<'a> {
    /// Visible text.
    pub(crate) fn content(text: impl Into<Cow<'a, str>>) -> Self {
        Pieces { content: text.into(), ..Pieces::default() }
    }

    /// Reasoning that can be read.
    pub(crate) fn reasoning(text: impl Into<Cow<'a, str>>) -> Self {
        Pieces { reasoning: Reasoning { text: text.into(), ..Reasoning::default() }, ..Pieces::default() }
    }

    /// Whether it is output of other channels and no content.
    pub(crate) fn is_beside_content(&self) -> bool {
        let is_other = !self.reasoning.text.is_empty() || !self.refusal.is_empty() || !self.tools.is_empty();
        self.content.is_empty() && is_other
    }

    /// A refusal in words.
    pub(crate) fn refusal(text: impl Into<Cow<'a, str>>) -> Self {
        Pieces { refusal: text.into(), ..Pieces::default() }
    }

    /// What is said in audio.
    pub(crate) fn audio(transcript: impl Into<Cow<'a, str>>) -> Self {
        Pieces { audio: transcript.into(), ..Pieces::default() }
    }

    /// Sound.
    pub(crate) fn audio_data() -> Self {
        Pieces { has_audio: true, ..Pieces::default() }
    }

    /// Reasoning that only the server can read: encrypted, or a signature (W06).
    pub(crate) fn opaque() -> Self {
        Pieces { reasoning: Reasoning { opaque: true, ..Reasoning::default() }, ..Pieces::default() }
    }

    /// A piece of the tool call of this number; id, name and arguments may each be empty.
    pub(crate) fn call(index: u64, id: &'a str, name: &'a str, arguments: &'a str) -> Self {
        let text = |text: &'a str| Loose::Text(Cow::Borrowed(text));
        let function = FunctionDelta { name: text(name), arguments: text(arguments) };
        let call = ToolDelta { index: Loose::Count(index), id: text(id), function: Some(function) };
        Pieces { tools: Few::from(Box::new(call)), ..Pieces::default() }
    }
}

/// New reasoning of one choice.
#[derive(Debug, Default)]
pub(crate) struct Reasoning<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Something encrypted or signed came, which is no text (W06).
    pub(crate) opaque: bool,
    /// A shape came that we do not know (W05).
    pub(crate) unknown_shape: bool,
}

impl<'a> Reasoning<'a> {
    /// Takes the same reasoning under a further name: what is there already is counted once (W04).
    pub(crate) fn merge(&mut self, other: Reasoning<'a>) {
        self.opaque |= other.opaque;
        self.unknown_shape |= other.unknown_shape;
        if self.text.is_empty() {
            self.text = other.text;
        } else if !self.text.contains(&*other.text) {
            self.text.to_mut().push_str(&other.text);
        }
    }
}
