//! Raw servers against the client: over in-memory pipes in virtual time, over sockets where the kernel matters.

mod compressed;
mod connecting;
mod http2;
mod pool;
mod proxies;
mod ready;
mod stamps;
mod support;
mod trust;
