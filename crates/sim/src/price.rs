//! What a provider asks for its answers, exactly: in integers, apart from the client's own arithmetic.

use serde::{Deserialize, Serialize};

use crate::chunk::Usage;

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of input.
    pub input: f64,
    /// Of output, reasoning included.
    pub output: f64,
    /// Whether the usage tells the cost, as `cost`, in US dollars.
    #[serde(default)]
    pub reported: bool,
}

/// Prices are exact to a millionth of a dollar for a million tokens.
const PER_DOLLAR: f64 = 1e6;

/// The highest price, in dollars for a million tokens.
const HIGHEST: f64 = 1e6;

/// Trillionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost(u128);

impl Price {
    pub(crate) fn check(self) -> Result<(), String> {
        let wrong = [self.input, self.output].into_iter().find(|price| !(0.0..=HIGHEST).contains(price));
        wrong.map_or(Ok(()), |price| Err(format!("a price of {price} is not from 0 to {HIGHEST}")))
    }

    /// What an answer costs.
    pub(crate) fn of(self, usage: Usage) -> Cost {
        let part = |tokens: u64, price: f64| u128::from(tokens) * (price * PER_DOLLAR).round() as u128;
        Cost(part(usage.prompt, self.input) + part(usage.completion, self.output))
    }
}

impl std::fmt::Display for Cost {
    /// A decimal number without exponent, as JSON has it.
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        const DOLLAR: u128 = 1_000_000_000_000;
        let digits = format!("{}.{:012}", self.0 / DOLLAR, self.0 % DOLLAR);
        f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_exact() {
        let check = |input, output, usage: (u64, u64), cost: &str| {
            let price = Price { input, output, reported: true };
            assert_eq!(price.of(Usage::new(usage.0, usage.1)).to_string(), cost);
        };
        check(0.15, 0.6, (1_000, 100), "0.00021");
        check(0.1, 0.2, (1, 0), "0.0000001");
        check(2.5, 10.0, (1_000_000, 1_000_000), "12.5");
        check(0.0, 0.0, (5, 5), "0");
        assert!(Price { input: -1.0, output: 0.0, reported: false }.check().is_err());
    }
}
