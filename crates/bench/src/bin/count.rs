//! Subjects of the instruction counts.

fn main() {}
