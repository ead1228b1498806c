//! A run as its page tells it: what stands beside what, and what each is called.
//!
//! The summary's texts are made harmless here, all at once, so that no part of the page can forget one. HTML's own
//! letters are the templates' business.

use std::collections::BTreeMap;

use inferometer_metrics::{Arrival, CellSummary, Study, Summary, TargetInfo};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::RunView;
use crate::clean::clean;

use super::dots::{CellDots, Dots, Key};

/// What the page is made of.
pub(super) struct Story<'a> {
    pub(super) run: &'a RunView<'a>,
    pub(super) summary: Summary,
    pub(super) study: Study,
    pub(super) dots: &'a Dots,
    targets: BTreeMap<String, TargetInfo>,
    /// In the order of their first cell: the colours.
    providers: Vec<String>,
}

/// Cells that stand side by side: all targets under one workload and load, or all loads of the only target.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub(super) title: String,
    pub(super) cells: Vec<Member>,
}

/// A cell of a group: where it stands in the summary, and what it is called among the others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) index: usize,
    pub(super) label: String,
}

impl<'a> Story<'a> {
    pub(super) fn new(run: &'a RunView<'a>, dots: &'a Dots) -> Self {
        let summary: Summary = harmless(run.summary);
        let study: Study = serde_json::from_value(cleaned(run.manifest.study.clone())).unwrap_or_default();
        let targets = study.targets.iter().map(|info| (info.name.clone(), info.clone())).collect();
        let mut story = Self { run, summary, study, dots, targets, providers: Vec::new() };
        for cell in &story.summary.cells {
            let provider = story.provider(&cell.target).to_owned();
            if !story.providers.contains(&provider) {
                story.providers.push(provider);
            }
        }
        story
    }

    /// Who serves a target; the target itself where that is not known.
    pub(super) fn provider<'b>(&'b self, target: &'b str) -> &'b str {
        self.targets
            .get(target)
            .map(|info| info.provider.as_str())
            .filter(|name| !name.is_empty())
            .unwrap_or(target)
    }

    /// The model of a target; empty where that is not known.
    pub(super) fn model(&self, target: &str) -> &str {
        self.targets.get(target).map_or("", |info| info.model.as_str())
    }

    /// The number of a target's colour, from 1: its provider's.
    pub(super) fn color(&self, target: &str) -> usize {
        /// As many as the style sheet has.
        const COLORS: usize = 8;
        let provider = self.provider(target);
        self.providers.iter().position(|known| known == provider).unwrap_or(0) % COLORS + 1
    }

    pub(super) fn cell(&self, member: &Member) -> Option<&CellSummary> {
        self.summary.cells.get(member.index)
    }

    /// The cells of a group, each with its member.
    pub(super) fn cells<'b>(
        &'b self,
        members: &'b [Member],
    ) -> impl Iterator<Item = (&'b Member, &'b CellSummary)> {
        members.iter().filter_map(|member| Some((member, self.cell(member)?)))
    }

    pub(super) fn dots_of(&self, cell: &CellSummary) -> Option<&CellDots> {
        let key: Key = (cell.target.clone(), cell.workload.clone(), cell.load.clone());
        self.dots.of(&key)
    }

    /// Whether there are several targets.
    pub(super) fn has_targets(&self) -> bool {
        self.summary.cells.windows(2).any(|pair| matches!(pair, [a, b] if a.target != b.target))
    }

    /// The cells that stand side by side, in the plan's order. Cold starts and bursts are not among them.
    pub(super) fn groups(&self) -> Vec<Group> {
        let by_target = self.has_targets();
        let mut groups: Vec<((String, String), Vec<Member>)> = Vec::new();
        for (index, cell) in self.summary.cells.iter().enumerate().filter(|(_, cell)| !is_episode(cell)) {
            let load = if by_target { cell.load.clone() } else { String::new() };
            let key = (cell.workload.clone(), load);
            let label = if by_target { cell.target.clone() } else { cell.load.clone() };
            let member = Member { index, label };
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, members)) => members.push(member),
                None => groups.push((key, vec![member])),
            }
        }
        let title = |(workload, load): (String, String)| {
            if load.is_empty() { workload } else { format!("{workload}, {load}") }
        };
        groups.into_iter().map(|(key, cells)| Group { title: title(key), cells }).collect()
    }

    /// A group model by model, each target called by its provider where that tells them apart.
    pub(super) fn panels(&self, group: &Group) -> Vec<Group> {
        let mut panels: Vec<Group> = Vec::new();
        for (member, cell) in self.cells(&group.cells) {
            let model = self.model(&cell.target);
            match panels.iter_mut().find(|panel| panel.title == model) {
                Some(panel) => panel.cells.push(member.clone()),
                None => panels.push(Group { title: model.to_owned(), cells: vec![member.clone()] }),
            }
        }
        for panel in panels.iter_mut().filter(|panel| !panel.title.is_empty()) {
            self.call_by_provider(&mut panel.cells);
        }
        panels
    }

    fn call_by_provider(&self, members: &mut [Member]) {
        let names: Vec<String> =
            self.cells(members).map(|(_, cell)| self.provider(&cell.target).to_owned()).collect();
        let mut distinct = names.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() == members.len() {
            members.iter_mut().zip(names).for_each(|(member, name)| member.label = name);
        }
    }
}

/// Whether a cell is made of episodes, which have figures of their own.
pub(super) fn is_episode(cell: &CellSummary) -> bool {
    matches!(cell.arrival, Arrival::ColdStart { .. } | Arrival::Burst { .. })
        || cell.cold_starts.is_some()
        || cell.bursts.is_some()
}

/// `value` with every text in it made harmless.
pub(super) fn harmless<T: Serialize + DeserializeOwned + Default>(value: &T) -> T {
    let json = serde_json::to_value(value).map(cleaned);
    json.and_then(serde_json::from_value).unwrap_or_default()
}

/// JSON with every text and every name in it made harmless.
pub(super) fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(cleaned).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (clean(&name).into_owned(), cleaned(value))).collect()
        }
        other => other,
    }
}
