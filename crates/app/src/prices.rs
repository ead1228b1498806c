//! `prices`: books of prices shown, filled and compared.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use inferometer_clock::Wall;
use inferometer_price::book::{Change, Date, Row, diff};
use inferometer_price::import::{Import, litellm, openrouter};
use inferometer_price::{Book, Decimal};

use crate::console::columns;
use crate::{Error, Exit, console};

/// The book that is taken where none is named.
pub(crate) const BOOK: &str = "prices.toml";

/// Largest list or book that is read, in bytes: twenty times the longest known.
const BYTES_MAX: u64 = 64 << 20;

/// Arguments of `prices`.
#[derive(Args, Clone, Debug)]
pub struct PricesCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// Show the prices of a book, in US dollars per million tokens
    Show {
        /// Only models whose name holds this
        #[arg(value_name = "MODEL")]
        model: Option<String>,
        /// The book
        #[arg(long, value_name = "BOOK", default_value = BOOK)]
        book: PathBuf,
        /// Only this provider
        #[arg(long, value_name = "NAME")]
        provider: Option<String>,
    },
    /// Take prices out of a published list into a book
    Import {
        /// The list, as it was downloaded
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Whose list it is
        #[arg(long, value_name = "LIST")]
        from: List,
        /// The book; one that is not there is begun
        #[arg(long, value_name = "BOOK")]
        into: PathBuf,
        /// The day on which the list was downloaded [default: today]
        #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
        date: Option<Date>,
        /// Only this provider, as the list calls it; may be given several times
        #[arg(long, value_name = "NAME")]
        provider: Vec<String>,
        /// Name every entry that is not taken, and why
        #[arg(long)]
        refused: bool,
    },
    /// Compare two books
    Diff {
        /// The older book
        #[arg(value_name = "A.toml")]
        from: PathBuf,
        /// The newer book
        #[arg(value_name = "B.toml")]
        to: PathBuf,
    },
}

/// A list that is known.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum List {
    /// LiteLLM's model_prices_and_context_window.json
    Litellm,
    /// The answer of OpenRouter's /models, or of a model's /endpoints
    Openrouter,
}

fn day(typed: &str) -> Result<Date, String> {
    Date::parse(typed).ok_or_else(|| "no such day: write it as 2026-11-30".to_owned())
}

/// Shows, fills or compares books of prices.
pub fn prices(command: &PricesCommand) -> Result<Exit, Error> {
    match &command.what {
        What::Show { model, book, provider } => show(book, provider.as_deref(), model.as_deref()),
        What::Import { file, from, into, date, provider, refused } => {
            let json = read(file)?;
            let date =
                date.or_else(today).ok_or_else(|| wrong(file, "today is no day: give --date".to_owned()))?;
            let imported = match from {
                List::Litellm => litellm(&json, date),
                List::Openrouter => openrouter(&json, date),
            };
            let import = imported.map_err(|error| wrong(file, error.to_string()))?;
            take(&import, into, provider, *refused)
        }
        What::Diff { from, to } => {
            let (from, to) = (open(from)?, open(to)?);
            console::print(&differences(&diff(&from, &to)))?;
            Ok(Exit::Done)
        }
    }
}

fn wrong(path: &Path, reason: String) -> Error {
    Error::Prices { path: path.display().to_string(), reason }
}

fn read(path: &Path) -> Result<String, Error> {
    let size = std::fs::metadata(path).map_err(|error| wrong(path, error.to_string()))?.len();
    if size > BYTES_MAX {
        return Err(wrong(path, format!("larger than {} MiB: no list of prices", BYTES_MAX >> 20)));
    }
    std::fs::read_to_string(path).map_err(|error| wrong(path, error.to_string()))
}

/// Reads the book at `path`.
pub(crate) fn open(path: &Path) -> Result<Book, Error> {
    Book::parse(&read(path)?).map_err(|error| wrong(path, error.to_string()))
}

/// The day of the wall clock, in UTC.
pub(crate) fn today() -> Option<Date> {
    Date::parse(Wall::now().to_string().get(..10)?)
}

fn show(path: &Path, provider: Option<&str>, model: Option<&str>) -> Result<Exit, Error> {
    let book = open(path)?;
    let wanted = model.unwrap_or_default().to_lowercase();
    let rows: Vec<&Row> = book
        .rows()
        .iter()
        .filter(|row| provider.is_none_or(|provider| row.provider.eq_ignore_ascii_case(provider)))
        .filter(|row| {
            let mut names = std::iter::once(&row.model).chain(&row.aliases);
            names.any(|name| name.to_lowercase().contains(&wanted))
        })
        .collect();
    if rows.is_empty() {
        let nearest = book.find(provider.unwrap_or("any provider"), model.unwrap_or("any model"));
        let reason = nearest.err().map_or_else(|| "no such price".to_owned(), |missing| missing.to_string());
        return Err(wrong(path, reason));
    }
    console::print(&table(&rows))?;
    Ok(Exit::Done)
}

