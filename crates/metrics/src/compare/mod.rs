//! Targets held against each other: what differs, by how much, and how sure that is.

mod figures;
mod finding;
mod methods;
mod side;

use inferometer_stats::{Prob, holm};
use serde::{Deserialize, Serialize};

use crate::kept::Kept;
use crate::{Arrival, Num, Profile, Rate, Study};

use figures::{COMPARED, headline};
use finding::Finding;
use side::Side;

/// Pairs of targets that are compared in one run, over all workloads and loads: that of 10 targets on 11 of them.
const MAX_PAIRS: usize = 500;

/// What the pairs say.
#[derive(Default)]
pub(crate) struct Compared {
    pub(crate) comparisons: Vec<Comparison>,
    /// Said where not every pair was compared.
    pub(crate) warning: Option<String>,
}

/// Every pair of targets under the same workload and load, on every figure that can be compared. In each, the plan's
/// order decides who is first.
pub(crate) fn compare(study: &Study, cells: &[Kept<'_>]) -> Compared {
    let mut compared = Compared::default();
    let mut left = MAX_PAIRS;
    let mut cut = 0;
    for group in groups(cells) {
        let all = group.len() * group.len().saturating_sub(1) / 2;
        let taken = all.min(left);
        left -= taken;
        cut += all - taken;
        if taken > 0 {
            compared.comparisons.extend(Group::new(study, group, taken).compare());
        }
    }
    compared.warning =
        (cut > 0).then(|| format!("{cut} pairs of targets were not compared: {MAX_PAIRS} are the most"));
    compared
}

/// Cells of one workload and load, in the plan's order.
fn groups<'a>(cells: &[Kept<'a>]) -> Vec<Vec<Kept<'a>>> {
    let mut groups: Vec<Vec<Kept<'a>>> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for cell in cells {
        let key = (&cell.summary.workload, &cell.summary.load);
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(*cell),
            None => groups.push(vec![*cell]),
        }
    }
    groups
}

/// The pairs of one workload and load.
struct Group<'a> {
    study: &'a Study,
    sides: Vec<Side<'a>>,
    /// How many pairs are compared, in order.
    pairs: usize,
}

impl<'a> Group<'a> {
    fn new(study: &'a Study, cells: Vec<Kept<'a>>, pairs: usize) -> Self {
        Group { study, sides: cells.into_iter().map(Side::new).collect(), pairs }
    }

    fn compare(&self) -> Vec<Comparison> {
        let figures = COMPARED.iter().filter(|(_, statistic)| self.applies(*statistic));
        figures.flat_map(|(metric, statistic)| self.figure(metric, *statistic)).collect()
    }

    /// What a cold start is, is no distribution of requests: its own figures say it.
    fn applies(&self, statistic: Statistic) -> bool {
        let is_cold = |side: &Side<'_>| matches!(side.cell.context.arrival, Arrival::ColdStart { .. });
        !matches!(statistic, Statistic::P95 | Statistic::P99) || !self.sides.iter().any(is_cold)
    }

    /// One figure over all pairs: a family where a profile declares it.
    fn figure(&self, metric: &str, statistic: Statistic) -> Vec<Comparison> {
        let family = self.family(metric, statistic);
        let members = if family.is_some() { self.pairs } else { 1 };
        let pairs = self
            .sides
            .iter()
            .enumerate()
            .flat_map(|(i, a)| self.sides.iter().skip(i + 1).map(move |b| (a, b)));
        let numbered = (0_u64..).zip(pairs.take(self.pairs));
        let seed = |number: u64| self.study.seed.wrapping_add(number);
        let mut found: Vec<(Comparison, Finding, u64)> = numbered
            .filter_map(|(number, (a, b))| {
                let mut finding = find(metric, statistic, (a, b), members, seed(number))?;
                finding.notes.extend(self.same_twice(a, b));
                let comparison = Comparison {
                    workload: a.cell.summary.workload.clone(),
                    load: a.cell.summary.load.clone(),
                    a: a.cell.summary.target.clone(),
                    b: b.cell.summary.target.clone(),
                    metric: metric.to_owned(),
                    statistic,
                    family: family.map(|profile| profile.kind.name().to_owned()),
                    ..finding.comparison()
                };
                Some((comparison, finding, seed(number)))
            })
            .collect();
        if family.is_some() {
            let ps: Vec<f64> = found.iter().map(|(_, finding, _)| finding.p).collect();
            for ((comparison, ..), p) in found.iter_mut().zip(holm::adjust(&ps)) {
                comparison.p_holm = Num::new(p);
            }
        }
        let margins = self.study.equivalence;
        let judged = found.into_iter().map(|(mut comparison, finding, seed)| {
            finding.judge(&mut comparison, margins, members, seed);
            comparison
        });
        judged.collect()
    }

