//! The report as its readers see it.

mod export;
mod fixture;
mod hostile;
mod table;
