//! Counting tokens with a pinned vocabulary.

use std::fmt;

use tiktoken_rs::CoreBPE;

use crate::pieces::{PIECE_BYTES_MAX, pieces};

/// A pinned vocabulary that counts tokens. Cheap to copy; one vocabulary in memory serves all copies and threads.
#[derive(Clone, Copy)]
pub struct Tokenizer {
    vocabulary: &'static CoreBPE,
}

impl Tokenizer {
    /// The name of the vocabulary, as reports print it.
    pub const NAME: &'static str = "o200k";

    /// OpenAI's `o200k_base`, compiled into the program.
    ///
    /// The first call builds its tables: 100 to 160 ms and 46 MiB on the two-core machine this was built on. Later calls are free. Call it
    /// before the load starts, never between two stamps.
    pub fn o200k() -> Self {
        Self { vocabulary: tiktoken_rs::o200k_base_singleton() }
    }

    /// The number of tokens in `text`, special tokens read as plain text.
    ///
    /// Total: any text, in time linear in its length (prose 76 MB/s, the worst runs of one letter 6 MB/s, in a release build). Text is cut into
    /// pieces of 16 KiB where no token can straddle the cut; a stretch of more than 16 KiB without a space has no such
    /// place, and its count may be a few tokens off per 16 KiB.
    pub fn count(self, text: &str) -> u64 {
        pieces(text, PIECE_BYTES_MAX).map(|piece| self.count_piece(piece)).sum()
    }

    /// `text` in order, cut between its tokens: each part with the number of tokens in it. That is one, but for
    /// characters that several tokens share, which stay whole. The numbers add up to [`Tokenizer::count`].
    ///
    /// Total, as `count` is.
    pub fn split(self, text: &str) -> Vec<(&str, u32)> {
        pieces(text, PIECE_BYTES_MAX).flat_map(|piece| self.split_piece(piece)).collect()
    }

    fn split_piece(self, piece: &str) -> Vec<(&str, u32)> {
        let mut parts = Vec::new();
        let (mut start, mut end, mut tokens) = (0, 0, 0);
        for token in self.vocabulary.encode_ordinary(piece) {
            // A token that was just encoded is in the vocabulary.
            end += self.vocabulary.decode_bytes(&[token]).map_or(0, |bytes| bytes.len());
            tokens += 1;
            if let Some(part) = piece.get(start..end).filter(|part| !part.is_empty()) {
                parts.push((part, tokens));
                (start, tokens) = (end, 0);
            }
        }
        parts
    }

    fn count_piece(self, piece: &str) -> u64 {
        self.vocabulary.count_ordinary(piece) as u64
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer").field("vocabulary", &Self::NAME).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_counts() {
        // Fixed, so that no upgrade of the vocabulary's crate changes a count unseen.
        for (text, expected) in [
            ("", 0),
            ("hello", 1),
            ("hello world", 2),
            (" ", 1),
            ("antidisestablishmentarianism", 6),
            ("<|endoftext|>", 7),
        ] {
            assert_eq!(Tokenizer::o200k().count(text), expected, "{text:?}");
        }
    }

    #[test]
    fn pathological_runs_are_counted() {
        let unit_of_run =
            ["a", "A", " ", "\n", " \n", "\t", "!", "'", "é", "中", "0", "aA", "\u{301}", "\u{0}", "🎡"];
        for unit in unit_of_run {
            let text = unit.repeat(128 * 1024 / unit.len());
            let count = Tokenizer::o200k().count(&text);
            assert!(count > 0 && count <= text.len() as u64, "{unit:?}: {count}");
        }
    }

    #[test]
    fn a_mebibyte_of_one_letter_or_of_spaces_is_counted() {
        assert_eq!(Tokenizer::o200k().count(&"a".repeat(1 << 20)), (1 << 20) / 8);
        assert_eq!(Tokenizer::o200k().count(&" ".repeat(1 << 20)), (1 << 20) / 128);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Where there are spaces, cutting changes no count.
        #[test]
        fn cut_text_counts_as_whole_text(words in prop::collection::vec("[ \\PC]{0,6}[a-zé,.!?'0-9\\r\\n/]{0,12}[a-z.]", 1..80)) {
            let text = words.join(" ");
            let tokenizer = Tokenizer::o200k();
            let cut: u64 = pieces(&text, 96).map(|piece| tokenizer.count_piece(piece)).sum();
            prop_assert_eq!(cut, tokenizer.count_piece(&text));
        }

        #[test]
        fn split_text_is_the_text_and_counts_the_same(text in "(?s).{0,200}[a-z ,.]{0,80}") {
            let parts = Tokenizer::o200k().split(&text);
            prop_assert_eq!(parts.iter().map(|(part, _)| *part).collect::<String>(), text.as_str());
            let tokens: u64 = parts.iter().map(|(_, tokens)| u64::from(*tokens)).sum();
            prop_assert_eq!(tokens, Tokenizer::o200k().count(&text));
        }

        #[test]
        fn any_text_is_counted(text in "(?s).{0,400}") {
            prop_assert!(Tokenizer::o200k().count(&text) <= text.len() as u64);
        }
    }
}
