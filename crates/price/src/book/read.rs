//! A book as TOML. Amounts are read as they are written: TOML's own numbers are binary fractions.

use rust_decimal::Decimal;
use serde::Deserialize;
use toml::{Spanned, Value};

use super::{Book, Date, Row};
use crate::parse::{TIERS_MAX, amount_of};
use crate::{ParsePriceError, Price, Tier, amount};

/// Most prices of one book; a line of a book that names more is wrong.
const ROWS_MAX: usize = 100_000;

/// What is wrong in a book, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct BookError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there, and what would be right.
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    date: Option<Spanned<Value>>,
    source: Option<String>,
    #[serde(default)]
    price: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    provider: String,
    model: String,
    #[serde(default)]
    aliases: Vec<String>,
    input: Option<Spanned<Value>>,
    output: Option<Spanned<Value>>,
    cache_read: Option<Spanned<Value>>,
    cache_write: Option<Spanned<Value>>,
    reasoning: Option<Spanned<Value>>,
    request: Option<Spanned<Value>>,
    minimum: Option<Spanned<Value>>,
    #[serde(default)]
    tiers: Vec<Spanned<TierEntry>>,
    date: Option<Spanned<Value>>,
    source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TierEntry {
    above: u64,
    input: Option<Spanned<Value>>,
    output: Option<Spanned<Value>>,
    cache_read: Option<Spanned<Value>>,
    cache_write: Option<Spanned<Value>>,
    reasoning: Option<Spanned<Value>>,
}

