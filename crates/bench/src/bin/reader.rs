//! The bare reader.

fn main() {}
