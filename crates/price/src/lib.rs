//! Exact money: prices, books of prices and where they come from, the cost of a usage.
//!
//! [`Price`] is parsed from `input=3,output=15[,cache_read=,cache_write=,reasoning=,request=,minimum=]`, US dollars per
//! million tokens, with tiers for long inputs as `input>200000=6`. [`Price::cost`] multiplies it with the normal form of
//! a usage. A [`Book`] holds prices by provider and model, each with its date and source.
//!
//! | question | module |
//! |---|---|
//! | what does a usage cost? | `cost`, `exact` |
//! | how is a price typed? | `price`, `parse` |
//! | what is in a book, and how is it written? | [`book`] |
//! | which of its prices is that of a model? | `book::find` |
//! | what is different in another book? | `book::diff` |
//! | how do prices come out of other people's lists? | [`import`] |
//!
//! Invariants: a cost is exact or absent, never rounded, never 0 for what is not known; amounts come from the written
//! text and never through a binary fraction; nothing here can panic, and nothing reads a file.

mod amount;
pub mod book;
mod cost;
mod exact;
pub mod import;
mod parse;
mod price;

pub use book::Book;
pub use cost::{Cost, flags};
pub use parse::ParsePriceError;
pub use price::{Price, Tier};
/// The exact decimal that every amount is.
pub use rust_decimal::Decimal;
