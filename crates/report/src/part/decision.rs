//! Decisions: what to take for which kind of application, on what evidence.

use inferometer_metrics::{Candidate, Certainty, Decision, GateOutcome, GateResult, Summary};

use crate::number::{NONE, count, counted, percent};
use crate::out;
use crate::page::{Block, Column, Fact, Style, Table, Text};

use super::ELSEWHERE;

/// Up to so many decisions are shown with all their evidence on a screen; of more, a table.
const FULL_ON_SCREEN: usize = 3;

/// So many candidates stand in the table of constraints on a screen, besides those that are near.
const BEST_ON_SCREEN: usize = 4;

/// So many candidates that are near stand in it.
const NEAR_ON_SCREEN: usize = 2;

/// So many reasons why targets are out are told on a screen.
const MAX_REASONS: usize = 4;

/// Every decision in plain words, the decision itself first. `is_brief`: on a screen, where many are a table.
pub(super) fn blocks(summary: &Summary, is_brief: bool) -> Vec<Block> {
    let decisions = &summary.profiles;
    let mut blocks = Vec::new();
    if decisions.len() > 1 {
        blocks.push(Block::Heading("decisions".to_owned()));
        blocks.push(Block::Table(table(decisions)));
    }
    if !is_brief || decisions.len() <= FULL_ON_SCREEN {
        for (at, decision) in decisions.iter().enumerate() {
            let before = decisions.get(..at).filter(|_| is_brief).unwrap_or_default();
            blocks.extend(full(&news(decision, before), is_brief, is_brief && decisions.len() > 1));
        }
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

fn full(decision: &Decision, is_brief: bool, is_beside: bool) -> Vec<Block> {
    let (first, why) =
        decision.reasons.split_first().map_or(("", [].as_slice()), |(first, why)| (first, why));
    let style = match decision.certainty {
        Certainty::Proven => Style::Strong,
        Certainty::Provisional => Style::Warn,
        Certainty::None => Style::Bad,
    };
    let why = if is_brief { out::together(why, MAX_REASONS, ELSEWHERE) } else { why.to_vec() };
    let lines = |texts: &[String]| texts.iter().map(Text::from).collect();
    // Of several decisions on a screen a table names it.
    let fallback = decision.fallback.iter().filter(|_| !is_beside);
    let fallback = fallback.map(|f| Text::from(format!("{}: {}", f.target, f.reason)));
    let scope = [&decision.scope].into_iter().filter(|scope| !scope.is_empty()).map(Text::from);
    let order = (!decision.order.is_empty()).then(|| Text::from(decision.order.join(", then ")));
    let mut blocks = vec![
        Block::Heading(heading(decision)),
        Block::Notice(Text { style, text: first.to_owned() }),
        Block::Facts(vec![
            Fact { label: "why", lines: lines(&why) },
            Fact { label: "order", lines: order.into_iter().collect() },
            Fact { label: "fallback", lines: fallback.collect() },
            Fact { label: "changed by", lines: lines(&decision.would_change) },
            Fact { label: "scope", lines: scope.collect() },
        ]),
    ];
    blocks.extend(constraints(&decision.candidates, is_brief));
    blocks
}

/// The decision without the sentences that one `before` it on the same page has said already; who is out of this one is
/// said again.
fn news(decision: &Decision, before: &[Decision]) -> Decision {
    let is_new = |said: &String| {
        let all =
            |d: &Decision| d.reasons.contains(said) || d.would_change.contains(said) || d.scope == *said;
        said.contains(out::IS_OUT) || !before.iter().any(all)
    };
    let news = |said: &[String]| said.iter().filter(|said| is_new(said)).cloned().collect();
    let scope = if is_new(&decision.scope) { decision.scope.clone() } else { String::new() };
    // The first reason is the decision itself.
    let (first, why) = decision.reasons.split_at(decision.reasons.len().min(1));
    let reasons = [first.to_vec(), news(why)].concat();
    Decision { reasons, would_change: news(&decision.would_change), scope, ..decision.clone() }
}

/// The candidates that a table shows: on a screen the first few, and those that more evidence could make one of them.
fn shown(candidates: &[Candidate], is_brief: bool) -> Vec<&Candidate> {
    if !is_brief {
        return candidates.iter().collect();
    }
    let is_open = |outcome: &GateOutcome| outcome.result == GateResult::Unproven && !outcome.is_unmeasured;
    let is_near = |candidate: &&Candidate| {
        candidate.excluded.is_none()
            && candidate.constraints.iter().all(|outcome| outcome.result != GateResult::Missed)
            && candidate.constraints.iter().any(is_open)
    };
    let (best, others) = candidates.split_at(candidates.len().min(BEST_ON_SCREEN));
    best.iter().chain(others.iter().filter(is_near).take(NEAR_ON_SCREEN)).collect()
}

/// What must not be, and how that came out for each target.
fn constraints(candidates: &[Candidate], is_brief: bool) -> Vec<Block> {
    let shown = shown(candidates, is_brief);
    let all = gates(&shown);
    let is_met = |gate: &str| {
        shown.iter().all(|candidate| {
            candidate.excluded.is_none()
                && candidate.constraints.iter().any(|c| c.gate == gate && c.result == GateResult::Met)
        })
    };
    // What holds for every one of them tells them not apart.
    let telling: Vec<&str> = all.iter().copied().filter(|gate| !is_brief || !is_met(gate)).collect();
    // On a screen whoever holds all of it has its row in a number.
    let is_open = |candidate: &&Candidate| {
        let own = |c: &&GateOutcome| telling.contains(&c.gate.as_str());
        !is_brief
            || candidate.excluded.is_some()
            || candidate.constraints.iter().filter(own).any(|c| c.result != GateResult::Met)
    };
    let rows: Vec<&Candidate> = shown.iter().copied().filter(is_open).collect();
    let table = (!telling.is_empty()).then(|| Block::Table(constraints_of(&rows, &telling)));
    let met = all.len() - telling.len();
    let met = (met > 0).then(|| {
        let constraints = counted(met as u64, "constraint", "constraints");
        format!("shown to hold for the best {}: {constraints}", shown.len())
    });
    let other = shown.len() - rows.len();
    let other = (other > 0 && !telling.is_empty())
        .then(|| format!("all of it for {}", counted(other as u64, "other", "others")));
    let left = candidates.len() - shown.len();
    let left = (left > 0)
        .then(|| format!("{} more in {ELSEWHERE}", counted(left as u64, "candidate", "candidates")));
    let said = super::joined([met, other, left]).map(|said| Block::Notice(Text::from(said)));
    table.into_iter().chain(said).collect()
}

fn gates<'a>(candidates: &[&'a Candidate]) -> Vec<&'a str> {
    let first = candidates.iter().find(|candidate| !candidate.constraints.is_empty());
    first.iter().flat_map(|first| &first.constraints).map(|outcome| outcome.gate.as_str()).collect()
}

fn constraints_of(candidates: &[&Candidate], gates: &[&str]) -> Table {
    let mut columns = vec![Column::left("must not be")];
    columns.extend(gates.iter().map(|gate| Column::left(gate)));
    let row = |candidate: &&Candidate| {
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
    Table { columns, rows: candidates.iter().map(row).collect() }
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
        GateResult::Unproven if outcome.is_unmeasured => Text::warn("not measured"),
        GateResult::Unproven => match outcome.needed_n.filter(|needed| *needed > outcome.n) {
            Some(needed) => Text::warn(format!("open {}/{}", count(outcome.n), count(needed))),
            None => Text::warn("open"),
        },
    }
}
