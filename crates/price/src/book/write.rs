//! A book as TOML: what [`Book::parse`] reads.

use std::fmt::{self, Display, Formatter};

use toml::Value;

use super::{Book, Row};
use crate::Tier;

impl Display for Book {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("# US dollars per million tokens; request and minimum per request. What is not known is left out.\n")?;
        self.rows.iter().try_for_each(|row| row.write(f))
    }
}

impl Row {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("\n[[price]]\n")?;
        writeln!(f, "provider = {}\nmodel = {}", text(&self.provider), text(&self.model))?;
        if !self.aliases.is_empty() {
            let aliases: Vec<String> = self.aliases.iter().map(|alias| text(alias)).collect();
            writeln!(f, "aliases = [{}]", aliases.join(", "))?;
        }
        for (name, price) in self.price.named() {
            if let Some(price) = price {
                writeln!(f, "{name} = {}", price.normalize())?;
            }
        }
        if !self.price.tiers.is_empty() {
            let tiers: Vec<String> = self.price.tiers.iter().map(tier).collect();
            writeln!(f, "tiers = [{}]", tiers.join(", "))?;
        }
        writeln!(f, "date = {}\nsource = {}", self.date, text(&self.source))
    }
}

fn tier(tier: &Tier) -> String {
    let prices = tier
        .named()
        .into_iter()
        .filter_map(|(name, price)| Some(format!(", {name} = {}", price?.normalize())));
    format!("{{ above = {}{} }}", tier.above, prices.collect::<String>())
}

fn text(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Book, Date, Row};

    proptest! {
        #[test]
        fn what_is_written_is_read(
            names in prop::collection::vec(("[a-zA-Z0-9/.:@_ \"'\\\\ä-]{1,12}", "\\PC{1,12}"), 0..5),
            price in prop::sample::select(vec!["input=1,output=2", "input=0.1,output=0,minimum=3,input>5=0.000001,output>5=7"]),
            source in "\\PC{1,20}",
        ) {
            let date = Date::parse("2026-11-30").expect("a day");
            let named = names.into_iter().map(|(a, b)| (a.trim().to_owned(), b.trim().to_owned()));
            let rows = named.filter(|(a, b)| !a.is_empty() && !b.is_empty()).map(|(provider, model)| Row {
                aliases: vec![model.clone()],
                ..Row::new(provider, model, price.parse().expect("a price"), source.clone(), date)
            });
            let book = Book::new(rows);
            prop_assert_eq!(Book::parse(&book.to_string()), Ok(book));
        }
    }
}
