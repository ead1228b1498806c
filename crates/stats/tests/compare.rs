//! Do the intervals of comparisons hold the truth 95 % of the time, and do the tests reject equals at most 5 % of it?
//! 2,000 seeded draws each, with the bounds of `coverage.rs`.
#![expect(clippy::unwrap_used, reason = "a test stops where its own set-up is wrong")]

use inferometer_stats::cluster::{self, Cluster, Scale};
use inferometer_stats::mover::{self, Estimate};
use inferometer_stats::paired::Table;
use inferometer_stats::{ALPHA, Prob, Sorted, batch, quantile, walsh, wilcoxon};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution, Exp1, Gamma, LogNormal, StandardNormal};

const DRAWS: u32 = 2_000;
const TOO_FEW: u32 = 1_868;
const TOO_MANY: u32 = 1_980;

fn check(name: &str, most: u32, mut is_hit: impl FnMut(&mut ChaCha8Rng) -> bool) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let hits: u32 = (0..DRAWS).map(|_| u32::from(is_hit(&mut rng))).sum();
    assert!(hits > TOO_FEW && hits <= most, "{name}: {hits} of {DRAWS}");
}

/// Log ratios of paired times: a common slowness of each block, noise of each side, a fifth failing where asked.
fn log_ratios(n: usize, truth: f64, failing: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let noise = LogNormal::new(0.0, 0.4).unwrap();
    let mut pair = || {
        let common: f64 = Exp1.sample(rng);
        let time = |rng: &mut ChaCha8Rng| {
            if rng.random_bool(failing) { f64::INFINITY } else { (0.1 + common) * noise.sample(rng) }
        };
        let (a, b) = (time(rng) * truth, time(rng));
        wilcoxon::log_ratio(a, b).unwrap()
    };
    (0..n).map(|_| pair()).collect()
}

#[test]
fn typical_ratios() {
    for (n, truth, failing) in [(10, 1.0, 0.0), (25, 1.2, 0.0), (60, 0.8, 0.0), (60, 1.0, 0.05)] {
        check(&format!("Hodges and Lehmann, {n} pairs, {truth}, {failing} failing"), TOO_MANY, |rng| {
            let found = walsh::estimate(&log_ratios(n, truth, failing, rng), ALPHA).unwrap();
            found.bounds.contains(f64::ln(truth))
        });
    }
}

#[test]
fn signed_ranks_of_equals() {
    for (n, failing) in [(10, 0.0), (30, 0.1), (60, 0.0), (60, 0.1)] {
        check(&format!("Wilcoxon, {n} pairs, {failing} failing"), TOO_MANY, |rng| {
            wilcoxon::signed_rank(&log_ratios(n, 1.0, failing, rng)).unwrap().p > ALPHA
        });
    }
}

fn quantile_of(n: usize, p: Prob, scale: f64, alpha: f64, rng: &mut ChaCha8Rng) -> Estimate {
    let times: Vec<f64> = (0..n).map(|_| scale * rng.sample::<f64, _>(Exp1)).collect();
    let found = quantile::estimate(&Sorted::new(times).unwrap(), p, alpha).unwrap();
    Estimate { value: found.value, bounds: found.bounds() }
}

#[test]
fn differences_of_quantiles() {
    for (n, p, most) in [(100, Prob::P50, TOO_MANY), (300, Prob::P95, TOO_MANY), (100, Prob::P95, DRAWS)] {
        let truth = -p.complement().as_f64().ln(); // of scale 2 less of scale 1
        check(&format!("{p} of {n}, MOVER"), most, |rng| {
            let (a, b) = (quantile_of(n, p, 2.0, ALPHA, rng), quantile_of(n, p, 1.0, ALPHA, rng));
            mover::difference(a, b).unwrap().bounds.contains(truth)
        });
    }
}

