//! When requests start: a plan that the seed fixes before anything is sent.

use std::time::Duration;

use inferometer_plan::{Arrival, Pattern};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, Gamma};

/// One planned start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// After the first instant of the phase.
    pub offset: Duration,
    /// Position in the plan.
    pub index: u64,
}

/// The planned starts of an arrival, in order: one per request of an open load, one per slot of a closed one.
pub struct Schedule {
    gaps: Gaps,
    next: u64,
    elapsed_s: f64,
    len: Option<u64>,
}

/// What lies between two starts.
enum Gaps {
    Even { gap_s: f64 },
    Random { rng: Box<ChaCha8Rng>, mean_s: f64, law: Law },
}

enum Law {
    Exponential,
    Gamma(Gamma<f64>),
}

/// Keeps the arrival draws apart from every other use of the same seed.
const STREAM: u64 = 0x61_7272_6976_616c;

impl Schedule {
    /// The starts of `arrival` under `seed`. An open load goes on for ever: its stop rule ends it.
    pub fn new(arrival: &Arrival, seed: u64) -> Self {
        match *arrival {
            Arrival::Closed { slots, ramp } => Self {
                gaps: Gaps::Even { gap_s: ramp.as_secs_f64() / f64::from(slots.max(1)) },
                next: 0,
                elapsed_s: 0.0,
                len: Some(u64::from(slots)),
            },
            Arrival::ColdStart { .. } => {
                Self { gaps: Gaps::Even { gap_s: 0.0 }, next: 0, elapsed_s: 0.0, len: Some(1) }
            }
            Arrival::Burst { size, .. } => {
                Self { gaps: Gaps::Even { gap_s: 0.0 }, next: 0, elapsed_s: 0.0, len: Some(u64::from(size)) }
            }
            Arrival::Open { rate, pattern, .. } => {
                Self { gaps: Gaps::new(1.0 / rate, pattern, seed), next: 0, elapsed_s: 0.0, len: None }
            }
        }
    }
}

impl Gaps {
    fn new(mean_s: f64, pattern: Pattern, seed: u64) -> Self {
        let law = match pattern {
            Pattern::Constant => return Self::Even { gap_s: mean_s },
            Pattern::Poisson => Law::Exponential,
            // A shape that the plan let through is positive; should one not be, Poisson is its limit case of 1.
            Pattern::Gamma { burstiness } => {
                Gamma::new(burstiness, 1.0 / burstiness).map_or(Law::Exponential, Law::Gamma)
            }
        };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(STREAM);
        Self::Random { rng: Box::new(rng), mean_s, law }
    }
}

impl Iterator for Schedule {
    type Item = Start;

    fn next(&mut self) -> Option<Start> {
        if self.len.is_some_and(|len| self.next >= len) {
            return None;
        }
        let index = self.next;
        self.next += 1;
        let at_s = match &mut self.gaps {
            // From the index, not by adding up: no rounding error grows over a long run.
            Gaps::Even { gap_s } => *gap_s * index as f64,
            Gaps::Random { rng, mean_s, law } => {
                let unit: f64 = match law {
                    Law::Exponential => Exp1.sample(rng),
                    Law::Gamma(gamma) => gamma.sample(rng),
                };
                self.elapsed_s += unit * *mean_s;
                self.elapsed_s
            }
        };
        Some(Start { offset: Duration::try_from_secs_f64(at_s).unwrap_or(Duration::MAX), index })
    }
}

#[cfg(test)]
mod tests {
    use inferometer_stats::{Sorted, ks};

    use super::*;

    fn open(rate: f64, pattern: Pattern) -> Arrival {
        Arrival::Open { rate, pattern, cap: None }
    }

    fn gaps(arrival: &Arrival, seed: u64, n: usize) -> Vec<f64> {
        let starts: Vec<f64> =
            Schedule::new(arrival, seed).take(n + 1).map(|s| s.offset.as_secs_f64()).collect();
        starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn constant_does_not_drift() {
        let last = Schedule::new(&open(200.0, Pattern::Constant), 1).nth(1_999).unwrap();
        assert_eq!(last, Start { offset: Duration::from_micros(9_995_000), index: 1_999 });
    }

    #[test]
    fn closed_starts_are_spread() {
        let arrival = Arrival::Closed { slots: 4, ramp: Duration::from_millis(20) };
        let offsets: Vec<_> = Schedule::new(&arrival, 1).map(|start| start.offset.as_millis()).collect();
        assert_eq!(offsets, [0, 5, 10, 15]);
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        for seed in 0..5 {
            let sample = Sorted::new(gaps(&open(50.0, Pattern::Poisson), seed, 5_000)).unwrap();
            let fit = ks::one_sample(&sample, ks::exponential_cdf(0.02)).unwrap();
            assert!(fit.p > 0.001, "seed {seed}: {fit:?}");
        }
    }

    #[test]
    fn poisson_is_not_a_jittered_grid() {
        let sample = Sorted::new(gaps(&open(50.0, Pattern::Constant), 1, 5_000)).unwrap();
        assert!(ks::one_sample(&sample, ks::exponential_cdf(0.02)).unwrap().p < 1e-6);
    }

    #[test]
    fn burstiness_shapes_the_spread_and_keeps_the_mean() {
        for (burstiness, cv_squared) in [(0.25, 4.0), (1.0, 1.0), (4.0, 0.25)] {
            let gaps = gaps(&open(100.0, Pattern::Gamma { burstiness }), 7, 20_000);
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            assert!((mean * 100.0 - 1.0).abs() < 0.05, "{burstiness}: mean {mean}");
            assert!((variance / mean.powi(2) / cv_squared - 1.0).abs() < 0.15, "{burstiness}: {variance}");
        }
    }

    #[test]
    fn the_seed_fixes_the_plan() {
        let plan = |seed| Schedule::new(&open(10.0, Pattern::Poisson), seed).take(100).collect::<Vec<_>>();
        assert_eq!(plan(3), plan(3));
        assert_ne!(plan(3), plan(4));
    }
}
