//! A cell prepared to be held against others: what every pair of it needs, made once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use inferometer_stats::mover::Estimate;
use inferometer_stats::quantile::estimate_with_n_eff;
use inferometer_stats::{Prob, Sorted};

use crate::kept::Kept;
use crate::names::name;
use crate::row::Row;

use super::beside;

/// What two requests must share to be a pair: the same prompt at the same place in the plan of one run. Not the block:
/// slices of several slots end at a time, so that the same place lies in different ones, and a prompt's place is the
/// same for every target. Where a place comes up again, the first goes with the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    run: u64,
    seq: u64,
    role: Option<&'static str>,
    prompt: u64,
    turn: u64,
}

/// Cost of all attempts and useful answers of one prompt.
pub(super) type Totals = (f64, f64);

/// One figure's distribution over all attempts, and what it is worth at one quantile.
struct Tail {
    metric: &'static str,
    sorted: Sorted,
    /// n / τ at the 95th and 99th percentile.
    n_eff: [f64; 2],
}

impl Tail {
    fn n_eff(&self, p: Prob) -> f64 {
        let [p95, p99] = self.n_eff;
        if p == Prob::P95 { p95 } else { p99 }
    }
}

/// One cell.
pub(super) struct Side<'a> {
    pub(super) cell: Kept<'a>,
    /// Requests by key, ascending; of those that were not cut by the run.
    requests: Vec<(Key, &'a Row)>,
    pub(super) blocks: BTreeSet<u32>,
    /// By prompt; `None` where no cost is known. What is not known counts as nothing.
    pub(super) prompts: Option<BTreeMap<u64, Totals>>,
    tails: Vec<Tail>,
}

impl<'a> Side<'a> {
    pub(super) fn new(cell: Kept<'a>) -> Self {
        let tails = [name::TTFT, name::LATENCY].into_iter().filter_map(|metric| tail(cell, metric));
        Side {
            cell,
            requests: keyed(cell),
            blocks: beside::blocks(cell),
            prompts: by_prompt(cell),
            tails: tails.collect(),
        }
    }

    /// Requests of both sides that belong together, in the order of the plan.
    pub(super) fn pairs(&self, other: &Side<'a>) -> Vec<(&'a Row, &'a Row)> {
        let mut others = other.requests.iter().peekable();
        let partner = |(key, row): &(Key, &'a Row)| {
            while others.peek().is_some_and(|(other, _)| other < key) {
                others.next();
            }
            let (_, partner) = others.next_if(|(other, _)| other == key)?;
            Some((*row, *partner))
        };
        self.requests.iter().filter_map(partner).collect()
    }

    /// Whether its cost is only a lower bound: that of some attempts is not known.
    pub(super) fn is_cost_bound(&self) -> bool {
        self.cell.summary.cost.lower_bound
    }

    pub(super) fn requests(&self) -> usize {
        self.requests.len()
    }

    /// How many observations a figure has over all attempts.
    pub(super) fn observations(&self, metric: &str) -> usize {
        self.tail(metric).map_or(0, |tail| tail.sorted.len())
    }

    /// A quantile of a figure over all attempts, at an error probability; whether it is only a lower bound.
    pub(super) fn quantile(&self, metric: &str, p: Prob, alpha: f64) -> Option<(Estimate, bool)> {
        let tail = self.tail(metric)?;
        let found = estimate_with_n_eff(&tail.sorted, p, alpha, tail.n_eff(p))?;
        Some((Estimate { value: found.value, bounds: found.bounds() }, found.above))
    }

    /// What an observation is worth in independent ones, at a quantile.
    pub(super) fn worth(&self, metric: &str, p: Prob) -> f64 {
        self.tail(metric).map_or(1.0, |tail| (tail.n_eff(p) / tail.sorted.len().max(1) as f64).min(1.0))
    }

    fn tail(&self, metric: &str) -> Option<&Tail> {
        self.tails.iter().find(|tail| tail.metric == metric)
    }
}

fn keyed(cell: Kept<'_>) -> Vec<(Key, &Row)> {
    let mut rows: Vec<&Row> = cell.requests().filter(|row| !row.status.is_cancelled()).collect();
    rows.sort_by_key(|row| row.seq);
    let mut turns: HashMap<Key, u64> = HashMap::new();
    let key = |row: &Row| {
        let mut key = Key { run: row.run, seq: row.seq, role: row.role, prompt: row.prompt, turn: 0 };
        let turn = turns.entry(key).or_default();
        key.turn = *turn;
        *turn += 1;
        key
    };
    let keys: Vec<Key> = rows.iter().copied().map(key).collect();
    let mut keyed: Vec<(Key, &Row)> = keys.into_iter().zip(rows).collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed
}

fn by_prompt(cell: Kept<'_>) -> Option<BTreeMap<u64, Totals>> {
    cell.summary.cost.total_usd.as_ref()?;
    let mut prompts: BTreeMap<u64, Totals> = BTreeMap::new();
    for row in cell.attempts {
        let totals = prompts.entry(row.prompt).or_default();
        totals.0 += row.cost.get().unwrap_or(0.0);
        totals.1 += f64::from(u8::from(row.is_final && row.is_useful));
    }
    Some(prompts)
}

fn tail(cell: Kept<'_>, metric: &'static str) -> Option<Tail> {
    let population = cell.population(metric)?;
    let worth = |p| population.quantile(p, inferometer_stats::ALPHA).map(|found| found.n_eff);
    let n_eff = [worth(Prob::P95)?, worth(Prob::P99)?];
    Some(Tail { metric, n_eff, sorted: population.sorted })
}
