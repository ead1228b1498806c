//! What it cost.

use inferometer_metrics::{CellSummary, Cost};

use crate::RunView;
use crate::number::{counted, dollar_rate, dollars, percent};
use crate::page::{Fact, Text};

use super::joined;

/// Total, per useful answer, and what was wasted. Unknown is said, never 0.
pub(super) fn fact(run: &RunView<'_>, cell: &CellSummary) -> Fact {
    let cost = &cell.cost;
    let lines = match &cost.total_usd {
        None => vec![unknown(run, cell).into()],
        Some(total) => {
            let lines = [
                joined([Some(sum(cost, total)), Some(per_useful(cost)), per_thousand(cost), waste(cost)]),
                parts(cost),
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
