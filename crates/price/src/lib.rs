//! Exact money: the price of one target and the cost of a usage.
//!
//! [`Price`] is parsed from `input=3,output=15[,cache_read=,cache_write=,reasoning=,request=]`, US dollars per million
//! tokens. [`Price::cost`] multiplies it with the normal form of a usage.
//!
//! Invariants: a cost is exact or absent, never rounded, never 0 for what is not known; nothing here can panic.

mod cost;
mod exact;
mod parse;
mod price;

pub use cost::{Cost, flags};
pub use parse::ParsePriceError;
pub use price::Price;
/// The exact decimal that every amount is.
pub use rust_decimal::Decimal;
