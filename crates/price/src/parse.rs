//! `input=3,output=15` as it is typed.

use std::str::FromStr;

use rust_decimal::Decimal;
use strsim::levenshtein;

use crate::{Price, Tier};

/// The names a price can have, in the order of [`Price::named`].
const NAMES: [&str; 7] = ["input", "output", "cache_read", "cache_write", "reasoning", "request", "minimum"];

/// The longest piece of what was typed that an error repeats, in characters.
const ECHO_CHARS_MAX: usize = 40;

/// How many letters a name may be off for [`ParsePriceError::UnknownName`] to suggest another.
const TYPOS_MAX: usize = 3;

/// Most tiers of one price.
pub(crate) const TIERS_MAX: usize = 16;

/// What is wrong with a typed price, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParsePriceError {
    /// A piece between commas is not `name=amount`.
    #[error(
        "'{0}' is not a price: write name=amount, as in input=3,output=15 (US dollars per million tokens)"
    )]
    NotAPair(String),
    /// The name is none of ours.
    #[error("there is no price '{name}'{}: the prices are {}", suggestion(*.nearest), NAMES.join(", "))]
    UnknownName {
        /// What was typed.
        name: String,
        /// The name that was probably meant.
        nearest: Option<&'static str>,
    },
    /// The same name twice.
    #[error("price '{0}' is given twice: give it once")]
    Twice(&'static str),
    /// `input` or `output` is absent.
    #[error(
        "price '{0}' is missing: input and output are both needed, as in input=3,output=15 (0 where free)"
    )]
    Missing(&'static str),
    /// The amount is not a decimal number of at most 28 digits.
    #[error("price '{name}' cannot be '{amount}': write a plain decimal number, as in {name}=0.25")]
    NotANumber {
        /// Which price.
        name: &'static str,
        /// What was typed.
        amount: String,
    },
    /// The amount is below zero.
    #[error("price '{name}' cannot be negative ('{amount}'): write 0 where it is free")]
    Negative {
        /// Which price.
        name: &'static str,
        /// What was typed.
        amount: String,
    },
    /// `name>TOKENS` where the name has no tiers, or the tokens are no number, or there are too many tiers.
    #[error(
        "'{0}' is no price for long inputs: write name>tokens=amount, as in input>200000=6, for any price but request and minimum"
    )]
    Tier(String),
}

fn suggestion(nearest: Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean '{name}'?)"))
}

impl FromStr for Price {
    type Err = ParsePriceError;

    fn from_str(typed: &str) -> Result<Self, ParsePriceError> {
        let mut amounts = [None; NAMES.len()];
        let mut tiers: Vec<Tier> = Vec::new();
        for piece in typed.split(',') {
            let Pair { index, above, amount } = pair(piece.trim())?;
            let twice = || ParsePriceError::Twice(NAMES[index]);
            let place = match above {
                None => &mut amounts[index],
                Some(above) => tier_of(&mut tiers, above)
                    .and_then(|tier| tier.named_mut(NAMES[index]))
                    .ok_or_else(|| ParsePriceError::Tier(echo(piece)))?,
            };
            if place.replace(amount).is_some() {
                return Err(twice());
            }
        }
        tiers.sort_by_key(|tier| tier.above);
        let [input, output, cache_read, cache_write, reasoning, request, minimum] = amounts;
        let input = Some(input.ok_or(ParsePriceError::Missing("input"))?);
        let output = Some(output.ok_or(ParsePriceError::Missing("output"))?);
        let source = "--price".into();
        Ok(Self { input, output, cache_read, cache_write, reasoning, request, minimum, tiers, source })
    }
}

/// The tier above so many tokens, a new one where there is none yet; `None` where there are too many.
pub(crate) fn tier_of(tiers: &mut Vec<Tier>, above: u64) -> Option<&mut Tier> {
    let at = tiers.iter().position(|tier| tier.above == above).unwrap_or(tiers.len());
    if at == tiers.len() && at < TIERS_MAX {
        tiers.push(Tier { above, ..Tier::default() });
    }
    tiers.get_mut(at)
}

/// One `name=amount` or `name>tokens=amount`.
struct Pair {
    /// Of the name, in [`NAMES`].
    index: usize,
    above: Option<u64>,
    amount: Decimal,
}

fn pair(piece: &str) -> Result<Pair, ParsePriceError> {
    let (name, amount) = piece.split_once('=').ok_or_else(|| ParsePriceError::NotAPair(echo(piece)))?;
    let (name, above) = match name.split_once('>') {
        None => (name, None),
        Some((name, above)) => {
            (name, Some(above.trim().parse().map_err(|_| ParsePriceError::Tier(echo(piece)))?))
        }
    };
    let (name, amount) = (name.trim(), amount.trim());
    let index = NAMES
        .iter()
        .position(|known| *known == name)
        .ok_or_else(|| ParsePriceError::UnknownName { name: echo(name), nearest: nearest(name) })?;
    Ok(Pair { index, above, amount: amount_of(NAMES[index], amount)? })
}

