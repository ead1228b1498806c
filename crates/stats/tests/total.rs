//! Every function is total: whatever it is given, it returns, and what it returns is a number or absent.
#![expect(clippy::unwrap_used, reason = "a test stops where its own set-up is wrong")]

use inferometer_stats::cluster::{self, Cluster, Scale};
use inferometer_stats::gate::{self, Evidence, Verdict};
use inferometer_stats::mover::{self, Estimate};
use inferometer_stats::paired::Table;
use inferometer_stats::{
    Bounds, Moments, Point, Prob, Sorted, SplitMix, batch, dip, equivalence, holm, ks, needed, proportion,
    quantile, ratio, serial, special, spread, steady, trend, walsh, wilcoxon,
};
use proptest::prelude::*;

/// Any float at all, with those that break things well represented.
fn any_float() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -10.0..1e4_f64,
        2 => (0..5_u8).prop_map(f64::from),
        1 => proptest::num::f64::ANY,
        1 => prop::sample::select(vec![
            0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324,
        ]),
    ]
}

/// Any error probability, sensible ones most of the time.
fn any_alpha() -> impl Strategy<Value = f64> {
    prop_oneof![3 => 0.001..0.5_f64, 1 => any_float()]
}

fn any_series() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(any_float(), 0..80)
}

fn any_prob() -> impl Strategy<Value = Prob> {
    (any::<u32>(), any::<u32>()).prop_filter_map("inside (0, 1)", |(a, b)| Prob::new(a.min(b), a.max(b)))
}

fn any_sample() -> impl Strategy<Value = Sorted> {
    let number = prop_oneof![4 => 0.0..100.0_f64, 2 => (0..5_u8).prop_map(f64::from), 1 => Just(f64::INFINITY), 1 => Just(f64::MAX)];
    let point = (number, prop::bool::weighted(0.1))
        .prop_map(|(x, is_censored)| if is_censored { Point::Above(x) } else { Point::Exact(x) });
    prop::collection::vec(point, 0..120).prop_map(|points| Sorted::from_points(points).unwrap())
}

fn is_sound(bounds: Bounds) -> bool {
    let is_number = |end: Option<f64>| end.is_none_or(|x| !x.is_nan());
    let is_ordered = bounds.lo.zip(bounds.hi).is_none_or(|(lo, hi)| lo <= hi);
    is_number(bounds.lo) && is_number(bounds.hi) && is_ordered
}

