//! A decision in plain words: what, why, how sure, and what would change it.

use crate::names::name;
use crate::{Certainty, Gate, GateOutcome, GateResult, Num, Profile, Standing};

use super::FEW_WINDOWS;
use super::constraints::looks_broken;
use super::field::Field;
use super::profiles::{Criterion, order};
use super::rank::{Choice, Class, Contender, better, is_ahead};
use super::words_gate::broken;
use super::words_small::{how_often, listed, sentence, shown};

/// Everything that is said of a decision rests on this.
pub(super) struct Said<'a, 'b> {
    pub(super) profile: &'a Profile,
    pub(super) field: &'a Field<'b>,
    pub(super) contenders: &'a [Contender<'b>],
    pub(super) chosen: &'a [&'a Contender<'b>],
    pub(super) choice: &'a Choice,
    pub(super) certainty: Certainty,
    pub(super) p_not_best: Option<Num>,
    pub(super) windows: u64,
}

impl Said<'_, '_> {
    /// The decision itself, then its reasons, a sentence each.
    pub(super) fn reasons(&self) -> Vec<String> {
        let mut said = vec![self.decision()];
        said.extend(self.headline());
        said.extend(self.second());
        said.extend(self.bounded());
        said.extend(self.open());
        said.extend(self.out());
        said.extend(self.p_not_best.map(|p| {
            let by = self.choice.by.words();
            let other = if p.get() <= 0.0 { "no other" } else { "another" };
            format!("In blocks drawn anew {other} is the best by {by}{}.", how_often(p.get()))
        }));
        said.extend(
            (!self.chosen.is_empty() && self.windows < FEW_WINDOWS).then(|| few_windows(self.windows)),
        );
        said
    }

    fn decision(&self) -> String {
        let kind = self.profile.kind.name();
        let names: Vec<&str> = self.chosen.iter().map(|contender| contender.name()).collect();
        let who = listed(&names, "or");
        match (self.certainty, names.len()) {
            (Certainty::None, _) | (_, 0) => self.nobody(),
            (Certainty::Proven, 1) => format!("Take {who}: it is shown to hold all that {kind} needs."),
            (Certainty::Proven, _) => {
                format!(
                    "Take {who}: each is shown to hold all that {kind} needs, and they cannot be told apart."
                )
            }
            (Certainty::Provisional, _) if self.is_all_proven() => format!(
                "Take {who} for now: all that {kind} needs is shown to hold, but not what {} costs.",
                listed(&self.bounded_names(), "and")
            ),
            (Certainty::Provisional, 1) => {
                format!(
                    "Take {who} for now: it is the best candidate, but not all that {kind} needs is proven."
                )
            }
            (Certainty::Provisional, _) => format!(
                "Take {who} for now: they cannot be told apart, and not all that {kind} needs is proven."
            ),
        }
    }

    /// Whether only a cost keeps the decision from being proven.
    fn is_all_proven(&self) -> bool {
        self.chosen.first().is_some_and(|first| first.class == Class::Proven)
    }

    /// The chosen whose cost is known from below alone, where it could have put them out.
    fn bounded_names(&self) -> Vec<&str> {
        let is_chosen =
            |bounded: &&Contender<'_>| self.chosen.iter().any(|chosen| chosen.name() == bounded.name());
        self.at(&self.choice.bounded).filter(is_chosen).map(Contender::name).collect()
    }

    /// Whose cost has put them out of nothing, because it is known from below alone.
    fn bounded(&self) -> Vec<String> {
        let said = self.at(&self.choice.bounded).map(|contender| {
            let (name, cost) = (contender.name(), &contender.cell.summary.cost);
            format!(
                "Of {name} only a lower bound of the cost is known ({} of {} attempts are without one): by cost it \
                 is tied, not ahead.",
                cost.unknown,
                cost.asked()
            )
        });
        said.collect()
    }

    /// Who is shown to miss something is told from who has no figures that could be used.
    fn nobody(&self) -> String {
        let kind = self.profile.kind.name();
        let (missed, unusable): (Vec<&Contender<'_>>, Vec<&Contender<'_>>) =
            self.contenders.iter().partition(|contender| contender.class == Class::Missed);
        let names = |of: &[&Contender<'_>]| {
            listed(&of.iter().map(|contender| contender.name()).collect::<Vec<_>>(), "and")
        };
        let why = match (missed.as_slice(), unusable.as_slice()) {
            ([], []) => format!("nothing was measured that {kind} could be decided on"),
            ([], _) if unusable.iter().any(|contender| contender.cell.summary.counts.ok > 0) => {
                "what was measured is not valid, so that nothing can be decided on it".to_owned()
            }
            ([], _) => "no target gave an answer".to_owned(),
            ([_], []) if self.contenders.len() == 1 => {
                format!("the only target is shown to miss what {kind} needs")
            }
            ([first, ..], []) => format!(
                "every target is shown to miss something that {kind} needs; the best of them is {}",
                first.name()
            ),
            (_, _) => {
                let is = if missed.len() == 1 { "is" } else { "are" };
                let (missed, unusable) = (names(&missed), names(&unusable));
                format!(
                    "{missed} {is} shown to miss something that {kind} needs, and of {unusable} no figure can be used"
                )
            }
        };
        format!("None can be recommended: {why}.")
    }

