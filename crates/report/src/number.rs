//! Numbers as people read them.
//!
//! A number and its unit are joined by a no-break space, which the formats write as a plain one after they have
//! broken their lines.

use inferometer_metrics::{Metric, Num, Over, Proportion, QuantilePoint, Rate};

/// Stands where there is no value.
pub(crate) const NONE: &str = "–";

/// Times below this are in milliseconds, from it on in seconds.
const SECONDS_FROM_MS: f64 = 10_000.0;

/// At least three significant digits; whole digits are never rounded away. Infinity is `∞`.
pub(crate) fn digits(value: f64) -> String {
    if value.is_infinite() {
        return "∞".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.2e}");
    let exponent = scientific.rsplit_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok());
    match exponent {
        Some(exponent @ -9..15) => {
            grouped(&format!("{value:.*}", usize::try_from(2 - exponent).unwrap_or(0)))
        }
        _ => scientific,
    }
}

/// A count, with commas from five digits on.
pub(crate) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A count that may be an estimate, to the whole. One too large to be read digit by digit is as [`digits`] has it.
pub(crate) fn whole(value: Num) -> String {
    let value = value.get();
    if value < 1e15 { grouped(&format!("{value:.0}")) } else { digits(value) }
}

/// `number` with commas between groups of three, where its whole part has more than four digits.
fn grouped(number: &str) -> String {
    let (sign, plain) = number.strip_prefix('-').map_or(("", number), |plain| ("-", plain));
    let (whole, fraction) = plain.find('.').map_or((plain, ""), |at| plain.split_at(at));
    if whole.len() <= 4 {
        return number.to_owned();
    }
    let mut text = sign.to_owned();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// One count with its noun: `1 retry`, `3 retries`.
pub(crate) fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{}\u{a0}{}", count(value), if value == 1 { one } else { many })
}

/// What a figure is scaled by and called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    factor: f64,
    unit: &'static str,
}

impl Scale {
    /// Milliseconds below ten seconds, seconds above, by the value (or, where that is infinite, the bound) shown.
    pub(crate) fn of_ms(ms: f64) -> Scale {
        let is_short = ms < SECONDS_FROM_MS;
        if is_short { Scale { factor: 1.0, unit: "ms" } } else { Scale { factor: 1e-3, unit: "s" } }
    }

    /// A figure shown as it is, without a unit.
    pub(crate) const PLAIN: Scale = Scale { factor: 1.0, unit: "" };

    fn number(self, value: Num) -> String {
        digits(value.get() * self.factor)
    }

    /// The value with its unit.
    pub(crate) fn value(self, value: Num) -> String {
        let number = self.number(value);
        if self.unit.is_empty() || value.finite().is_none() {
            number
        } else {
            format!("{number}\u{a0}{}", self.unit)
        }
    }

    /// `[lo–hi]`, an open side as the bound of the other, without the unit.
    pub(crate) fn interval(self, lo: Option<Num>, hi: Option<Num>) -> String {
        interval_of(lo, hi, |bound| self.number(bound))
    }
}

fn interval_of(lo: Option<Num>, hi: Option<Num>, shown: impl Fn(Num) -> String) -> String {
    match (lo.map(&shown), hi.map(&shown)) {
        (Some(lo), Some(hi)) => format!("[{lo}–{hi}]"),
        (Some(lo), None) => format!("[≥\u{a0}{lo}]"),
        (None, Some(hi)) => format!("[≤\u{a0}{hi}]"),
        (None, None) => "[open]".to_owned(),
    }
}

/// A time in milliseconds or seconds.
pub(crate) fn time(ms: Num) -> String {
    Scale::of_ms(ms.get()).value(ms)
}

/// A limit, as somebody named it: `500 ms`, `2.5 s`.
fn round_time(ms: Num) -> String {
    let ms = ms.get();
    if ms < 1000.0 { format!("{ms}\u{a0}ms") } else { format!("{}\u{a0}s", ms / 1000.0) }
}

