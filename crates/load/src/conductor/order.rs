//! In what order lanes have their turns.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The order of `lanes` lanes in `block`: random, and fixed by `seed`.
pub(super) fn of(seed: u64, block: u32, lanes: usize) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(u64::from(block));
    let mut order: Vec<usize> = (0..lanes).collect();
    order.shuffle(&mut rng);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_random_and_fixed_by_their_seed() {
        let orders = |seed| (0..600).map(|block| of(seed, block, 3)).collect::<Vec<_>>();
        assert_eq!(orders(1), orders(1));
        assert_ne!(orders(1), orders(2));
        for lane in 0..3 {
            let first = orders(1).iter().filter(|order| order[0] == lane).count();
            assert!((160..240).contains(&first), "lane {lane} is first in {first} of 600");
        }
    }
}
