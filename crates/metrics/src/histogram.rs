//! Chunk gaps of all streams pooled, in bounded memory.

use inferometer_stats::{Prob, quantile};

use crate::{Metric, Num, QuantilePoint};

/// Bits of resolution: values below 2^12 µs are exact, larger ones to one part in 2^11.
const BITS: u32 = 12;

/// Counts of gaps in microseconds, exact up to 4 ms and to 0.05 % above.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    n: u64,
    sum_us: u128,
    min_us: Option<u64>,
    max_us: Option<u64>,
}

impl Histogram {
    /// Adds a gap. The table grows to the largest gap: 25,000 counts for ten seconds, 110,000 for any `u64`.
    pub(crate) fn push(&mut self, us: u64) {
        let index = index(us);
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(index) {
            *count += 1;
        }
        self.n += 1;
        self.sum_us += u128::from(us);
        self.min_us = Some(self.min_us.map_or(us, |min| min.min(us)));
        self.max_us = self.max_us.max(Some(us));
    }

    fn at(&self, p: Prob) -> Option<f64> {
        let rank = quantile::rank(usize::try_from(self.n).ok()?, p) as u64;
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank && *count > 0 {
                // Never beyond what was seen, whatever the bucket's middle is.
                return Some((middle(index) / 1e3).min(self.max_us? as f64 / 1e3));
            }
        }
        None
    }

    /// Sums up the gaps. They have no interval: gaps of one stream hang together, and n counts gaps, not streams.
    pub(crate) fn metric(&self) -> Metric {
        let point = |p: Prob| {
            let value = self.at(p).and_then(Num::new);
            value.map(|value| QuantilePoint {
                value: Some(value),
                lo: None,
                hi: None,
                above: false,
                n_eff: None,
                note: Some("no interval: gaps of one stream hang together".to_owned()),
            })
        };
        let ms = |us: Option<u64>| us.and_then(|us| Num::new(us as f64 / 1e3));
        Metric {
            unit: "ms".to_owned(),
            n: self.n,
            mean: if self.n > 0 { Num::new(self.sum_us as f64 / self.n as f64 / 1e3) } else { None },
            min: ms(self.min_us),
            max: ms(self.max_us),
            p50: point(Prob::P50),
            p90: point(Prob::P90),
            p95: point(Prob::P95),
            p99: point(Prob::P99),
            p999: point(Prob::P999),
            notes: vec![
                "gaps of all ok streams pooled, quantiles to 0.05 %; a chunk is not a token".to_owned(),
            ],
            ..Metric::default()
        }
    }
}

fn index(us: u64) -> usize {
    let octave = (u64::BITS - us.leading_zeros()).saturating_sub(BITS);
    ((u64::from(octave) << (BITS - 1)) + (us >> octave)) as usize
}

/// The middle of a bucket, µs.
fn middle(index: usize) -> f64 {
    let half = 1_u64 << (BITS - 1);
    let index = index as u64;
    if index < 2 * half {
        return index as f64;
    }
    let octave = index / half - 1;
    let low = (index - octave * half) as f64 * 2_f64.powi(octave as i32);
    low + (2_f64.powi(octave as i32) - 1.0) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_what_they_say() {
        for us in (0..5_000).chain([4_095, 4_096, 10_000, 123_456, 1 << 40, u64::MAX / 3, u64::MAX]) {
            let error = (middle(index(us)) - us as f64).abs();
            assert!(error <= us as f64 * 0.0005, "{us}: off by {error}");
        }
        assert!(index(u64::MAX) < 120_000);
    }

    #[test]
    fn quantiles_of_known_gaps() {
        let mut histogram = Histogram::default();
        (1..=1_000).rev().for_each(|us| histogram.push(us));
        let metric = histogram.metric();
        let value = |point: &Option<QuantilePoint>| point.as_ref().unwrap().value.unwrap().get();
        assert_eq!((value(&metric.p50), value(&metric.p99), value(&metric.p999)), (0.5, 0.99, 0.999));
        assert_eq!((metric.min, metric.max, metric.n), (Num::new(0.001), Num::new(1.0), 1_000));
        assert_eq!(Histogram::default().metric().p50, None);
    }
}
