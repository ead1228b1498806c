//! Recorded runs as a terminal table, Markdown, JSON and CSV.
