//! Prints the rows of `src/dip/table.rs`: quantiles of √n · dip over uniform samples, from a fixed seed for each n. All
//! rows take about a minute when optimised; numbers of values as arguments print only their rows:
//!
//! ```sh
//! cargo run --release --package inferometer-stats --example dip_table -- 50 100
//! ```
#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

use inferometer_stats::Sorted;
use inferometer_stats::dip::dip;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Values in a sample, and samples drawn: fewer where each takes longer.
const SIZES: [(usize, usize); 7] = [
    (50, 200_000),
    (100, 200_000),
    (200, 100_000),
    (500, 100_000),
    (1_000, 50_000),
    (2_000, 50_000),
    (5_000, 20_000),
];

/// Upper tail probabilities, one for each column.
const TAILS: [f64; 9] = [0.9, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001];

fn main() {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|n| n.parse().ok()).collect();
    for (n, draws) in SIZES.into_iter().filter(|(n, _)| asked.is_empty() || asked.contains(n)) {
        let quantiles = quantiles(n, draws).map(|quantile| format!("{quantile:.4}"));
        println!("    ({n}, [{}]),", quantiles.join(", "));
    }
}

/// What √n · dip of `n` uniform values exceeds with each probability of [`TAILS`], over `draws` samples.
fn quantiles(n: usize, draws: usize) -> [f64; 9] {
    let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
    let mut scaled: Vec<f64> = (0..draws)
        .filter_map(|_| {
            let sample = Sorted::new((0..n).map(|_| rng.random::<f64>()).collect()).ok()?;
            Some(dip(&sample)?.statistic * (n as f64).sqrt())
        })
        .collect();
    scaled.sort_unstable_by(f64::total_cmp);
    TAILS.map(|tail| scaled.get(((1.0 - tail) * draws as f64) as usize).copied().unwrap_or(f64::NAN))
}
