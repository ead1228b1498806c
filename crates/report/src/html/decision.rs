//! What to take, for whom: a decision per profile, in plain words, with its evidence.

use std::collections::BTreeMap;

use askama::Template;
use inferometer_metrics::{Candidate, Certainty, Decision, GateOutcome, GateResult};

use crate::number::{count, percent};
use crate::out;

use super::story::Story;
use super::table::{Cell, Column, Row, Table, Tone, Unit, draw_bars};

/// One decision as the page shows it.
#[derive(Template)]
#[template(path = "decision.html")]
pub(super) struct Card {
    id: String,
    profile: String,
    on: String,
    certainty: &'static str,
    tone: &'static str,
    /// The decision itself.
    lead: String,
    reasons: Vec<String>,
    risk: String,
    fallback: String,
    would_change: Vec<String>,
    order: String,
    scope: String,
    /// The chosen and the fallback; without a choice the first two.
    evidence: Table,
    /// Every candidate, where there are more.
    candidates: Option<Table>,
}

impl askama::filters::HtmlSafe for Card {}

/// Every decision of the run.
pub(super) fn cards(story: &Story<'_>) -> Vec<Card> {
    story.summary.profiles.iter().enumerate().map(|(at, decision)| card(story, at, decision)).collect()
}

fn card(story: &Story<'_>, at: usize, decision: &Decision) -> Card {
    let (certainty, tone) = match decision.certainty {
        Certainty::Proven => ("proven", "good"),
        Certainty::Provisional => ("provisional", "warn"),
        Certainty::None => ("no recommendation", "bad"),
    };
    // All kinds are told here: there is no other place for the rest.
    let mut reasons = out::together(&decision.reasons, usize::MAX, "").into_iter();
    let fallback = decision.fallback.as_ref();
    let fallback = fallback.map(|fallback| format!("{}: {}", fallback.target, fallback.reason));
    let candidates = candidates(story, at, decision);
    let evidence = evidence(decision, &candidates);
    let risk = decision.p_not_best.map(|p| percent(p.get()));
    Card {
        id: format!("decision-{at}"),
        profile: decision.profile.clone(),
        on: format!("{}, {}", decision.workload, decision.load),
        certainty,
        tone,
        lead: reasons.next().unwrap_or_else(|| choice(decision)),
        reasons: reasons.collect(),
        risk: risk.unwrap_or_default(),
        fallback: fallback.unwrap_or_default(),
        would_change: decision.would_change.clone(),
        order: decision.order.join(", then "),
        scope: decision.scope.clone(),
        candidates: (candidates.rows.len() > evidence.rows.len()).then_some(candidates),
        evidence,
    }
}

fn choice(decision: &Decision) -> String {
    match decision.chosen.as_slice() {
        [] => "No target can be recommended.".to_owned(),
        [one] => format!("Take {one}."),
        several => format!("Take any of {}: they are tied.", several.join(", ")),
    }
}

/// The rows that the decision is about, their bars still on the scale of all.
fn evidence(decision: &Decision, all: &Table) -> Table {
    const WITHOUT_A_CHOICE: usize = 2;
    let fallback = decision.fallback.as_ref().map(|fallback| &fallback.target);
    let is_shown = |(at, row): &(usize, &Row)| {
        decision.chosen.contains(&row.head)
            || fallback == Some(&row.head)
            || (decision.chosen.is_empty() && *at < WITHOUT_A_CHOICE)
    };
    let rows = all.rows.iter().enumerate().filter(is_shown).map(|(_, row)| row.clone());
    let caption = match (decision.chosen.is_empty(), fallback) {
        (true, _) => "The nearest to a choice",
        (false, None) => "The choice",
        (false, Some(_)) => "The choice and the fallback",
    };
    Table {
        id: format!("{}-evidence", all.id),
        caption: caption.to_owned(),
        rows: rows.collect(),
        ..all.clone()
    }
}

