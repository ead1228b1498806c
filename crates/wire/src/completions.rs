//! The completions dialect: new text stands in `text` (W17).

use crate::chunk::Choice;
use crate::pieces::Pieces;

/// What the choice adds.
pub(crate) fn pieces<'a>(choice: &mut Choice<'a>) -> Pieces<'a> {
    Pieces { content: std::mem::take(&mut choice.text).into_text(), ..Pieces::default() }
}
