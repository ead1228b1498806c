//! Draws that depend on a model's seed and a request's number, and on nothing else.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What is drawn: each has numbers of its own, so that a further draw of one leaves the others as they were.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// What a request gets: fault, times, lengths, in this order.
    Answer = 0,
    /// How long a cold start takes.
    Cold = 1,
    /// Whether the answer is right.
    Right = 2,
    /// The vector of a text.
    Vector = 3,
}

/// The numbers for one purpose of the `nth` request.
pub(crate) fn random(seed: u64, nth: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(nth);
    // Far behind all that the purposes before it take.
    random.set_word_pos(u128::from(purpose as u8) << 32);
    random
}
