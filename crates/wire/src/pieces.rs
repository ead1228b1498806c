//! New output of one choice in one event, by channel, whichever dialect and shape it came in.

use std::borrow::Cow;

use crate::chunk::ToolDelta;
use crate::few::Few;

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
