//! Text cut where no token reaches across: into words with the space before them, numbers, signs and white space.

use std::sync::LazyLock;

use regex::Regex;

/// How OpenAI's o200k cuts text (`tiktoken`, `openai_public.py`), without its `\s+(?!\S)`: see [`pretokens`].
static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let ending = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
    let upper = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}";
    let lower = r"\p{Ll}\p{Lm}\p{Lo}\p{M}";
    let before = r"[^\r\n\p{L}\p{N}]?";
    let alternatives = [
        format!("{before}[{upper}]*[{lower}]+{ending}"),
        format!("{before}[{upper}]+[{lower}]*{ending}"),
        r"\p{N}{1,3}".to_string(),
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*".to_string(),
        r"\s*[\r\n]+".to_string(),
        r"\s+".to_string(),
    ];
    Regex::new(&alternatives.join("|")).ok()
});

/// Builds the pattern's automaton, unless it is built.
pub(crate) fn prepare() {
    LazyLock::force(&PATTERN);
}

/// The pieces of `text`, in order and without gaps.
///
/// White space that does not end a line leaves its last character to what follows (`\s+(?!\S)` of the pattern, which
/// an automaton cannot say).
pub(crate) fn pretokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // The pattern takes any character: what it does not take is no text.
        let found = PATTERN.as_ref().and_then(|word| word.find(rest)).map_or(rest.len(), |found| found.end());
        let (word, tail) = rest.split_at(found - left_over(rest, found));
        rest = tail;
        Some(word)
    })
}

/// How many bytes at the end of the word `text[..end]` belong to the next one.
fn left_over(text: &str, end: usize) -> usize {
    let (word, after) = text.split_at(end);
    match word.chars().next_back() {
        Some('\r' | '\n') | None => 0,
        Some(last) if last.len_utf8() < end && !after.is_empty() && word.chars().all(char::is_whitespace) => {
            last.len_utf8()
        }
        Some(_) => 0,
    }
}
