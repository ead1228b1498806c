//! What a header's value says: a quantity, or a time until.

use crate::retry::{decimal, unix_seconds};

/// From here on a number is an instant, in seconds since 1970: as a wait it would be of thirty years.
const EPOCH_SECONDS: u64 = 1_000_000_000;
/// From here on, in milliseconds.
const EPOCH_MILLIS: u64 = 100_000_000_000;
const NANOS: u64 = 1_000_000_000;

/// A quantity, and the window that may stand behind it: `30000`, `30,000`, `100, 100;w=60`. None that is negative or
/// spelled: those stand for no limit.
pub(super) fn quantity(text: &str) -> (Option<u64>, Option<u64>) {
    let (first, further) = text.split_once([';', ' ']).map_or((text, ""), |(first, rest)| (first, rest));
    let digits: String = first.trim_end_matches(',').chars().filter(|letter| *letter != ',').collect();
    let mut window = None;
    for part in further.split([';', ',', ' ']) {
        window = window.or_else(|| part.trim().strip_prefix("w=")?.parse().ok());
    }
    (whole(digits.trim()), window)
}

/// Nanoseconds from `now_ns` until what is written: `6m0s`, `59.8`, seconds or milliseconds since 1970, RFC 3339, an
/// HTTP date. What is past is 0.
pub(super) fn reset_ns(text: &str, now_ns: i64) -> Option<u64> {
    if let Some(seconds) = whole(text) {
        if seconds < EPOCH_SECONDS {
            return decimal(text, 9);
        }
        let places = if seconds < EPOCH_MILLIS { 9 } else { 6 };
        return Some(until(i64::try_from(decimal(text, places)?).ok()?, now_ns));
    }
    let instant = || {
        let at = rfc3339_ns(text).or_else(|| unix_seconds(text)?.checked_mul(NANOS as i64))?;
        Some(until(at, now_ns))
    };
    duration_ns(text).or_else(instant)
}

/// A number without its fraction.
fn whole(text: &str) -> Option<u64> {
    decimal(text, 1).map(|tenths| tenths / 10)
}

fn until(at_ns: i64, now_ns: i64) -> u64 {
    at_ns.saturating_sub(now_ns).max(0) as u64
}

/// `1h2m3.5s`, `20ms`: numbers, each with its unit behind it.
fn duration_ns(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut sum = 0_u64;
    while !rest.is_empty() {
        let number_len = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at_checked(number_len)?;
        let unit_len = behind.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(behind.len());
        let (unit, behind) = behind.split_at_checked(unit_len)?;
        let unit_ns = match unit.trim() {
            "d" => 86_400 * NANOS,
            "h" => 3_600 * NANOS,
            "m" => 60 * NANOS,
            "s" => NANOS,
            "ms" => 1_000_000,
            "us" | "µs" | "μs" => 1_000,
            "ns" => 1,
            _ => return None,
        };
        let billionths = u128::from(decimal(number, 9)?);
        let ns = billionths.checked_mul(u128::from(unit_ns))? / u128::from(NANOS);
        sum = sum.checked_add(u64::try_from(ns).ok()?)?;
        rest = behind;
    }
    (!text.is_empty()).then_some(sum)
}

/// Nanoseconds since 1970 of `2026-12-01T04:00:00Z`, its fraction and offset as they may be.
fn rfc3339_ns(text: &str) -> Option<i64> {
    i64::try_from(text.parse::<jiff::Timestamp>().ok()?.as_nanosecond()).ok()
}
