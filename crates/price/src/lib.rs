//! Exact money: the price of one target and the cost of a usage.
//!
//! [`Price`] is parsed from `input=3,output=15[,cache_read=,cache_write=,reasoning=,request=]`, US dollars per million
//! tokens.
//!
//! Invariants: a cost is exact or absent, never rounded, never 0 for what is not known; nothing here can panic.

mod parse;
mod price;

pub use parse::ParsePriceError;
pub use price::Price;
