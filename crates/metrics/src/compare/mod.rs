//! Targets held against each other: what differs, by how much, and how sure that is.

mod beside;
mod figures;
mod finding;
mod methods;
mod side;

use inferometer_stats::{Prob, holm};
use serde::{Deserialize, Serialize};

use crate::kept::Kept;
use crate::{Arrival, CellSummary, Num, Profile, Rate, Study, decide};

pub use figures::lower_is_better;

use beside::Beside;
use figures::COMPARED;
use finding::Finding;
use side::Side;

/// Pairs of targets that are compared in one run, over all workloads and loads: that of 10 targets on 11 of them.
const MAX_PAIRS: usize = 500;

/// Cells that are named in a warning.
const MAX_NAMED: usize = 3;

/// What the pairs say.
#[derive(Default)]
pub(crate) struct Compared {
    pub(crate) comparisons: Vec<Comparison>,
    /// What was not compared, and what comparisons rest on.
    pub(crate) warnings: Vec<String>,
}

/// Every pair of targets under the same workload and load, on every figure that can be compared. In each, the plan's
/// order decides who is first.
pub(crate) fn compare(study: &Study, cells: &[Kept<'_>]) -> Compared {
    let mut compared = Compared::default();
    let mut left = MAX_PAIRS;
    let mut cut = 0;
    let mut apart = 0;
    let mut bounded = Vec::new();
    for group in groups(cells) {
        let all = group.len() * group.len().saturating_sub(1) / 2;
        let taken = all.min(left);
        left -= taken;
        cut += all - taken;
        if taken > 0 {
            let group = Group::new(study, group, taken);
            let found = group.compare();
            if !found.is_empty() {
                apart += group.beside.iter().filter(|beside| beside.is_apart).count();
                bounded.extend(group.sides.iter().filter_map(bounded_cost));
            }
            compared.comparisons.extend(found);
        }
    }
    compared.warnings = warnings(cut, apart, &bounded);
    compared
}

/// `cut` pairs were not compared, `apart` ones were not asked in turn, and of `bounded` the cost is a lower bound.
fn warnings(cut: usize, apart: usize, bounded: &[String]) -> Vec<String> {
    let cut =
        (cut > 0).then(|| format!("{cut} pairs of targets were not compared: {MAX_PAIRS} are the most"));
    let apart = (apart > 0).then(|| {
        let pairs = if apart == 1 {
            "1 pair of targets was".to_owned()
        } else {
            format!("{apart} pairs of targets were")
        };
        format!(
            "{pairs} measured one after the other, not in turn: a drift of the hour counts as a difference"
        )
    });
    let named: Vec<&str> = bounded.iter().take(MAX_NAMED).map(String::as_str).collect();
    let more = bounded.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let costs = (!named.is_empty()).then(|| {
        format!("costs are compared only as far as lower bounds decide, for {}{more}", named.join(", "))
    });
    [cut, apart, costs].into_iter().flatten().collect()
}

/// The cell whose cost is only bounded, and by how many attempts.
fn bounded_cost(side: &Side<'_>) -> Option<String> {
    let CellSummary { target, workload, load, cost, .. } = side.cell.summary;
    (side.prompts.is_some() && side.is_cost_bound()).then(|| {
        format!(
            "{target} on {workload}, {load} ({} of {} attempts of unknown cost)",
            cost.unknown,
            cost.asked()
        )
    })
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
    /// What lies beside each pair that is compared, in their order.
    beside: Vec<Beside>,
}

impl<'a> Group<'a> {
    fn new(study: &'a Study, cells: Vec<Kept<'a>>, pairs: usize) -> Self {
        let sides: Vec<Side<'a>> = cells.into_iter().map(Side::new).collect();
        let beside = of_two(&sides).take(pairs).map(|(a, b)| Beside::of(a, b)).collect();
        Group { study, sides, beside }
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
        let members = if family.is_some() { self.beside.len() } else { 1 };
        let numbered = (0_u64..).zip(of_two(&self.sides).zip(&self.beside));
        let seed = |number: u64| self.study.seed.wrapping_add(number);
        let mut found: Vec<(Comparison, Finding, bool, u64)> = numbered
            .filter_map(|(number, ((a, b), beside))| {
                let mut finding = find(metric, statistic, (a, b), members, seed(number))?;
                finding.notes.extend(beside.notes.iter().cloned());
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
                Some((comparison, finding, beside.is_void, seed(number)))
            })
            .collect();
        if family.is_some() {
            // What is not valid shows nothing: it must not make room for the others.
            let p = |finding: &Finding, is_void| if is_void { 1.0 } else { finding.p };
            let ps: Vec<f64> = found.iter().map(|(_, finding, is_void, _)| p(finding, *is_void)).collect();
            for ((comparison, ..), p) in found.iter_mut().zip(holm::adjust(&ps)) {
                comparison.p_holm = Num::new(p);
            }
        }
        let margins = self.study.equivalence;
        let judged = found.into_iter().map(|(mut comparison, finding, is_void, seed)| {
            // Without a judgement it stays what cannot be told apart.
            if !is_void {
                finding.judge(&mut comparison, margins, members, seed);
            }
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
            decide::headline(profile.kind) == (metric, statistic)
                && is_of(&profile.workload, &summary.workload)
                && is_of(&profile.load, &summary.load)
        })
    }
}

/// Every two of the sides, in the plan's order.
fn of_two<'s, 'a>(sides: &'s [Side<'a>]) -> impl Iterator<Item = (&'s Side<'a>, &'s Side<'a>)> {
    let with_later = |(i, a)| sides.iter().skip(i + 1).map(move |b| (a, b));
    sides.iter().enumerate().flat_map(with_later)
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
