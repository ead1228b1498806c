//! How often another target would be the best, had other blocks been drawn.

use std::collections::{BTreeMap, BTreeSet};

use inferometer_stats::{Prob, SplitMix, quantile};

use crate::kept::Kept;
use crate::row::Row;
use crate::{Num, figures};

use super::profiles::Criterion;

/// Resamples, where time allows.
const RESAMPLES: usize = 1_000;

/// Fewer say nothing.
const MIN_RESAMPLES: usize = 100;

/// Rows that all resamples together may touch: a second's work.
const MAX_ROWS: usize = 20_000_000;

/// Fewer blocks than this cannot be drawn anew.
const MIN_BLOCKS: usize = 5;

/// What one target contributes of one block.
#[derive(Default)]
struct Part {
    /// Times, failures infinite.
    times: Vec<f64>,
    /// What is above the line of a ratio, and below it.
    above: f64,
    below: f64,
}

/// The probability that the best of `cells` by `criterion` is none of the first `chosen` of them: blocks are drawn with
/// replacement, the same ones for all (percentile bootstrap over blocks; without blocks, over requests). `None` for
/// fewer than two targets or five blocks, and by a cost that is only a lower bound.
pub(super) fn p_not_best(criterion: Criterion, cells: &[Kept<'_>], chosen: usize, seed: u64) -> Option<Num> {
    if cells.len() < 2 || chosen == 0 || chosen >= cells.len() {
        return None;
    }
    if criterion == Criterion::CostPerUseful && cells.iter().any(|cell| cell.summary.cost.lower_bound) {
        return None;
    }
    let parts: Vec<BTreeMap<u64, Part>> = cells.iter().map(|cell| by_block(criterion, *cell)).collect();
    let keys: BTreeSet<u64> = parts.iter().flat_map(|parts| parts.keys().copied()).collect();
    let keys: Vec<u64> = keys.into_iter().collect();
    if keys.len() < MIN_BLOCKS {
        return None;
    }
    let rows: usize = cells.iter().map(|cell| cell.attempts.len().max(1)).sum();
    let resamples = (MAX_ROWS / rows).clamp(MIN_RESAMPLES, RESAMPLES);
    let mut random = SplitMix::new(seed);
    let mut others = 0_u32;
    for _ in 0..resamples {
        let drawn: Vec<u64> =
            (0..keys.len()).filter_map(|_| keys.get(random.below(keys.len())).copied()).collect();
        let values = parts.iter().map(|parts| figure(criterion, parts, &drawn));
        let best = values.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
        others += u32::from(best.is_some_and(|(at, _)| at >= chosen));
    }
    Num::new(f64::from(others) / resamples as f64)
}

/// A row's block; without blocks each request is one, the same in every target.
pub(super) fn block(row: &Row) -> u64 {
    row.block.map_or(row.seq, u64::from)
}

fn by_block(criterion: Criterion, cell: Kept<'_>) -> BTreeMap<u64, Part> {
    let mut parts: BTreeMap<u64, Part> = BTreeMap::new();
    let mut spans: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for row in cell.attempts {
        let part = parts.entry(block(row)).or_default();
        match criterion {
            Criterion::CostPerUseful => {
                part.above += row.cost.get().unwrap_or(0.0);
                part.below += f64::from(u8::from(row.is_useful && row.is_final));
            }
            Criterion::UsefulThroughput => {
                part.above += row.streamed.get().filter(|_| row.is_useful && row.is_final).unwrap_or(0.0);
                if let (Some(start), Some(end)) = (row.start.get(), row.end.get()) {
                    let span = spans.entry(block(row)).or_insert((start, end));
                    *span = (span.0.min(start), span.1.max(end));
                }
            }
            _ => part.times.extend(figures::of_attempt(criterion.figure().0, row)),
        }
    }
    for (key, (start, end)) in spans {
        if let Some(part) = parts.get_mut(&key) {
            part.below += end.saturating_sub(start) as f64;
        }
    }
    parts
}

/// The criterion over the drawn blocks, less being better; what has no value is worst.
fn figure(criterion: Criterion, parts: &BTreeMap<u64, Part>, drawn: &[u64]) -> f64 {
    let drawn = drawn.iter().filter_map(|key| parts.get(key));
    match criterion {
        Criterion::CostPerUseful | Criterion::UsefulThroughput => {
            let (above, below) = drawn.fold((0.0, 0.0), |sum, part| (sum.0 + part.above, sum.1 + part.below));
            let ratio = if below > 0.0 { above / below } else { f64::INFINITY };
            if criterion.lower_is_better() || ratio.is_infinite() { ratio } else { -ratio }
        }
        Criterion::TypicalTtft | Criterion::TypicalLatency => nth(drawn, Prob::P50),
        Criterion::TtftP95 | Criterion::LatencyP95 => nth(drawn, Prob::P95),
    }
}

/// A quantile of times by nearest rank; without any, never.
fn nth<'a>(drawn: impl Iterator<Item = &'a Part>, p: Prob) -> f64 {
    let mut times: Vec<f64> = drawn.flat_map(|part| part.times.iter().copied()).collect();
    let rank = quantile::rank(times.len(), p);
    match rank.checked_sub(1).filter(|at| *at < times.len()) {
        Some(at) => *times.select_nth_unstable_by(at, f64::total_cmp).1,
        None => f64::INFINITY,
    }
}
