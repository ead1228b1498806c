//! Who is in the running, in which order, and who is tied.

use std::cmp::Ordering;

use crate::kept::Kept;
use crate::{Candidate, CellSummary, GateResult, Profile, name};

use super::constraints::{hold, looks_broken};
use super::field::{Field, is_bound, value};
use super::pareto;
use super::profiles::{Criterion, order};

/// How a target stands to what must hold: the less the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Shown to hold all of it.
    Proven,
    /// Nothing speaks against it, but not all is shown.
    Open,
    /// What was seen breaks a constraint, though so few cases prove nothing.
    Doubtful,
    /// Shown to break a constraint.
    Missed,
    /// No figures that could be used.
    Excluded,
}

/// A target in the running.
pub(super) struct Contender<'a> {
    pub(super) cell: Kept<'a>,
    pub(super) class: Class,
    pub(super) candidate: Candidate,
}

impl Contender<'_> {
    pub(super) fn name(&self) -> &str {
        &self.cell.summary.target
    }
}

/// Every target of the field, best first.
pub(super) fn contenders<'a>(profile: &Profile, field: &Field<'a>) -> Vec<Contender<'a>> {
    let headline = order(profile.kind)[0];
    let front = pareto::front(&field.cells);
    let mut contenders: Vec<Contender<'a>> = field
        .cells
        .iter()
        .zip(front)
        .map(|(cell, is_pareto)| contender(profile, field, *cell, headline, is_pareto))
        .collect();
    contenders.sort_by(|a, b| {
        let by = |criterion: &Criterion| better(*criterion, a.cell, b.cell);
        let differs = order(profile.kind).iter().map(by).find(|found| found.is_ne());
        a.class.cmp(&b.class).then(differs.unwrap_or(Ordering::Equal))
    });
    contenders
}

fn contender<'a>(
    profile: &Profile,
    field: &Field<'_>,
    cell: Kept<'a>,
    headline: Criterion,
    is_pareto: bool,
) -> Contender<'a> {
    let excluded = excluded(cell.summary);
    let constraints = hold(profile, field, cell);
    let ttft = cell.summary.metrics.get(name::TTFT).and_then(|ttft| ttft.all_attempts.as_deref());
    let candidate = Candidate {
        target: cell.summary.target.clone(),
        headline: value(headline, cell),
        headline_unit: headline.unit().to_owned(),
        cost_per_useful_usd: cell.summary.cost.per_useful_usd.clone(),
        ttft_p95_ms: ttft.and_then(|ttft| ttft.p95.clone()),
        is_pareto,
        constraints,
        excluded,
    };
    Contender { cell, class: class(&candidate), candidate }
}

fn class(candidate: &Candidate) -> Class {
    let constraints = &candidate.constraints;
    if candidate.excluded.is_some() {
        Class::Excluded
    } else if constraints.iter().any(|c| c.result == GateResult::Missed && !c.is_unmeasured) {
        Class::Missed
    } else if constraints.iter().any(looks_broken) {
        Class::Doubtful
    } else if constraints.iter().any(|c| c.result == GateResult::Unproven) {
        Class::Open
    } else {
        Class::Proven
    }
}

/// Why a target cannot be chosen, whatever its figures say.
fn excluded(cell: &CellSummary) -> Option<String> {
    let counts = &cell.counts;
    if counts.ok == 0 {
        let gap = cell.gap.as_ref().map(|gap| format!("nothing was measured: {gap}"));
        let dead = || format!("no request succeeded: 0 of {}", counts.issued);
        return Some(
            gap.unwrap_or_else(|| if counts.issued == 0 { "nothing was asked".to_owned() } else { dead() }),
        );
    }
    (!cell.client.valid).then(|| format!("its figures are not valid: {}", cell.client.reason()))
}

