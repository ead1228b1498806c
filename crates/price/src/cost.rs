//! The cost of one usage.

use inferometer_wire::Normal;
use rust_decimal::Decimal;

use crate::{Price, exact};

/// What a cost rests on besides usage and price, by the names that samples and reports use.
pub mod flags {
    /// Tokens were read from a cache, their price is not known, and they are charged as uncached input.
    pub const CACHE_READ_AT_FULL_PRICE: &str = "cache_read_at_full_price";
    /// Tokens were written to a cache, their price is not known, and they are charged as uncached input.
    pub const CACHE_WRITE_AT_FULL_PRICE: &str = "cache_write_at_full_price";
}

/// The cost of one usage in US dollars, exactly. The parts sum to the total.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The sum of all parts.
    pub total: Decimal,
    /// Input tokens that no cache served.
    pub input: Decimal,
    /// Input tokens read from a cache.
    pub cache_read: Decimal,
    /// Input tokens written to a cache.
    pub cache_write: Decimal,
    /// Output tokens that are not reasoning, or all of them where both cost the same and the split is not known.
    pub output: Decimal,
    /// Reasoning tokens.
    pub reasoning: Decimal,
    /// The charge per request, and what lifts the sum to the minimum.
    pub request: Decimal,
    /// Names of [`flags`] that hold.
    pub flags: Vec<&'static str>,
}

impl Price {
    /// Σ price × count / 1,000,000 over the parts of `usage`, plus the price per request; at least the minimum. Where
    /// there are tiers, all of it at the prices for this length of input.
    ///
    /// `None` where a count or a price that the sum needs is not known, or where the exact result has more than 28
    /// digits. A usage that does not speak of a cache or of reasoning has none of their tokens beside the others. Where
    /// reasoning was seen but its share is not known, the output is charged as a whole if both cost the same.
    pub fn cost(&self, usage: &Normal) -> Option<Cost> {
        if self.tiers.is_empty() {
            return self.flat_cost(usage);
        }
        let parts = [usage.input_uncached?, usage.cache_read.unwrap_or(0), usage.cache_write.unwrap_or(0)];
        let input = parts.into_iter().fold(0_u64, u64::saturating_add);
        self.at(input).flat_cost(usage)
    }

    /// The cost at prices that hold for any length of input.
    fn flat_cost(&self, usage: &Normal) -> Option<Cost> {
        let mut flags = Vec::new();
        let cache_read = usage.cache_read.unwrap_or(0);
        let cache_write = usage.cache_write.unwrap_or(0);
        if cache_read > 0 && self.cache_read.is_none() {
            flags.push(flags::CACHE_READ_AT_FULL_PRICE);
        }
        if cache_write > 0 && self.cache_write.is_none() {
            flags.push(flags::CACHE_WRITE_AT_FULL_PRICE);
        }
        let (visible, reasoning) = self.output_parts(usage)?;
        let mut cost = Cost {
            total: Decimal::ZERO,
            input: part(self.input, usage.input_uncached?)?,
            cache_read: part(self.cache_read.or(self.input), cache_read)?,
            cache_write: part(self.cache_write.or(self.input), cache_write)?,
            output: part(self.output, visible)?,
            reasoning: part(self.reasoning.or(self.output), reasoning)?,
            request: self.request.unwrap_or_default().normalize(),
            flags,
        };
        let parts = cost.parts().into_iter();
        cost.total = parts.map(|(_, part)| part).try_fold(Decimal::ZERO, exact::sum)?;
        if let Some(minimum) = self.minimum.filter(|minimum| *minimum > cost.total) {
            let missing = exact::sum(minimum, -cost.total)?;
            cost.request = exact::sum(cost.request, missing)?;
            cost.total = minimum.normalize();
        }
        Some(cost)
    }

    /// Tokens charged as output and as reasoning.
    fn output_parts(&self, usage: &Normal) -> Option<(u64, u64)> {
        let one_price = self.reasoning.is_none() || self.reasoning == self.output;
        match usage.output_visible {
            Some(visible) => Some((visible, usage.output_reasoning.unwrap_or(0))),
            None if one_price => Some((usage.output?, 0)),
            None => None,
        }
    }
}