/// A quantile of a time: value and interval apart. One that was censored is `> value`.
pub(crate) fn time_point(point: Option<&QuantilePoint>) -> (String, String) {
    let Some(point) = point else { return (NONE.to_owned(), String::new()) };
    let Some(value) = point.value else { return (NONE.to_owned(), String::new()) };
    let scale = Scale::of_ms(value.finite().or(point.lo.and_then(Num::finite)).unwrap_or(f64::INFINITY));
    // Infinity carries no unit that its bounds could share.
    let shown = |bound| if value.finite().is_some() { scale.number(bound) } else { scale.value(bound) };
    let interval = interval_of(point.lo, point.hi, shown);
    (marked(point, scale.value(value)), interval)
}

/// A quantile and its interval in a sentence, as it is.
pub(crate) fn point(point: &QuantilePoint, scale: Scale) -> Option<String> {
    let value = scale.value(point.value?);
    Some(format!("{} {}", marked(point, value), scale.interval(point.lo, point.hi)))
}

fn marked(point: &QuantilePoint, value: String) -> String {
    if point.above { format!(">\u{a0}{value}") } else { value }
}

/// Whether a quantile is no more than the largest of its n.
pub(crate) fn is_max(point: Option<&QuantilePoint>) -> bool {
    point.and_then(|point| point.note.as_deref()).is_some_and(|note| note.contains("max of n"))
}

/// The unit on the value, then the interval: `183 tokens/s [170–195]`. `None` where there is no value.
pub(crate) fn rate(rate: &Rate, unit: &str) -> Option<String> {
    let value = rate.value?;
    let interval = bounds(rate.lo, rate.hi, Scale::PLAIN);
    let unit = if unit.is_empty() { String::new() } else { format!("\u{a0}{unit}") };
    Some(format!("{}{unit}{interval}", Scale::PLAIN.value(value)))
}

/// A time with its interval in a sentence.
pub(crate) fn time_rate(rate: &Rate) -> Option<String> {
    let value = rate.value?;
    let scale = Scale::of_ms(value.get().abs());
    Some(format!("{}{}", scale.value(value), bounds(rate.lo, rate.hi, scale)))
}

/// The interval with a space before it; nothing where none was made.
fn bounds(lo: Option<Num>, hi: Option<Num>, scale: Scale) -> String {
    if lo.is_none() && hi.is_none() { String::new() } else { format!(" {}", scale.interval(lo, hi)) }
}

/// A share in percent. What is not all never reads as 100 %, what is not nothing never as 0 %.
pub(crate) fn percent(share: f64) -> String {
    format!("{}\u{a0}%", percent_digits(share))
}

fn percent_digits(share: f64) -> String {
    let shown = digits(share * 100.0);
    if share >= 1.0 || shown != "100" {
        return shown;
    }
    let finer = (1..=9).map(|decimals| format!("{:.decimals$}", share * 100.0));
    finer.into_iter().find(|text| !text.starts_with("100")).unwrap_or(shown)
}

/// A share with its interval: `2.04 % [0.562–7.14]`. `None` where there is no value.
pub(crate) fn share(value: Option<Num>, lo: Option<Num>, hi: Option<Num>) -> Option<String> {
    let value = percent(value?.get());
    Some(match (lo, hi) {
        (Some(lo), Some(hi)) => {
            format!("{value} [{}–{}]", percent_digits(lo.get()), percent_digits(hi.get()))
        }
        _ => value,
    })
}

/// A proportion with Wilson's interval, without its counts.
pub(crate) fn proportion(share_of: &Proportion) -> Option<String> {
    share(share_of.value, share_of.lo, share_of.hi)
}

/// How many of how many.
pub(crate) fn of(share: &Proportion) -> String {
    format!("{} of {}", count(share.count), count(share.n))
}

