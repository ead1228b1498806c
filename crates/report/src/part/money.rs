//! What it cost.

use inferometer_metrics::{CellSummary, Cost, Summary};

use crate::RunView;
use crate::number::{counted, dollar_rate, dollars, percent};
use crate::page::{Block, Column, Fact, Table, Text};

use super::{ELSEWHERE, is_wanted, joined};

/// Total, per useful answer, and what was wasted. Unknown is said, never 0.
pub(super) fn fact(run: &RunView<'_>, cell: &CellSummary) -> Fact {
    let cost = &cell.cost;
    let lines = match &cost.total_usd {
        None => vec![unknown(run, cell).into()],
        Some(total) => {
            let lines = [
                joined([Some(sum(cost, total)), Some(per_useful(cost)), per_thousand(cost), waste(cost)]),
                joined([parts(cost), reasoning(cost)]),
                per_month(cost),
                bound(cost),
                reported(cost),
            ];
            lines.into_iter().flatten().map(Text::from).collect()
        }
    };
    Fact { label: "cost", lines }
}

/// Total and cost per useful answer, for a table. `None` where no cost is known.
pub(super) fn columns(cell: &CellSummary) -> Option<[String; 2]> {
    let cost = &cell.cost;
    let total = format!("{}${}", at_least(cost), cost.total_usd.as_ref()?);
    let per_useful = dollar_rate(&cost.per_useful_usd).map(|rate| format!("{}{rate}", at_least(cost)));
    Some([total, per_useful.unwrap_or_else(|| "none useful".to_owned())])
}

fn unknown(run: &RunView<'_>, cell: &CellSummary) -> String {
    if cell.cost.priced + cell.cost.unknown == 0 {
        return "unknown: nothing was asked".to_owned();
    }
    match run.is_unpriced(&cell.target) {
        Some(true) => {
            "unknown: no price; give one with --price input=3,output=15 (US dollars per million tokens)"
        }
        Some(false) => "unknown: there is a price, but no answer told its usage",
        None => "unknown: no price, or no usage to price",
    }
    .to_owned()
}

fn at_least(cost: &Cost) -> &'static str {
    if cost.lower_bound { "≥\u{a0}" } else { "" }
}

fn sum(cost: &Cost, total: &str) -> String {
    let attempts = counted(cost.priced, "attempt", "attempts");
    format!("{}${total} for {attempts}", at_least(cost))
}

/// What the total was paid for, where that is more than one thing.
fn parts(cost: &Cost) -> Option<String> {
    const NAMES: [(&str, &str); 6] = [
        ("input", "input"),
        ("cache_read", "cached input"),
        ("cache_write", "cache writes"),
        ("output", "output"),
        ("reasoning", "reasoning"),
        ("request", "requests"),
    ];
    let named = NAMES.iter().filter_map(|(key, name)| Some(format!("{name} ${}", cost.parts_usd.get(*key)?)));
    let named: Vec<String> = named.collect();
    (named.len() > 1).then(|| named.join(" + "))
}

/// Where the total is a lower bound, so is this; the note that says so would only repeat it.
fn per_useful(cost: &Cost) -> String {
    let rate = &cost.per_useful_usd;
    match (dollar_rate(rate), rate.lo) {
        (Some(value), _) => format!("{}{value} per useful answer", at_least(cost)),
        (None, Some(lo)) => format!("no useful answer: ≥\u{a0}{} for one", dollars(lo)),
        (None, None) => "no useful answer to divide by".to_owned(),
    }
}

fn per_thousand(cost: &Cost) -> Option<String> {
    cost.per_1000_answers_usd.map(|value| format!("{}{} per 1,000 answers", at_least(cost), dollars(value)))
}

fn waste(cost: &Cost) -> Option<String> {
    let share = cost.waste_share.filter(|share| share.get() > 0.0)?;
    Some(format!("{} spent on answers of no use", percent(share.get())))
}

fn reasoning(cost: &Cost) -> Option<String> {
    let share = cost.reasoning_share.filter(|share| share.get() > 0.0)?;
    Some(format!("{} of it for reasoning", percent(share.get())))
}