impl Cost {
    /// The parts by name, in the order in which they are shown.
    pub fn parts(&self) -> [(&'static str, Decimal); 6] {
        [
            ("input", self.input),
            ("cache_read", self.cache_read),
            ("cache_write", self.cache_write),
            ("output", self.output),
            ("reasoning", self.reasoning),
            ("request", self.request),
        ]
    }
}

/// What `count` tokens cost: nothing if there are none, even at a price that is not known.
fn part(price: Option<Decimal>, count: u64) -> Option<Decimal> {
    match (price, count) {
        (_, 0) => Some(Decimal::ZERO),
        (price, count) => exact::per_million(price?, count),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn price(typed: &str) -> Price {
        typed.parse().expect(typed)
    }

    fn normal(counts: [Option<u64>; 5]) -> Normal {
        let [input_uncached, cache_read, cache_write, output_visible, output_reasoning] = counts;
        let output = output_visible.map(|visible| visible.saturating_add(output_reasoning.unwrap_or(0)));
        Normal { input_uncached, cache_read, cache_write, output_visible, output_reasoning, output }
    }

    /// `expected`: the total, then the parts that are not 0, as text.
    fn check(typed: &str, usage: [Option<u64>; 5], expected: Option<(&str, &str)>, flags: &[&str]) {
        let cost = price(typed).cost(&normal(usage));
        let seen = cost.as_ref().map(|cost| {
            let parts = cost.parts().into_iter().filter(|(_, part)| !part.is_zero());
            (
                cost.total.to_string(),
                parts.map(|(name, part)| format!("{name} {part}")).collect::<Vec<_>>().join(" + "),
            )
        });
        let expected = expected.map(|(total, parts)| (total.to_owned(), parts.to_owned()));
        assert_eq!(seen, expected, "{typed} of {usage:?}");
        assert_eq!(cost.map(|cost| cost.flags).unwrap_or_default(), flags, "{typed} of {usage:?}");
    }

    #[test]
    fn c33_cached_prompt_tokens_are_paid_once() {
        let usage = [Some(2_000), Some(8_000), None, Some(500), None];
        check(
            "input=1.00,cache_read=0.10,output=4.00",
            usage,
            Some(("0.0048", "input 0.002 + cache_read 0.0008 + output 0.002")),
            &[],
        );
        check(
            "input=1.00,output=4.00",
            usage,
            Some(("0.012", "input 0.002 + cache_read 0.008 + output 0.002")),
            &[flags::CACHE_READ_AT_FULL_PRICE],
        );
    }

    #[test]
    fn each_part_has_its_price() {
        let typed = "input=1,output=2,cache_read=3,cache_write=4,reasoning=5,request=0.5";
        let million = Some(1_000_000);
        check(
            typed,
            [million; 5],
            Some(("15.5", "input 1 + cache_read 3 + cache_write 4 + output 2 + reasoning 5 + request 0.5")),
            &[],
        );
        check(
            "input=1,output=2",
            [million; 5],
            Some(("7", "input 1 + cache_read 1 + cache_write 1 + output 2 + reasoning 2")),
            &[flags::CACHE_READ_AT_FULL_PRICE, flags::CACHE_WRITE_AT_FULL_PRICE],
        );
        check(
            "input=0,output=0",
            [million; 5],
            Some(("0", "")),
            &[flags::CACHE_READ_AT_FULL_PRICE, flags::CACHE_WRITE_AT_FULL_PRICE],
        );
    }

    #[test]
    fn long_inputs_and_small_requests_have_their_prices() {
        let typed = "input=1,output=2,cache_read=0.5,input>1000=3,output>1000=4,input>5000=6";
        let usage = |input, read| [Some(input), Some(read), None, Some(1_000), None];
        check(typed, usage(1_000, 0), Some(("0.003", "input 0.001 + output 0.002")), &[]);
        check(typed, usage(1_001, 0), Some(("0.007003", "input 0.003003 + output 0.004")), &[]);
        check(
            typed,
            usage(1, 1_000),
            Some(("0.004503", "input 0.000003 + cache_read 0.0005 + output 0.004")),
            &[],
        );
        check(typed, usage(6_000, 0), Some(("0.04", "input 0.036 + output 0.004")), &[]);
        let typed = "input=1,output=2,request=0.001,minimum=0.005";
        let usage = [Some(1_000), None, None, Some(500), None];
        check(typed, usage, Some(("0.005", "input 0.001 + output 0.001 + request 0.003")), &[]);
        let usage = [Some(1_000_000), None, None, Some(500), None];
        check(typed, usage, Some(("1.002", "input 1 + output 0.001 + request 0.001")), &[]);
    }

    #[test]
    fn what_is_not_known_is_not_free() {
        check("input=1,output=2", [None; 5], None, &[]);
        check("input=0,output=0", [None; 5], None, &[]);
        check("input=1,output=2", [None, Some(3), None, Some(4), None], None, &[]);
        check("input=1,output=2", [Some(3), None, None, None, Some(4)], None, &[]);
        let mut unknown = price("input=1,output=2");
        unknown.output = None;
        assert_eq!(unknown.cost(&normal([Some(1), None, None, Some(1), None])), None);
        let nothing_asked =
            unknown.cost(&normal([Some(1), None, None, Some(0), None])).map(|cost| cost.total);
        assert_eq!(nothing_asked, Some(Decimal::new(1, 6)));
    }

    #[test]
    fn output_whose_split_is_not_known_is_charged_whole_or_not_at_all() {
        let usage = Normal { input_uncached: Some(0), output: Some(1_000_000), ..Normal::default() };
        let total = |typed: &str| price(typed).cost(&usage).map(|cost| cost.total.to_string());
        assert_eq!(total("input=1,output=2").as_deref(), Some("2"));
        assert_eq!(total("input=1,output=2,reasoning=2.0").as_deref(), Some("2"));
        assert_eq!(total("input=1,output=2,reasoning=3"), None);
    }

    #[test]
    fn what_does_not_fit_has_no_cost() {
        let huge = "79228162514264337593543950335";
        check(&format!("input={huge},output={huge}"), [Some(u64::MAX), None, None, Some(1), None], None, &[]);
        check(
            &format!("input={huge},output=0,request={huge}"),
            [Some(1_000_000), None, None, Some(0), None],
            None,
            &[],
        );
    }

    fn amounts() -> impl Strategy<Value = Option<Decimal>> {
        prop::option::weighted(
            0.8,
            (0_i64..1_000_000_000_000, 0_u32..10).prop_map(|(m, scale)| Decimal::new(m, scale)),
        )
    }

    fn prices() -> impl Strategy<Value = Price> {
        [amounts(), amounts(), amounts(), amounts(), amounts(), amounts()].prop_map(
            |[input, output, cache_read, cache_write, reasoning, request]| {
                let minimum = cache_write;
                Price {
                    input,
                    output,
                    cache_read,
                    cache_write,
                    reasoning,
                    request,
                    minimum,
                    ..Price::default()
                }
            },
        )
    }

    fn counts() -> [impl Strategy<Value = Option<u64>>; 5] {
        std::array::from_fn(|_| prop::option::weighted(0.9, prop_oneof![0_u64..2_000_000, Just(u64::MAX)]))
    }

    proptest! {
        #[test]
        fn parts_sum_to_the_total(price in prices(), counts in counts()) {
            if let Some(cost) = price.cost(&normal(counts)) {
                let sum = cost.parts().into_iter().try_fold(Decimal::ZERO, |sum, (_, part)| exact::sum(sum, part));
                prop_assert_eq!(Some(cost.total), sum);
            }
        }

        #[test]
        fn one_more_token_never_costs_less(price in prices(), counts in counts(), which in 0_usize..5) {
            let mut more = counts;
            more[which] = more[which].map(|count| count.saturating_add(1));
            if let (Some(less), Some(more)) = (price.cost(&normal(counts)), price.cost(&normal(more))) {
                prop_assert!(more.total >= less.total);
            }
        }
    }
}
