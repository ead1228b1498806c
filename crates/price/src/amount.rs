//! Amounts as JSON and TOML write them, to the last digit.

use rust_decimal::Decimal;

/// Most digits of a written amount, and of its exponent's shift: more is no price.
const DIGITS_MAX: usize = 28;

/// The exact value of a number as it is written: sign, digits with `_` between them, point, exponent. Quotes around it
/// do not matter. `None` where it is no such number, or does not fit 28 digits.
///
/// Never through a binary fraction: `1.5e-07` is 15 × 10⁻⁸ and nothing else.
pub(crate) fn exact(written: &str) -> Option<Decimal> {
    let written = written.trim().trim_matches(['"', '\'']).trim();
    let (mantissa, exponent) = match written.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (written, 0),
    };
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => (true, mantissa),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = [whole, fraction].concat().replace('_', "");
    let fraction = fraction.replace('_', "").len();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    if significant.len() > DIGITS_MAX || exponent.unsigned_abs() as usize > 2 * DIGITS_MAX {
        return None;
    }
    let mut value: i128 = if significant.is_empty() { 0 } else { significant.parse().ok()? };
    let mut scale = i32::try_from(fraction).ok()?.checked_sub(exponent)?;
    while scale > 0 && value % 10 == 0 {
        value /= 10;
        scale -= 1;
        if value == 0 {
            scale = 0;
        }
    }
    if scale < 0 && value != 0 {
        value = value.checked_mul(10_i128.checked_pow(scale.unsigned_abs())?)?;
    }
    let value = if negative { -value } else { value };
    Decimal::try_from_i128_with_scale(value, u32::try_from(scale.max(0)).ok()?).ok()
}

/// A price per token as a price per million, exactly.
pub(crate) fn per_million(per_token: Decimal) -> Option<Decimal> {
    let scale = per_token.scale();
    let value = if scale >= 6 {
        Decimal::try_from_i128_with_scale(per_token.mantissa(), scale - 6).ok()?
    } else {
        let value = per_token.mantissa().checked_mul(10_i128.pow(6 - scale))?;
        Decimal::try_from_i128_with_scale(value, 0).ok()?
    };
    Some(value.normalize())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_are_exact() {
        for (written, expected, million) in [
            ("1.5e-07", "0.00000015", "0.15"),
            ("\"0.00000010\"", "0.0000001", "0.1"),
            ("2.8e-7", "0.00000028", "0.28"),
            ("0", "0", "0"),
            ("0.0", "0", "0"),
            ("-1", "-1", "-1000000"),
            ("3E2", "300", "300000000"),
            ("1_000.50", "1000.5", "1000500000"),
            ("0.1234567890123456789", "0.1234567890123456789", "123456.7890123456789"),
            ("+.5", "0.5", "500000"),
        ] {
            let value = exact(written).expect(written);
            assert_eq!(value.to_string(), expected, "{written}");
            assert_eq!(
                per_million(value).map(|value| value.to_string()).as_deref(),
                Some(million),
                "{written}"
            );
        }
        for written in
            ["", "null", "NaN", "1e999", "1.2.3", "0x1", "[1]", "true", "99999999999999999999999999999999"]
        {
            assert_eq!(exact(written), None, "{written}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_exact_or_refused(written in "[-+]?[0-9_]{0,30}[.]?[0-9]{0,30}([eE][-+]?[0-9]{1,3})?") {
            if let Some(value) = exact(&written) {
                let plain: f64 = written.replace('_', "").parse().unwrap_or(f64::NAN);
                let near: f64 = value.to_string().parse().unwrap_or(f64::NAN);
                prop_assert!((plain - near).abs() <= 1e-9 * plain.abs(), "{} {}", written, value);
            }
        }
    }
}
