//! Words that stay short whatever they quote.

use std::fmt::{self, Write};

/// Most characters of one piece of evidence, and of one reason of a grade.
pub const EVIDENCE_CHARS_MAX: usize = 200;

/// Most characters of an answer that one piece of evidence quotes.
const QUOTED_CHARS_MAX: usize = 60;

/// The text of `words`, cut after [`EVIDENCE_CHARS_MAX`] characters. What lies beyond is not even formatted.
pub(crate) fn bounded(words: fmt::Arguments<'_>) -> String {
    let mut short = Short { text: String::new(), room: EVIDENCE_CHARS_MAX };
    // An error is the bound, which has done its work.
    let _ = short.write_fmt(words);
    short.text
}

struct Short {
    text: String,
    room: usize,
}

impl Write for Short {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for c in more.chars() {
            if self.room == 0 {
                return Err(fmt::Error);
            }
            self.room -= 1;
            self.text.push(c);
        }
        Ok(())
    }
}

/// The beginning of a text in quotes, control characters escaped.
pub(crate) struct Head<'a>(pub(crate) &'a str);

impl fmt::Display for Head<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.char_indices().nth(QUOTED_CHARS_MAX).map_or(self.0.len(), |(at, _)| at);
        let cut = if end < self.0.len() { "…" } else { "" };
        write!(f, "'{}{cut}'", self.0[..end].escape_debug())
    }
}

/// The end of a text in quotes, control characters escaped.
pub(crate) struct Tail<'a>(pub(crate) &'a str);

impl fmt::Display for Tail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.0.char_indices().rev().nth(QUOTED_CHARS_MAX - 1).map_or(0, |(at, _)| at);
        let cut = if from > 0 { "…" } else { "" };
        write!(f, "'{cut}{}'", self.0[from..].escape_debug())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_short_whatever_it_quotes() {
        let long = "ä\n".repeat(5_000);
        assert_eq!(bounded(format_args!("{long}")).chars().count(), EVIDENCE_CHARS_MAX);
        assert_eq!(bounded(format_args!("x: {}", Head("a\nb"))), r"x: 'a\nb'");
        assert!(bounded(format_args!("{}", Head(&long))).ends_with("…'"));
        assert!(bounded(format_args!("{}", Tail(&long))).starts_with("'…"));
        assert_eq!(Tail("").to_string(), "''");
    }
}
