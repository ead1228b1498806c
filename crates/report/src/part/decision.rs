//! Decisions: what to take for which kind of application, on what evidence.

use inferometer_metrics::{Candidate, Certainty, Decision, GateOutcome, GateResult, Summary};

use crate::number::{NONE, count, percent};
use crate::page::{Block, Column, Fact, Style, Table, Text};

/// Up to so many decisions are shown with all their evidence on a screen; of more, a table.
const FULL_ON_SCREEN: usize = 3;

/// Every decision in plain words, the decision itself first. `is_brief`: on a screen, where many are a table.
pub(super) fn blocks(summary: &Summary, is_brief: bool) -> Vec<Block> {
    let decisions = &summary.profiles;
    let mut blocks = Vec::new();
    if decisions.len() > 1 {
        blocks.push(Block::Heading("decisions".to_owned()));
        blocks.push(Block::Table(table(decisions)));
    }
    if !is_brief || decisions.len() <= FULL_ON_SCREEN {
        blocks.extend(decisions.iter().flat_map(full));
    }
    blocks
}

/// Decisions side by side.
fn table(decisions: &[Decision]) -> Table {
    let mut columns = vec![Column::left("for"), Column::left("on"), Column::left("take")];
    columns.extend(["certainty", "fallback"].map(Column::left));
    columns.push(Column::right("not the best"));
    let row = |decision: &Decision| {
        let chosen =
            if decision.chosen.is_empty() { "none".to_owned() } else { decision.chosen.join(" or ") };
        let fallback = decision.fallback.as_ref().map_or(NONE.to_owned(), |fallback| fallback.target.clone());
        let p = decision.p_not_best.map_or(NONE.to_owned(), |p| percent(p.get()));
        vec![
            Text::from(&decision.profile),
            Text::from(place(decision)),
            Text { style: Style::Strong, text: chosen },
            certainty(decision.certainty),
            Text::from(fallback),
            Text::from(p),
        ]
    };
    Table { columns, rows: decisions.iter().map(row).collect() }
}

fn place(decision: &Decision) -> String {
    [decision.workload.as_str(), decision.load.as_str()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn heading(decision: &Decision) -> String {
    let parts = [("workload", &decision.workload), ("load", &decision.load)];
    let named =
        parts.iter().filter(|(_, name)| !name.is_empty()).map(|(what, name)| format!(" · {what} {name}"));
    format!("decision for {}{}", decision.profile, named.collect::<String>())
}

fn certainty(certainty: Certainty) -> Text {
    match certainty {
        Certainty::Proven => "proven".into(),
        Certainty::Provisional => Text::warn("provisional"),
        Certainty::None => Text::bad("none"),
    }
}

fn full(decision: &Decision) -> Vec<Block> {
    let (first, why) =
        decision.reasons.split_first().map_or(("", [].as_slice()), |(first, why)| (first, why));
    let style = match decision.certainty {
        Certainty::Proven => Style::Strong,
        Certainty::Provisional => Style::Warn,
        Certainty::None => Style::Bad,
    };
    let lines = |texts: &[String]| texts.iter().map(Text::from).collect();
    let fallback = decision.fallback.iter().map(|f| Text::from(format!("{}: {}", f.target, f.reason)));
    let order = (!decision.order.is_empty()).then(|| Text::from(decision.order.join(", then ")));
    let mut blocks = vec![
        Block::Heading(heading(decision)),
        Block::Notice(Text { style, text: first.to_owned() }),
        Block::Facts(vec![
            Fact { label: "why", lines: lines(why) },
            Fact { label: "order", lines: order.into_iter().collect() },
            Fact { label: "fallback", lines: fallback.collect() },
            Fact { label: "changed by", lines: lines(&decision.would_change) },
            Fact { label: "scope", lines: vec![Text::from(&decision.scope)] },
        ]),
    ];
    blocks.extend(constraints(&decision.candidates));
    blocks
}

/// What must not be, and how that came out for each target.
fn constraints(candidates: &[Candidate]) -> Option<Block> {
    let first = candidates.iter().find(|candidate| !candidate.constraints.is_empty())?;
    let gates: Vec<&str> = first.constraints.iter().map(|outcome| outcome.gate.as_str()).collect();
    let mut columns = vec![Column::left("must not be")];
    columns.extend(gates.iter().map(|gate| Column::left(gate)));
    let row = |candidate: &Candidate| {
        let of_gate = |gate: &&str| {
            let outcome = candidate.constraints.iter().find(|outcome| outcome.gate == **gate);
            // Of a target that is out, nothing else matters.
            let outcome = outcome.filter(|_| candidate.excluded.is_none());
            outcome.map_or(Text::from(NONE), short)
        };
        let mut cells = vec![name(candidate)];
        cells.extend(gates.iter().map(of_gate));
        cells
    };
    Some(Block::Table(Table { columns, rows: candidates.iter().map(row).collect() }))
}

fn name(candidate: &Candidate) -> Text {
    match &candidate.excluded {
        Some(_) => Text::bad(format!("{} (out)", candidate.target)),
        None => Text::from(&candidate.target),
    }
}

/// An outcome in a word or two.
fn short(outcome: &GateOutcome) -> Text {
    match outcome.result {
        GateResult::Met => "met".into(),
        GateResult::Missed => Text::bad("MISSED"),
        GateResult::Unproven if outcome.detail.starts_with("not measured") => Text::warn("not measured"),
        GateResult::Unproven => match outcome.needed_n.filter(|needed| *needed > outcome.n) {
            Some(needed) => Text::warn(format!("open {}/{}", count(outcome.n), count(needed))),
            None => Text::warn("open"),
        },
    }
}
