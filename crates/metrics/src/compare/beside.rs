//! What a reader must know of a pair whatever figure it is compared on: whether both sides are valid, and whether they
//! were asked at the same time or in turn.

use std::collections::BTreeSet;

use crate::kept::Kept;

use super::side::Side;

/// Blocks that two targets share from which on they count as having taken turns: with fewer, the target and the time
/// are as good as one.
const MIN_SHARED_BLOCKS: usize = 5;

/// What lies beside every comparison of a pair.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside {
    pub(super) notes: Vec<String>,
    /// Whether nothing can be said of the pair: the client was too slow for one of them.
    pub(super) is_void: bool,
    /// Whether one was asked after the other.
    pub(super) is_apart: bool,
}

impl Beside {
    pub(super) fn of(a: &Side<'_>, b: &Side<'_>) -> Self {
        let mut notes: Vec<String> = [a, b].into_iter().filter_map(|side| void(side.cell)).collect();
        let is_void = !notes.is_empty();
        let is_apart = a.blocks.intersection(&b.blocks).take(MIN_SHARED_BLOCKS).count() < MIN_SHARED_BLOCKS
            && !are_together(a.cell, b.cell);
        if is_apart {
            notes.push("measured one after the other: a drift of the hour counts as a difference".to_owned());
        }
        Self { notes, is_void, is_apart }
    }
}

/// Why a cell's figures are not valid.
fn void(cell: Kept<'_>) -> Option<String> {
    let client = &cell.summary.client;
    (!client.valid).then(|| format!("not valid: {}: {}", cell.summary.target, client.reason()))
}

/// Every block that a cell was asked in.
pub(super) fn blocks(cell: Kept<'_>) -> BTreeSet<u32> {
    cell.attempts.iter().filter_map(|row| row.block).collect()
}

/// Whether at least half of one side's attempts were under way while one of the other's was.
fn are_together(a: Kept<'_>, b: Kept<'_>) -> bool {
    let (busy_a, busy_b) = (busy(a), busy(b));
    mostly_during(a, &busy_b) || mostly_during(b, &busy_a)
}

fn mostly_during(cell: Kept<'_>, busy: &[(u64, u64)]) -> bool {
    let is_during = |(from, to): &(u64, u64)| {
        let after = busy.partition_point(|(_, end)| end < from);
        busy.get(after).is_some_and(|(start, _)| start <= to)
    };
    let all: Vec<(u64, u64)> = spans(cell).collect();
    let during = all.iter().filter(|span| is_during(span)).count();
    during > 0 && during * 2 >= all.len()
}

/// The time in which something was under way, as spans that do not touch, ascending.
fn busy(cell: Kept<'_>) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = spans(cell).collect();
    all.sort_unstable();
    let mut busy: Vec<(u64, u64)> = Vec::new();
    for (from, to) in all {
        match busy.last_mut().filter(|last| from <= last.1) {
            Some(last) => last.1 = last.1.max(to),
            None => busy.push((from, to)),
        }
    }
    busy
}

fn spans(cell: Kept<'_>) -> impl Iterator<Item = (u64, u64)> {
    cell.attempts.iter().filter_map(|row| row.start.get().zip(row.end.get())).filter(|(from, to)| from <= to)
}
