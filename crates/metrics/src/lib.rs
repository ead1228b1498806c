//! Every figure, defined once: sample to values, summary of a cell, goodput, gates, validity.
