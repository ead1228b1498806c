//! What makes a prompt unlike every other, so that no prefix cache knows it.

use inferometer_tokens::words;
use rand::Rng as _;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};

/// Words of a full nonce: 6 × 10 bits.
pub(crate) const NONCE_WORDS: usize = 6;

/// Bits that one of the 1,024 words carries.
const WORD_BITS: u32 = 10;

/// A nonce for each request of one run, as words of one token each.
///
/// A request has the number `base + request`, written in words, the fastest-changing first: within a run no two are
/// alike before 2^60 requests (1,024^n where only n words fit), and consecutive ones differ in their first token.
/// Another run has another base: the chance that two runs of a million requests share one nonce is below 2^-38.
#[derive(Clone, Debug)]
pub(crate) struct Nonce {
    base: u64,
}

impl Nonce {
    /// The nonces of the run `run_id` under `seed`: the same for the same two, else others.
    pub(crate) fn new(seed: u64, run_id: &str) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&fnv1a(run_id.as_bytes()).to_le_bytes());
        Self { base: ChaCha8Rng::from_seed(key).next_u64() }
    }

    /// Appends the first `count` words (at most [`NONCE_WORDS`]) of the nonce of `request`, space between them.
    pub(crate) fn append(&self, out: &mut String, request: u64, count: usize) {
        let words = words();
        let mut number = self.base.wrapping_add(request);
        for nth in 0..count.min(NONCE_WORDS) {
            if nth > 0 {
                out.push(' ');
            }
            out.push_str(words[(number % words.len() as u64) as usize]);
            number >>= WORD_BITS;
        }
    }
}

/// Fowler, Noll and Vo's hash, variant 1a, 64 bits: the same in every version of the standard library.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn text(seed: u64, run: &str, seq: u64, count: usize) -> String {
        let mut out = String::new();
        Nonce::new(seed, run).append(&mut out, seq, count);
        out
    }

    #[test]
    fn no_two_requests_share_a_nonce() {
        let seen: HashSet<String> = (0..5_000).map(|seq| text(1, "run", seq, NONCE_WORDS)).collect();
        assert_eq!(seen.len(), 5_000);
        let one_word: HashSet<String> = (0..1_024).map(|seq| text(1, "run", seq, 1)).collect();
        assert_eq!(one_word.len(), 1_024);
    }

    #[test]
    fn seed_and_run_decide() {
        assert_eq!(text(1, "run", 0, 6), text(1, "run", 0, 6));
        assert_ne!(text(1, "run", 0, 6), text(2, "run", 0, 6));
        assert_ne!(text(1, "run", 0, 6), text(1, "nur", 0, 6));
        assert_eq!(text(1, "run", u64::MAX, 99).split(' ').count(), NONCE_WORDS);
        assert_eq!(text(1, "run", 0, 0), "");
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8, "the authors' test vector");
        assert_eq!(words().len(), 1 << WORD_BITS);
    }
}