    /// The headline figure of the first, beside that of the next.
    fn headline(&self) -> Option<String> {
        let first = self.chosen.first()?;
        let criterion = order(self.profile.kind)[0];
        let own = shown(criterion, first.cell)?;
        let what = criterion.words();
        let rivals = self.contenders.iter().filter(|other| other.class == first.class);
        let next = rivals.filter(|other| !self.is_tied_first(other)).find_map(|other| {
            let value = shown(criterion, other.cell)?;
            Some(format!("; next comes {} with {value}", other.name()))
        });
        Some(format!("{} has {what} {own}{}.", first.name(), next.unwrap_or_default()))
    }

    fn is_tied_first(&self, other: &Contender<'_>) -> bool {
        self.at(&self.choice.tied_first).any(|tied| tied.name() == other.name())
    }

    /// What decided between those that the headline cannot tell apart.
    fn second(&self) -> Option<String> {
        let mut rivals: Vec<&Contender<'_>> = self.at(&self.choice.rivals).collect();
        rivals.sort_by(|a, b| better(self.choice.by, a.cell, b.cell));
        let tied: Vec<&Contender<'_>> = self.at(&self.choice.tied_first).collect();
        if tied.len() < 2 {
            return None;
        }
        let before =
            order(self.profile.kind).into_iter().take_while(|criterion| *criterion != self.choice.by);
        let before: Vec<&str> = before.map(Criterion::words).collect();
        if before.is_empty() {
            let names: Vec<&str> = tied.iter().map(|contender| contender.name()).collect();
            let all = order(self.profile.kind).map(Criterion::words);
            return Some(format!("{} are not told apart by {}.", listed(&names, "and"), listed(&all, "or")));
        }
        let by = self.choice.by;
        let value = |c: &&Contender<'_>| Some(format!("{} {}", c.name(), shown(by, c.cell)?));
        let values: Vec<String> = rivals.iter().filter_map(value).collect();
        let names: Vec<&str> = rivals.iter().map(|contender| contender.name()).collect();
        Some(format!(
            "{} are not told apart by {}; {} decides: {}.",
            listed(&names, "and"),
            listed(&before, "or"),
            by.words(),
            values.join(", ")
        ))
    }

