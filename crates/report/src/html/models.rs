//! Provider against model: which lever is the longer one.

use inferometer_metrics::{CellSummary, Lever, Num};

use crate::number::{counted, digits};

use super::names::title;
use super::story::{Group, Story};
use super::table::{Cell, Column, Figure, Row, Table, Unit, draw_bars};

/// What is set provider against model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Ttft,
    Cost,
}

/// Two tables per group, where several models are served by several providers.
pub(super) fn tables(story: &Story<'_>, groups: &[Group]) -> Vec<Table> {
    let mut tables = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let panels = story.panels(group);
        let mut providers: Vec<&str> = Vec::new();
        for (_, cell) in story.cells(&group.cells) {
            let provider = story.provider(&cell.target);
            if !providers.contains(&provider) {
                providers.push(provider);
            }
        }
        if panels.len() > 1 && providers.len() > 1 && panels.len() < group.cells.len() {
            tables.extend([Of::Ttft, Of::Cost].map(|of| table(story, at, group, &panels, &providers, of)));
        }
    }
    tables
}

fn table(story: &Story<'_>, at: usize, group: &Group, panels: &[Group], providers: &[&str], of: Of) -> Table {
    let (id, what, unit) = match of {
        Of::Ttft => ("ttft", "TTFT p95, all attempts", Unit::Ms),
        Of::Cost => ("cost", "cost per 1,000 useful answers", Unit::UsdPerThousand),
    };
    let columns = panels.iter().map(|panel| Column::number(&panel.title, ""));
    let ends = [Column::number("Worst", "over its models"), Column::number("Range", "worst ÷ best")];
    let mut table = Table {
        id: format!("models-{id}-{at}"),
        caption: format!("{}: {what}, with each model's ranks", group.title),
        corner: "Provider".to_owned(),
        columns: columns.chain(ends).collect(),
        rows: providers.iter().map(|provider| row(story, panels, provider, of)).collect(),
    };
    for column in 0..panels.len() {
        draw_bars(&mut table, column, unit);
    }
    table
}

/// The figure of one cell, and where it stands.
fn cell_of(index: usize, cell: &CellSummary, of: Of) -> Cell {
    match of {
        Of::Ttft => super::plot::ttft_p95_cell(index, cell),
        Of::Cost => Cell::rate(
            &format!("/cells/{index}/cost/per_useful_usd"),
            &cell.cost.per_useful_usd,
            Unit::UsdPerThousand,
        ),
    }
}

fn row(story: &Story<'_>, panels: &[Group], provider: &str, of: Of) -> Row {
    let mut figures: Vec<Figure> = Vec::new();
    let mut cells: Vec<Cell> = Vec::new();
    let mut color = 0;
    for panel in panels {
        let all: Vec<(&str, Cell)> = story
            .cells(&panel.cells)
            .map(|(member, cell)| (cell.target.as_str(), cell_of(member.index, cell, of)))
            .collect();
        let own = all.iter().find(|(target, _)| story.provider(target) == provider);
        let Some((target, own)) = own else {
            cells.push(Cell::none());
            continue;
        };
        color = story.color(target);
        let others: Vec<&Figure> = all.iter().filter_map(|(_, cell)| cell.figure.as_ref()).collect();
        let rank = own.figure.as_ref().and_then(|figure| rank(figure, &others));
        figures.extend(own.figure.clone());
        let detail = [own.detail.clone(), rank.unwrap_or_default()];
        let detail: Vec<String> = detail.into_iter().filter(|part| !part.is_empty()).collect();
        cells.push(Cell { detail: detail.join(" · "), ..own.clone() });
    }
    let unit = if of == Of::Ttft { Unit::Ms } else { Unit::UsdPerThousand };
    cells.extend(extremes(&figures, unit));
    Row { head: provider.to_owned(), detail: String::new(), color, cells }
}

/// The ranks that a figure may have among its model's: those that its interval keeps apart are surely before or behind
/// it, the others may be either.
fn rank(own: &Figure, all: &[&Figure]) -> Option<String> {
    own.value?;
    let is_under = |a: Option<Num>, b: Option<Num>| matches!((a, b), (Some(a), Some(b)) if a.get() < b.get());
    let before = all.iter().filter(|other| is_under(other.hi, own.lo)).count();
    let behind = all.iter().filter(|other| is_under(own.hi, other.lo)).count();
    let (best, worst) = (before + 1, all.len() - behind);
    let of = all.len();
    Some(if best >= worst { format!("#{best} of {of}") } else { format!("#{best}–{worst} of {of}") })
}

fn extremes(figures: &[Figure], unit: Unit) -> [Cell; 2] {
    let values = || figures.iter().filter_map(|figure| figure.value);
    let largest = values().max_by(|a, b| a.get().total_cmp(&b.get()));
    let smallest = values().min_by(|a, b| a.get().total_cmp(&b.get()));
    let (Some(largest), Some(smallest)) = (largest, smallest) else { return [Cell::none(), Cell::none()] };
    let ratio = largest.get() / smallest.get();
    let range =
        if ratio.is_finite() { Cell::text(format!("×\u{a0}{}", digits(ratio))) } else { Cell::none() };
    [Cell::text(unit.shown(largest)), range]
}

/// The levers as sentences.
pub(super) fn levers(story: &Story<'_>) -> Vec<String> {
    story.summary.levers.iter().filter_map(lever).collect()
}

fn lever(lever: &Lever) -> Option<String> {
    let within = lever.within_model.map(|ratio| {
        format!(
            "choosing the provider within a model changes it ×\u{a0}{} (median of {})",
            digits(ratio.get()),
            counted(lever.models.len() as u64, "model", "models")
        )
    });
    let across = lever.across_models.map(|ratio| {
        format!("choosing the model, each at its best provider, ×\u{a0}{}", digits(ratio.get()))
    });
    let said: Vec<String> = [within, across].into_iter().flatten().collect();
    let on = format!("{}, {}", lever.workload, lever.load);
    let told = || std::iter::once(said.join("; ")).chain(lever.notes.iter().cloned()).collect::<Vec<_>>();
    (!said.is_empty()).then(|| format!("{} ({on}): {}.", title(&lever.figure), told().join(" · ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, lo: f64, hi: f64) -> Figure {
        Figure { at: String::new(), value: Num::new(value), lo: Num::new(lo), hi: Num::new(hi) }
    }

    #[test]
    fn a_rank_is_a_range_where_intervals_overlap() {
        let all =
            [figure(1.0, 0.8, 1.2), figure(1.1, 0.9, 1.4), figure(3.0, 2.0, 4.0), figure(2.0, 1.5, f64::NAN)];
        let others: Vec<&Figure> = all.iter().collect();
        let ranks: Vec<String> = all.iter().filter_map(|own| rank(own, &others)).collect();
        assert_eq!(ranks, ["#1–2 of 4", "#1–2 of 4", "#3–4 of 4", "#3–4 of 4"]);
        assert_eq!(rank(&figure(f64::NAN, 1.0, 2.0), &others), None);
    }
}
