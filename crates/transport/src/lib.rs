//! Sockets with a stamp on every phase: DNS, TCP, TLS, HTTP/1.1 and 2, pools.
//!
//! A [`Target`] is where to ask and how, prepared once and shared between threads. A [`Client`] belongs to one shard:
//! it opens connections through a [`Connect`] (sockets in earnest, in-memory pipes in tests), keeps idle ones, and
//! sends a [`Request`]. What comes back is an [`Exchange`], whose [`Frame`]s each carry the stamp of the socket read
//! that delivered their last byte. A [`Trace`] holds the phases and outlives a send that was given up.
//!
//! How a stamp is made: a wrapper stands round the socket, below TLS and decompression. On HTTP/1.1 the request's own
//! task reads, and takes each read apart before the next, so that a frame's stamp is exact. On HTTP/2, which hyper speaks,
//! many streams share the socket and a frame's stamp is a bound: [`Exchange::stamp_bound`].

mod client;
mod connect;
mod error;
mod exchange;
mod eyeballs;
mod http1;
mod http2;
mod inflate;
mod limit;
mod open;
mod options;
mod payload;
mod proxy;
mod stamped;
mod stream;
mod target;
#[cfg(test)]
mod tests;
mod tls;
mod trace;

pub use client::{Client, Request};
pub use connect::{Connect, Dial, Pipe, Resolve, Sockets, SystemResolver, Tcp};
pub use error::{Error, Kind};
pub use exchange::{Exchange, Frame};
pub use limit::{LimitError, raise_file_limit};
pub use options::{Connections, Environment, HttpVersion, Options};
pub use target::{Origin, Target};
pub use trace::Trace;
