//! Think tags inside content (W07): where the reasoning of a model without its own channel ends.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";
/// Most bytes of white space before an opening tag: bounds what is looked at again with each event.
const MAX_LEAD: usize = 256;

/// Whether the content so far begins with reasoning in tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Think {
    /// So far white space, or a piece of the opening tag.
    #[default]
    Unknown,
    /// No tag at the beginning: all of it is answer.
    Absent,
    /// Inside the block; the search for its end goes on at this byte.
    Open(usize),
    /// The block has ended.
    Closed,
}

impl Think {
    /// The state after more text has joined `content`.
    pub(crate) fn advance(self, content: &str) -> Think {
        match self {
            Think::Unknown => opening(content),
            Think::Open(from) => closing(content, from),
            settled => settled,
        }
    }

    /// Whether what was just added may be part of the answer. Reading `<th…` as reasoning for one
    /// event is the lesser error: a wrong answer time would be too low.
    pub(crate) fn is_answer(self, content: &str) -> bool {
        match self {
            Think::Unknown => !content.trim_start().starts_with('<'),
            Think::Absent | Think::Closed => true,
            Think::Open(_) => false,
        }
    }
}

/// The content after its leading block; all of it where there is none, nothing while it is open.
pub(crate) fn after_block(content: &str) -> &str {
    match opening(content) {
        Think::Open(_) => "",
        Think::Closed => content.split_once(CLOSE).map_or("", |(_, rest)| rest),
        Think::Unknown | Think::Absent => content,
    }
}

fn opening(content: &str) -> Think {
    let text = content.trim_start();
    if text.starts_with(OPEN) {
        closing(content, 0)
    } else if OPEN.starts_with(text) && content.len() <= MAX_LEAD {
        Think::Unknown
    } else {
        Think::Absent
    }
}

fn closing(content: &str, from: usize) -> Think {
    let tail = content.as_bytes().get(from..).unwrap_or_default();
    if memchr::memmem::find(tail, CLOSE.as_bytes()).is_some() {
        Think::Closed
    } else {
        // The tag may be cut: its beginning can stand at the end of what is here.
        Think::Open(content.len().saturating_sub(CLOSE.len() - 1).max(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_in_any_cut() {
        for (text, after) in [
            ("<think>so</think>42", "42"),
            ("\n<think>\nso\n</think>\n\n42", "\n\n42"),
            ("<think>so", ""),
            ("<table>", "<table>"),
            ("4 < 5", "4 < 5"),
            ("", ""),
        ] {
            assert_eq!(after_block(text), after, "{text:?}");
            let mut think = Think::default();
            for end in (1..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                think = think.advance(&text[..end]);
            }
            assert_eq!(think.is_answer(text), !after.is_empty() || text.is_empty(), "{text:?}");
        }
    }
}
