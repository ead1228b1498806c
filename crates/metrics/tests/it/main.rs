//! Figures of hand-made cells: every one can be checked with a pencil.

mod cases;
mod cell;
mod client;
mod gates;
mod money;
mod properties;
mod steady;
