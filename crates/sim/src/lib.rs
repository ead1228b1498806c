//! Simulated providers whose truth is known: the server side of every end-to-end test, bench and demonstration.
//!
//! HTTP/1.1 by hand over TCP or TLS, so that literal bytes, cuts, resets and delays are under control. A
//! [`Config`] names models with a timing law; [`Server::start`] serves them on a thread of its own; [`Truth`] says
//! what was really done, on the clock that the client reads too.
//!
//! Invariant: nothing here comes from `wire`, `transport` or `load`: a client checked against its own encoder would
//! only be shown to agree with itself.

mod answers;
mod ask;
mod beat;
mod book;
mod chunk;
mod cold;
pub mod config;
mod connection;
mod dialect;
pub mod distribution;
mod http;
mod limit;
mod model;
mod play;
mod price;
mod random;
mod rehearsal;
mod render;
mod reply;
pub mod script;
mod server;
mod slots;
mod speech;
mod stream;
mod tls;
mod transform;
pub mod truth;
pub mod units;
mod vectors;

pub use answers::Tasks;
pub use cold::Cold;
pub use config::{Config, ConfigError, Model};
pub use distribution::{Count, Distribution};
pub use limit::Limit;
pub use price::Price;
pub use rehearsal::{Rehearsal, Write, rehearse};
pub use script::scenarios;
pub use server::{Running, Server};
pub use slots::Scale;
pub use truth::{Record, Truth};
