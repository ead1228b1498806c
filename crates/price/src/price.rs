//! The price of one target.

use std::fmt;

use rust_decimal::Decimal;

/// The price of one target in US dollars. `None` is not known, which is not free; free is 0.
///
/// Written and read as `input=3,output=15,cache_read=0.3`, with tiers as `input=3,output=15,input>200000=6`:
/// [`fmt::Display`] gives what [`std::str::FromStr`] reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Per million input tokens that no cache served.
    pub input: Option<Decimal>,
    /// Per million output tokens.
    pub output: Option<Decimal>,
    /// Per million input tokens read from a cache. Not known: charged as `input`, and flagged.
    pub cache_read: Option<Decimal>,
    /// Per million input tokens written to a cache. Not known: charged as `input`, and flagged.
    pub cache_write: Option<Decimal>,
    /// Per million reasoning tokens. Not known: charged as `output`, which is what providers do.
    pub reasoning: Option<Decimal>,
    /// Per request, whatever its tokens. Not known: no such charge.
    pub request: Option<Decimal>,
    /// The least that a request costs. Not known: no such bound.
    pub minimum: Option<Decimal>,
    /// Other prices for long inputs, by ascending length.
    pub tiers: Vec<Tier>,
    /// Where the price comes from, as reports name it; `--price` for one that was typed.
    pub source: String,
}

/// Prices for inputs above some length; they hold for the whole request. A price that is `None` stays as it is below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tier {
    /// Input tokens, cached ones included: from one more on, the tier holds.
    pub above: u64,
    /// Per million input tokens that no cache served.
    pub input: Option<Decimal>,
    /// Per million output tokens.
    pub output: Option<Decimal>,
    /// Per million input tokens read from a cache.
    pub cache_read: Option<Decimal>,
    /// Per million input tokens written to a cache.
    pub cache_write: Option<Decimal>,
    /// Per million reasoning tokens.
    pub reasoning: Option<Decimal>,
}

impl Price {
    /// The prices by the names that `--price` knows them by, those of the tiers apart.
    pub fn named(&self) -> [(&'static str, Option<Decimal>); 7] {
        [
            ("input", self.input),
            ("output", self.output),
            ("cache_read", self.cache_read),
            ("cache_write", self.cache_write),
            ("reasoning", self.reasoning),
            ("request", self.request),
            ("minimum", self.minimum),
        ]
    }

    /// The one price that holds for an input of so many tokens: no tiers in it.
    #[must_use]
    pub fn at(&self, input_tokens: u64) -> Price {
        let mut price = Price { tiers: Vec::new(), ..self.clone() };
        for tier in self.tiers.iter().filter(|tier| input_tokens > tier.above) {
            price.input = tier.input.or(price.input);
            price.output = tier.output.or(price.output);
            price.cache_read = tier.cache_read.or(price.cache_read);
            price.cache_write = tier.cache_write.or(price.cache_write);
            price.reasoning = tier.reasoning.or(price.reasoning);
        }
        price
    }
}

impl Tier {
    /// The prices by name.
    pub fn named(&self) -> [(&'static str, Option<Decimal>); 5] {
        [
            ("input", self.input),
            ("output", self.output),
            ("cache_read", self.cache_read),
            ("cache_write", self.cache_write),
            ("reasoning", self.reasoning),
        ]
    }

    /// The price of a name; `None` where a tier has no such price.
    pub(crate) fn named_mut(&mut self, name: &str) -> Option<&mut Option<Decimal>> {
        Some(match name {
            "input" => &mut self.input,
            "output" => &mut self.output,
            "cache_read" => &mut self.cache_read,
            "cache_write" => &mut self.cache_write,
            "reasoning" => &mut self.reasoning,
            _ => return None,
        })
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for (name, price) in self.named() {
            let Some(price) = price else { continue };
            write!(f, "{comma}{name}={}", price.normalize())?;
            comma = ",";
        }
        for tier in &self.tiers {
            for (name, price) in tier.named() {
                let Some(price) = price else { continue };
                write!(f, "{comma}{name}>{}={}", tier.above, price.normalize())?;
                comma = ",";
            }
        }
        Ok(())
    }
}
