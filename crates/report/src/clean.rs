//! Text that nobody here wrote, made harmless.
//!
//! A server chooses its error messages and model names. What a terminal would obey instead of showing (controls,
//! escapes), and what would make a reader see another text than there is (bidi overrides, invisible characters), is
//! shown as its code.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether `c` is shown as its code: it is a control, or it has no picture of its own and changes that of others.
/// Combining marks stay: Thai and Hindi are unreadable without.
pub(crate) fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0x00AD | 0x061C | 0x115F | 0x1160 | 0x180B..=0x180F
            | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F
            | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB
            | 0x1_D173..=0x1_D17A | 0xE_0000..=0xE_0FFF)
}

/// `text` on one line and harmless: line breaks and tabs are a space, everything else that is hostile is its code,
/// such as `\u{1b}`.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.push(' '),
            c if is_hostile(c) => {
                // Writing to a string cannot fail.
                let _ = write!(shown, "{}", c.escape_unicode());
            }
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, shown: &str) {
        assert_eq!(clean(text), shown);
    }

    #[test]
    fn hostile_text_is_shown_not_obeyed() {
        check("plain, ünïcödé, 模型, ภาษาไทย", "plain, ünïcödé, 模型, ภาษาไทย");
        check("a\r\nb\tc", "a  b c");
        check("\u{1b}[31mred\u{1b}]0;title\u{7}", "\\u{1b}[31mred\\u{1b}]0;title\\u{7}");
        check("\u{9b}2J\u{7f}\0", "\\u{9b}2J\\u{7f}\\u{0}");
        check("gpt\u{202e}txt.exe", "gpt\\u{202e}txt.exe");
        check("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}");
        check("tag\u{e0041}", "tag\\u{e0041}");
    }
}
