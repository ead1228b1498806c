//! What is to be measured: targets, workloads, loads, and the protocol that joins them to cells.
//!
//! Arguments come in two steps, as in ripgrep: [`RunFlags`] is what was typed, [`Plan`] is what it means. A plan is
//! plain data that any later source (a file) can make as well; the runner never sees a flag. It serialises without a
//! key in it, for the run's manifest.

mod error;
mod flags;
mod load;
mod plan;
mod resolve;
mod secrets;
mod target;
mod value;

pub use error::Error;
pub use flags::{ArrivalFlag, CacheFlag, ConnectionFlag, RunFlags};
pub use load::{Arrival, Load, Pattern, Stop, Timeouts};
pub use plan::{Blocks, Budget, Cell, Plan, Precision, Protocol, Workload};
pub use secrets::Secrets;
pub use target::{Connection, Declared, Target};
pub use value::{Counts, Rates, Span};
