//! What is to be measured: targets, workloads, loads, and the protocol that joins them to cells.
//!
//! A plan has two sources: what was typed ([`RunFlags`]) and a file ([`Plan::from_toml`]). Both carry what they say into
//! the same specs, which hold the one meaning and the one set of defaults. A plan is plain data; the runner never sees a
//! flag or a key of the file. It serialises without an API key in it, for the run's manifest.
//!
//! | question | module |
//! |---|---|
//! | which flags are there? | `flags`; what they mean: `resolve` |
//! | which keys does the file have? | `file::shape`; what they mean: `file` |
//! | what is the default, what goes together? | `spec` |
//! | how is a time, a list, a share written? | `value` |
//! | where is a provider asked, what does it call reasoning? | `presets` |
//! | what must not be shown? | `secrets`; where a key is that no variable holds: `key` |
//! | what is a target sent for a prompt? | `ask`; signed, at Amazon: `aws` |
//! | what does `init` write? | `starting`; and `discover`: `found` |
//! | what would a plan cost, and prove? | `estimate` |
//! | what do comparisons need to know of it? | `study` |

mod ask;
mod aws;
mod error;
mod estimate;
mod file;
mod flags;
mod found;
mod key;
mod load;
#[cfg(test)]
mod manual;
mod plan;
mod presets;
mod renewal;
mod resolve;
mod schema;
mod secrets;
mod spec;
mod starting;
mod study;
mod target;
mod value;
mod warm;

pub use aws::{Outgoing, Signing};
pub use error::{Error, FileError, Mistakes};
pub use estimate::{CellEstimate, Estimate};
pub use file::PriceLookup;
pub use flags::{ArrivalFlag, CacheFlag, ConnectionFlag, RunFlags};
pub use found::{FoundTarget, with_found};
pub use load::{Arrival, Load, Pattern, Stop, Timeouts};
pub use plan::{Blocks, Budget, Cell, Plan, Precision, Protocol, Workload};
pub use presets::{Preset, Reasoning, ReasoningWords, preset, presets};
pub use renewal::{Life, Renewal};
pub use schema::schema;
pub use secrets::Secrets;
pub use starting::{found_in, starting_plan};
pub use target::{Connection, Declared, Target};
pub use value::{Counts, Dollars, Rates, Span};
