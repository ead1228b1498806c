//! Draws: everything that a task is made of depends on seed, kind and place alone.

use inferometer_tokens::words;
use rand::RngExt as _;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};

/// 2⁶⁴ over the golden ratio: keeps the kinds' draws apart under one seed.
const SALT: u64 = 0x9E37_79B9_7F4A_7C15;

/// The draws of one task.
#[derive(Debug)]
pub(super) struct Dice(ChaCha8Rng);

impl Dice {
    /// The draws of the task at `seq`; `kind` is the kind's place among all.
    pub(super) fn new(seed: u64, kind: usize, seq: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ SALT.wrapping_mul(kind as u64 + 1));
        rng.set_stream(seq);
        Self(rng)
    }

    /// The generator itself, for distributions.
    pub(super) fn rng(&mut self) -> &mut ChaCha8Rng {
        &mut self.0
    }

    /// A whole number from `low` to `high`, both included.
    pub(super) fn number(&mut self, low: u64, high: u64) -> u64 {
        self.0.random_range(low..=high)
    }

    /// True `percent` times of a hundred.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.number(1, 100) <= percent
    }

    /// One of a list that has at least one.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.random_range(0..of.len())]
    }

    /// One of the 1,024 plain words.
    pub(super) fn word(&mut self) -> &'static str {
        self.pick(words())
    }

    /// `N` different ones of a list that has at least `N`, in random order.
    pub(super) fn some<T: Copy, const N: usize>(&mut self, of: &[T]) -> [T; N] {
        let mut places: Vec<usize> = (0..of.len()).collect();
        std::array::from_fn(|nth| {
            let at = self.0.random_range(nth..places.len());
            places.swap(nth, at);
            of[places[nth]]
        })
    }

    /// The list in random order.
    pub(super) fn shuffled<T>(&mut self, mut list: Vec<T>) -> Vec<T> {
        for at in (1..list.len()).rev() {
            list.swap(at, self.0.random_range(0..=at));
        }
        list
    }
}
