//! Simulated providers whose truth is known.
