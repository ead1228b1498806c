//! `docs/figures.md`: every figure, its unit, and its names.

use std::collections::BTreeSet;

use inferometer_metrics::{Arrival, CellAccumulator, CellContext, Gate, Objectives, name};
use inferometer_record::Sample;
use syn::{Expr, Item, Lit};

use crate::read;
use crate::types::items;

/// One section of `docs/figures.md`: `### name`, then `unit · in gates \`a\`, \`b\` · in objectives \`a\``.
struct Figure {
    name: String,
    unit: String,
    gates: Vec<String>,
    objectives: Vec<String>,
}

fn figures(document: &str) -> Vec<Figure> {
    let sections = document.split("\n### ").skip(1);
    let figure = |section: &str| {
        let mut lines = section.lines().filter(|line| !line.is_empty());
        let name = lines.next().unwrap_or_default().trim_matches('`').to_string();
        let facts: Vec<&str> = lines.next().unwrap_or_default().split(" · ").collect();
        let named = |lead: &str| {
            let listed = facts.iter().find_map(|fact| fact.strip_prefix(lead)).unwrap_or_default();
            listed
                .split(", ")
                .filter(|name| !name.is_empty())
                .map(|name| name.trim_matches('`').to_string())
                .collect()
        };
        Figure {
            name,
            unit: facts.first().copied().unwrap_or_default().to_string(),
            gates: named("in gates "),
            objectives: named("in objectives "),
        }
    };
    sections.map(figure).collect()
}

/// Every name in `metrics::name`, out of its source.
fn names() -> BTreeSet<String> {
    let items = items("crates/metrics/src/names.rs");
    let inside = items.into_iter().find_map(|item| match item {
        Item::Mod(module) if module.ident == "name" => module.content.map(|(_, items)| items),
        _ => None,
    });
    let constants = inside.unwrap_or_default().into_iter().filter_map(|item| match item {
        Item::Const(constant) => match *constant.expr {
            Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    constants.collect()
}

/// The figure that a gate on `given` is about: a distribution by its p95, a single number by itself.
fn gated(given: &str) -> Option<&'static str> {
    let parsed = [format!("{given}_p95>1"), format!("{given}>1")]
        .into_iter()
        .find_map(|gate| gate.parse::<Gate>().ok());
    parsed.map(|gate| gate.metric())
}

#[test]
fn every_figure_is_shown() {
    let shown: Vec<String> =
        figures(&read("docs/figures.md")).into_iter().map(|figure| figure.name).collect();
    assert_eq!(shown.iter().cloned().collect::<BTreeSet<_>>(), names());
    assert_eq!(shown.len(), names().len(), "a figure is shown twice");
}

#[test]
fn every_name_in_gates_and_objectives_is_one() {
    for figure in figures(&read("docs/figures.md")) {
        let name = figure.name.as_str();
        for alias in &figure.gates {
            assert_eq!(gated(alias), Some(name), "{alias}");
        }
        assert_eq!(gated(name).is_some(), !figure.gates.is_empty(), "is {name} in gates?");
        for alias in &figure.objectives {
            let objectives: Objectives = format!("{alias}:1").parse().unwrap();
            assert!(objectives.limit(name).is_some(), "{alias}");
        }
        assert_eq!(
            format!("{name}:1").parse::<Objectives>().is_ok(),
            !figure.objectives.is_empty(),
            "{name}"
        );
    }
}

#[test]
fn every_unit_is_the_summary_s() {
    let shown = figures(&read("docs/figures.md"));
    let context = CellContext { arrival: Arrival::Open { asked_rate: Some(1.0) }, ..CellContext::default() };
    let mut cell = CellAccumulator::new(context);
    for attempt in 1..=2 {
        let sample = Sample { attempt, attempts: attempt, is_final: attempt == 2, ..Sample::default() };
        cell.push(&sample, None);
    }
    let summary = cell.finish();
    assert!(summary.metrics.contains_key(name::TTFT));
    for (name, metric) in &summary.metrics {
        let figure = shown.iter().find(|figure| figure.name == *name).unwrap();
        assert_eq!(figure.unit, metric.unit, "{name}");
    }
}
