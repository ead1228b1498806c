//! When a server says one may ask again (W57).

use std::time::Duration;

/// The longest advice that a caller should follow; longer is recorded, not waited for.
pub const RETRY_AFTER_CAP: Duration = Duration::from_secs(60);

/// The wait that the headers ask for, as they state it: `retry-after-ms`, else `retry-after` in seconds, whole or
/// not, or as an HTTP date (RFC 9110 §5.6.7, in its three forms). A date that is past is no wait; what cannot
/// be read is no advice. Cap it with [`RETRY_AFTER_CAP`] before waiting.
pub fn retry_after<'a>(
    headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    now_unix_s: i64,
) -> Option<Duration> {
    let mut by_seconds = None;
    for (name, value) in headers {
        if name.eq_ignore_ascii_case("retry-after-ms") {
            if let Some(nanos) = decimal(value.trim(), 6) {
                return Some(Duration::from_nanos(nanos));
            }
        } else if name.eq_ignore_ascii_case("retry-after") {
            by_seconds = by_seconds.or_else(|| seconds_or_date(value.trim(), now_unix_s));
        }
    }
    by_seconds
}

fn seconds_or_date(value: &str, now_unix_s: i64) -> Option<Duration> {
    let by_date =
        || unix_seconds(value).map(|at| Duration::from_secs(at.saturating_sub(now_unix_s).max(0) as u64));
    decimal(value, 9).map(Duration::from_nanos).or_else(by_date)
}

/// Digits with an optional fraction, times 10^`places`, in integers.
pub(crate) fn decimal(text: &str, places: usize) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let fraction: String = fraction.chars().chain("0".repeat(places).chars()).take(places).collect();
    whole.parse::<u64>().ok()?.checked_mul(10_u64.pow(places as u32))?.checked_add(fraction.parse().ok()?)
}

/// Seconds since 1970 of an HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, or
/// `Sun Nov  6 08:49:37 1994`.
pub(crate) fn unix_seconds(date: &str) -> Option<i64> {
    let words: Vec<&str> = date.split([' ', ',', '-']).filter(|word| !word.is_empty()).collect();
    let (day, month, year, time) = match words.as_slice() {
        [_, month, day, time, year] if time.contains(':') => (day, month, year, time),
        [_, day, month, year, time, "GMT" | "UTC"] => (day, month, year, time),
        _ => return None,
    };
    let month = MONTHS.iter().position(|name| month.eq_ignore_ascii_case(name))? as i64 + 1;
    let clock: Vec<i64> = time.split(':').map(number).collect::<Option<_>>()?;
    let [hour, minute, second] = clock.try_into().ok()?;
    let day = number(day).filter(|day| (1..=31).contains(day))?;
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(days_since_1970(full_year(year)?, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn number(text: &str) -> Option<i64> {
    text.parse::<u16>().ok().map(i64::from)
}

/// Two digits are a year from 1970 to 2069.
fn full_year(text: &str) -> Option<i64> {
    let year = number(text)?;
    Some(match text.len() {
        2 if year < 70 => year + 2000,
        2 => year + 1900,
        _ => year,
    })
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar (Howard Hinnant, `days_from_civil`).
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wed, 21 Oct 2026 07:27:58 GMT.
    const NOW: i64 = 1_792_567_678;

    fn check(name: &str, value: &str, expected_ms: Option<u64>) {
        let advice = retry_after([("date", "x"), (name, value)], NOW);
        assert_eq!(advice, expected_ms.map(Duration::from_millis), "{name}: {value}");
    }

    #[test]
    fn w57_retry_after_forms() {
        check("retry-after", "2", Some(2000));
        check("Retry-After", " 1.5 ", Some(1500));
        check("retry-after", "0", Some(0));
        check("retry-after", "1382400", Some(1_382_400_000));
        check("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT", Some(2000));
        check("retry-after", "Wednesday, 21-Oct-26 07:28:00 GMT", Some(2000));
        check("retry-after", "Wed Oct 21 07:28:00 2026", Some(2000));
        check("retry-after", "Tue, 20 Oct 2026 07:28:00 GMT", Some(0));
        check("retry-after-ms", "250", Some(250));
        check("retry-after-ms", "", None);
        for unreadable in
            ["", "-1", "soon", "1e3", "NaN", "1.5.1", "Wed, 41 Oct 2026 07:28:00 GMT", "99999999999999999999"]
        {
            check("retry-after", unreadable, None);
        }
    }

    #[test]
    fn milliseconds_come_first() {
        let headers = [("retry-after", "1"), ("retry-after-ms", "250")];
        assert_eq!(retry_after(headers, NOW), Some(Duration::from_millis(250)));
        let headers = [("retry-after-ms", "x"), ("retry-after", "1")];
        assert_eq!(retry_after(headers, NOW), Some(Duration::from_secs(1)));
    }

    #[test]
    fn known_dates() {
        assert_eq!(unix_seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(unix_seconds("Sunday, 06-Nov-94 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(unix_seconds("Sun Nov  6 08:49:37 1994"), Some(784_111_777));
        assert_eq!(unix_seconds("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
    }

    #[test]
    fn any_value_is_read_or_refused() {
        bolero::check!().with_type::<(String, i64)>().with_iterations(2000).for_each(|(value, now)| {
            retry_after([("retry-after", value.as_str()), ("retry-after-ms", value.as_str())], *now);
        });
    }
}