/// At the traffic that the plan states.
fn per_month(cost: &Cost) -> Option<String> {
    let month = &cost.per_month_usd;
    let value = dollar_rate(month).map(|value| format!("{}{value}", at_least(cost)));
    let value = value.or_else(|| month.lo.map(|lo| format!("≥\u{a0}{}", dollars(lo))));
    Some(format!("{} a month at the stated traffic", value?))
}

/// Where the money went, a row per cell that cost something; how usage adds up, once. On a screen only what the targets
/// cost that a decision names, under an ordinary load.
pub(super) fn split(summary: &Summary, is_brief: bool) -> Vec<Block> {
    const PARTS: [(&str, &str); 6] = [
        ("input", "input"),
        ("cached", "cache_read"),
        ("cache writes", "cache_write"),
        ("visible output", "output"),
        ("reasoning", "reasoning"),
        ("request", "request"),
    ];
    let cells = &summary.cells;
    let is_ordinary = |cell: &CellSummary| cell.cold_starts.is_none() && cell.bursts.is_none();
    let is_shown = |cell: &CellSummary| !is_brief || (is_ordinary(cell) && is_wanted(summary, &cell.target));
    let names = super::sweep::names(cells);
    let priced = names.iter().zip(cells).filter(|(_, cell)| cell.cost.total_usd.is_some());
    let left = priced.clone().filter(|(_, cell)| !is_shown(cell)).count();
    let row = |(name, cell): (&String, &CellSummary)| {
        let cost = &cell.cost;
        let total = cost.total_usd.as_deref().unwrap_or_default();
        let sum: Option<f64> = total.parse().ok().filter(|sum| *sum > 0.0);
        let share = |part: f64| sum.map_or_else(String::new, |sum| percent(part / sum));
        let part = |key: &str| {
            cost.parts_usd.get(key).and_then(|part| part.parse().ok()).map_or(String::new(), share)
        };
        let waste = cost.waste_share.map_or_else(String::new, |share| percent(share.get()));
        let mut row = vec![Text::from(name), Text::from(format!("{}${total}", at_least(cost)))];
        row.extend(PARTS.map(|(_, key)| Text::from(part(key))));
        row.push(Text::bad_if(cost.waste_share.is_some_and(|share| share.get() > 0.1), waste));
        row.push(Text::from(dollar_rate(&cost.per_month_usd).unwrap_or_default()));
        row
    };
    let rows: Vec<Vec<Text>> = priced.filter(|(_, cell)| is_shown(cell)).map(row).collect();
    let mut blocks = Vec::new();
    if !rows.is_empty() {
        let mut columns = vec![Column::left(""), Column::right("total")];
        columns.extend(PARTS.map(|(head, _)| Column::right(head)));
        columns.extend(["waste", "a month"].map(Column::right));
        blocks.push(Block::Heading("where the money went".to_owned()));
        blocks.push(Block::Table(Table { columns, rows }));
    }
    let more = (left > 0)
        .then(|| Text::from(format!("{} in {ELSEWHERE}", counted(left as u64, "cell more", "cells more"))));
    let usage = if is_brief && is_plain(cells) { Vec::new() } else { super::tokens::usage(cells) };
    let facts = [("more", more.into_iter().collect()), ("usage", usage)];
    let facts: Vec<Fact> =
        facts.into_iter().map(|(label, lines): (_, Vec<Text>)| Fact { label, lines }).collect();
    if facts.iter().any(|fact| !fact.lines.is_empty()) {
        blocks.push(Block::Facts(facts));
    }
    blocks
}

/// Whether every usage adds up as the rule has it: total = prompt + completion.
fn is_plain(cells: &[CellSummary]) -> bool {
    cells.iter().flat_map(|cell| cell.tokens.usage_identities.keys()).all(|identity| identity == "inclusive")
}

fn bound(cost: &Cost) -> Option<String> {
    cost.lower_bound.then(|| {
        format!("a lower bound: of {} the cost is unknown", counted(cost.unknown, "attempt", "attempts"))
    })
}

fn reported(cost: &Cost) -> Option<String> {
    let warmup = cost.warmup_usd.as_ref().map(|usd| format!("${usd} more for warm-up and preflight"));
    let reported = cost.reported_usd.as_ref().map(|usd| format!("the provider reports ${usd}"));
    let residual = cost.residual_usd.as_ref().map(|usd| format!("its figure − ours: ${usd}"));
    joined([warmup, reported, residual])
}
