//! Quantiles of the dip of a uniform sample.

/// Upper tail probabilities, one for each column of [`ROWS`].
pub(super) const TAILS: [f64; 9] = [0.9, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001];

/// √n · dip of a uniform sample of n values, exceeded with each probability of [`TAILS`]. Simulated by `cargo run
/// --release --package inferometer-stats --example dip_table`, which prints these rows; √n · dip has a limit, which the
/// last row stands for.
pub(super) const ROWS: [(usize, [f64; 9]); 7] = [
    (50, [0.2663, 0.3452, 0.4161, 0.4591, 0.4968, 0.5427, 0.5734, 0.6033, 0.6664]),
    (100, [0.2744, 0.3550, 0.4277, 0.4714, 0.5110, 0.5573, 0.5910, 0.6226, 0.6847]),
    (200, [0.2796, 0.3616, 0.4358, 0.4808, 0.5197, 0.5688, 0.6023, 0.6337, 0.7002]),
    (500, [0.2847, 0.3682, 0.4432, 0.4887, 0.5297, 0.5797, 0.6154, 0.6451, 0.7146]),
    (1000, [0.2876, 0.3708, 0.4463, 0.4937, 0.5343, 0.5833, 0.6159, 0.6481, 0.7097]),
    (2000, [0.2890, 0.3729, 0.4494, 0.4967, 0.5393, 0.5907, 0.6259, 0.6574, 0.7326]),
    (5000, [0.2919, 0.3759, 0.4513, 0.4994, 0.5432, 0.5955, 0.6318, 0.6624, 0.7397]),
];

/// Probability of a dip of at least `statistic` in a uniform sample of `n`: between rows linear in ln n, between
/// columns linear in ln p.
pub(super) fn p_value(n: usize, statistic: f64) -> f64 {
    let scaled = statistic * (n as f64).sqrt();
    let mut nearer = (TAILS[0], quantile(n, 0));
    if scaled < nearer.1 {
        return 1.0;
    }
    for (column, &tail) in TAILS.iter().enumerate().skip(1) {
        let further = quantile(n, column);
        if scaled < further {
            let share = (scaled - nearer.1) / (further - nearer.1);
            return nearer.0 * (tail / nearer.0).powf(share);
        }
        nearer = (tail, further);
    }
    nearer.0
}

/// One column's quantile at n.
fn quantile(n: usize, column: usize) -> f64 {
    let after = ROWS.partition_point(|&(rows_n, _)| rows_n < n).min(ROWS.len() - 1);
    let (before, after) = (ROWS[after.saturating_sub(1)], ROWS[after]);
    let ln = |n: usize| (n as f64).ln();
    let share = if before.0 < after.0 { (ln(n) - ln(before.0)) / (ln(after.0) - ln(before.0)) } else { 1.0 };
    before.1[column] + (after.1[column] - before.1[column]) * share.min(1.0)
}
