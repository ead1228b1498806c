//! The text of a plan file, and errors that point into it.

use std::ops::Range;
use std::path::Path;

use crate::Error;
use crate::error::FileError;
use crate::secrets::{is_variable_name, names_a_key};

/// The longest line that an error shows, in characters; a longer one is cut around the caret.
const SHOWN_CHARS_MAX: usize = 100;
/// What texts stand between.
const QUOTES: [char; 2] = ['"', '\''];
/// What stands for a text that may be a key.
const HIDDEN: &str = "\"…\"";
/// A word from this length on may be a key, whatever its name.
const KEY_LEN: usize = 20;

/// The text of a plan file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// What is wrong with the piece at `span`. Of other texts on its line, those that may be keys are left out.
    pub(super) fn error(&self, span: Range<usize>, message: impl Into<String>) -> Error {
        self.point(span, message.into(), false)
    }

    /// The same where the piece itself may be, or hold, a key.
    pub(super) fn error_of_secret(&self, span: Range<usize>, message: impl Into<String>) -> Error {
        self.point(span, message.into(), true)
    }

    fn point(&self, span: Range<usize>, message: String, is_secret: bool) -> Error {
        let text = self.text;
        let start = floor(text, span.start);
        let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = text[from..].lines().next().unwrap_or_default();
        let here = start - from;
        let end =
            floor(text, span.end.max(span.start)).saturating_sub(from).clamp(here, line.len().max(here));
        let number = text[..from].matches('\n').count() + 1;
        let caret = here.min(line.len())..end.min(line.len());
        let (shown, before, under) = if is_secret { without_value(line) } else { mask(line, caret) };
        let (shown, before, under) = cut(&shown, before, under);
        let gutter = number.to_string().chars().map(|_| ' ').collect::<String>();
        let carets = "^".repeat(under.max(1));
        let snippet = format!("{gutter} |\n{number} | {shown}\n{gutter} | {}{carets}", " ".repeat(before));
        Error::File(Box::new(FileError {
            path: self.path.to_path_buf(),
            line: number,
            column: line.get(..here).unwrap_or(line).chars().count() + 1,
            message,
            snippet,
        }))
    }
}

/// The nearest place at or before `at` where a character begins.
fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

/// `line` as it may be shown, with the characters before and under the caret.
fn mask(line: &str, caret: Range<usize>) -> (String, usize, usize) {
    let mut shown = String::new();
    let (mut before, mut under) = (0, 0);
    let wary = names_a_key(&outside_of_quotes(line));
    for (piece, from) in pieces(line) {
        let points_here = from < caret.end && caret.start < from + piece.len();
        if piece.starts_with(QUOTES) && !points_here && may_be_key(piece.trim_matches(QUOTES), wary) {
            shown.push_str(HIDDEN);
            before += if from < caret.start { HIDDEN.chars().count() } else { 0 };
            continue;
        }
        for (at, c) in piece.char_indices() {
            shown.push(if c.is_control() { ' ' } else { c });
            before += usize::from(from + at < caret.start);
            under += usize::from(caret.contains(&(from + at)));
        }
    }
    (shown, before, under)
}

/// A line without its value, the caret under what stands for it.
fn without_value(line: &str) -> (String, usize, usize) {
    let is_header = line.trim_start().starts_with('[');
    let kept = line.find('=').map_or(if is_header { line.len() } else { 0 }, |at| at + 1);
    let name: String = line[..kept].chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if is_header && kept == line.len() {
        return (name, 0, kept);
    }
    let before = name.chars().count() + 1;
    (format!("{name} {HIDDEN}"), before, HIDDEN.chars().count())
}

/// The part of a long line around its caret.
fn cut(shown: &str, before: usize, under: usize) -> (String, usize, usize) {
    let skipped = before.saturating_sub(SHOWN_CHARS_MAX / 2);
    let total = shown.chars().count();
    let skipped = if total <= SHOWN_CHARS_MAX { 0 } else { skipped };
    let part: String = shown.chars().skip(skipped).take(SHOWN_CHARS_MAX).collect();
    let left = part.chars().count().saturating_sub(before - skipped);
    (part.trim_end().to_string(), before - skipped, under.min(left))
}

/// Whether a text on a line may be a key; a variable's name is none.
fn may_be_key(text: &str, wary: bool) -> bool {
    let name = text.strip_prefix("${").and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let is_word = !text.contains([' ', '/', '@', '.']) && text.contains(|c: char| c.is_ascii_digit());
    !is_variable_name(name) && (wary || (is_word && text.len() >= KEY_LEN))
}

/// A line's pieces, quoted texts apart from what is between them, each with its place. An open quote goes to the end.
fn pieces(line: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = line.get(at..).filter(|rest| !rest.is_empty())?;
        let from = at;
        let length = match rest.chars().next() {
            Some(quote) if QUOTES.contains(&quote) => closing(rest, quote),
            _ => rest.find(QUOTES).unwrap_or(rest.len()),
        };
        at += length;
        Some((&rest[..length], from))
    })
}

/// The length of a quoted text, quotes included.
fn closing(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + c.len_utf8();
        }
        escaped = c == '\\' && quote == '"' && !escaped;
    }
    text.len()
}

fn outside_of_quotes(line: &str) -> String {
    pieces(line).map(|(piece, _)| piece).filter(|piece| !piece.starts_with(QUOTES)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of an error at the last `piece` of `text`, all on one line.
    fn check(text: &str, piece: &str, is_secret: bool, right: [&str; 2]) {
        let at = text.rfind(piece).unwrap();
        let source = Source { path: Path::new("p.toml"), text };
        let said = source.point(at..at + piece.len(), "wrong".into(), is_secret).to_string();
        let number = text.lines().count();
        let head = said.lines().next().unwrap();
        assert!(head.starts_with(&format!("p.toml:{number}:")) && head.ends_with(": wrong"), "{head}");
        let shown: Vec<&str> = said.lines().skip(2).map(|line| line.split_once("| ").unwrap().1).collect();
        assert_eq!(shown, right, "{text}");
    }

    #[test]
    fn carets_stand_under_what_is_wrong() {
        check("[[target]]\nmodle = \"x\"", "modle", false, ["modle = \"x\"", "^^^^^"]);
        check("größe = \"ä\" # ö", "\"ä\"", false, ["größe = \"ä\" # ö", "        ^^^"]);
        check("a = [1, \"x\"]", "1", false, ["a = [1, \"x\"]", "     ^"]);
        let long = format!("a = [{}7]", "\"x\", ".repeat(60));
        let (start, caret) = (format!("{}7]", "\"x\", ".repeat(10)), format!("{}^", " ".repeat(50)));
        check(&long, "7", false, [&start, &caret]);
    }

    #[test]
    fn keys_are_left_out() {
        check("api_key = \"tiny\"", "api_key", false, ["api_key = \"…\"", "^^^^^^^"]);
        check("api_key = \"tiny\"", "tiny", true, ["api_key = \"…\"", "          ^^^"]);
        check("x = \"abcdefgh1234567890abcd\"", "x", false, ["x = \"…\"", "^"]);
        check("api_key_env = \"MY_KEY\"", "api_key_env", false, ["api_key_env = \"MY_KEY\"", "^^^^^^^^^^^"]);
        check("token = \"never closed", "token", false, ["token = \"…\"", "^^^^^"]);
        check("api_key = sk-bare", "sk", true, ["api_key = \"…\"", "          ^^^"]);
        check("  \"Bearer x\",", "Bearer", true, [" \"…\"", " ^^^"]);
        check("[[target", "[", true, ["[[target", "^^^^^^^^"]);
    }
}