    /// The contenders at these places.
    fn at<'c>(&'c self, places: &'c [usize]) -> impl Iterator<Item = &'c Contender<'c>> {
        places.iter().filter_map(|at| self.contenders.get(*at))
    }

    /// What of the chosen is not proven.
    fn open(&self) -> Option<String> {
        let first = self.chosen.first()?;
        let open = first.candidate.constraints.iter().filter(|c| c.result == GateResult::Unproven);
        let (unmeasured, open): (Vec<&GateOutcome>, Vec<&GateOutcome>) = open.partition(|c| c.is_unmeasured);
        let mut said: Vec<String> = Vec::new();
        if !open.is_empty() {
            let named: Vec<String> = open.iter().map(|outcome| unproven(outcome)).collect();
            said.push(format!("not proven: {}", named.join(", ")));
        }
        if !unmeasured.is_empty() {
            let named: Vec<&str> = unmeasured.iter().map(|outcome| outcome.gate.as_str()).collect();
            said.push(format!("not measured: {}", named.join(", ")));
        }
        if said.is_empty() {
            return None;
        }
        let is_availability = |gate: &Gate| gate.metric() == name::AVAILABILITY;
        let is_never = unmeasured.iter().any(|c| c.gate.parse().is_ok_and(|gate| is_availability(&gate)));
        let kind = self.profile.kind.name();
        let never = if is_never {
            format!(" No run measures availability, nor do several pooled: {kind} is at best provisional.")
        } else {
            String::new()
        };
        Some(format!("Of {}, {}.{never}", first.name(), said.join("; ")))
    }

    /// Who is out, and by what; who is in doubt.
    fn out(&self) -> Vec<String> {
        let said = self.contenders.iter().filter_map(|contender| {
            let name = contender.name();
            let constraints = &contender.candidate.constraints;
            match contender.class {
                Class::Excluded => {
                    let why = contender.candidate.excluded.as_deref().unwrap_or_default();
                    Some(sentence(&format!("{name} is out: {why}")))
                }
                Class::Missed => {
                    let missed =
                        constraints.iter().filter(|c| c.result == GateResult::Missed && !c.is_unmeasured);
                    let named: Vec<String> = missed.map(broken).collect();
                    Some(format!("{name} is out: {}.", named.join("; ")))
                }
                Class::Doubtful => {
                    let named: Vec<String> =
                        constraints.iter().filter(|c| looks_broken(c)).map(broken).collect();
                    Some(format!("{name} is in doubt: {}, too few to prove it.", named.join("; ")))
                }
                Class::Proven | Class::Open => None,
            }
        });
        said.collect()
    }

    /// What evidence would change the decision.
    pub(super) fn would_change(&self) -> Vec<String> {
        let mut said = Vec::new();
        for outcome in self.chosen.first().iter().flat_map(|first| &first.candidate.constraints) {
            if outcome.result == GateResult::Unproven {
                said.push(missing(outcome));
            }
        }
        said.extend(self.at(&self.choice.bounded).map(|contender| {
            let (name, unknown) = (contender.name(), contender.cell.summary.cost.unknown);
            let attempts = if unknown == 1 { "1 attempt".to_owned() } else { format!("{unknown} attempts") };
            format!("The cost of {attempts} of {name}, that is a price and a usage for each.")
        }));
        said.extend(self.better_if_proven());
        said.extend(self.telling_apart());
        if self.windows < FEW_WINDOWS && !self.contenders.is_empty() {
            said.push("Measurements in at least three time windows.".to_owned());
        }
        said
    }

    /// Those that would win by the headline if more were proven of them.
    fn better_if_proven(&self) -> Vec<String> {
        let criterion = order(self.profile.kind)[0];
        let Some(first) = self.chosen.first() else { return Vec::new() };
        let is_better = |other: &&Contender<'_>| {
            other.class > first.class
                && other.class < Class::Missed
                && is_ahead(criterion, other.cell, first.cell)
        };
        let others = self.contenders.iter().filter(is_better);
        others
            .map(|other| {
                let open = other.candidate.constraints.iter().filter(|c| c.result == GateResult::Unproven);
                let needed = open.filter_map(|outcome| outcome.needed_n).max();
                let n = needed.map_or(String::new(), |n| format!(" (at least {n} requests)"));
                format!(
                    "Proof that {} holds what is open of it{n}: it is the better one by {}.",
                    other.name(),
                    criterion.words()
                )
            })
            .collect()
    }

    /// What it would take to tell the tied apart.
    fn telling_apart(&self) -> Vec<String> {
        let criterion = order(self.profile.kind)[0];
        let Some(first) = self.chosen.first() else { return Vec::new() };
        self.at(&self.choice.tied_first)
            .filter(|other| other.name() != first.name())
            .filter_map(|other| {
                let compared = self.field.comparison(criterion, first.name(), other.name())?;
                let [from, to] =
                    compared.needed_n.filter(|_| compared.verdict == Standing::NotDistinguishable)?;
                let words = criterion.words();
                Some(format!(
                    "{from} to {to} pairs, to tell {} from {} by {words}.",
                    first.name(),
                    other.name()
                ))
            })
            .collect()
    }
}

/// What the decision is limited to.
pub(super) fn scope(field: &Field<'_>, windows: u64) -> String {
    let window = if windows == 1 { "time window" } else { "time windows" };
    format!(
        "These prompts ({} under {}), these hours ({windows} {window}), this vantage point.",
        field.workload, field.load
    )
}

fn few_windows(windows: u64) -> String {
    let window = if windows == 1 { "window" } else { "windows" };
    format!("It rests on {windows} time {window}, fewer than 3: another hour may differ.")
}

fn unproven(outcome: &GateOutcome) -> String {
    match outcome.needed_n {
        Some(needed) if needed > outcome.n => {
            format!("that {} is false (n = {} of {needed})", outcome.gate, outcome.n)
        }
        _ if outcome.n > 0 => format!("that {} is false (n = {})", outcome.gate, outcome.n),
        _ => format!("that {} is false (its interval is too wide)", outcome.gate),
    }
}

/// The evidence that an open constraint lacks.
fn missing(outcome: &GateOutcome) -> String {
    if outcome.is_unmeasured {
        return sentence(&format!("A measurement for {}: {}", outcome.gate, outcome.detail));
    }
    match outcome.needed_n {
        Some(needed) if needed > outcome.n => {
            format!(
                "{needed} requests instead of {}, for {}, if no further one is bad.",
                outcome.n, outcome.gate
            )
        }
        _ => format!("More requests, for a narrower interval of {}.", outcome.gate),
    }
}
