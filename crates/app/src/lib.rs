//! What each command does: run, report, simulate, demo, self-check.