    /// An A/A shows what chance alone can do.
    fn same_twice(&self, a: &Side<'_>, b: &Side<'_>) -> Option<String> {
        let info = |side: &Side<'_>| {
            let found = self.study.targets.iter().find(|info| info.name == side.cell.summary.target)?;
            Some((found.url.as_ref()?, &found.model))
        };
        (info(a)? == info(b)?).then(|| {
            "an A/A: the same model at the same address, so that what differs is chance or its parameters"
                .to_owned()
        })
    }

    /// The first profile that declares this figure for this workload and load.
    fn family(&self, metric: &str, statistic: Statistic) -> Option<&'a Profile> {
        let summary = self.sides.first()?.cell.summary;
        let is_of = |named: &Option<String>, own: &str| named.as_ref().is_none_or(|named| named == own);
        self.study.profiles.iter().find(|profile| {
            headline(profile.kind) == (metric, statistic)
                && is_of(&profile.workload, &summary.workload)
                && is_of(&profile.load, &summary.load)
        })
    }
}

/// What the statistic's own method finds about a pair.
fn find(
    metric: &str,
    statistic: Statistic,
    (a, b): (&Side<'_>, &Side<'_>),
    members: usize,
    seed: u64,
) -> Option<Finding> {
    match statistic {
        Statistic::Typical => methods::typical(metric, a, b),
        Statistic::P95 => methods::tail(metric, Prob::P95, a, b),
        Statistic::P99 => methods::tail(metric, Prob::P99, a, b),
        Statistic::Share => methods::share(metric, a, b, seed),
        Statistic::CostPerUseful => methods::cost(a, b, members, seed),
        Statistic::Rate => methods::rate(metric, a, b),
    }
}

/// One pair of targets on one figure: `value` is a against b.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// Name of the workload.
    pub workload: String,
    /// Name of the load.
    pub load: String,
    /// The first target.
    pub a: String,
    /// The second target.
    pub b: String,
    /// The figure by name (`metrics::name`).
    pub metric: String,
    /// What of it is compared.
    pub statistic: Statistic,
    /// `ratio` (a ÷ b), `ms` or `share` (a − b).
    pub unit: String,
    /// The profile of whose declared family this is a member; `None` is exploratory.
    pub family: Option<String>,
    /// Pairs, or observations of each side where nothing is paired.
    pub n: u64,
    /// a against b, with its 95 % interval.
    pub value: Rate,
    /// p of the test, before any correction.
    pub p: Option<Num>,
    /// p by Holm's correction within the family.
    pub p_holm: Option<Num>,
    /// What can be said of a.
    pub verdict: Standing,
    /// Pairs that would be needed to tell, as a range simulated from the data; only where they cannot be told apart.
    pub needed_n: Option<[u64; 2]>,
    /// What a reader must know beside it.
    pub notes: Vec<String>,
}

/// What of a figure is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Paired log ratios: Wilcoxon's signed ranks, Hodges and Lehmann's estimate.
    #[default]
    Typical,
    /// Difference of 95th percentiles, MOVER.
    P95,
    /// Difference of 99th percentiles, MOVER.
    P99,
    /// Difference of paired shares, Newcombe's method 10.
    Share,
    /// Ratio of costs per useful answer, resampled over prompts.
    CostPerUseful,
    /// Ratio of rates (throughput), from batch means.
    Rate,
}

/// What can be said of a, held against b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// a is better.
    Better,
    /// a is worse.
    Worse,
    /// The 90 % interval lies within ±δ.
    Equivalent,
    /// The sample cannot tell.
    #[default]
    NotDistinguishable,
}