impl Book {
    /// Reads a book. Anything that it does not know, a price below zero, a day that is none, and two prices for the same
    /// provider and model are errors with their line.
    pub fn parse(text: &str) -> Result<Book, BookError> {
        let reader = Reader { text };
        let file: File = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            reader.error(at, error.message().to_owned())
        })?;
        if file.price.len() > ROWS_MAX {
            return Err(reader.error(0, format!("more than {ROWS_MAX} prices")));
        }
        let date = file.date.as_ref().map(|date| reader.date(date)).transpose()?;
        let mut rows = Vec::new();
        for entry in &file.price {
            let at = entry.span().start;
            rows.push((at, reader.row(at, entry.get_ref(), date, file.source.as_deref())?));
        }
        reader.check_distinct(&mut rows)?;
        Ok(Book::new(rows.into_iter().map(|(_, row)| row)))
    }
}

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn error(&self, at: usize, why: String) -> BookError {
        let before = self.text.get(..at).unwrap_or_default();
        BookError { line: 1 + before.matches('\n').count(), why }
    }

    fn row(
        &self,
        at: usize,
        entry: &Entry,
        date: Option<Date>,
        source: Option<&str>,
    ) -> Result<Row, BookError> {
        if entry.provider.trim().is_empty() || entry.model.trim().is_empty() {
            return Err(self.error(at, "a price needs a provider and a model".to_owned()));
        }
        let price = self.price(at, entry)?;
        let own = entry.date.as_ref().map(|date| self.date(date)).transpose()?;
        let missing = |what: &str, example: &str| {
            let why =
                format!("{what} is missing: give it here or once at the top, as in {what} = \"{example}\"");
            self.error(at, why)
        };
        let date = own.or(date).ok_or_else(|| missing("date", "2026-11-30"))?;
        let source = entry.source.as_deref().or(source);
        let source = source.ok_or_else(|| missing("source", "https://example.com/pricing"))?.to_owned();
        let (provider, model) = (entry.provider.trim().to_owned(), entry.model.trim().to_owned());
        Ok(Row { aliases: entry.aliases.clone(), ..Row::new(provider, model, price, source, date) })
    }

    fn price(&self, at: usize, entry: &Entry) -> Result<Price, BookError> {
        let price = Price {
            input: self.amount("input", entry.input.as_ref())?,
            output: self.amount("output", entry.output.as_ref())?,
            cache_read: self.amount("cache_read", entry.cache_read.as_ref())?,
            cache_write: self.amount("cache_write", entry.cache_write.as_ref())?,
            reasoning: self.amount("reasoning", entry.reasoning.as_ref())?,
            request: self.amount("request", entry.request.as_ref())?,
            minimum: self.amount("minimum", entry.minimum.as_ref())?,
            tiers: self.tiers(&entry.tiers)?,
            source: String::new(),
        };
        let missing =
            [("input", price.input), ("output", price.output)].into_iter().find(|(_, price)| price.is_none());
        match missing {
            Some((name, _)) => {
                Err(self
                    .error(at, format!("{name} is missing: input and output are both needed, 0 where free")))
            }
            None => Ok(price),
        }
    }

    fn tiers(&self, entries: &[Spanned<TierEntry>]) -> Result<Vec<Tier>, BookError> {
        let mut tiers: Vec<Tier> = Vec::new();
        for spanned in entries {
            let (at, entry) = (spanned.span().start, spanned.get_ref());
            if tiers.iter().any(|tier| tier.above == entry.above) {
                return Err(self.error(at, format!("two tiers above {} tokens: give one", entry.above)));
            }
            if tiers.len() == TIERS_MAX {
                return Err(self.error(at, format!("more than {TIERS_MAX} tiers")));
            }
            tiers.push(Tier {
                above: entry.above,
                input: self.amount("input", entry.input.as_ref())?,
                output: self.amount("output", entry.output.as_ref())?,
                cache_read: self.amount("cache_read", entry.cache_read.as_ref())?,
                cache_write: self.amount("cache_write", entry.cache_write.as_ref())?,
                reasoning: self.amount("reasoning", entry.reasoning.as_ref())?,
            });
        }
        tiers.sort_by_key(|tier| tier.above);
        Ok(tiers)
    }

    /// The amount as it stands in the text, quoted or not.
    fn amount(
        &self,
        name: &'static str,
        value: Option<&Spanned<Value>>,
    ) -> Result<Option<Decimal>, BookError> {
        let Some(value) = value else { return Ok(None) };
        let written = self.text.get(value.span()).unwrap_or_default();
        let exact = amount::exact(written).map(|exact| exact.to_string());
        let amount = amount_of(name, exact.as_deref().unwrap_or(written));
        amount.map(Some).map_err(|error: ParsePriceError| self.error(value.span().start, error.to_string()))
    }

    fn date(&self, value: &Spanned<Value>) -> Result<Date, BookError> {
        let written = self.text.get(value.span()).unwrap_or_default().trim_matches(['"', '\'']);
        Date::parse(written).ok_or_else(|| {
            let shown: String = written.chars().take(40).collect();
            self.error(value.span().start, format!("'{shown}' is no day: write it as 2026-11-30"))
        })
    }

    fn check_distinct(&self, rows: &mut [(usize, Row)]) -> Result<(), BookError> {
        rows.sort_by(|(a_at, a), (b_at, b)| a.key().cmp(&b.key()).then(a_at.cmp(b_at)));
        let twice = rows.windows(2).find(|pair| pair[0].1.key() == pair[1].1.key());
        match twice {
            Some([(first, _), (at, row)]) => {
                let line = self.error(*first, String::new()).line;
                let why = format!(
                    "a second price for '{}' at '{}'; the first is in line {line}",
                    row.model, row.provider
                );
                Err(self.error(*at, why))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "date = 2026-11-30\nsource = \"https://example.com/pricing\"\n";

    fn check(text: &str, line: usize, said: &[&str]) {
        let error = Book::parse(text).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(said.iter().all(|part| error.why.contains(part)), "{text}: {error}");
    }

    #[test]
    fn amounts_are_read_as_they_are_written() {
        let text = format!(
            "{HEAD}[[price]]\nprovider = \"p\"\nmodel = \"m\"\ninput = 0.1\noutput = \"1.2345678901234567890\"\n\
             cache_read = 1.5e-2\nrequest = 0.000001\nminimum = 0.00001\naliases = [\"n\"]\n\
             tiers = [{{ above = 200_000, input = 0.2 }}]\n"
        );
        let book = Book::parse(&text).expect("a book");
        let row = &book.rows()[0];
        let right = "input=0.1,output=1.234567890123456789,cache_read=0.015,request=0.000001,minimum=0.00001,input>200000=0.2";
        assert_eq!(row.price.to_string(), right);
        assert_eq!(row.price.source, "https://example.com/pricing, 2026-11-30");
        assert_eq!(row.aliases, ["n"]);
    }

    #[test]
    fn what_is_wrong_has_a_line() {
        let row = |fields: &str| format!("{HEAD}[[price]]\nprovider = \"p\"\nmodel = \"m\"\n{fields}");
        check(&row("input = -1\noutput = 2\n"), 6, &["'input' cannot be negative", "-1"]);
        check(&row("input = 1\noutput = \"two\"\n"), 7, &["'output' cannot be", "two"]);
        check(&row("input = 1\noutput = 2\ninptu = 3\n"), 8, &["inptu", "expected one of"]);
        check(&row("input = 1\n"), 3, &["output is missing"]);
        check(&row("input = 1\noutput = 2\ndate = \"2026-02-30\"\n"), 8, &["'2026-02-30' is no day"]);
        check(&row("input = 1\noutput = 2\ntiers = [{above = 5}, {above = 5}]\n"), 8, &["two tiers above 5"]);
        check("[[price]]\nprovider = \"p\"\nmodel = \"m\"\ninput = 1\noutput = 2\n", 1, &["date is missing"]);
        let one = "[[price]]\nprovider = \"p\"\nmodel = \"m\"\ninput = 1\noutput = 2\n";
        check(&format!("{HEAD}{one}{one}"), 8, &["second price for 'm' at 'p'", "line 3"]);
        check("price = 3\n", 1, &[]);
        check("[[price]\n", 1, &[]);
    }
}
