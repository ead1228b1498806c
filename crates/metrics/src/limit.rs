//! A limit as typed: a number with or without its unit.

use crate::names::name;

/// What a figure is measured in, which decides how its limit is read and which side of it is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Milliseconds; much is bad.
    Time,
    /// Per second; little is bad.
    Speed,
    /// 0 to 1, or percent.
    Share,
    /// US dollars.
    Money,
}

impl Kind {
    /// The kind of a figure, by its own name.
    pub(crate) fn of(metric: &str) -> Kind {
        match metric {
            name::SPEED
            | name::SPEED_E2E
            | name::TOKENS_RATE
            | name::USEFUL_TOKENS_RATE
            | name::INPUT_RATE
            | name::REQUEST_RATE => Kind::Speed,
            name::ERROR_RATE
            | name::USEFUL_RATE
            | name::GOODPUT
            | name::TOOL_CALLS
            | name::BURST_ERROR_RATE
            | name::AVAILABILITY => Kind::Share,
            name::COST_PER_USEFUL => Kind::Money,
            _ => Kind::Time,
        }
    }

    /// What a limit of this kind looks like, for error texts.
    pub(crate) fn example(self) -> &'static str {
        match self {
            Kind::Time => "a time such as 300, 300ms or 2s",
            Kind::Speed => "a rate such as 50 or 50/s",
            Kind::Share => "a share such as 1% or 0.01",
            Kind::Money => "US dollars such as 0.002 or $0.002",
        }
    }

    /// The limit in the figure's own unit (ms, per second, 0 to 1, USD); `None` when it is no such thing.
    pub(crate) fn parse(self, text: &str) -> Option<f64> {
        // Divisors, since 0.95 is 95 / 100 and not 95 × 0.01.
        let (number, divisor) = match self {
            Kind::Time => time(text),
            Kind::Speed => (text.strip_suffix("/s").unwrap_or(text), 1.0),
            Kind::Share => text.strip_suffix('%').map_or((text, 1.0), |percent| (percent, 100.0)),
            Kind::Money => (text.strip_prefix('$').unwrap_or(text), 1.0),
        };
        let number = number.trim();
        let is_plain = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        let value = number.parse::<f64>().ok().filter(|_| is_plain)? / divisor;
        (value.is_finite() && (self != Kind::Share || value <= 1.0)).then_some(value)
    }
}

fn time(text: &str) -> (&str, f64) {
    for (unit, divisor) in [("ms", 1.0), ("us", 1e3), ("µs", 1e3), ("s", 1e-3)] {
        if let Some(number) = text.strip_suffix(unit) {
            return (number, divisor);
        }
    }
    (text, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_with_and_without_units() {
        for (kind, text, value) in [
            (Kind::Time, "300", Some(300.0)),
            (Kind::Time, "1.5s", Some(1500.0)),
            (Kind::Time, "2 s", Some(2000.0)),
            (Kind::Time, "500us", Some(0.5)),
            (Kind::Time, "5m", None),
            (Kind::Time, "-5", None),
            (Kind::Time, "inf", None),
            (Kind::Time, "nan", None),
            (Kind::Time, "1e999", None),
            (Kind::Time, "", None),
            (Kind::Share, "1%", Some(0.01)),
            (Kind::Share, "0.95", Some(0.95)),
            (Kind::Share, "95", None),
            (Kind::Speed, "50/s", Some(50.0)),
            (Kind::Money, "$0.002", Some(0.002)),
        ] {
            assert_eq!(kind.parse(text), value, "{kind:?} {text:?}");
        }
    }
}