/// The better one first. What is only a lower bound stands behind all that is known, however little it says: it may be
/// more, so that nothing shows it to be the better one. What has no value is last.
pub(super) fn better(criterion: Criterion, a: Kept<'_>, b: Kept<'_>) -> Ordering {
    let value = |cell| value(criterion, cell).value.map(crate::Num::get);
    let key = |cell| match value(cell) {
        Some(value) if criterion.lower_is_better() => value,
        Some(value) => -value,
        None => f64::INFINITY,
    };
    let group = |cell| (value(cell).is_none(), is_bound(criterion, cell));
    group(a).cmp(&group(b)).then(key(a).total_cmp(&key(b)))
}

/// Whether `a` has the better value, which what is not known of the two cannot turn round by itself.
pub(super) fn is_ahead(criterion: Criterion, a: Kept<'_>, b: Kept<'_>) -> bool {
    let least = value(criterion, b).value.zip(value(criterion, a).value);
    let is_enough = !is_bound(criterion, b) || least.is_some_and(|(of_b, of_a)| of_a < of_b);
    better(criterion, a, b).is_lt() && is_enough
}

/// What the order of a profile leaves: the best by the headline and whoever is tied with it; of these, the best by what
/// comes second and whoever is tied there; and so on.
pub(super) struct Choice {
    /// Places in the list of contenders, the best first.
    pub(super) chosen: Vec<usize>,
    /// Those that were left when the criterion that decided was looked at.
    pub(super) rivals: Vec<usize>,
    /// Those tied with the best by the headline.
    pub(super) tied_first: Vec<usize>,
    /// What decided: the last criterion that left fewer.
    pub(super) by: Criterion,
    /// Those that no cost has put out because all that is known of theirs is that it is no less.
    pub(super) bounded: Vec<usize>,
}

impl Choice {
    /// Whether one is chosen that its own cost, were it known, might have put out.
    pub(super) fn rests_on_bound(&self) -> bool {
        self.bounded.iter().any(|at| self.chosen.contains(at))
    }

    /// Goes on with those of the chosen that `criterion` leaves.
    fn narrow(&mut self, field: &Field<'_>, contenders: &[Contender<'_>], criterion: Criterion) {
        let left = level(field, contenders, &self.chosen, criterion);
        if self.chosen.len() > 1 {
            let is_bound = |at: &&usize| contenders.get(**at).is_some_and(|c| is_bound(criterion, c.cell));
            self.bounded.extend(left.iter().filter(is_bound));
        }
        if left.len() < self.chosen.len() {
            self.rivals = std::mem::replace(&mut self.chosen, left);
            self.by = criterion;
        }
    }
}

/// Chooses among `pool`, places in `contenders`.
pub(super) fn choose(
    profile: &Profile,
    field: &Field<'_>,
    contenders: &[Contender<'_>],
    pool: &[usize],
) -> Choice {
    let [headline, rest @ ..] = order(profile.kind);
    let start = || pool.to_vec();
    let mut choice = Choice {
        chosen: start(),
        rivals: start(),
        tied_first: Vec::new(),
        by: headline,
        bounded: Vec::new(),
    };
    choice.narrow(field, contenders, headline);
    choice.tied_first.clone_from(&choice.chosen);
    for criterion in rest {
        choice.narrow(field, contenders, criterion);
    }
    choice
}

/// The best of `pool` by one criterion, and whoever is tied with it.
fn level(
    field: &Field<'_>,
    contenders: &[Contender<'_>],
    pool: &[usize],
    criterion: Criterion,
) -> Vec<usize> {
    let cell = |at: usize| contenders.get(at).map(|contender| contender.cell);
    let mut ranked: Vec<usize> = pool.to_vec();
    ranked.sort_by(|a, b| cell(*a).zip(cell(*b)).map_or(Ordering::Equal, |(a, b)| better(criterion, a, b)));
    let Some(best) = ranked.first().and_then(|at| cell(*at)) else { return Vec::new() };
    let is_in = |at: &usize| {
        let own = cell(*at);
        own.is_some_and(|own| {
            own.summary.target == best.summary.target || field.is_tied(criterion, best, own)
        })
    };
    ranked.into_iter().filter(is_in).collect()
}
