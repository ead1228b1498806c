//! Recorded runs as a terminal table, Markdown, JSON and CSV.
//!
//! Everything that is shown stands in the run's summary and manifest: no figure is made here, no clock is read, and
//! the same folder gives the same report. Two steps: `part` says what a reader should see, as blocks of text
//! without a form; `terminal` and `markdown` give it one. JSON and CSV take the summary as it is.
//!
//! Invariants: text of a server (a model's name, an error message) is hostile, and each format neutralises it in the
//! one place where its text is written; what does not exist is said to be missing, never 0; no number is cut or
//! broken over two lines.

mod clean;
mod csv;
mod format;
mod grid;
pub mod html;
mod json;
mod markdown;
mod number;
mod out;
mod page;
mod part;
mod terminal;
mod view;
mod wrap;

pub use format::{Format, FormatError};
pub use view::{Ending, RunView};

/// `run` in `format`, ending with a line break. `width` (in columns, at least 40) and `color` are the terminal's:
/// the other formats have neither.
pub fn render(run: &RunView<'_>, format: Format, width: usize, color: bool) -> String {
    match format {
        Format::Table => terminal::draw(&part::screen(run), width, color),
        Format::Json => json::write(run.summary),
        Format::Csv => csv::write(run),
        Format::Md => markdown::draw(&part::page(run)),
    }
}
