//! A book of prices: who asks how much for which model, since when, and who says so.

mod diff;
mod find;
mod read;
mod write;

use std::fmt;

use crate::Price;

pub use diff::{Change, diff};
pub use find::NotFound;
pub use read::BookError;

/// One price of a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Who serves the model.
    pub provider: String,
    /// The model's name there.
    pub model: String,
    /// Further names of it.
    pub aliases: Vec<String>,
    /// What it costs; its `source` names page and date together.
    pub price: Price,
    /// The day on which the price was read.
    pub date: Date,
    /// Where it was read.
    pub source: String,
}

/// Prices by provider and model, no pair twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Book {
    /// Sorted by provider and model.
    rows: Vec<Row>,
}

impl Book {
    /// A book of `rows`; of two for the same provider and model the later stays.
    pub fn new(rows: impl IntoIterator<Item = Row>) -> Book {
        let mut book = Book::default();
        book.merge(Book { rows: rows.into_iter().collect() });
        book
    }

    /// The prices, sorted by provider and model.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Takes the prices of `newer`: in place of an own one for the same provider and model, or besides.
    pub fn merge(&mut self, newer: Book) {
        self.rows.extend(newer.rows);
        // Stable, so that of two alike the newer comes last.
        self.rows.sort_by(|a, b| a.key().cmp(&b.key()));
        self.rows.reverse();
        self.rows.dedup_by(|a, b| a.key() == b.key());
        self.rows.reverse();
    }
}

impl Row {
    /// What a row is known by.
    pub(crate) fn key(&self) -> (&str, &str) {
        (&self.provider, &self.model)
    }

    /// A row whose price names source and date.
    pub(crate) fn new(provider: String, model: String, price: Price, source: String, date: Date) -> Row {
        let price = Price { source: format!("{source}, {date}"), ..price };
        Row { provider, model, aliases: Vec::new(), price, date, source }
    }
}

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Reads `2026-11-30`; `None` where there is no such day.
    pub fn parse(text: &str) -> Option<Date> {
        let parts: Vec<&str> = text.split('-').collect();
        let &[year, month, day] = parts.as_slice() else { return None };
        if [year, month, day].map(str::len) != [4, 2, 2] {
            return None;
        }
        let (year, month, day) = (year.parse::<u16>().ok()?, month.parse().ok()?, day.parse().ok()?);
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            4 | 6 | 9 | 11 => 30,
            2 if is_leap => 29,
            2 => 28,
            1..=12 => 31,
            _ => return None,
        };
        (1..=days).contains(&day).then_some(Date { year, month, day })
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_of_the_calendar() {
        for day in ["2026-11-30", "2024-02-29", "2000-02-29", "0001-01-01"] {
            assert_eq!(Date::parse(day).map(|day| day.to_string()).as_deref(), Some(day));
        }
        for day in [
            "",
            "2026-11-31",
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-1-1",
            "30.11.2026",
            "2026-11-00",
        ] {
            assert_eq!(Date::parse(day), None, "{day}");
        }
    }

    #[test]
    fn the_newer_price_stays() {
        let row = |model: &str, price: &str| {
            let price = price.parse().expect("a price");
            Row::new("p".into(), model.into(), price, "s".into(), Date::parse("2026-01-01").expect("a day"))
        };
        let mut book = Book::new([row("b", "input=1,output=1"), row("a", "input=2,output=2")]);
        book.merge(Book::new([row("b", "input=3,output=3"), row("c", "input=4,output=4")]));
        let seen: Vec<_> =
            book.rows().iter().map(|row| (row.model.as_str(), row.price.to_string())).collect();
        let right = [("a", "input=2,output=2"), ("b", "input=3,output=3"), ("c", "input=4,output=4")];
        assert_eq!(seen, right.map(|(model, price)| (model, price.to_owned())));
    }
}