/// Two shares of the same pairs: a common hardness makes them agree more often than by chance.
fn table(n: u32, a: f64, b: f64, rng: &mut ChaCha8Rng) -> Table {
    let mut table = Table::default();
    for _ in 0..n {
        let hardness: f64 = rng.random();
        let own: f64 = rng.random();
        let is_hard = rng.random_bool(0.5);
        table.push(hardness < a, if is_hard { hardness < b } else { own < b });
    }
    table
}

#[test]
fn differences_of_paired_shares() {
    for (n, a, b) in [(40, 0.6, 0.5), (100, 0.9, 0.8), (100, 0.5, 0.5), (300, 0.97, 0.93)] {
        check(&format!("Newcombe, {a} and {b} of {n}"), TOO_MANY, |rng| {
            table(n, a, b, rng).difference(ALPHA).unwrap().bounds.contains(a - b)
        });
    }
    check("McNemar", DRAWS, |rng| table(100, 0.8, 0.8, rng).p() > ALPHA);
}

/// Prompts asked five times of both: hard ones are hard for both.
fn shares(prompts: u32, a: f64, b: f64, rng: &mut ChaCha8Rng) -> Vec<Cluster> {
    let mut prompt = || {
        let hardness = rng.random_range(-0.15..0.15);
        let mut side = |p: f64| (Binomial::new(5, p + hardness).unwrap().sample(rng) as f64, 5.0);
        Cluster { a: side(a), b: side(b) }
    };
    (0..prompts).map(|_| prompt()).collect()
}

fn costs(prompts: u32, truth: f64, rng: &mut ChaCha8Rng) -> Vec<Cluster> {
    let mut shares = shares(prompts, 0.8, 0.6, rng);
    // Cost per useful answer: 5 c/4 against 5/3 in the mean, hence c = 4/3 · truth.
    let costs = LogNormal::new(-0.18, 0.6).unwrap();
    for cluster in &mut shares {
        let common = costs.sample(rng);
        cluster.a = (5.0 * truth * 4.0 / 3.0 * common * costs.sample(rng), cluster.a.0);
        cluster.b = (5.0 * common * costs.sample(rng), cluster.b.0);
    }
    shares
}

#[test]
fn resampled_prompts() {
    // 99 draws instead of the house's 400 and more: the fewer there are, the less can the interval be trusted.
    for prompts in [12, 40] {
        check(&format!("shares over {prompts} prompts"), TOO_MANY, |rng| {
            let found = cluster::compare(&shares(prompts, 0.8, 0.7, rng), Scale::Difference, 99, 1);
            found.unwrap().bounds(ALPHA).contains(0.1)
        });
        check(&format!("costs over {prompts} prompts"), TOO_MANY, |rng| {
            let found = cluster::compare(&costs(prompts, 1.5, rng), Scale::LogRatio, 99, 1);
            found.unwrap().bounds(ALPHA).contains(1.5_f64.ln())
        });
    }
    check("equal shares", TOO_MANY, |rng| {
        cluster::compare(&shares(40, 0.8, 0.8, rng), Scale::Difference, 99, 1).unwrap().p() > ALPHA
    });
}

#[test]
fn ratios_of_rates() {
    let rate = |scale: f64, rng: &mut ChaCha8Rng| {
        let gamma = Gamma::new(4.0, scale).unwrap();
        let series: Vec<f64> = (0..100).map(|_| gamma.sample(rng)).collect();
        let found = batch::batch_means_interval(&series, ALPHA).unwrap();
        Estimate { value: found.mean, bounds: found.bounds }
    };
    check("rates", TOO_MANY, |rng| {
        mover::ratio(rate(3.0, rng), rate(2.0, rng)).unwrap().bounds.contains(1.5)
    });
    check("p of rates", TOO_MANY, |rng| {
        let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
        let (value, p) = (normal(rng), |value: f64| {
            mover::p_value(
                |alpha| {
                    let z = -inferometer_stats::special::normal_quantile(alpha / 2.0);
                    inferometer_stats::Bounds::closed(value - z, value + z)
                },
                0.0,
            )
        });
        p(value) > ALPHA
    });
}
