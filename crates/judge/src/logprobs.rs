//! Do the tokens of the log probabilities spell the text?

use std::borrow::Cow;

use inferometer_wire::{Flag, Spelling, Transcript};

use crate::Case;
use crate::evidence::Head;
use crate::verdict::Finding;

/// The longest name of a control token, `<|im_end|>` and its like, in bytes.
const CONTROL_LEN_MAX: usize = 40;

/// v.logprob.text: the tokens of the log probabilities spell another text than came. They may spell more where that is
/// known to have been cut off: reasoning before the text, tool calls and stop strings behind it; control tokens and
/// white space are no text. Deltas that repeat each other (W18) are no text to compare with.
pub(crate) fn text(case: &Case<'_>) -> Option<Finding> {
    if case.answer.flags.contains(Flag::CumulativeDeltas) {
        return None;
    }
    case.answer.transcripts().find_map(|said| of(case, said))
}

fn of(case: &Case<'_>, said: &Transcript) -> Option<Finding> {
    let content = plain(&said.content);
    if content.is_empty() {
        return None;
    }
    let unavailable = Finding::note("logprob_text_unavailable");
    let spelt = match &said.spelling {
        Spelling::Absent => return None,
        Spelling::Unreadable => return Some(unavailable),
        Spelling::Bytes(bytes) => String::from_utf8_lossy(bytes),
    };
    let spelt = plain(&spelt);
    if is_spelt(case, said, &content, &spelt) {
        return None;
    }
    if spelt.contains('\u{FFFD}') {
        return Some(unavailable);
    }
    let same = content.chars().zip(spelt.chars()).take_while(|(a, b)| a == b);
    let at: usize = same.map(|(c, _)| c.len_utf8()).sum();
    let (text, tokens) = (Head(&content[at..]), Head(&spelt[at..]));
    let why = format_args!("the text goes on with {text}, its tokens with {tokens}");
    Some(Finding::note("logprob_text_differs").because(why))
}

/// Whether `spelt` is the content, and at most what is known to have been taken from around it.
fn is_spelt(case: &Case<'_>, said: &Transcript, content: &str, spelt: &str) -> bool {
    // An answer may repeat what was reasoned: then its last place is its own.
    let at = if case.reasoned() { spelt.rfind(content) } else { spelt.find(content) };
    let Some(at) = at else { return false };
    let (before, after) = (&spelt[..at], &spelt[at + content.len()..]);
    let may_follow = !said.tools.is_empty() || !case.expect.parameters.stops().is_empty();
    (before.trim().is_empty() || case.reasoned()) && (after.trim().is_empty() || may_follow)
}

/// A text without control tokens, the white space around it, and a last character that was cut by the limit.
fn plain(text: &str) -> Cow<'_, str> {
    let is_around = |c: char| c.is_whitespace() || c == '\u{FFFD}';
    if !text.contains('<') {
        return Cow::Borrowed(text.trim_matches(is_around));
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('<') {
        kept.push_str(before);
        rest = behind;
        if let Some(len) = control_len(behind) {
            rest = &behind[len..];
        } else {
            kept.push('<');
        }
    }
    kept.push_str(rest);
    Cow::Owned(kept.trim_matches(is_around).to_owned())
}

/// The length of what follows the `<` of a control token, its `>` included.
fn control_len(behind: &str) -> Option<usize> {
    let end = behind.bytes().take(CONTROL_LEN_MAX).position(|byte| byte == b'>')?;
    let name = behind.get(..end)?;
    let is_name = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '<');
    is_name.then_some(end + 1)
}
