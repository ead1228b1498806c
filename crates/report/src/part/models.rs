//! Providers against models: who is quick on what, how far apart they are, and who is neither dearer nor slower.

use std::collections::BTreeSet;

use inferometer_metrics::{CellSummary, Decision, Lever, Num, Study, Summary, name};

use crate::RunView;
use crate::number::{NONE, digits, dollars, time};
use crate::page::{Block, Column, Fact, Table, Text};

use super::matrix::by_place;

/// The table of providers and models for each workload and load, then levers and the front of cost and speed.
pub(super) fn blocks(run: &RunView<'_>) -> Vec<Block> {
    let study: Study = serde_json::from_value(run.manifest.study.clone()).unwrap_or_default();
    let tables = by_place(&run.summary.cells).into_iter().filter_map(|(place, cells)| {
        let table = table(&study, &cells)?;
        Some([
            Block::Heading(format!("providers and models · {place} · TTFT p95 (rank)")),
            Block::Table(table),
        ])
    });
    let mut blocks: Vec<Block> = tables.flatten().collect();
    let facts = [levers(&run.summary.levers), front(run.summary)];
    if facts.iter().any(|fact| !fact.lines.is_empty()) {
        if blocks.is_empty() {
            blocks.push(Block::Heading("levers".to_owned()));
        }
        blocks.push(Block::Facts(facts.into()));
    }
    blocks
}

/// One provider's target for one model.
struct Spot<'a> {
    provider: &'a str,
    model: &'a str,
    /// TTFT p95 over all attempts, ms.
    p95: Option<Num>,
}

/// A row per provider, a column per model; nothing where either is one only.
fn table(study: &Study, cells: &[&CellSummary]) -> Option<Table> {
    let spot = |cell: &&CellSummary| {
        let info = study.targets.iter().find(|info| info.name == cell.target)?;
        let all = cell.metrics.get(name::TTFT).and_then(|ttft| ttft.all_attempts.as_deref());
        let p95 = all.and_then(|all| all.p95.as_ref()?.value).filter(|_| cell.client.valid);
        Some(Spot { provider: &info.provider, model: &info.model, p95 })
    };
    let spots: Vec<Spot<'_>> = cells.iter().filter_map(spot).collect();
    let providers: BTreeSet<&str> = spots.iter().map(|spot| spot.provider).collect();
    let models: BTreeSet<&str> = spots.iter().map(|spot| spot.model).collect();
    if providers.len() < 2 || models.len() < 2 {
        return None;
    }
    let mut columns = vec![Column::left("provider")];
    columns.extend(models.iter().map(|model| Column::right(model)));
    columns.extend(["worst", "range"].map(Column::right));
    let rows = providers.iter().map(|provider| row(&spots, provider, &models)).collect();
    Some(Table { columns, rows })
}

fn row(spots: &[Spot<'_>], provider: &str, models: &BTreeSet<&str>) -> Vec<Text> {
    let own = |model: &str| spots.iter().find(|spot| spot.provider == provider && spot.model == model);
    let cell = |model: &&str| {
        let model = *model;
        let Some(p95) = own(model).and_then(|spot| spot.p95) else { return Text::from(NONE) };
        let of_model = spots.iter().filter(|spot| spot.model == model);
        let rank = 1 + of_model.filter(|other| other.p95.is_some_and(|other| other < p95)).count();
        Text::from(format!("{} ({rank})", time(p95)))
    };
    let times = || spots.iter().filter(|spot| spot.provider == provider).filter_map(|spot| spot.p95);
    let worst = times().map(Num::get).reduce(f64::max).and_then(Num::new);
    let best = times().map(Num::get).reduce(f64::min).and_then(Num::new);
    let range = worst.zip(best).filter(|_| times().count() > 1);
    let range = range.map_or(NONE.to_owned(), |(worst, best)| format!("{}–{}", time(best), time(worst)));
    let mut cells = vec![Text::from(provider)];
    cells.extend(models.iter().map(cell));
    cells.push(Text::from(worst.map_or(NONE.to_owned(), time)));
    cells.push(Text::from(range));
    cells
}

fn levers(levers: &[Lever]) -> Fact {
    let line = |lever: &Lever| {
        let figure =
            if lever.figure == name::COST_PER_USEFUL { "cost per useful answer" } else { "TTFT p50" };
        let times = |ratio: Option<Num>| ratio.map(|ratio| format!("×\u{a0}{}", digits(ratio.get())));
        let within = times(lever.within_model)
            .map(|ratio| format!("{ratio} by another provider of the model (median)"));
        let across =
            times(lever.across_models).map(|ratio| format!("{ratio} by another model at its best provider"));
        let said = super::joined([within, across].into_iter().chain(lever.notes.iter().cloned().map(Some)))?;
        Some(Text::from(format!("{figure} ({} {}): {said}", lever.workload, lever.load)))
    };
    Fact { label: "levers", lines: levers.iter().filter_map(line).collect() }
}

/// Who is on the front, once for each workload and load.
fn front(summary: &Summary) -> Fact {
    let mut places: Vec<(&str, &str)> = Vec::new();
    let mut lines = Vec::new();
    for decision in &summary.profiles {
        let place = (decision.workload.as_str(), decision.load.as_str());
        if !places.contains(&place) {
            places.push(place);
            lines.extend(front_of(decision));
        }
    }
    Fact { label: "Pareto", lines }
}

fn front_of(decision: &Decision) -> Option<Text> {
    let mut on: Vec<_> = decision.candidates.iter().filter(|candidate| candidate.is_pareto).collect();
    on.sort_by(|a, b| {
        a.cost_per_useful_usd
            .value
            .partial_cmp(&b.cost_per_useful_usd.value)
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let named = on.iter().filter_map(|candidate| {
        let cost = dollars(candidate.cost_per_useful_usd.value?);
        let p95 = time(candidate.ttft_p95_ms.as_ref()?.value?);
        Some(format!("{} ({cost}, {p95})", candidate.target))
    });
    let named: Vec<String> = named.collect();
    let (workload, load) = (&decision.workload, &decision.load);
    (!named.is_empty()).then(|| {
        Text::from(format!(
            "{}: none is both cheaper per useful answer and quicker by TTFT p95 ({workload} {load})",
            named.join(", ")
        ))
    })
}