/// The rows in columns; tiers stand below their row.
fn table(rows: &[&Row]) -> String {
    let head = [
        "provider",
        "model",
        "input",
        "output",
        "cache read",
        "cache write",
        "reasoning",
        "request",
        "minimum",
        "date",
        "source",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for row in rows {
        let amounts = row.price.named().map(|(_, amount)| shown(amount));
        let ends = [row.date.to_string(), row.source.clone()];
        let names = [row.provider.clone(), row.model.clone()];
        lines.push(names.into_iter().chain(amounts).chain(ends).collect());
        for tier in &row.price.tiers {
            let names = [String::new(), format!("  above {} input tokens", tier.above)];
            lines.push(names.into_iter().chain(tier.named().map(|(_, amount)| shown(amount))).collect());
        }
    }
    columns(&lines)
}

/// What is not known is a dash, which is not free.
fn shown(amount: Option<Decimal>) -> String {
    amount.map_or_else(|| "-".to_owned(), |amount| amount.normalize().to_string())
}

/// Puts what was imported into the book at `path` and says what became of every entry.
fn take(import: &Import, path: &Path, providers: &[String], names_refused: bool) -> Result<Exit, Error> {
    let mut book = if path.exists() { open(path)? } else { Book::default() };
    let is_wanted = |row: &&Row| providers.is_empty() || providers.contains(&row.provider);
    let wanted: Vec<Row> = import.book.rows().iter().filter(is_wanted).cloned().collect();
    let chosen = wanted.len();
    book.merge(Book::new(wanted));
    write(path, &book.to_string())?;
    let refused = import.refused.len();
    let mut said = format!("{} entries: {} with a price, {refused} refused\n", import.entries, import.taken);
    for (reason, count) in import.reasons() {
        let _ = writeln!(said, "{count:>8}  {reason}");
    }
    if names_refused {
        for (name, refusal) in &import.refused {
            let _ = writeln!(said, "{name}: {refusal}");
        }
    }
    let (path, rows) = (path.display(), book.rows().len());
    let _ = writeln!(said, "{chosen} prices taken into {path}, which holds {rows} now");
    console::print(&said)?;
    Ok(Exit::Done)
}

/// Writes a file whole or not at all.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|source| Error::System { doing: "writing the price book", source })
}

fn differences(changes: &[Change<'_>]) -> String {
    if changes.is_empty() {
        return "no price differs\n".to_owned();
    }
    let line = |change: &Change<'_>| match change {
        Change::Removed(row) => format!("- {} at {}: {}\n", row.model, row.provider, row.price),
        Change::Added(row) => format!("+ {} at {}: {}\n", row.model, row.provider, row.price),
        Change::Changed { from, to, prices } => {
            let each = prices.iter().map(|(name, from, to)| difference(name, *from, *to));
            let each = each.collect::<Vec<_>>().join(", ");
            format!("~ {} at {}: {each} ({} to {})\n", to.model, to.provider, from.date, to.date)
        }
    };
    changes.iter().map(line).collect()
}

fn difference(name: &str, from: Option<Decimal>, to: Option<Decimal>) -> String {
    let change = from.zip(to).and_then(|(from, to)| {
        let share = to.checked_sub(from)?.checked_div(from)?.checked_mul(Decimal::ONE_HUNDRED)?;
        Some(format!(
            " ({}{} %)",
            if share.is_sign_positive() { "+" } else { "" },
            share.round_dp(1).normalize()
        ))
    });
    format!("{name} {} → {}{}", shown(from), shown(to), change.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(prices: &[(&str, &str)]) -> Book {
        let head = "date = 2026-11-30\nsource = \"page\"\n".to_owned();
        let row = |(model, amounts): &(&str, &str)| {
            format!("[[price]]\nprovider = \"acme\"\nmodel = \"{model}\"\n{amounts}\n")
        };
        let text = prices.iter().map(row).fold(head, |text, row| text + &row);
        Book::parse(&text).expect("a book")
    }

    #[test]
    fn tables_have_tiers_below_their_row() {
        let book = book(&[("small", "input = 0.1\noutput = 2\ntiers = [{ above = 200000, input = 0.25 }]")]);
        let seen = table(&book.rows().iter().collect::<Vec<_>>());
        let words: Vec<Vec<&str>> =
            seen.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[0], ["acme", "small", "0.1", "2", "-", "-", "-", "-", "-", "2026-11-30", "page"]);
        assert_eq!(words[1], ["above", "200000", "input", "tokens", "0.25", "-", "-", "-", "-"]);
    }

    #[test]
    fn differences_are_said_in_per_cent() {
        let old = book(&[("a", "input = 1\noutput = 2"), ("b", "input = 0\noutput = 2")]);
        let new = book(&[("a", "input = 1.5\noutput = 2\ncache_read = 1"), ("b", "input = 1\noutput = 2")]);
        let right = "~ a at acme: cache_read - → 1, input 1 → 1.5 (+50 %) (2026-11-30 to 2026-11-30)\n\
                     ~ b at acme: input 0 → 1 (2026-11-30 to 2026-11-30)\n";
        assert_eq!(differences(&diff(&old, &new)), right);
        assert_eq!(differences(&diff(&old, &old)), "no price differs\n");
    }
}
