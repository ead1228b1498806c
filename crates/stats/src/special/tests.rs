//! Known values, computed with 40 digits (mpmath 1.3).

use super::*;

fn check(name: &str, actual: f64, expected: f64, relative: f64) {
    let error = (actual - expected).abs();
    assert!(error <= relative * expected.abs().max(1e-300), "{name}: {actual:e}, not {expected:e}");
}

#[test]
fn ln_gamma_known() {
    for (x, expected) in [
        (1e-9, 20.723_265_836_369_195),
        (0.5, 0.572_364_942_924_700_1),
        (3.3, 0.987_098_577_894_734_6),
        (14.9, 24.924_132_002_217_28),
        (15.0, 25.191_221_182_738_68),
        (100.25, 360.284_559_637_764_2),
        (1e6, 12_815_504.569_147_611),
    ] {
        check(&format!("ln_gamma({x})"), ln_gamma(x), expected, 4e-15);
    }
    assert!(ln_gamma(1.0).abs() < 2e-14);
}

#[test]
fn beta_inc_known_and_inverted() {
    for (a, b, x, expected) in [
        (0.5, 0.5, 0.3, 0.369_010_119_565_545_4),
        (2.0, 3.0, 0.1, 0.0523),
        (2.0, 3.0, 0.99, 0.999_996_03),
        (1.0, 1.0, 0.25, 0.25),
        (50.0, 1.0, 0.9, 0.005_153_775_207_320_113),
        (0.5, 10.0, 0.001, 0.111_103_290_875_139_7),
        (500.0, 20.0, 0.95, 0.092_703_158_649_379_46),
        (90_001.0, 10_000.0, 0.9, 0.498_458_087_099_322_4),
        (1e6, 1e6, 0.5003, 0.801_928_037_157_911),
    ] {
        let name = format!("beta_inc({a}, {b}, {x})");
        check(&name, beta_inc(a, b, x), expected, 1e-8);
        check(&format!("inverse of {name}"), beta_inc_inv(a, b, expected), x, 1e-8);
    }
    assert_eq!((beta_inc(2.0, 3.0, 0.0), beta_inc(2.0, 3.0, 1.0)), (0.0, 1.0));
    assert_eq!((beta_inc_inv(2.0, 3.0, 0.0), beta_inc_inv(2.0, 3.0, 1.0)), (0.0, 1.0));
}

#[test]
fn erfc_and_normal_known() {
    for (x, expected) in [
        (-3.0, 1.999_977_909_503_001_4),
        (-0.5, 1.520_499_877_813_046_5),
        (0.0, 1.0),
        (0.1, 0.887_537_083_981_715),
        (1.0, 0.157_299_207_050_285_13),
        (1.999, 0.004_698_443_348_629_49),
        (2.0, 0.004_677_734_981_047_266),
        (3.5, 7.430_983_723_414_127e-7),
        (6.0, 2.151_973_671_249_891e-17),
        (20.0, 5.395_865_611_607_9e-176),
    ] {
        check(&format!("erfc({x})"), erfc(x), expected, 1e-12);
    }
    for (p, expected) in [
        (1e-300, -37.047_096_299_361_2),
        (1e-12, -7.034_483_825_301_132),
        (0.001, -3.090_232_306_167_813_5),
        (0.025, -1.959_963_984_540_054_2),
        (0.3, -0.524_400_512_708_040_8),
        (0.975, 1.959_963_984_540_054_2),
        (0.999_999_9, 5.199_337_582_192_817),
    ] {
        check(&format!("normal_quantile({p})"), normal_quantile(p), expected, 1e-9);
        check(&format!("normal_cdf({expected})"), normal_cdf(expected), p, 1e-11);
    }
    assert!(normal_quantile(0.5).abs() < 1e-15);
}

#[test]
fn t_quantile_known() {
    for (p, df, expected) in [
        (0.975, 1.0, 12.706_204_736_174_705),
        (0.975, 2.0, 4.302_652_729_749_464),
        (0.975, 9.0, 2.262_157_162_798_205_5),
        (0.975, 19.0, 2.093_024_054_408_31),
        (0.025, 29.0, -2.045_229_642_132_704),
        (0.9995, 5.0, 6.868_826_625_881_11),
        (0.6, 4.0, 0.270_722_294_707_597_4),
        (0.975, 1e6, 1.959_966_356_814_107),
        (0.975, 0.5, 164.557_673_480_488_53),
    ] {
        check(&format!("t_quantile({p}, {df})"), t_quantile(p, df), expected, 1e-8);
    }
    assert_eq!(t_quantile(0.5, 3.0), 0.0);
}

#[test]
fn outside_the_domain_is_nan() {
    for bad in [f64::NAN, -1.0, 2.0, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(beta_inc(1.0, 1.0, bad).is_nan() && beta_inc_inv(1.0, 1.0, bad).is_nan(), "{bad}");
        assert!(normal_quantile(bad).is_nan() && t_quantile(bad, 3.0).is_nan(), "{bad}");
    }
    assert!(ln_gamma(0.0).is_nan() && ln_gamma(f64::NAN).is_nan() && t_quantile(0.9, 0.0).is_nan());
    assert!(beta_inc(f64::INFINITY, 1.0, 0.5).is_nan() && beta_inc(0.0, 1.0, 0.5).is_nan());
}
