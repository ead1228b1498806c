//! Prices out of other people's lists. Every entry is either taken or refused with a reason.

mod litellm;
mod openrouter;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::value::RawValue;

use crate::book::{Book, Row};
use crate::{Decimal, amount};

pub use litellm::litellm;
pub use openrouter::{Offer, offers, openrouter};

/// What was read of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Import {
    /// The prices.
    pub book: Book,
    /// Entries of the list, whatever became of them.
    pub entries: usize,
    /// Entries whose price is in the book.
    pub taken: usize,
    /// Entries that were left out, in the order of the list's names. With `taken` they are all.
    pub refused: Vec<(String, Refusal)>,
}

/// Why an entry of a list is not taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// An example of an entry, not an entry.
    Specimen,
    /// A kind of service that is asked for no text: its name.
    Kind(String),
    /// No price per token is stated for both input and output.
    NoTokenPrice,
    /// Both prices are 0, and the name does not say that it is free: lists write 0 for what they do not know.
    Zero,
    /// An amount that is none, or is below zero: its name and what is written.
    Amount(String, String),
    /// Tiers by something else than the length of the input.
    Tiers,
    /// The same model at the same provider, at the same price, under another name.
    Again(String),
    /// The same model at the same provider, at another price, under another name, which is more explicit.
    Contradicts(String),
    /// Not the JSON of an entry.
    Unreadable,
}

impl Refusal {
    /// The reason alone, without what differs from entry to entry: what refusals are counted by.
    pub fn kind(&self) -> String {
        match self {
            Refusal::Specimen => "an example, no entry".to_owned(),
            Refusal::Kind(kind) => format!("asked for no text: {kind}"),
            Refusal::NoTokenPrice => "no price per token for both input and output".to_owned(),
            Refusal::Zero => "both prices are 0, which may mean that they are not known".to_owned(),
            Refusal::Amount(..) => "an amount that is no price".to_owned(),
            Refusal::Tiers => "tiers by something else than the length of the input".to_owned(),
            Refusal::Again(_) => "the same model at the same price under another name".to_owned(),
            Refusal::Contradicts(_) => "the same model at another price under a clearer name".to_owned(),
            Refusal::Unreadable => "no entry that can be read".to_owned(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind())?;
        match self {
            Refusal::Amount(name, written) => write!(f, ": {name} is {written}"),
            Refusal::Again(other) | Refusal::Contradicts(other) => write!(f, ": {other}"),
            _ => Ok(()),
        }
    }
}

/// A text that is no such list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// No JSON, or not of this list's shape.
    #[error("line {line}: this is no {list}: {why}")]
    Shape {
        /// Which list was expected.
        list: &'static str,
        /// The line, from 1.
        line: usize,
        /// What the reader says.
        why: String,
    },
}

impl Import {
    /// How many entries were refused for each reason, the commonest first.
    pub fn reasons(&self) -> Vec<(String, usize)> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (_, refusal) in &self.refused {
            *counts.entry(refusal.kind()).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }
}

/// Entries as they are decided on.
#[derive(Default)]
struct Sorting {
    taken: Vec<(String, Row)>,
    refused: Vec<(String, Refusal)>,
    entries: usize,
}

impl Sorting {
    fn put(&mut self, name: String, row: Result<Row, Refusal>) {
        self.entries += 1;
        match row {
            Ok(row) => self.taken.push((name, row)),
            Err(refusal) => self.refused.push((name, refusal)),
        }
    }

    /// One row for each model at each provider: of several, the one of the longest name, which says most.
    fn finish(mut self) -> Import {
        self.taken.sort_by(|(a_name, a), (b_name, b)| {
            a.key().cmp(&b.key()).then(b_name.len().cmp(&a_name.len())).then(a_name.cmp(b_name))
        });
        let mut kept: Vec<(String, Row)> = Vec::new();
        for (name, row) in self.taken {
            match kept.last().filter(|(_, last)| last.key() == row.key()) {
                Some((other, last)) if is_same(last, &row) => {
                    self.refused.push((name, Refusal::Again(other.clone())));
                }
                Some((other, _)) => self.refused.push((name, Refusal::Contradicts(other.clone()))),
                None => kept.push((name, row)),
            }
        }
        self.refused.sort();
        let taken = kept.len();
        let book = Book::new(kept.into_iter().map(|(_, row)| row));
        Import { book, entries: self.entries, taken, refused: self.refused }
    }
}

fn is_same(a: &Row, b: &Row) -> bool {
    a.price.named() == b.price.named() && a.price.tiers == b.price.tiers
}

/// A price per token, as one per million; `None` where it is not stated.
fn per_million(name: &str, written: Option<&RawValue>) -> Result<Option<Decimal>, Refusal> {
    let Some(amount) = plain(name, written)? else { return Ok(None) };
    amount::per_million(amount).map(Some).ok_or_else(|| not_an_amount(name, written))
}

/// A price as it is stated; `None` where it is not stated.
fn plain(name: &str, written: Option<&RawValue>) -> Result<Option<Decimal>, Refusal> {
    let Some(raw) = written.filter(|raw| raw.get() != "null") else { return Ok(None) };
    let amount = amount::exact(raw.get()).filter(|amount| !amount.is_sign_negative() || amount.is_zero());
    amount.map(Some).ok_or_else(|| not_an_amount(name, written))
}

fn not_an_amount(name: &str, written: Option<&RawValue>) -> Refusal {
    let written = written.map_or("", RawValue::get).chars().take(40).collect();
    Refusal::Amount(name.to_owned(), written)
}

/// A price of 0 for a cache or for reasoning beside an input that is paid for: lists write it for what has no price of
/// its own. OpenRouter states 0 so; where a list leaves absent what has no price (LiteLLM), its 0 is kept.
fn own(price: Option<Decimal>) -> Option<Decimal> {
    price.filter(|price| !price.is_zero())
}