/// An amount that is no amount, or below zero, is an error that names it.
pub(crate) fn amount_of(name: &'static str, amount: &str) -> Result<Decimal, ParsePriceError> {
    let value = Decimal::from_str_exact(amount)
        .map_err(|_| ParsePriceError::NotANumber { name, amount: echo(amount) })?;
    if value.is_sign_negative() && !value.is_zero() {
        return Err(ParsePriceError::Negative { name, amount: echo(amount) });
    }
    Ok(value.abs().normalize())
}

fn echo(typed: &str) -> String {
    typed.chars().take(ECHO_CHARS_MAX).collect()
}

/// The known name with the fewest letters to change, if few.
fn nearest(typed: &str) -> Option<&'static str> {
    let typed = echo(typed).to_ascii_lowercase();
    let (typos, name) = NAMES.iter().map(|name| (levenshtein(&typed, name), *name)).min()?;
    (typos <= TYPOS_MAX && typos < name.len() / 2 + 1).then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn typed_prices_are_read_and_written_alike() {
        let check = |typed: &str, written: &str| {
            let price: Price = typed.parse().unwrap_or_else(|e| panic!("{typed}: {e}"));
            assert_eq!(price.to_string(), written);
            assert_eq!(written.parse(), Ok(price));
        };
        check("input=3,output=15", "input=3,output=15");
        check(" output = 15.00 , input = 3 ", "input=3,output=15");
        check("input=0,output=-0", "input=0,output=0");
        check("input=1.00,cache_read=.10,output=4.00", "input=1,output=4,cache_read=0.1");
        let all = "input=1,output=2,cache_read=3,cache_write=4,reasoning=5,request=0.000001,minimum=0.00001";
        check(all, all);
        check(
            "input > 200000 = 6, input=3, output=15, output>200000=22.5, input>1000000=9",
            "input=3,output=15,input>200000=6,output>200000=22.5,input>1000000=9",
        );
    }

    #[test]
    fn errors_say_what_was_wrong_and_what_would_be_right() {
        let check = |typed: &str, said: &[&str]| {
            let error = typed.parse::<Price>().expect_err(typed).to_string();
            for part in said {
                assert!(error.contains(part), "{typed}: {error} lacks {part}");
            }
        };
        check("", &["'' is not a price", "input=3,output=15"]);
        check("3,15", &["'3' is not a price", "input=3,output=15"]);
        check("input=3", &["'output' is missing", "input=3,output=15"]);
        check("output=3", &["'input' is missing"]);
        check("input=3,output=15,", &["'' is not a price"]);
        check("inptu=3,output=15", &["no price 'inptu'", "did you mean 'input'?"]);
        check("input=3,output=15,cached=1", &["no price 'cached'", "cache_read, cache_write"]);
        check("input=3,output=15,cache-read=1", &["did you mean 'cache_read'?"]);
        check("Input=3,output=15", &["did you mean 'input'?"]);
        check("input=3,input=4,output=15", &["'input' is given twice"]);
        check("input=-3,output=15", &["'input' cannot be negative ('-3')"]);
        check(
            "input=3,output=15,request>5=1",
            &["'request>5=1' is no price for long inputs", "input>200000=6"],
        );
        check("input=3,output=15,input>x=1", &["'input>x=1' is no price for long inputs"]);
        check("input=3,output=15,input>5=1,input>5=2", &["'input' is given twice"]);
        check("input=$3,output=15", &["'input' cannot be '$3'", "input=0.25"]);
        for amount in ["", "NaN", "inf", "1e3", "1/2", "0x1", "99999999999999999999999999999999", "1.2.3"] {
            check(&format!("input={amount},output=1"), &["'input' cannot be '", "input=0.25"]);
        }
        let no_suggestion = "input=3,output=15,zebra=1".parse::<Price>().expect_err("zebra").to_string();
        assert!(!no_suggestion.contains("did you mean"), "{no_suggestion}");
    }

    proptest! {
        #[test]
        fn anything_typed_is_a_price_or_a_short_error(typed in "(?s).{0,300}") {
            if let Err(error) = typed.parse::<Price>() {
                prop_assert!(error.to_string().len() < 600);
            }
        }

        #[test]
        fn pairs_of_any_amount_are_a_price_or_an_error(name in "[a-z_]{1,12}", amount in "[-+0-9.eE_]{0,40}") {
            let typed = format!("input=1,output=2,{name}={amount}");
            if let Ok(price) = typed.parse::<Price>() {
                prop_assert!(price.named().iter().all(|(_, amount)| amount.is_none_or(|a| a >= Decimal::ZERO)));
            }
        }
    }
}
