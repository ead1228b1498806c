//! The price of one target.

use std::fmt;

use rust_decimal::Decimal;

/// The price of one target in US dollars. `None` is not known, which is not free; free is 0.
///
/// Written and read as `input=3,output=15,cache_read=0.3`: [`fmt::Display`] gives what [`std::str::FromStr`] reads.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Where the price comes from, as reports name it; `--price` for one that was typed.
    pub source: String,
}

impl Price {
    /// The prices by the names that `--price` knows them by.
    pub fn named(&self) -> [(&'static str, Option<Decimal>); 6] {
        [
            ("input", self.input),
            ("output", self.output),
            ("cache_read", self.cache_read),
            ("cache_write", self.cache_write),
            ("reasoning", self.reasoning),
            ("request", self.request),
        ]
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.named().into_iter().filter_map(|(name, price)| Some((name, price?)));
        for (nth, (name, price)) in known.enumerate() {
            let comma = if nth == 0 { "" } else { "," };
            write!(f, "{comma}{name}={}", price.normalize())?;
        }
        Ok(())
    }
}
