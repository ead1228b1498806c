//! Readers of what other tools recorded. An imported sample says no more than its source did: what is not there stays
//! absent, and its flags say where it came from.

mod aiperf;
mod line;

pub use aiperf::AiperfExport;
