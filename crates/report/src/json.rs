//! `summary.json` as it is.

use std::fmt::Write as _;

use inferometer_metrics::Summary;

use crate::clean::is_hostile;

/// The bytes of `summary.json`. A character that a terminal would obey and that JSON lets through bare is written as
/// its escape: the same value to every reader. In JSON such a character can only stand inside a string.
#[expect(
    clippy::expect_used,
    reason = "a summary is structs, numbers and maps with string keys: always JSON"
)]
pub(crate) fn write(summary: &Summary) -> String {
    let text = serde_json::to_string_pretty(summary).expect("a summary is always JSON");
    let mut escaped = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if c == '\n' || !is_hostile(c) {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped.push('\n');
    escaped
}
