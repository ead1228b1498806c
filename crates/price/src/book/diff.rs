//! What is different in another book?

use rust_decimal::Decimal;

use super::{Book, Row};
use crate::Price;

/// One difference between two books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// Only the first book has it.
    Removed(&'a Row),
    /// Only the second book has it.
    Added(&'a Row),
    /// Both have it, at other prices.
    Changed {
        /// The row of the first book.
        from: &'a Row,
        /// The row of the second.
        to: &'a Row,
        /// Each price that differs: its name (`input>200000` in a tier), then both; `None` is not known.
        prices: Vec<(String, Option<Decimal>, Option<Decimal>)>,
    },
}

/// The differences in price between two books, by provider and model. Other dates and sources are none.
pub fn diff<'a>(from: &'a Book, to: &'a Book) -> Vec<Change<'a>> {
    let mut changes = Vec::new();
    let (mut old, mut new) = (from.rows.iter().peekable(), to.rows.iter().peekable());
    loop {
        match (old.peek(), new.peek()) {
            (None, None) => return changes,
            (Some(row), next) if next.is_none_or(|next| row.key() < next.key()) => {
                changes.push(Change::Removed(row));
                old.next();
            }
            (row, Some(next)) if row.is_none_or(|row| next.key() < row.key()) => {
                changes.push(Change::Added(next));
                new.next();
            }
            (row, next) => {
                if let (Some(from), Some(to)) = (row, next) {
                    let prices = differing(&from.price, &to.price);
                    if !prices.is_empty() {
                        changes.push(Change::Changed { from, to, prices });
                    }
                }
                old.next();
                new.next();
            }
        }
    }
}

fn differing(from: &Price, to: &Price) -> Vec<(String, Option<Decimal>, Option<Decimal>)> {
    let (from, to) = (amounts(from), amounts(to));
    let mut names: Vec<&String> = from.iter().chain(&to).map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let of = |amounts: &[(String, Decimal)], name: &str| {
        amounts.iter().find(|(known, _)| known == name).map(|(_, amount)| *amount)
    };
    let both = names.into_iter().map(|name| (name.clone(), of(&from, name), of(&to, name)));
    both.filter(|(_, from, to)| from != to).collect()
}

/// All amounts of a price by name, those of its tiers as `name>tokens`.
fn amounts(price: &Price) -> Vec<(String, Decimal)> {
    let plain = price.named().into_iter().map(|(name, amount)| (name.to_owned(), amount));
    let tiers = price.tiers.iter().flat_map(|tier| {
        tier.named().into_iter().map(|(name, amount)| (format!("{name}>{}", tier.above), amount))
    });
    plain.chain(tiers).filter_map(|(name, amount)| Some((name, amount?))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Date;
    use super::*;

    #[test]
    fn differences_are_in_price() {
        let book = |rows: &[(&str, &str)], day: &str| {
            let date = Date::parse(day).expect("a day");
            let row = |&(model, price): &(&str, &str)| {
                Row::new("p".into(), model.into(), price.parse().expect("a price"), day.into(), date)
            };
            Book::new(rows.iter().map(row))
        };
        let old = book(
            &[("a", "input=1,output=2"), ("b", "input=1,output=2"), ("c", "input=1,output=2")],
            "2026-01-01",
        );
        let new = book(
            &[("b", "input=1.0,output=2"), ("c", "input=1,output=3,input>5=4"), ("d", "input=1,output=2")],
            "2026-02-01",
        );
        let said: Vec<String> = diff(&old, &new)
            .iter()
            .map(|change| match change {
                Change::Removed(row) => format!("-{}", row.model),
                Change::Added(row) => format!("+{}", row.model),
                Change::Changed { to, prices, .. } => format!("{} {prices:?}", to.model),
            })
            .collect();
        assert_eq!(said, ["-a", r#"c [("input>5", None, Some(4)), ("output", Some(2), Some(3))]"#, "+d"]);
        assert!(diff(&old, &old).is_empty());
    }
}
