//! Text of exactly n tokens.

use std::sync::LazyLock;

use rand::RngExt as _;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};

/// Words drawn per [`TextMaker`]; a longer text goes round and repeats itself. 32,768 words are about 230 KiB.
const CORPUS_WORDS: usize = 32 * 1024;

/// The 1,024 ordinary English words that texts are made of, sorted.
///
/// Each is one o200k token, alone and after a space, and a space before a word always starts a new token: n of them
/// joined by spaces are n tokens, and appending some to any text that ends in a word adds exactly their number.
pub fn words() -> &'static [&'static str] {
    static WORDS: LazyLock<Vec<&str>> =
        LazyLock::new(|| include_str!("words.txt").split_ascii_whitespace().collect());
    &WORDS
}

/// Makes text of a stated number of o200k tokens, the same for the same seed.
///
/// A stretch of words is drawn once; a text is a slice of it, so that 100,000 tokens cost one copy. Needs no
/// [`Tokenizer`](crate::Tokenizer), whose tables take a while to build; the tests hold the two together.
#[derive(Clone, Debug)]
pub struct TextMaker {
    /// `" word word …"`, each word with its space before it.
    corpus: String,
    /// Byte offset in `corpus` at which each word's space stands, and one past the last word.
    starts: Vec<usize>,
}

impl TextMaker {
    /// Draws the words from `seed` (ChaCha8). Takes 0.3 ms.
    pub fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let words = words();
        let mut corpus = String::new();
        let mut starts = Vec::with_capacity(CORPUS_WORDS + 1);
        for _ in 0..CORPUS_WORDS {
            starts.push(corpus.len());
            corpus.push(' ');
            corpus.push_str(words[rng.random_range(0..words.len())]);
        }
        starts.push(corpus.len());
        Self { corpus, starts }
    }

    /// Text of exactly `tokens` tokens, beginning at word `start` of the drawn stretch (any number; it goes round).
    pub fn text(&self, start: u64, tokens: usize) -> String {
        let mut out = String::new();
        self.append(&mut out, start, tokens);
        out
    }

    /// Appends `tokens` words to `out`, the first with a space before it unless `out` is empty.
    ///
    /// Adds exactly `tokens` tokens if `out` is empty or ends in anything but white space.
    pub fn append(&self, out: &mut String, start: u64, tokens: usize) {
        let mut at = (start % CORPUS_WORDS as u64) as usize;
        let mut left = tokens;
        while left > 0 {
            let take = left.min(CORPUS_WORDS - at);
            let slice = &self.corpus[self.starts[at]..self.starts[at + take]];
            out.push_str(if out.is_empty() { slice.trim_start() } else { slice });
            left -= take;
            at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Tokenizer;

    #[test]
    fn each_word_is_one_token_alone_and_after_a_space() {
        let tokenizer = Tokenizer::o200k();
        assert_eq!(words().len(), 1024);
        assert!(words().is_sorted_by(|a, b| a < b), "sorted, none twice");
        for word in words() {
            assert!(word.bytes().all(|b| b.is_ascii_lowercase()), "{word}");
            assert_eq!(tokenizer.count(word), 1, "{word}");
            assert_eq!(tokenizer.count(&format!(" {word}")), 1, "{word}");
        }
    }

    #[test]
    fn text_has_exactly_the_tokens_asked_for() {
        let maker = TextMaker::new(7);
        let sizes =
            [0, 1, 2, 3, 100, 1_000, 4_096, CORPUS_WORDS - 1, CORPUS_WORDS, CORPUS_WORDS + 1, 128 * 1024];
        for tokens in sizes {
            let text = maker.text(12_345, tokens);
            assert_eq!(Tokenizer::o200k().count(&text), tokens as u64);
        }
    }

    #[test]
    fn the_seed_decides_the_text() {
        assert_eq!(TextMaker::new(1).text(0, 5), TextMaker::new(1).text(0, 5));
        assert_ne!(TextMaker::new(1).text(0, 5), TextMaker::new(2).text(0, 5));
        assert_ne!(TextMaker::new(1).text(0, 5), TextMaker::new(1).text(1, 5));
        // Fixed for ever: recorded runs name their seed.
        assert_eq!(TextMaker::new(1).text(0, 5), "normal initial wonder brick down");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn appending_adds_exactly_its_tokens(seed: u64, start: u64, head in "\\PC{0,20}[a-z.!?]", tokens in 0_usize..600) {
            let tokenizer = Tokenizer::o200k();
            let mut text = head.clone();
            TextMaker::new(seed).append(&mut text, start, tokens);
            prop_assert_eq!(tokenizer.count(&text), tokenizer.count(&head) + tokens as u64);
        }
    }
}
