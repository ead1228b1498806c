use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

fn of(values: impl IntoIterator<Item = f64>) -> Dip {
    dip(&Sorted::new(values.into_iter().collect()).unwrap()).unwrap()
}

/// A hundred values that fill (0, 1) evenly.
fn even() -> impl Iterator<Item = f64> + Clone {
    (1..=100_u32).map(|i| (f64::from(i) * 0.618_033_988_749_894_9).fract())
}

fn check(values: impl IntoIterator<Item = f64> + Clone, statistic: f64) {
    let found = of(values.clone());
    assert!((found.statistic - statistic).abs() < 1e-12, "{found:?}");
    let mirrored = of(values.into_iter().map(|x| 3.0 - 2.0 * x));
    assert!((mirrored.statistic - statistic).abs() < 1e-9, "mirrored: {mirrored:?}");
}

/// Expected: the diptest package 0.12, except that a perfect fit is 1/(2n) and not 0. The algorithm was also checked
/// against the linear program that defines the dip, on 400 small samples with and without equal values.
#[test]
fn known_dips() {
    check(vec![1.0], 0.5);
    check(vec![1.0, 2.0], 0.25);
    check(vec![1.0; 4], 0.125);
    check(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1.0 / 12.0);
    check(vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0], 0.25);
    check(vec![0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 9.0, 9.1], 0.18);
    check(even(), 0.011_985_205_037_362_12);
    check(even().map(|x| x * x), 0.008_975_909_797_036_125);
    check(even().map(|x| if x < 0.5 { x } else { x + 3.0 }), 0.214_771_187_382_811_3);
    check(even().map(|x| 10.0 * x % 3.7 + x), 0.015_698_152_573_332_024);
}

#[test]
fn two_modes_are_told_from_one() {
    assert_eq!(of(even()).p, Some(1.0));
    assert_eq!(of(even().map(|x| if x < 0.5 { x } else { x + 3.0 })).p, Some(0.001));
    assert_eq!(of(vec![1.0; 49]).p, None);
}

#[test]
fn what_cannot_be_tested() {
    assert_eq!(dip(&Sorted::default()), None);
    assert_eq!(dip(&Sorted::new(vec![1.0, f64::INFINITY]).unwrap()), None);
    assert_eq!(dip(&Sorted::from_points(vec![crate::Point::Above(1.0)]).unwrap()), None);
}

#[test]
fn p_values_fall_as_the_dip_grows() {
    for n in [50, 77, 100, 1_234, 5_000, 1_000_000] {
        let p_values: Vec<f64> = (0..250).map(|i| table::p_value(n, f64::from(i) / 1e3)).collect();
        assert!(p_values.is_sorted_by(|a, b| a >= b), "n = {n}");
        assert!(p_values.iter().all(|p| (0.001..=1.0).contains(p)), "n = {n}");
    }
}

fn uniform_dip(n: usize, rng: &mut ChaCha8Rng) -> Dip {
    of((0..n).map(|_| rng.random::<f64>()))
}

/// Under the null, p < 0.05 in 5 % of samples: 50 ± 3 σ of 1,000.
#[test]
fn the_test_keeps_its_level() {
    for n in [60, 150] {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let rejected = (0..1_000).filter(|_| uniform_dip(n, &mut rng).p.is_some_and(|p| p < 0.05)).count();
        assert!((29..=71).contains(&rejected), "{rejected} of 1000 at n = {n}");
    }
}
