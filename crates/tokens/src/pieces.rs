//! Text cut into pieces of bounded size, at places where no token can straddle the cut.

/// The longest piece handed to the vocabulary's regex, in bytes.
///
/// The regex backtracks over runs of white space with a stack of a million entries and panics beyond it (1 MiB of
/// spaces does); 16 KiB stays far below, and costs at most 5 ms of processor time in an unoptimised build.
pub(crate) const PIECE_BYTES_MAX: usize = 16 * 1024;

/// The pieces of `text`, in order and without gaps, each at most `max` bytes (at least one character).
///
/// A cut falls in front of a space that follows something other than white space. In o200k's pattern a space can only
/// be the first character of a match there, so the tokens on both sides are those of the whole text. Where a piece
/// offers no such place (a run of one letter, text without spaces) it is cut at its end, and the count may differ from
/// that of the whole by a few tokens per piece.
pub(crate) fn pieces(text: &str, max: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, tail) = rest.split_at(cut(rest, max));
        rest = tail;
        Some(piece)
    })
}

/// Where the first piece of `text` ends: 1 to `max` bytes in, or after the first character if that is longer.
fn cut(text: &str, max: usize) -> usize {
    if text.len() <= max {
        return text.len();
    }
    let first_char = text.chars().next().map_or(0, char::len_utf8);
    let window = &text[..text.floor_char_boundary(max).max(first_char)];
    let safe = window.rmatch_indices(' ').map(|(at, _)| at).find(|&at| ends_in_ink(&window[..at]));
    safe.unwrap_or(window.len())
}

fn ends_in_ink(text: &str) -> bool {
    text.chars().next_back().is_some_and(|last| !last.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_stand_before_a_space_that_follows_ink() {
        let check = |text: &str, max: usize, expected: &[&str]| {
            assert_eq!(pieces(text, max).collect::<Vec<_>>(), expected, "{text:?} by {max}");
        };
        check("", 4, &[]);
        check("one two", 7, &["one two"]);
        check("one two three", 8, &["one two", " three"]);
        check("one  two", 5, &["one", "  two"]);
        check("a    b", 4, &["a", "    ", "b"]);
        check("aaaaaaaaa", 4, &["aaaa", "aaaa", "a"]);
        check("      ", 4, &["    ", "  "]);
        check("ééé", 3, &["é", "é", "é"]);
        check("日本", 1, &["日", "本"]);
        check("мир мир", 9, &["мир", " мир"]);
    }

    #[test]
    fn pieces_join_to_the_text() {
        let text = "Räder   drehen\n\n sich\tim Kreis 🎡🎡🎡 1234567 ".repeat(20);
        for max in 0..60 {
            assert_eq!(pieces(&text, max).collect::<String>(), text);
            assert!(pieces(&text, max).all(|piece| !piece.is_empty() && piece.len() <= max.max(4)));
        }
    }
}
