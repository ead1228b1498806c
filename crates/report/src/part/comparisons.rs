//! Pairs of targets, figure by figure.

use inferometer_metrics::{Comparison, Decision, Num, Standing, Statistic, Summary, name};

use crate::number::{NONE, count, counted, digits, percent, probability};
use crate::page::{Block, Column, Fact, Style, Table, Text};

use super::ELSEWHERE;

/// So many rows are shown; all of them stand in `summary.json`.
const MAX_ROWS: usize = 40;

/// So many rows are shown on a screen.
const MAX_ON_SCREEN: usize = 15;

/// So many rows of each declared family are shown on a screen where a decision says which.
const MAX_OF_FAMILY: usize = 2;

/// So many of the pairs that a note is about are named; on a screen the first.
const MAX_PAIRS: usize = 3;

/// So many notes are shown on a screen.
const MAX_NOTES: usize = 3;

/// A side that nothing bounds.
const OPEN: &str = "open";

/// The declared comparisons, and where there is room the exploratory ones.
pub(super) fn blocks(summary: &Summary, is_brief: bool) -> Vec<Block> {
    let all = &summary.comparisons;
    let chosen = if is_brief { top(summary) } else { first(all) };
    // A decision on the same screen says how many would tell.
    let is_decided = is_brief && summary.profiles.iter().any(|decision| !decision.chosen.is_empty());
    let row = |comparison: &Comparison| row(comparison, is_brief, is_decided);
    let mut places: Vec<(String, Vec<Vec<Text>>)> = Vec::new();
    for comparison in &chosen {
        let place = place(comparison, is_brief);
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, rows)) => rows.push(row(comparison)),
            None => places.push((place, vec![row(comparison)])),
        }
    }
    let table = |(place, rows)| {
        [
            Block::Heading(format!("comparisons · {place}")),
            Block::Table(Table { columns: columns(is_brief), rows }),
        ]
    };
    let left = all.len() - chosen.len();
    let more = (left > 0).then(|| format!("{} more comparisons in {ELSEWHERE}", count(left as u64)));
    let is_declared = chosen.iter().all(|comparison| comparison.family.is_some());
    let exploratory = "; (exploratory) ones have none and prove nothing by themselves";
    let exploratory = if is_declared { "" } else { exploratory };
    let note = (!chosen.is_empty()).then(|| format!("p is Holm's within the declared family{exploratory}"));
    let notes = notes(&chosen, is_brief);
    let lines: Vec<Text> = super::joined([note, more]).into_iter().chain(notes).map(Text::from).collect();
    let mut blocks: Vec<Block> = places.into_iter().flat_map(table).collect();
    if !lines.is_empty() {
        blocks.push(Block::Facts(vec![Fact { label: "reading", lines }]));
    }
    blocks
}

/// What was declared, then what is exploratory.
fn first(all: &[Comparison]) -> Vec<&Comparison> {
    let mut chosen: Vec<&Comparison> = all.iter().collect();
    chosen.sort_by_key(|comparison| comparison.family.is_none());
    chosen.truncate(MAX_ROWS);
    chosen
}

/// What a screen has room for: of each decision's family the chosen target against the next best. Where no decision
/// names one, the first of what was declared; where nothing was, what differs.
fn top(summary: &Summary) -> Vec<&Comparison> {
    let all = &summary.comparisons;
    let mut chosen: Vec<&Comparison> =
        summary.profiles.iter().flat_map(|decision| best(all, decision)).collect();
    if chosen.is_empty() {
        chosen = all.iter().filter(|comparison| comparison.family.is_some()).collect();
    }
    if chosen.is_empty() {
        chosen = all.iter().filter(|comparison| is_told(comparison)).collect();
    }
    chosen.truncate(MAX_ON_SCREEN);
    chosen
}

/// The first choice of a decision against the others, best first.
fn best<'a>(all: &'a [Comparison], decision: &Decision) -> Vec<&'a Comparison> {
    let Some(first) = decision.chosen.first() else { return Vec::new() };
    let is_own = |c: &&Comparison| {
        c.family.as_ref() == Some(&decision.profile)
            && (&c.workload, &c.load) == (&decision.workload, &decision.load)
    };
    let pairs = decision.candidates.iter().filter(|other| other.target != *first).flat_map(|other| {
        let is_pair = |c: &&Comparison| {
            (c.a == *first && c.b == other.target) || (c.b == *first && c.a == other.target)
        };
        all.iter().filter(is_own).filter(is_pair).collect::<Vec<_>>()
    });
    pairs.take(MAX_OF_FAMILY).collect()
}

/// Where the rows of one table are from. On a screen they are of one figure too: that leaves room for the verdict.
fn place(comparison: &Comparison, is_brief: bool) -> String {
    let place = format!("{} · {}", comparison.workload, comparison.load);
    if is_brief { format!("{place} · {}", figure(comparison)) } else { place }
}

/// What must be known beside the pairs, each note once with the pairs that it is about.
fn notes(shown: &[&Comparison], is_brief: bool) -> Vec<String> {
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
    let max = if is_brief { 1 } else { MAX_PAIRS };
    let line = |(note, pairs): (&str, Vec<String>)| {
        let more = pairs.len().saturating_sub(max);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}: {note}", pairs.get(..pairs.len().min(max)).unwrap_or_default().join(", "))
    };
    let mut lines: Vec<String> = said.into_iter().map(line).collect();
    let left = lines.len().saturating_sub(MAX_NOTES);
    if is_brief && left > 0 {
        lines.truncate(MAX_NOTES);
        lines.push(format!("{} more in {ELSEWHERE}", counted(left as u64, "note", "notes")));
    }
    lines
}

fn is_told(comparison: &Comparison) -> bool {
    matches!(comparison.verdict, Standing::Better | Standing::Worse)
}

/// The verdict stands beside its difference, so that a narrow page does not tear them apart. A column without a cell is
/// not drawn.
fn columns(is_brief: bool) -> Vec<Column> {
    let mut columns = vec![Column::left("of"), Column::left("against"), Column::right("difference")];
    columns.extend([Column::left("verdict"), Column::right("p"), Column::right("n")]);
    if !is_brief {
        columns.insert(0, Column::left("figure"));
    }
    columns
}

fn row(comparison: &Comparison, is_brief: bool, is_decided: bool) -> Vec<Text> {
    let p = comparison.p_holm.or(comparison.p).map_or(NONE.to_owned(), |p| probability(p.get()));
    let figure = (!is_brief).then(|| Text::from(figure(comparison)));
    let cells = [
        Text::from(&comparison.a),
        Text::from(&comparison.b),
        Text::from(difference(comparison)),
        verdict(comparison, is_decided),
        Text::from(p),
        Text::from(count(comparison.n)),
    ];
    figure.into_iter().chain(cells).collect()
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
        format!("[{},\u{a0}{}]", bound(value.lo), bound(value.hi))
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

/// The verdict on the first of the pair, in words; unless `is_decided`, with the n that would tell.
fn verdict(comparison: &Comparison, is_decided: bool) -> Text {
    match comparison.verdict {
        Standing::Better => Text { style: Style::Strong, text: "better".to_owned() },
        Standing::Worse => Text { style: Style::Strong, text: "worse".to_owned() },
        Standing::Equivalent => "equivalent".into(),
        Standing::NotDistinguishable => {
            let needed = comparison
                .needed_n
                .filter(|_| !is_decided)
                .map(|[from, to]| format!(" (n\u{a0}=\u{a0}{}–{} would tell)", count(from), count(to)));
            Text::from(format!("not distinguishable{}", needed.unwrap_or_default()))
        }
    }
}
