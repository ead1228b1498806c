//! Quantiles with intervals, proportions, and sequential and trend tests: pure numbers, which cannot panic.
