//! Lines of a given width.

use unicode_width::UnicodeWidthChar as _;

/// Columns that `text` takes in a terminal. The sum over its characters: joined ones never take more.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Clean `text` in lines of at most `width` columns, broken at spaces. Only a word wider than a whole line is broken
/// inside. No-break spaces hold a number and its unit together, and are plain ones in the lines that come out.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let needed = columns(&line) + usize::from(!line.is_empty()) + columns(word);
        if needed <= width {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        line = break_word(word, width, &mut lines);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines.iter().map(|line| line.replace('\u{a0}', " ").trim_end().to_owned()).collect()
}

/// Puts the full lines of `word` into `lines` and returns what is left of it.
fn break_word(word: &str, width: usize, lines: &mut Vec<String>) -> String {
    let mut rest = String::new();
    for c in word.chars() {
        if !rest.is_empty() && columns(&rest) + c.width().unwrap_or(0) > width {
            lines.push(std::mem::take(&mut rest));
        }
        rest.push(c);
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, width: usize, lines: &[&str]) {
        assert_eq!(wrap(text, width), lines, "{text:?} at {width}");
    }

    #[test]
    fn breaks_at_spaces_and_keeps_numbers_whole() {
        check("", 10, &[]);
        check("  two  words ", 20, &["two words"]);
        check("p95 is 12.3\u{a0}ms here", 10, &["p95 is", "12.3 ms", "here"]);
        check("a 模型模型 b", 6, &["a", "模型模", "型 b"]);
        check("https://example.test/long", 10, &["https://ex", "ample.test", "/long"]);
    }
}
