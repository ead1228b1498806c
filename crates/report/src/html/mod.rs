//! `report.html`: one self-contained page for people who choose.
//!
//! The order is that of a reader in a hurry: the decision in plain words with its evidence, the matrix of targets against
//! what matters, provider against model, settings to copy; then plots where people would rather look, comparisons,
//! and how it all was measured.
//!
//! Each section is a module that turns the `story::Story` of a run into a view (tables, cards, plots), and a
//! template that gives it a form. Plots are drawn in the reader's browser by Vega-Lite out of specifications made here
//! (`plot`); everything else is readable without a script, and each plot's figures stand below it as a table.
//!
//! Invariants: no figure is made here; every number carries its place in `summary.json` (`data-at`); every text of a
//! server is made harmless once, in `story`, and escaped by the templates; the page asks for nothing (its policy allows
//! no request, and of scripts only ours by their hashes); its size is bounded by named limits, under 2 MiB.

mod assets;
mod comparisons;
mod decision;
mod dots;
mod episodes;
mod json;
mod matrix;
mod methods;
mod models;
mod names;
mod page;
mod plot;
mod settings;
mod story;
mod streams;
mod table;
mod troubles;

pub use dots::Dots;

use crate::RunView;

/// The whole page of a run, with the samples that `dots` kept.
pub fn page(run: &RunView<'_>, dots: &Dots) -> String {
    page::write(&story::Story::new(run, dots))
}
