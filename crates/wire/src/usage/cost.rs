//! The cost that a provider states: a JSON number or text, made a plain decimal.

/// Most digits, zeros included, that a stated cost may have.
const MAX_DIGITS: usize = 40;

/// A plain decimal (`0.000012`) from a JSON number (`1.2e-5`) or the text of one; absent where it is neither,
/// or negative, or longer than any sum of money.
pub(super) fn decimal(json: &str) -> Option<String> {
    let number = json.trim().trim_matches('"');
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = [whole, fraction].concat();
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty()
        || !all_digits
        || digits.len() > MAX_DIGITS
        || exponent.unsigned_abs() as usize > MAX_DIGITS
    {
        return None;
    }
    Some(place_point(&digits, whole.len() as i32 + exponent))
}

/// Puts the decimal point before digit `point`, which may lie outside.
fn place_point(digits: &str, point: i32) -> String {
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let padded = [zeros(1 - point), digits.to_owned(), zeros(point - digits.len() as i32)].concat();
    let (whole, fraction) = padded.split_at(point.max(1) as usize);
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_decimals() {
        for (json, expected) in [
            ("0.0048", Some("0.0048")),
            ("1.2e-5", Some("0.000012")),
            ("1.5E2", Some("150")),
            ("12.50", Some("12.5")),
            ("0", Some("0")),
            ("3", Some("3")),
            ("\"0.10\"", Some("0.1")),
            ("-1", None),
            ("null", None),
            ("1e999", None),
            ("\"\"", None),
            ("{\"a\":1}", None),
        ] {
            assert_eq!(decimal(json).as_deref(), expected, "{json}");
        }
    }
}
