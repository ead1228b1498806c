//! Decimal arithmetic that is exact or says that it cannot be.
//!
//! `Decimal`'s own checked operations round when a result needs more than 96 bits; here that is `None`.

use rust_decimal::Decimal;

/// Digits that a price per million tokens moves to the right per token.
const PER_MILLION_DIGITS: u32 = 6;

/// `price` per million × `count`.
pub(crate) fn per_million(price: Decimal, count: u64) -> Option<Decimal> {
    let product = price.mantissa().checked_mul(i128::from(count))?;
    fitted(product, price.scale().checked_add(PER_MILLION_DIGITS)?)
}

/// `a + b`.
pub(crate) fn sum(a: Decimal, b: Decimal) -> Option<Decimal> {
    let scale = a.scale().max(b.scale());
    let total = mantissa_at(a, scale)?.checked_add(mantissa_at(b, scale)?)?;
    fitted(total, scale)
}

fn mantissa_at(value: Decimal, scale: u32) -> Option<i128> {
    let factor = 10_i128.checked_pow(scale.checked_sub(value.scale())?)?;
    value.mantissa().checked_mul(factor)
}

/// `mantissa` / 10^`scale` without trailing zeros, if it fits 96 bits and 28 decimals.
fn fitted(mut mantissa: i128, mut scale: u32) -> Option<Decimal> {
    while scale > 0 && mantissa % 10 == 0 {
        mantissa /= 10;
        scale -= 1;
    }
    Decimal::try_from_i128_with_scale(mantissa, scale).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::from_str_exact(text).expect(text)
    }

    #[test]
    fn products_are_exact_or_absent() {
        let check = |price: &str, count: u64, expected: Option<&str>| {
            assert_eq!(per_million(decimal(price), count), expected.map(decimal), "{price} × {count}");
        };
        check("4.00", 500, Some("0.002"));
        check("0.10", 8000, Some("0.0008"));
        check("0", u64::MAX, Some("0"));
        check("3", u64::MAX, Some("55340232221128.654845"));
        check("79228162514264337593543950335", 1, Some("79228162514264337593543.950335"));
        check("79228162514264337593543950335", 1_000_000, Some("79228162514264337593543950335"));
        check("79228162514264337593543950335", 1_000_001, None);
        check("0.0000000000000000000000000001", 1, None);
        check("0.0000000000000000000000000001", 1_000_000, Some("0.0000000000000000000000000001"));
        check("79228162514264337593543950335", u64::MAX, None);
    }

    #[test]
    fn sums_are_exact_or_absent() {
        let check = |a: &str, b: &str, expected: Option<&str>| {
            assert_eq!(sum(decimal(a), decimal(b)), expected.map(decimal), "{a} + {b}");
        };
        check("0.002", "0.0008", Some("0.0028"));
        check("79228162514264337593543950335", "0.1", None);
        check("79228162514264337593543950335", "1", None);
        check("79228162514264337593543950334", "1", Some("79228162514264337593543950335"));
        check("79228162514264337593543950335", "0.0000000000000000000000000001", None);
    }
}
