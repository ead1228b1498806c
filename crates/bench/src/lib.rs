//! What the measuring programs share.

/// The order statistic of rank ⌈n p⌉ of sorted nanoseconds, in milliseconds; none of nothing. The client's own
/// definition of a quantile.
pub fn rank_ms(sorted_ns: &[u64], p: f64) -> Option<f64> {
    let rank = (sorted_ns.len() as f64 * p).ceil() as usize;
    sorted_ns.get(rank.saturating_sub(1)).map(|nanos| *nanos as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_an_order_statistic() {
        let sorted: Vec<u64> = (1..=100).map(|millis| millis * 1_000_000).collect();
        assert_eq!(rank_ms(&sorted, 0.50), Some(50.0));
        assert_eq!(rank_ms(&sorted, 0.99), Some(99.0));
        assert_eq!(rank_ms(&sorted[..1], 0.99), Some(1.0));
        assert_eq!(rank_ms(&[], 0.5), None);
    }
}
