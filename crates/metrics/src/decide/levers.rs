//! The provider's lever against the model's: how far the providers of a model are apart, beside how far models are.

use std::collections::BTreeMap;

use crate::kept::Kept;
use crate::names::name;
use crate::{CellSummary, Num, Study};

use super::words_small::listed;
use super::{Lever, Spread, field};

/// A figure that is looked at: its name in summaries, and how to read it.
type Read = (&'static str, fn(&Kept<'_>) -> Option<Num>);

const FIGURES: [Read; 2] = [
    (name::COST_PER_USEFUL, |cell| cell.summary.cost.per_useful_usd.value),
    (name::TTFT, |cell| cell.summary.metrics.get(name::TTFT)?.p50.as_ref()?.value),
];

/// By workload, load and figure. Only where a model has two providers or there are two models. A figure that is not
/// valid, and a cost that is only a lower bound, is no end of any spread.
pub(crate) fn levers(study: &Study, cells: &[Kept<'_>]) -> Vec<Lever> {
    let mut places: Vec<(&str, &str)> = Vec::new();
    for cell in cells.iter().filter(|cell| field::is_ordinary(cell.summary.arrival)) {
        let place = (cell.summary.workload.as_str(), cell.summary.load.as_str());
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let figures = |(workload, load)| {
        FIGURES.into_iter().filter_map(move |figure| lever(study, cells, workload, load, figure))
    };
    places.into_iter().flat_map(figures).collect()
}

fn lever(
    study: &Study,
    cells: &[Kept<'_>],
    workload: &str,
    load: &str,
    (figure, read): Read,
) -> Option<Lever> {
    let mut by_model: BTreeMap<&str, Vec<(&str, f64)>> = BTreeMap::new();
    let (mut not_valid, mut bounded) = (Vec::new(), Vec::new());
    for cell in cells.iter().filter(|c| c.summary.workload == workload && c.summary.load == load) {
        let info = study.targets.iter().find(|info| info.name == cell.summary.target);
        let value = read(cell).and_then(Num::finite).filter(|value| *value > 0.0);
        if let Some((info, value)) = info.filter(|info| !info.model.is_empty()).zip(value) {
            match unusable(cell, figure) {
                Some(Unusable::NotValid) => not_valid.push(cell.summary),
                Some(Unusable::Bound) => bounded.push(cell.summary),
                None => by_model.entry(&info.model).or_default().push((&cell.summary.target, value)),
            }
        }
    }
    let mut models = Vec::new();
    let mut best = Vec::new();
    for (model, mut targets) in by_model {
        targets.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (Some(lowest), Some(highest)) = (targets.first(), targets.last()) else { continue };
        let named = |(target, value): (&str, f64)| Some((target.to_owned(), Num::new(value)?));
        best.push(lowest.1);
        models.push(Spread {
            model: model.to_owned(),
            lowest: named(*lowest),
            highest: named(*highest),
            ratio: if targets.len() > 1 { Num::new(highest.1 / lowest.1) } else { None },
        });
    }
    let within: Vec<f64> = models.iter().filter_map(|spread| spread.ratio.map(Num::get)).collect();
    best.sort_by(f64::total_cmp);
    let across = best.first().zip(best.last()).filter(|_| best.len() > 1).map(|(low, high)| high / low);
    let found = Lever {
        workload: workload.to_owned(),
        load: load.to_owned(),
        figure: figure.to_owned(),
        within_model: median(within).and_then(Num::new),
        across_models: across.and_then(Num::new),
        models,
        notes: notes(&not_valid, &bounded),
    };
    (found.within_model.is_some() || found.across_models.is_some()).then_some(found)
}

/// Why a cell's figure cannot be an end of a spread, though it has one.
enum Unusable {
    /// The client was too slow.
    NotValid,
    /// A cost that is only a lower bound.
    Bound,
}

fn unusable(cell: &Kept<'_>, figure: &str) -> Option<Unusable> {
    if !cell.summary.client.valid {
        return Some(Unusable::NotValid);
    }
    (figure == name::COST_PER_USEFUL && cell.summary.cost.lower_bound).then_some(Unusable::Bound)
}

/// Who is left out, a sentence for each reason.
fn notes(not_valid: &[&CellSummary], bounded: &[&CellSummary]) -> Vec<String> {
    let names = |cells: &[&CellSummary]| {
        listed(&cells.iter().map(|cell| cell.target.as_str()).collect::<Vec<_>>(), "and")
    };
    let unknown: Vec<String> =
        bounded.iter().map(|cell| format!("{} of {}", cell.cost.unknown, cell.cost.asked())).collect();
    let unknown = listed(&unknown.iter().map(String::as_str).collect::<Vec<_>>(), "and");
    let are_not_valid = match not_valid {
        [] => None,
        [_] => Some("its figures are not valid".to_owned()),
        _ => Some("their figures are not valid".to_owned()),
    };
    let are_bounds = match bounded {
        [] => None,
        [_] => Some(format!("its cost is a lower bound ({unknown} attempts of unknown cost)")),
        _ => Some(format!("their costs are lower bounds ({unknown} attempts of unknown cost)")),
    };
    let said = [(not_valid, are_not_valid), (bounded, are_bounds)];
    said.into_iter().filter_map(|(cells, why)| Some(format!("without {}: {}", names(cells), why?))).collect()
}

/// The mean of the two middle ones where their number is even.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}
