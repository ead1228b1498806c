//! Samples for other tools: as a table, and that table as CSV.

mod columns;
mod csv;

pub use columns::{COLUMNS, Column, ColumnKind, ColumnValue};
pub use csv::export_csv;

#[cfg(test)]
mod tests;
