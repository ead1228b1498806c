//! Pairs of targets: what is declared, what is explored.

use inferometer_metrics::{Comparison, Standing, Statistic};

use crate::number::{count, probability};

use super::names::title;
use super::story::Story;
use super::table::{Cell, Column, Row, Table, Tone, Unit, draw_bars_around};

/// Rows of one table: a plan of ten targets has 45 pairs a figure.
const ROWS_MAX: usize = 300;

/// The comparisons of one family, or the exploratory ones.
pub(super) struct Family {
    /// The profile; `None` is exploratory.
    pub(super) profile: Option<String>,
    pub(super) tables: Vec<Table>,
    /// Rows beyond the bound.
    pub(super) left_out: usize,
}

/// The declared families in the order of the summary, then what is exploratory.
pub(super) fn families(story: &Story<'_>) -> Vec<Family> {
    let mut profiles: Vec<Option<&String>> = Vec::new();
    for comparison in &story.summary.comparisons {
        let profile = comparison.family.as_ref();
        if !profiles.contains(&profile) {
            profiles.push(profile);
        }
    }
    profiles.sort_by_key(Option::is_none);
    profiles.into_iter().enumerate().map(|(at, profile)| family(story, at, profile)).collect()
}

fn family(story: &Story<'_>, at: usize, profile: Option<&String>) -> Family {
    let all = story.summary.comparisons.iter().enumerate();
    let members: Vec<(usize, &Comparison)> =
        all.filter(|(_, comparison)| comparison.family.as_ref() == profile).collect();
    let shown = members.get(..ROWS_MAX).unwrap_or(&members);
    // Bars share a scale, so that one table holds one unit.
    let mut units: Vec<&str> = Vec::new();
    for (_, comparison) in shown {
        if !units.contains(&comparison.unit.as_str()) {
            units.push(&comparison.unit);
        }
    }
    let tables = units.iter().map(|unit| table(at, profile, unit, shown)).collect();
    Family { profile: profile.cloned(), tables, left_out: members.len() - shown.len() }
}

fn table(at: usize, profile: Option<&String>, unit: &str, members: &[(usize, &Comparison)]) -> Table {
    let of = match unit {
        "ratio" => "ratios, first ÷ second",
        _ => "differences, first − second",
    };
    let name = profile.map_or("Exploratory".to_owned(), |profile| format!("Declared family of {profile}"));
    let rows = members.iter().filter(|(_, comparison)| comparison.unit == unit);
    let columns = vec![
        Column::text("Figure"),
        Column::number(
            "First against second",
            if unit == "ratio" { "first ÷ second" } else { "first − second" },
        ),
        Column::text("The first is"),
        Column::number("p", "uncorrected"),
        Column::number("p", "Holm"),
        Column::number("n", "pairs"),
    ];
    let mut table = Table {
        id: format!("comparison-{at}-{}", if unit.is_empty() { "plain" } else { unit }),
        caption: format!("{name}: {of}"),
        corner: "First, second".to_owned(),
        columns,
        rows: rows.map(|(index, comparison)| row(*index, comparison)).collect(),
    };
    let zero = if unit == "ratio" { 1.0 } else { 0.0 };
    draw_bars_around(&mut table, 1, Unit::of(unit), Some(zero));
    table
}

fn row(index: usize, comparison: &Comparison) -> Row {
    let at = format!("/comparisons/{index}");
    let p = |p: Option<inferometer_metrics::Num>, field: &str| {
        p.map_or_else(Cell::none, |p| {
            Cell::text(probability(p.get())).standing(&format!("{at}/{field}"), Some(p))
        })
    };
    let cells = vec![
        Cell::text(figure(comparison)).with_detail(format!("{}, {}", comparison.workload, comparison.load)),
        Cell::rate(&format!("{at}/value"), &comparison.value, Unit::of(&comparison.unit)),
        verdict(comparison),
        p(comparison.p, "p"),
        p(comparison.p_holm, "p_holm"),
        Cell::text(count(comparison.n)),
    ];
    Row { head: format!("{}, {}", comparison.a, comparison.b), cells, ..Row::default() }
}

fn figure(comparison: &Comparison) -> String {
    let title = title(&comparison.metric);
    match comparison.statistic {
        Statistic::Typical => format!("{title}, typical"),
        Statistic::P95 => format!("{title} p95"),
        Statistic::P99 => format!("{title} p99"),
        Statistic::Share | Statistic::CostPerUseful | Statistic::Rate => title,
    }
}

fn verdict(comparison: &Comparison) -> Cell {
    let cell = match comparison.verdict {
        Standing::Better => Cell::toned(Tone::Good, "▲ better"),
        Standing::Worse => Cell::toned(Tone::Bad, "▼ worse"),
        Standing::Equivalent => Cell::text("= equivalent"),
        Standing::NotDistinguishable => Cell::toned(Tone::Faint, "? not distinguishable"),
    };
    let needed =
        comparison.needed_n.map(|[least, most]| format!("needs {}–{} pairs", count(least), count(most)));
    let notes = comparison.notes.iter().cloned();
    cell.with_detail(needed.into_iter().chain(notes).collect::<Vec<_>>().join("; "))
}
