//! What the rules ask of a text.

/// Characters that end a sentence, or close what holds one.
const ENDS: [char; 18] =
    ['.', '!', '?', '…', '。', '！', '？', '"', '\'', '”', '’', '»', ')', ']', '}', '`', '|', '*'];

/// Whether a text ends as a finished one does.
pub(crate) fn ends_finished(text: &str) -> bool {
    text.trim_end().ends_with(ENDS)
}

/// Whether a text of sentences breaks off within one. What has no sentences (a word, a list, code) never does.
pub(crate) fn ends_mid_sentence(text: &str) -> bool {
    let text = text.trim_end();
    let last_line = text.lines().last().unwrap_or_default();
    let has_sentence = [". ", "! ", "? ", ".\n"].iter().any(|end| text.contains(end));
    let is_item = last_line.trim_start().starts_with(|c: char| c.is_ascii_digit() || "-*#|>•".contains(c));
    let breaks_off = text.ends_with(|c: char| c.is_alphanumeric() || ",;(-–".contains(c));
    has_sentence && !is_item && breaks_off && last_line.split_whitespace().count() >= 3
}

/// Whether the character before `at` is a backtick: then what follows is quoted, not leaked.
pub(crate) fn is_quoted(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.ends_with(['`', '"', '\'', '“', '«', '‘', '「']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_break_off_and_lists_do_not() {
        for (text, breaks_off) in [
            ("The sky is blue. This is because the", true),
            ("The sky is blue. This is because of the air.", false),
            ("map", false),
            ("one two three four five", false),
            ("Steps are. \n1. Wash the rice\n2. Cook the rice", false),
            ("Here is it. \n```\nlet a = b\n```", false),
            ("", false),
        ] {
            assert_eq!(ends_mid_sentence(text), breaks_off, "{text}");
        }
        assert!(ends_finished("so it is.\n") && !ends_finished("so it") && !ends_finished(""));
    }
}