/// The share over a limit with its interval and counts.
pub(crate) fn over(over: &Over) -> Option<String> {
    let limit = over.limit?;
    let unknown =
        if over.unknown == 0 { String::new() } else { format!(", {} more unknown", count(over.unknown)) };
    Some(format!("over {}: {} ({}{unknown})", round_time(limit), proportion(&over.share)?, of(&over.share)))
}

/// US dollars.
pub(crate) fn dollars(value: Num) -> String {
    format!("${}", digits(value.get()))
}

/// US dollars with their interval.
pub(crate) fn dollar_rate(rate: &Rate) -> Option<String> {
    let value = dollars(rate.value?);
    Some(format!("{value}{}", bounds(rate.lo, rate.hi, Scale::PLAIN)))
}

/// Whether two distributions would read alike.
pub(crate) fn reads_alike(a: &Metric, b: &Metric) -> bool {
    let shown = |m: &Metric| (m.n, time_point(m.p50.as_ref()), time_point(m.p95.as_ref()), m.max.map(time));
    shown(a) == shown(b)
}

/// A p as it is shown. Below the last that is no reader needs the digits; all of them stand in `summary.json`.
pub(crate) fn probability(p: f64) -> String {
    const LEAST: f64 = 0.001;
    if p < LEAST { format!("<\u{a0}{LEAST}") } else { digits(p) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shown: &str, expected: &str) {
        assert_eq!(shown.replace('\u{a0}', " "), expected);
    }

    #[test]
    fn three_digits_and_never_fewer_than_there_are() {
        for (value, expected) in [
            (0.0, "0"),
            (0.000_126_4, "0.000126"),
            (0.05, "0.0500"),
            (9.996, "10.0"),
            (99.96, "100"),
            (412.4, "412"),
            (9_999.6, "10,000"),
            (-1_234_567.0, "-1,234,567"),
            (1e300, "1.00e300"),
            (1e-12, "1.00e-12"),
            (f64::INFINITY, "∞"),
        ] {
            check(&digits(value), expected);
        }
        check(&count(u64::MAX), "18,446,744,073,709,551,615");
        check(&counted(1, "retry", "retries"), "1 retry");
        check(&counted(0, "retry", "retries"), "0 retries");
    }

    fn check_point(value: f64, lo: f64, hi: f64, above: bool, expected: &str) {
        let (lo, hi) = (Num::new(lo), Num::new(hi));
        let point = QuantilePoint { value: Num::new(value), lo, hi, above, n_eff: None, note: None };
        let (value, interval) = time_point(Some(&point));
        check(&format!("{value} {interval}"), expected);
    }

    #[test]
    fn times_with_their_intervals() {
        const NO: f64 = f64::NAN;
        check_point(412.3, 398.2, 431.0, false, "412 ms [398–431]");
        check_point(9_500.0, 9_000.0, 11_000.0, false, "9500 ms [9000–11,000]");
        check_point(12_345.0, 9_000.0, f64::INFINITY, false, "12.3 s [9.00–∞]");
        check_point(412.3, 398.2, NO, false, "412 ms [≥ 398]");
        check_point(412.3, NO, 431.0, false, "412 ms [≤ 431]");
        check_point(412.3, NO, NO, false, "412 ms [open]");
        check_point(f64::INFINITY, 601.0, NO, false, "∞ [≥ 601 ms]");
        check_point(f64::INFINITY, 601.0, f64::INFINITY, false, "∞ [601 ms–∞]");
        check_point(30_000.0, 20_000.0, NO, true, "> 30.0 s [≥ 20.0]");
        check(&time_point(None).0, NONE);
    }

    #[test]
    fn what_is_not_all_never_reads_as_all() {
        for (share, expected) in [
            (0.0, "0 %"),
            (1.0, "100 %"),
            (0.0204, "2.04 %"),
            (0.999, "99.9 %"),
            (0.9996, "99.96 %"),
            (0.999_996, "99.9996 %"),
            (0.000_001, "0.000100 %"),
        ] {
            check(&percent(share), expected);
        }
    }
}
