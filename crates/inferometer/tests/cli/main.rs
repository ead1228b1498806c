//! The command line as people meet it: what it refuses and how it says so, its help, its exit statuses, what it says
//! beside the report.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod bench;
mod checks;
mod console;
mod discover;
mod exit_status;
mod folder;
mod help;
mod preflight;
mod prices;
mod texts;
