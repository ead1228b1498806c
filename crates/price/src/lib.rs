//! Exact money: the price of one target and the cost of a usage.
