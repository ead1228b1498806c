//! Numbers as people and models write them.

/// The last number in `text`: sign, digits, thousands in groups of three with a comma, fraction, exponent.
pub(crate) fn last(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let mut last = None;
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(u8::is_ascii_digit)) {
        let start = at + found;
        let length = length(&bytes[start..]);
        last = Some((start, length));
        at = start + length;
    }
    let (start, length) = last?;
    let before = text.get(..start).unwrap_or_default();
    let digits: String = text.get(start..start + length)?.chars().filter(|c| *c != ',').collect();
    let (before, digits) = match before.strip_suffix('.') {
        // `.5`, but not the end of a sentence before a number.
        Some(before) if !before.ends_with(|c: char| c.is_alphanumeric()) => (before, format!("0.{digits}")),
        _ => (before, digits),
    };
    let value: f64 = digits.parse().ok()?;
    Some(if is_negated(before) { -value } else { value })
}

/// Bytes of the number that `bytes` begin with.
fn length(bytes: &[u8]) -> usize {
    let digits = |from: usize| {
        bytes.get(from..).map_or(0, |rest| rest.iter().take_while(|b| b.is_ascii_digit()).count())
    };
    let mut end = digits(0);
    if end <= 3 {
        while bytes.get(end) == Some(&b',') && digits(end + 1) == 3 {
            end += 4;
        }
    }
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        // More digits are a name such as `1e9000abc`, not an exponent.
        if (1..=4).contains(&exponent) {
            end += 1 + sign + exponent;
        }
    }
    end
}

/// A minus that is no hyphen and no subtraction: `-5`, `−5`, `-$5`.
fn is_negated(before: &str) -> bool {
    let before = before.trim_end_matches(['$', '€', '£']);
    let Some(before) = before.strip_suffix(['-', '−']) else { return false };
    !before.ends_with(|c: char| c.is_alphanumeric() || c == ')')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_last_number_counts() {
        for (text, expected) in [
            ("The answer is 42.", Some(42.0)),
            ("3 + 4 = 7", Some(7.0)),
            ("1,234,567.5 dollars", Some(1_234_567.5)),
            ("1, 2,3", Some(3.0)),
            ("12,34", Some(34.0)),
            ("$61.20", Some(61.2)),
            ("-$5", Some(-5.0)),
            ("x = −0.25", Some(-0.25)),
            ("from 10-12", Some(12.0)),
            ("\\boxed{17}", Some(17.0)),
            ("6.02e23", Some(6.02e23)),
            ("about .5", Some(0.5)),
            ("It was 9.In 1984", Some(1984.0)),
            ("4 hours 25 minutes", Some(25.0)),
            ("none", None),
            ("", None),
        ] {
            assert_eq!(last(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(?s).{0,200}") {
            let _ = last(&text);
        }

        #[test]
        fn numbers_come_back(value in -1e9_f64..1e9) {
            prop_assert_eq!(last(&format!("so it is {value}.")), Some(value));
        }
    }
}
