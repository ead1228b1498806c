//! Pairs of targets, figure by figure.

use inferometer_metrics::{Comparison, Num, Standing, Statistic, Summary, name};

use crate::number::{NONE, count, digits, percent};
use crate::page::{Block, Column, Fact, Style, Table, Text};

/// So many rows are shown; all of them stand in `summary.json`.
const MAX_ROWS: usize = 40;

/// A side that nothing bounds.
const OPEN: &str = "open";

/// The declared comparisons, and where there is room the exploratory ones.
pub(super) fn blocks(summary: &Summary, is_brief: bool) -> Vec<Block> {
    let all = &summary.comparisons;
    let has_declared = all.iter().any(|comparison| comparison.family.is_some());
    // On a screen what was declared is enough; where nothing was, what differs.
    let is_shown = |c: &&Comparison| c.family.is_some() || !is_brief || (!has_declared && is_told(c));
    let mut chosen: Vec<&Comparison> = all.iter().filter(is_shown).collect();
    chosen.sort_by_key(|comparison| comparison.family.is_none());
    chosen.truncate(MAX_ROWS);
    let mut places: Vec<(String, Vec<Vec<Text>>)> = Vec::new();
    for comparison in &chosen {
        let place = format!("{} · {}", comparison.workload, comparison.load);
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, rows)) => rows.push(row(comparison)),
            None => places.push((place, vec![row(comparison)])),
        }
    }
    let table = |(place, rows)| {
        [Block::Heading(format!("comparisons · {place}")), Block::Table(Table { columns: columns(), rows })]
    };
    let left = all.len() - chosen.len();
    let more = (left > 0).then(|| format!("{} more comparisons in summary.json", count(left as u64)));
    let note = "p is Holm's within the declared family; (exploratory) ones have none and prove nothing by themselves";
    let note = (!chosen.is_empty()).then(|| note.to_owned());
    let lines: Vec<Text> = [note, more].into_iter().flatten().chain(notes(&chosen)).map(Text::from).collect();
    let mut blocks: Vec<Block> = places.into_iter().flat_map(table).collect();
    if !lines.is_empty() {
        blocks.push(Block::Facts(vec![Fact { label: "reading", lines }]));
    }
    blocks
}

/// What must be known beside the pairs, each note once with the pairs that it is about.
fn notes(shown: &[&Comparison]) -> Vec<String> {
    let mut said: Vec<(&str, Vec<String>)> = Vec::new();
    for comparison in shown {
        let pair = format!("{} against {}", comparison.a, comparison.b);
        for note in &comparison.notes {
            match said.iter_mut().find(|(known, _)| known == note) {
                Some((_, pairs)) if pairs.contains(&pair) => {}
                Some((_, pairs)) => pairs.push(pair.clone()),
                None => said.push((note, vec![pair.clone()])),
            }
        }
    }
    said.into_iter().map(|(note, pairs)| format!("{}: {note}", pairs.join(", "))).collect()
}

fn is_told(comparison: &Comparison) -> bool {
    matches!(comparison.verdict, Standing::Better | Standing::Worse)
}

fn columns() -> Vec<Column> {
    let mut columns = vec![Column::left("figure"), Column::left("of"), Column::left("against")];
    columns.extend([
        Column::right("difference"),
        Column::right("p"),
        Column::right("n"),
        Column::left("verdict"),
    ]);
    columns
}

fn row(comparison: &Comparison) -> Vec<Text> {
    let p = comparison.p_holm.or(comparison.p).map_or(NONE.to_owned(), |p| digits(p.get()));
    vec![
        Text::from(figure(comparison)),
        Text::from(&comparison.a),
        Text::from(&comparison.b),
        Text::from(difference(comparison)),
        Text::from(p),
        Text::from(count(comparison.n)),
        verdict(comparison),
    ]
}

fn figure(comparison: &Comparison) -> String {
    let known = [
        (name::TTFT, "TTFT"),
        (name::LATENCY, "latency"),
        (name::ERROR_RATE, "errors"),
        (name::USEFUL_RATE, "useful"),
        (name::COST_PER_USEFUL, "cost per useful"),
        (name::TOKENS_RATE, "tokens/s"),
        (name::USEFUL_TOKENS_RATE, "useful tokens/s"),
    ];
    let found = known.iter().find(|(name, _)| *name == comparison.metric);
    let metric = found.map_or(comparison.metric.as_str(), |(_, short)| short);
    let statistic = match comparison.statistic {
        Statistic::Typical => "typical ",
        Statistic::P95 => return with_family(format!("{metric}\u{a0}p95"), comparison),
        Statistic::P99 => return with_family(format!("{metric}\u{a0}p99"), comparison),
        Statistic::Share | Statistic::CostPerUseful | Statistic::Rate => "",
    };
    with_family(format!("{statistic}{metric}"), comparison)
}

fn with_family(figure: String, comparison: &Comparison) -> String {
    if comparison.family.is_some() { figure } else { format!("{figure} (exploratory)") }
}

/// a against b in its own unit: a ratio, ms, or points.
fn difference(comparison: &Comparison) -> String {
    let value = &comparison.value;
    let Some(shown) = value.value else { return NONE.to_owned() };
    // A dash between two negative numbers cannot be read.
    let interval = |scale: f64| {
        let bound = |bound: Option<Num>| bound.map_or(OPEN.to_owned(), |bound| digits(bound.get() * scale));
        format!("[{}, {}]", bound(value.lo), bound(value.hi))
    };
    match comparison.unit.as_str() {
        "ratio" => format!("×\u{a0}{} {}", digits(shown.get()), interval(1.0)),
        "share" => format!("{} {}", signed(percent(shown.get()), shown.get()), interval(100.0)),
        unit => format!("{}\u{a0}{unit} {}", signed(digits(shown.get()), shown.get()), interval(1.0)),
    }
}

fn signed(text: String, value: f64) -> String {
    if value > 0.0 { format!("+{text}") } else { text }
}

/// The verdict on the first of the pair, in words.
pub(super) fn verdict(comparison: &Comparison) -> Text {
    match comparison.verdict {
        Standing::Better => Text { style: Style::Strong, text: "better".to_owned() },
        Standing::Worse => Text { style: Style::Strong, text: "worse".to_owned() },
        Standing::Equivalent => "equivalent".into(),
        Standing::NotDistinguishable => {
            let needed = comparison
                .needed_n
                .map(|[from, to]| format!(" (n\u{a0}=\u{a0}{}–{} would tell)", count(from), count(to)));
            Text::from(format!("not distinguishable{}", needed.unwrap_or_default()))
        }
    }
}
