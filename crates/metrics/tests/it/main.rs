//! Figures of hand-made cells: every one can be checked with a pencil.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so")]

mod cases;
mod cell;
mod checks;
mod client;
mod compare;
mod decide;
mod gates;
mod money;
mod pair_gates;
mod pool;
mod properties;
mod steady;
