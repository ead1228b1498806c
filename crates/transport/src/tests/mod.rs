//! Raw servers against the client: over in-memory pipes in virtual time, over sockets where the kernel matters.

mod pool;
mod support;
