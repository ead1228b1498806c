//! The limits that a target told, and what our own pacer held back to keep under them.

use inferometer_record::{Phase, Sample};
use inferometer_wire::limits::{Kind, Limit};
use serde::{Deserialize, Serialize};

use crate::{CellSummary, Num};

/// Limits of a cell that are kept apart; more can only come from a file that is not ours.
const LIMITS_MAX: usize = 32;

/// One limit of a target, over all answers of a cell that told it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToldLimit {
    /// What it counts.
    pub kind: Kind,
    /// Over how long, s; absent where that was not told.
    pub window_s: Option<u64>,
    /// How much may be asked, as the last answer told it.
    pub limit: Option<u64>,
    /// The least that was left.
    pub lowest: Option<u64>,
    /// The least share of it that was left.
    pub lowest_share: Option<Num>,
    /// Attempts whose answer told it.
    pub answers: u64,
}

/// What our own pacer held back: neither the server's slowness nor its refusal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pacing {
    /// Attempts that were held back.
    pub attempts: u64,
    /// Σ of their waits, s.
    pub total_s: f64,
    /// The longest wait, s.
    pub longest_s: f64,
}

impl Pacing {
    /// What the cell's rates then are.
    pub(crate) fn note(&self) -> String {
        format!(
            "rates are what the target's limits let through: our own pacer held back some attempts ({})",
            self.attempts
        )
    }
}

/// Both, while attempts come in.
#[derive(Debug, Default)]
pub(crate) struct ToldTally {
    limits: Vec<ToldLimit>,
    paced: u64,
    total_ns: u64,
    longest_ns: u64,
}

impl ToldTally {
    /// An attempt of any phase: a warm-up is told the same limits, and what held it back delayed no figure.
    pub(crate) fn push(&mut self, sample: &Sample) {
        for limit in &sample.limits {
            join(&mut self.limits, limit.into(), LIMITS_MAX);
        }
        let is_measured = sample.phase == Phase::Measure;
        if let Some(ns) = sample.paced_ns.filter(|ns| is_measured && *ns > 0) {
            self.paced += 1;
            self.total_ns = self.total_ns.saturating_add(ns);
            self.longest_ns = self.longest_ns.max(ns);
        }
    }

    /// The limits by kind and window, and what was held back, where anything was.
    pub(crate) fn finish(mut self) -> (Vec<ToldLimit>, Option<Pacing>) {
        self.limits.sort_by_key(|limit| (limit.kind, limit.window_s));
        let seconds = |ns: u64| ns as f64 / 1e9;
        let pacing = (self.paced > 0).then(|| Pacing {
            attempts: self.paced,
            total_s: seconds(self.total_ns),
            longest_s: seconds(self.longest_ns),
        });
        (self.limits, pacing)
    }
}

impl From<&Limit> for ToldLimit {
    fn from(told: &Limit) -> Self {
        // Nothing of nothing is no share.
        let of = told.limit.filter(|limit| *limit > 0).zip(told.remaining);
        Self {
            kind: told.kind,
            window_s: told.window_s,
            limit: told.limit,
            lowest: told.remaining,
            lowest_share: of.and_then(|(limit, left)| Num::new(left as f64 / limit as f64)),
            answers: 1,
        }
    }
}

/// The limits that one target told in any of its cells.
pub fn limits_of<'a>(cells: impl IntoIterator<Item = &'a CellSummary>) -> Vec<ToldLimit> {
    let mut all: Vec<ToldLimit> = Vec::new();
    for told in cells.into_iter().flat_map(|cell| &cell.limits) {
        join(&mut all, told.clone(), usize::MAX);
    }
    all.sort_by_key(|limit| (limit.kind, limit.window_s));
    all
}

/// Adds what was told later to the same limit among `all`, or as one of its own while they are fewer than `most`.
fn join(all: &mut Vec<ToldLimit>, told: ToldLimit, most: usize) {
    let is_it = |known: &&mut ToldLimit| known.kind == told.kind && known.window_s == told.window_s;
    let has_room = all.len() < most;
    match all.iter_mut().find(is_it) {
        Some(known) => {
            known.answers += told.answers;
            known.limit = told.limit.or(known.limit);
            known.lowest = [known.lowest, told.lowest].into_iter().flatten().min();
            let shares = [known.lowest_share, told.lowest_share];
            known.lowest_share =
                shares.into_iter().flatten().min_by(|one, other| one.get().total_cmp(&other.get()));
        }
        None if has_room => all.push(told),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(kind: Kind, window_s: Option<u64>, limit: Option<u64>, remaining: Option<u64>) -> Limit {
        Limit { kind, window_s, limit, remaining, reset_ns: None }
    }

    #[test]
    fn the_last_limit_and_the_least_that_was_left() {
        let mut tally = ToldTally::default();
        let (minute, day) = (Some(60), Some(86_400));
        for (phase, limit, left, paced_ns) in [
            (Phase::Warmup, 10, 9, Some(5)),
            (Phase::Measure, 10, 2, None),
            (Phase::Measure, 20, 15, Some(3_000_000_000)),
            (Phase::Measure, 20, 14, Some(1_000_000_000)),
        ] {
            let limits = vec![
                self::limit(Kind::Tokens, None, None, Some(left)),
                self::limit(Kind::Requests, minute, Some(limit), Some(left)),
                self::limit(Kind::Requests, day, Some(0), Some(0)),
            ];
            tally.push(&Sample { phase, limits, paced_ns, ..Sample::default() });
        }
        let (limits, pacing) = tally.finish();
        let said: Vec<_> = limits
            .iter()
            .map(|told| {
                (told.window_s, told.limit, told.lowest, told.lowest_share.map(Num::get), told.answers)
            })
            .collect();
        let right = [
            (minute, Some(20), Some(2), Some(0.2), 4),
            // Nothing of nothing is no share.
            (day, Some(0), Some(0), None, 4),
            (None, None, Some(2), None, 4),
        ];
        assert_eq!(said, right);
        assert_eq!(pacing, Some(Pacing { attempts: 2, total_s: 4.0, longest_s: 3.0 }));
        let cell = CellSummary { limits: limits.clone(), ..CellSummary::default() };
        let both = limits_of([&cell, &cell]);
        assert_eq!((both.len(), both[0].answers, both[0].lowest_share), (3, 8, limits[0].lowest_share));
        assert_eq!(ToldTally::default().finish(), (Vec::new(), None));
    }
}
