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
        let mut taken = Vec::with_capacity(N);
        std::array::from_fn(|nth| {
            // The place among those not taken yet, then among all.
            let mut at = self.0.random_range(0..of.len() - nth);
            for place in &taken {
                at += usize::from(*place <= at);
            }
            taken.insert(taken.partition_point(|place| *place < at), at);
            of[at]
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn some_are_different_and_each_order_comes() {
        let mut dice = Dice::new(1, 2, 3);
        let orders: HashSet<[u8; 3]> = (0..400).map(|_| dice.some(&[1, 2, 3])).collect();
        assert_eq!(orders.len(), 6);
        assert!(orders.iter().all(|order| order.iter().sum::<u8>() == 6));
        let first: HashSet<u8> = (0..200).map(|_| dice.some::<_, 2>(&[1, 2, 3, 4])[0]).collect();
        assert_eq!(first.len(), 4);
    }

    #[test]
    fn seed_kind_and_place_decide() {
        let draw = |seed, kind, seq| Dice::new(seed, kind, seq).number(0, u64::MAX);
        assert_eq!(draw(1, 2, 3), draw(1, 2, 3));
        let others = [draw(1, 2, 3), draw(2, 2, 3), draw(1, 3, 3), draw(1, 2, 4)];
        assert_eq!(others.into_iter().collect::<HashSet<_>>().len(), 4);
    }
}