proptest! {
    // What once failed becomes a named test, not a file of seeds.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn construction_refuses_just_nan_and_minus_infinity(series in any_series()) {
        let has_place = |x: &f64| !x.is_nan() && *x > f64::NEG_INFINITY;
        match Sorted::new(series.clone()) {
            Ok(sample) => prop_assert!(series.iter().all(has_place) && sample.values().is_sorted()),
            Err(refused) => prop_assert!(!has_place(&series[refused.index])),
        }
    }

    #[test]
    fn quantiles_hold_their_value(sample in any_sample(), p in any_prob(), alpha in any_alpha(), n_eff in any_float()) {
        let independent = quantile::estimate(&sample, p, alpha);
        let dependent = quantile::estimate_with_n_eff(&sample, p, alpha, n_eff);
        prop_assert_eq!(independent.is_none(), sample.is_empty());
        for q in independent.into_iter().chain(dependent) {
            prop_assert!(is_sound(q.bounds()), "{:?}", q);
            prop_assert!((1..=sample.len()).contains(&q.rank) && (q.n_eff >= 1.0), "{:?}", q);
            prop_assert!(alpha > 0.5 || q.bounds().contains(q.value), "{:?}", q);
        }
        for limit in [0.0, 2.0, f64::NAN, f64::INFINITY] {
            let over = sample.over(limit);
            prop_assert!(over.over + over.unknown <= over.n);
        }
        if let Some(spread) = spread::estimate(&sample, alpha) {
            prop_assert!(is_sound(spread.difference_bounds) && is_sound(spread.ratio_bounds), "{:?}", spread);
            prop_assert!(spread.difference.is_none_or(|x| x >= 0.0) && spread.ratio.is_none_or(|x| x >= 1.0));
        }
    }

    #[test]
    fn ranks_of_any_size(n in any::<usize>(), p in any_prob(), alpha in any_alpha()) {
        prop_assert!(quantile::rank(n, p) <= n);
        let n = n % 1_000_000;
        let (l, u) = quantile::interval_ranks(n, p, alpha);
        prop_assert!(l.is_none_or(|l| (1..=n).contains(&l)) && u.is_none_or(|u| (1..=n).contains(&u)));
    }

    #[test]
    fn proportions(k in 0..2_000_u64, n in 0..1_500_u64, p in any_prob(), alpha in any_alpha(), share in any_float()) {
        let wilson = proportion::wilson(k, n, alpha);
        prop_assert!(is_sound(wilson) && (k > n || n == 0 || wilson.contains(k as f64 / n as f64)), "{:?}", wilson);
        let (lower, upper) = (proportion::clopper_pearson_lower(k, n, alpha), proportion::clopper_pearson_upper(k, n, alpha));
        for x in [lower, upper, proportion::binomial_at_most(k, n, share), proportion::binomial_at_least(k, n, share)] {
            prop_assert!((0.0..=1.0).contains(&x), "{} of {}: {}", k, n, x);
        }
        for allowed in [p.complement().as_f64(), share] {
            let met = gate::judge(Evidence { over: k, unknown: 0, n }, allowed, alpha) == Verdict::Met;
            prop_assert!(!met || gate::needed(k, allowed, alpha).is_some_and(|needed| needed <= n));
        }
    }

    #[test]
    fn huge_counts(k in any::<u64>(), unknown in any::<u64>(), n in any::<u64>(), share in any_float()) {
        prop_assert!(is_sound(proportion::wilson(k, n, 0.05)));
        gate::judge(Evidence { over: k, unknown, n }, share, 0.05);
        gate::needed(k, share, 0.05);
        prop_assert!((0.0..=1.0).contains(&proportion::clopper_pearson_lower(k, n, 0.05)));
        prop_assert!((0.0..=1.0).contains(&proportion::clopper_pearson_upper(k, n, 0.05)));
    }

    #[test]
    fn series(series in any_series(), lag in any::<usize>(), blocks in 0..200_usize, alpha in any_alpha()) {
        let moments: Moments = series.iter().copied().collect();
        let figures = [moments.mean(), moments.std(), moments.min(), moments.max(), trend::theil_sen(&paired(&series)),
            serial::autocorrelation(&series, lag % 100)];
        prop_assert!(figures.iter().flatten().all(|x| x.is_finite()), "{:?}", figures);
        prop_assert!(batch::batch_means_interval(&series, alpha).is_none_or(|b| is_sound(b.bounds) && b.mean.is_finite()));
        prop_assert!(steady::mser5(&series).is_none_or(|t| t.skip <= series.len() / 2 + steady::BATCH));
        prop_assert!(trend::mann_kendall(&series).is_none_or(|t| (0.0..=1.0).contains(&t.p)));
        prop_assert!(trend::block_medians(&series, blocks).len() <= blocks);
        let indicator: Vec<bool> = series.iter().map(|&x| x <= 1.0).collect();
        let n_eff = serial::n_eff(series.len(), serial::tau(&indicator));
        prop_assert!(n_eff <= series.len() as f64 && (n_eff >= 1.0 || series.is_empty()));
    }

    #[test]
    fn tests_of_a_sample(sample in any_sample(), mean in any_float()) {
        prop_assert!(dip::dip(&sample).is_none_or(|d| (0.0..=0.5).contains(&d.statistic)));
        let tested = ks::one_sample(&sample, ks::exponential_cdf(mean));
        prop_assert!(tested.is_none_or(|t| (0.0..=1.0).contains(&t.p) && (0.0..=1.0).contains(&t.statistic)));
    }

    #[test]
    fn dips_of_any_finite_sample(values in prop::collection::vec(proptest::num::f64::NORMAL | proptest::num::f64::ZERO, 1..120)) {
        let n = values.len() as f64;
        let found = dip::dip(&Sorted::new(values).unwrap()).unwrap();
        prop_assert!(found.statistic >= 0.5 / n - 1e-12 && found.statistic <= 0.5, "{:?}", found);
    }

    #[test]
    fn ratios(clusters in prop::collection::vec((any_float(), any_float()), 0..40), alpha in any_alpha(), n in any::<u64>()) {
        if let Some(found) = ratio::fieller(&clusters, alpha) {
            prop_assert!(is_sound(found.bounds) && found.value.is_finite() && found.value >= 0.0, "{:?}", found);
        }
        let amounts: Vec<(f64, f64)> = clusters.iter().map(|&(y, x)| (y.abs().min(1e6), x.abs().min(1e6))).collect();
        if let Some(found) = ratio::fieller(&amounts, 0.05) {
            let (lo, hi) = (found.bounds.lo.unwrap_or(0.0), found.bounds.hi.unwrap_or(f64::INFINITY));
            prop_assert!(lo <= found.value * (1.0 + 1e-9) && found.value <= hi * (1.0 + 1e-9), "{:?}", found);
        }
        let (cost, _) = clusters.first().copied().unwrap_or_default();
        prop_assert!(ratio::zero_useful_lower(cost, n, alpha).is_none_or(|bound| bound >= cost));
    }

    #[test]
    fn paired_differences(series in any_series(), alpha in any_alpha(), a in any_float(), b in any_float(), seed in any::<u64>()) {
        let tested = wilcoxon::signed_rank(&series);
        prop_assert!(tested.is_none_or(|t| (0.0..=1.0).contains(&t.p)), "{:?}", tested);
        prop_assert!(wilcoxon::log_ratio(a, b).is_none_or(|d| !d.is_nan()));
        if let Some(shift) = walsh::estimate(&series, alpha) {
            prop_assert!(is_sound(shift.bounds) && (alpha > 0.5 || shift.bounds.contains(shift.value)), "{:?}", shift);
        }
        let ranges = [needed::for_signed_rank(&series, alpha, seed), needed::for_estimate(seed, a, b, alpha, seed)];
        prop_assert!(ranges.iter().flatten().all(|[low, high]| low <= high && *high <= needed::MAX_N), "{:?}", ranges);
        let adjusted = holm::adjust(&series);
        prop_assert!(adjusted.len() == series.len() && adjusted.iter().all(|p| (0.0..=1.0).contains(p)));
    }

    #[test]
    fn two_estimates(values in prop::array::uniform2(any_float()), ends in prop::array::uniform4(prop::option::of(any_float())), factor in any_float()) {
        let [a_lo, a_hi, b_lo, b_hi] = ends;
        let ordered = |value: f64, lo: Option<f64>, hi: Option<f64>| Estimate {
            value,
            bounds: Bounds { lo: lo.filter(|lo| *lo <= value), hi: hi.filter(|hi| *hi >= value) },
        };
        let (a, b) = (ordered(values[0], a_lo, a_hi), ordered(values[1], b_lo, b_hi));
        for found in mover::difference(a, b).into_iter().chain(mover::ratio(a, b)) {
            prop_assert!(!found.value.is_nan() && is_sound(found.bounds), "{:?} {:?}: {:?}", a, b, found);
            equivalence::of_ratio(found.bounds, factor);
            equivalence::of_difference(found.bounds, factor);
        }
        let _ = mover::difference(Estimate { value: factor, bounds: Bounds { lo: a_lo, hi: b_hi } }.times(factor), b);
        let p = mover::p_value(|alpha| Bounds { lo: a_lo.map(|lo| lo * alpha), hi: b_hi }, factor);
        prop_assert!((0.0..=1.0).contains(&p));
    }

    #[test]
    fn pairs_and_prompts(counts in prop::array::uniform4(prop_oneof![0..300_u64, any::<u64>()]), alpha in any_alpha(),
        totals in prop::collection::vec(prop::array::uniform4(prop_oneof![3 => 0.0..10.0_f64, 1 => any_float()]), 0..45), seed in any::<u64>()) {
        let [both, only_a, only_b, neither] = counts;
        let table = Table { both, only_a, only_b, neither };
        prop_assert!((0.0..=1.0).contains(&table.p()));
        prop_assert!(table.difference(alpha).is_none_or(|d| is_sound(d.bounds) && (-1.0..=1.0).contains(&d.value)));
        let clusters: Vec<Cluster> = totals.iter().map(|&[a, b, c, d]| Cluster { a: (a, b), b: (c, d) }).collect();
        for scale in [Scale::Difference, Scale::LogRatio] {
            if let Some(found) = cluster::compare(&clusters, scale, 50, seed) {
                prop_assert!(is_sound(found.bounds(alpha)) && (0.0..=1.0).contains(&found.p()), "{:?}", found);
            }
        }
        cluster::draws_for(seed as usize, alpha);
        let mut random = SplitMix::new(seed);
        prop_assert!(random.below(both as usize) <= both as usize && (0.0..1.0).contains(&random.unit()));
    }

    #[test]
    fn special_functions_return(a in any_float(), b in any_float(), x in any_float()) {
        let shares = [special::beta_inc(a, b, x), special::beta_inc_inv(a, b, x), special::normal_cdf(x)];
        prop_assert!(shares.iter().all(|s| s.is_nan() || (0.0..=1.0).contains(s)), "{:?}", shares);
        let _ = (special::ln_gamma(x), special::erfc(x), special::normal_quantile(x), special::t_quantile(x, a));
    }
}

fn paired(series: &[f64]) -> Vec<(f64, f64)> {
    series.iter().enumerate().map(|(i, &x)| ((i / 2) as f64, x)).filter(|(_, x)| x.is_finite()).collect()
}
