//! The targets that stand against each other on one workload and load.

use std::collections::BTreeSet;

use crate::kept::Kept;
use crate::{
    Arrival, Comparison, Metric, Profile, ProfileKind, QuantilePoint, Rate, Standing, Study, TargetInfo,
};

use super::profiles::Criterion;

/// Every cell of one workload and load, and what else is known of their targets.
pub(super) struct Field<'a> {
    pub(super) study: &'a Study,
    pub(super) workload: &'a str,
    pub(super) load: &'a str,
    /// A cell per target, in the plan's order.
    pub(super) cells: Vec<Kept<'a>>,
    /// Every cell of the run: bursts are measured in cells of their own.
    pub(super) all: &'a [Kept<'a>],
    /// The comparisons on this workload and load.
    pub(super) comparisons: Vec<&'a Comparison>,
}

impl<'a> Field<'a> {
    pub(super) fn new(
        study: &'a Study,
        all: &'a [Kept<'a>],
        comparisons: &'a [Comparison],
        workload: &'a str,
        load: &'a str,
    ) -> Self {
        let is_own = |cell: &&Kept<'_>| cell.summary.workload == workload && cell.summary.load == load;
        let compared = comparisons.iter().filter(|c| c.workload == workload && c.load == load);
        Field {
            study,
            workload,
            load,
            cells: all.iter().filter(is_own).copied().collect(),
            all,
            comparisons: compared.collect(),
        }
    }

    /// What the study says of a target.
    pub(super) fn info(&self, target: &str) -> Option<&'a TargetInfo> {
        self.study.targets.iter().find(|info| info.name == target)
    }

    /// The comparison of two targets on a criterion, whichever stands first in it.
    pub(super) fn comparison(&self, criterion: Criterion, a: &str, b: &str) -> Option<&'a Comparison> {
        let (metric, statistic) = criterion.figure();
        let is_pair = |c: &Comparison| (c.a == a && c.b == b) || (c.a == b && c.b == a);
        let is_on = |c: &&&Comparison| c.metric == metric && c.statistic == statistic && is_pair(c);
        self.comparisons.iter().find(is_on).copied()
    }

    /// Whether two targets cannot be told apart on a criterion, or are shown to be equal: by their comparison; without
    /// one by whether their intervals overlap, or lie within ±δ.
    pub(super) fn is_tied(&self, criterion: Criterion, a: Kept<'_>, b: Kept<'_>) -> bool {
        let compared = self.comparison(criterion, &a.summary.target, &b.summary.target);
        match compared.map(|comparison| comparison.verdict) {
            Some(Standing::Equivalent | Standing::NotDistinguishable) => true,
            Some(Standing::Better | Standing::Worse) => false,
            None => {
                let (a, b) = (value(criterion, a), value(criterion, b));
                overlap(&a, &b) || is_close(&a, &b, self.study.equivalence.ratio)
            }
        }
    }
}

/// Two intervals that share a value; an open side has no end. What has no value is tied only with its like.
fn overlap(a: &Rate, b: &Rate) -> bool {
    let is_below =
        |hi: Option<crate::Num>, lo: Option<crate::Num>| hi.zip(lo).is_some_and(|(hi, lo)| hi < lo);
    match (a.value, b.value) {
        (Some(_), Some(_)) => !is_below(a.hi, b.lo) && !is_below(b.hi, a.lo),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Two intervals that lie within ±δ of each other: shown to be as good as equal.
fn is_close(a: &Rate, b: &Rate, ratio: f64) -> bool {
    let ends = [a.lo, a.hi, b.lo, b.hi].into_iter().collect::<Option<Vec<_>>>();
    ends.is_some_and(|ends| {
        let low = ends.iter().map(|end| end.get()).fold(f64::INFINITY, f64::min);
        let high = ends.iter().map(|end| end.get()).fold(0.0, f64::max);
        high <= low * (1.0 + ratio)
    })
}

/// What a cell's criterion comes to.
pub(super) fn value(criterion: Criterion, cell: Kept<'_>) -> Rate {
    let throughput = &cell.summary.throughput;
    let quantile = |of: &dyn Fn(&Metric) -> Option<QuantilePoint>| {
        let all = cell.summary.metrics.get(criterion.figure().0).and_then(|m| m.all_attempts.as_deref());
        let point = all.and_then(of);
        point.map(|p| Rate { value: p.value, lo: p.lo, hi: p.hi, note: p.note }).unwrap_or_default()
    };
    match criterion {
        Criterion::TtftP95 | Criterion::LatencyP95 => quantile(&|all| all.p95.clone()),
        Criterion::TypicalTtft | Criterion::TypicalLatency => quantile(&|all| all.p50.clone()),
        Criterion::CostPerUseful => cell.summary.cost.per_useful_usd.clone(),
        Criterion::UsefulThroughput => {
            let steady = throughput.steady.as_ref().map(|steady| steady.useful_token_throughput.clone());
            let whole = || Rate { value: throughput.useful_token_throughput, ..Rate::default() };
            steady.filter(|steady| steady.value.is_some()).unwrap_or_else(whole)
        }
    }
}

/// Whether all that is known of a cell's criterion is that it is no less: the cost, where that of some attempts is not
/// known. Of what has no value nothing is known.
pub(super) fn is_bound(criterion: Criterion, cell: Kept<'_>) -> bool {
    let cost = &cell.summary.cost;
    criterion == Criterion::CostPerUseful && cost.lower_bound && cost.per_useful_usd.value.is_some()
}

/// Whether a cell's load can be decided on: not one that is made of episodes.
pub(super) fn is_ordinary(arrival: Arrival) -> bool {
    !matches!(arrival, Arrival::ColdStart { .. } | Arrival::Burst { .. })
}

/// How much is asked of a target at once: requests in flight, or a second.
fn pressure(arrival: Arrival) -> f64 {
    match arrival {
        Arrival::Closed { slots } => f64::from(slots),
        Arrival::Open { asked_rate } => asked_rate.unwrap_or(f64::INFINITY),
        Arrival::ColdStart { .. } | Arrival::Burst { .. } | Arrival::Unknown => 0.0,
    }
}

/// The load that a profile is decided on: its own; else, among those that most targets have, the least for what a person
/// waits for, the greatest for what nobody waits for, and for a service the one of most requests, since tails need n.
pub(super) fn load<'a>(profile: &'a Profile, workload: &str, cells: &'a [Kept<'a>]) -> Option<&'a str> {
    if let Some(load) = &profile.load {
        return Some(load);
    }
    let of_workload =
        || cells.iter().filter(|c| c.summary.workload == workload && is_ordinary(c.summary.arrival));
    let loads: BTreeSet<&str> = of_workload().map(|cell| cell.summary.load.as_str()).collect();
    let rank = |load: &&str| {
        let own = || of_workload().filter(|cell| cell.summary.load == **load);
        let pressure = own().map(|cell| pressure(cell.summary.arrival)).fold(0.0, f64::max);
        let requests = own().map(|cell| cell.summary.counts.issued).sum::<u64>();
        let wish = match profile.kind {
            ProfileKind::Chat | ProfileKind::Rag | ProfileKind::Agent => -pressure,
            ProfileKind::Batch => pressure,
            ProfileKind::Production => requests as f64,
        };
        (own().count(), wish)
    };
    let ranked = loads.into_iter().map(|load| (rank(&load), load));
    ranked.max_by(|(a, _), (b, _)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(_, load)| load)
}