/// Every target, best first: its constraints, the headline, and what it costs.
fn candidates(story: &Story<'_>, at: usize, decision: &Decision) -> Table {
    let mut constraints: Vec<&str> = Vec::new();
    for outcome in decision.candidates.iter().flat_map(|candidate| &candidate.constraints) {
        if !constraints.contains(&outcome.gate.as_str()) {
            constraints.push(&outcome.gate);
        }
    }
    let unit = decision.candidates.first().map_or("", |candidate| candidate.headline_unit.as_str());
    let mut columns = vec![Column::number(&headline(decision), "headline")];
    columns.extend(
        constraints
            .iter()
            .map(|gate| Column { hint: "must hold".to_owned(), ..Column::text(&must_hold(gate)) }),
    );
    columns.push(Column::number("Cost", "per 1,000 useful answers"));
    columns.push(Column::number("TTFT p95", "all attempts"));
    columns.push(Column::text("Pareto"));
    let row = |(index, candidate)| {
        row(story, &format!("/profiles/{at}/candidates/{index}"), decision, candidate, &constraints)
    };
    let mut table = Table {
        id: format!("candidates-{at}"),
        caption: format!("Candidates for {}, best first", decision.profile),
        corner: "Target".to_owned(),
        columns,
        rows: decision.candidates.iter().enumerate().map(row).collect(),
    };
    draw_bars(&mut table, 0, Unit::of(unit));
    draw_bars(&mut table, constraints.len() + 1, Unit::UsdPerThousand);
    draw_bars(&mut table, constraints.len() + 2, Unit::Ms);
    table
}

fn row(story: &Story<'_>, at: &str, decision: &Decision, candidate: &Candidate, constraints: &[&str]) -> Row {
    let outcomes: BTreeMap<&str, &GateOutcome> =
        candidate.constraints.iter().map(|outcome| (outcome.gate.as_str(), outcome)).collect();
    let is_chosen = decision.chosen.contains(&candidate.target);
    let is_fallback = decision.fallback.as_ref().is_some_and(|fallback| fallback.target == candidate.target);
    let unit = Unit::of(&candidate.headline_unit);
    let mut cells = vec![Cell::rate(&format!("{at}/headline"), &candidate.headline, unit)];
    cells.extend(
        constraints
            .iter()
            .map(|gate| outcomes.get(gate).map_or_else(Cell::none, |outcome| constraint(outcome))),
    );
    cells.push(Cell::rate(
        &format!("{at}/cost_per_useful_usd"),
        &candidate.cost_per_useful_usd,
        Unit::UsdPerThousand,
    ));
    cells.push(Cell::time(&format!("{at}/ttft_p95_ms"), candidate.ttft_p95_ms.as_ref()));
    cells.push(if candidate.is_pareto { Cell::text("on the line") } else { Cell::none() });
    let detail = match (is_chosen, is_fallback, &candidate.excluded) {
        (true, _, _) => "chosen".to_owned(),
        (false, true, _) => "fallback".to_owned(),
        (false, false, Some(why)) => format!("excluded: {why}"),
        (false, false, None) => String::new(),
    };
    Row { head: candidate.target.clone(), detail, color: story.color(&candidate.target), cells }
}

/// How a constraint came out, in a word and a sign, with what would settle it.
pub(super) fn constraint(outcome: &GateOutcome) -> Cell {
    let (tone, text) = match outcome.result {
        GateResult::Met => (Tone::Good, "✓ met"),
        GateResult::Missed => (Tone::Bad, "✗ missed"),
        GateResult::Unproven => (Tone::Warn, "? unproven"),
    };
    let n = format!("n\u{a0}=\u{a0}{}", count(outcome.n));
    let of = outcome.needed_n.filter(|needed| outcome.result == GateResult::Unproven && *needed > outcome.n);
    let of = of.map(|needed| format!(" of {} needed", count(needed)));
    let detail = match (outcome.n, outcome.detail.is_empty()) {
        (0, true) => "not measured".to_owned(),
        (0, false) => outcome.detail.clone(),
        (_, true) => n + &of.unwrap_or_default(),
        (_, false) => format!("{n}{} · {}", of.unwrap_or_default(), outcome.detail),
    };
    Cell::toned(tone, text).with_detail(detail)
}

/// A gate names what fails: this is what must hold instead.
fn must_hold(gate: &str) -> String {
    const OPPOSITES: [(&str, &str); 4] = [(">=", "<"), ("<=", ">"), (">", "≤"), ("<", "≥")];
    let found = OPPOSITES.iter().find_map(|(op, opposite)| Some((gate.split_once(op)?, opposite)));
    found.map_or_else(
        || format!("not {gate}"),
        |((left, right), opposite)| format!("{} {opposite}\u{a0}{}", left.trim(), right.trim()),
    )
}

fn headline(decision: &Decision) -> String {
    super::names::title(&decision.headline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_hold_is_the_opposite_of_what_fails() {
        for (gate, held) in [
            ("ttft_p95>1500ms", "ttft_p95 ≤\u{a0}1500ms"),
            ("error_rate >= 1%", "error_rate <\u{a0}1%"),
            ("useful<0.9", "useful ≥\u{a0}0.9"),
            ("odd", "not odd"),
        ] {
            assert_eq!(must_hold(gate), held);
        }
    }
}
