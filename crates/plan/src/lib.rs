//! What the command line means: targets, workloads, loads, limits, gates.
