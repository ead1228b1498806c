//! Counting tokens with a pinned vocabulary.

use crate::merge::Merger;
use crate::pretoken::{prepare, pretokens};

/// A pinned vocabulary that counts tokens, ready to. Nothing to copy: the vocabulary stands in the program.
#[derive(Clone, Copy, Debug)]
pub struct Tokenizer(());

impl Tokenizer {
    /// The name of the vocabulary, as reports print it.
    pub const NAME: &'static str = "o200k";

    /// OpenAI's `o200k_base`, compiled into the program.
    ///
    /// The first call builds an automaton, in a few milliseconds; later calls are free. Call it before the load starts.
    pub fn o200k() -> Self {
        prepare();
        Self(())
    }

    /// The number of tokens in `text`, special tokens read as plain text.
    ///
    /// Total: any text, in time n log n of its longest word.
    pub fn count(self, text: &str) -> u64 {
        let mut merger = Merger::default();
        pretokens(text).map(|word| merger.ends(word.as_bytes()).count() as u64).sum()
    }

    /// `text` in order, cut between its tokens: each part with the number of tokens in it. That is one, but for
    /// characters that several tokens share, which stay whole. The numbers add up to [`Tokenizer::count`].
    ///
    /// Total, as `count` is.
    pub fn split(self, text: &str) -> Vec<(&str, u32)> {
        let mut merger = Merger::default();
        let mut parts = Vec::new();
        for word in pretokens(text) {
            let (mut start, mut tokens) = (0, 0);
            for end in merger.ends(word.as_bytes()) {
                tokens += 1;
                if let Some(part) = word.get(start..end) {
                    parts.push((part, tokens));
                    (start, tokens) = (end, 0);
                }
            }
        }
        parts
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

    /// The crate that the vocabulary comes from, which counts by its own code.
    fn known(text: &str) -> u64 {
        tiktoken_rs::o200k_base_singleton().count_ordinary(text) as u64
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn any_text_counts_as_elsewhere(
            text in "(?s).{0,200}",
            words in prop::collection::vec("[ \\PC]{0,6}[a-zA-Zé,.!?'0-9\\r\\n\t/ ]{0,12}('(ll|LL|s|re))?", 0..20),
        ) {
            for text in [text, words.concat()] {
                prop_assert_eq!(Tokenizer::o200k().count(&text), known(&text), "{:?}", text);
            }
        }

        #[test]
        fn split_text_is_the_text_and_counts_the_same(text in "(?s).{0,200}[a-z ,.]{0,80}") {
            let parts = Tokenizer::o200k().split(&text);
            prop_assert_eq!(parts.iter().map(|(part, _)| *part).collect::<String>(), text.as_str());
            let tokens: u64 = parts.iter().map(|(_, tokens)| u64::from(*tokens)).sum();
            prop_assert_eq!(tokens, Tokenizer::o200k().count(&text));
        }
    }
}
