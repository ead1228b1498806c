//! Whom to ask when the first choice fails: who fails at other times.

use std::collections::BTreeMap;

use crate::Fallback;
use crate::kept::Kept;

use super::field::Field;
use super::rank::{Class, Contender};
use super::resample::block;

/// How two targets failed together.
struct Joint {
    /// Blocks in which both failed.
    both: u64,
    /// Blocks that both have.
    of: u64,
}

/// The fallback of the first contender: another provider before the same one, then the fewest blocks in which both
/// failed, then the order of the contenders. One that is shown to miss a constraint is none.
pub(super) fn of(field: &Field<'_>, contenders: &[Contender<'_>], first: &Contender<'_>) -> Option<Fallback> {
    let own = provider(field, first.name());
    let failures = failed_blocks(first.cell);
    let rank = |other: &Contender<'_>| {
        let joint = joint(&failures, &failed_blocks(other.cell));
        let is_same = own.is_some() && provider(field, other.name()) == own;
        let share = if joint.of > 0 { joint.both as f64 / joint.of as f64 } else { 0.0 };
        (is_same, share, joint)
    };
    let able = contenders.iter().filter(|other| other.class < Class::Missed && other.name() != first.name());
    let ranked = able.map(|other| (rank(other), other));
    let ((is_same, _, joint), other) =
        ranked.min_by(|((a_same, a, _), a_who), ((b_same, b, _), b_who)| {
            a_same.cmp(b_same).then(a.total_cmp(b)).then(a_who.class.cmp(&b_who.class))
        })?;
    let who = match (provider(field, other.name()), is_same) {
        (Some(provider), true) => format!("the same provider ({provider}) serves it, for want of another"),
        (Some(provider), false) => format!("another provider ({provider})"),
        (None, _) => "who serves it is not known".to_owned(),
    };
    let together = match joint {
        Joint { of: 0, .. } => "whether both fail together was not seen".to_owned(),
        Joint { both, of } => format!("both failed in {both} of {of} blocks"),
    };
    Some(Fallback { target: other.name().to_owned(), reason: format!("{who}; {together}") })
}

fn provider<'a>(field: &Field<'a>, target: &str) -> Option<&'a str> {
    field.info(target).map(|info| info.provider.as_str()).filter(|provider| !provider.is_empty())
}

/// Per block whether a request of it failed in the end.
fn failed_blocks(cell: Kept<'_>) -> BTreeMap<u64, bool> {
    let mut blocks = BTreeMap::new();
    for row in cell.requests().filter(|row| !row.status.is_cancelled()) {
        *blocks.entry(block(row)).or_insert(false) |= row.status.is_failure();
    }
    blocks
}

fn joint(a: &BTreeMap<u64, bool>, b: &BTreeMap<u64, bool>) -> Joint {
    let shared = a.iter().filter_map(|(block, failed)| Some((*failed, *b.get(block)?)));
    shared.fold(Joint { both: 0, of: 0 }, |sum, (a, b)| Joint {
        both: sum.both + u64::from(a && b),
        of: sum.of + 1,
    })
}
