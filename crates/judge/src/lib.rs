//! Is this answer worth having: validity checks on one finished answer.
