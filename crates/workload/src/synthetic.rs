//! Generated prompts of a stated token count.

use inferometer_tokens::TextMaker;
use rand::Rng;

use crate::Lengths;
use crate::nonce::{NONCE_WORDS, Nonce};

/// The last words of a prompt, so that a model goes on for as long as it may.
const TASK: &str = "\n\nContinue this text with as many more words as you can.";

/// Tokens of [`TASK`].
const TASK_TOKENS: usize = 13;

/// The shortest prompt, in tokens, that ends in [`TASK`]; a shorter one is words only.
const TASK_FROM: usize = 32;

/// Makes prompts whose o200k token count is exactly the length drawn, nonce included.
#[derive(Clone, Debug)]
pub(crate) struct Generator {
    maker: TextMaker,
    lengths: Lengths,
}

impl Generator {
    pub(crate) fn new(seed: u64, lengths: Lengths) -> Self {
        Self { maker: TextMaker::new(seed), lengths }
    }

    /// A prompt; `rng` is its own, and the nonce that of its request.
    pub(crate) fn text(&self, rng: &mut impl Rng, nonce: Option<(&Nonce, u64)>) -> String {
        let tokens = self.lengths.draw(rng) as usize;
        let start = rng.next_u64();
        let task_tokens = if tokens < TASK_FROM { 0 } else { TASK_TOKENS };
        let mut text = String::new();
        let mut nonce_words = 0;
        if let Some((nonce, request)) = nonce {
            nonce_words = tokens.min(NONCE_WORDS);
            nonce.append(&mut text, request, nonce_words);
        }
        self.maker.append(&mut text, start, tokens.saturating_sub(nonce_words + task_tokens));
        if task_tokens > 0 {
            text.push_str(TASK);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use inferometer_tokens::Tokenizer;
    use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};

    use super::*;

    #[test]
    fn each_prompt_has_exactly_its_tokens() {
        let tokenizer = Tokenizer::o200k();
        let nonce = Nonce::new(3, "run");
        for mean in (1..100).chain([500, 4_096, 32_768, 131_072]) {
            let generator = Generator::new(3, Lengths { mean, stddev: 0.0 });
            for nonce in [None, Some((&nonce, 77))] {
                let text = generator.text(&mut ChaCha8Rng::seed_from_u64(1), nonce);
                assert_eq!(tokenizer.count(&text), u64::from(mean), "{text:.80}");
            }
        }
    }
}
