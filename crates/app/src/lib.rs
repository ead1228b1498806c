//! What each command does. A command composes the crates below and ends in an [`Exit`]; [`Error`] is the one place
//! where whatever failed becomes a message and an exit status.
//!
//! | command | module |
//! |---|---|
//! | `run` | [`run`]: preflight, cells, summary, report |
//! | `prices` | [`prices`]: books of prices shown, filled and compared |
//! | `run --dry-run` | `dry_run`: what a plan would send, cost and prove |
//! | `init` | [`init`]: a first plan |
//! | `discover` | [`discover`]: who serves a model |
//! | `report` | [`report`]: the same report again, from the run's folder |
//! | `simulate` | [`simulate`] |
//! | `demo` | [`mod@demo`] |
//! | `self-check` | [`self_check`] |

mod client;
mod console;
mod core_dumps;
pub mod demo;
mod discover;
mod dry_run;
mod error;
mod exit;
mod export;
mod init;
mod machine;
mod output;
mod preflight;
mod prices;
mod progress;
mod report;
mod run;
mod self_check;
mod session;
mod signals;
mod simulate;
mod sink;

pub use console::say;
pub use core_dumps::forbid_core_dumps;
pub use demo::{DemoCommand, demo};
pub use discover::{DiscoverCommand, discover};
pub use error::Error;
pub use exit::Exit;
pub use export::ParquetWriter;
pub use init::{InitCommand, init};
pub use output::OutputFlags;
pub use prices::{PricesCommand, prices};
pub use report::{ReportCommand, report};
pub use run::{RunCommand, run};
pub use self_check::{SelfCheckCommand, self_check};
pub use simulate::{SimulateCommand, simulate};
