//! From figures to a decision: which target for which profile, how sure, and what would change it.

mod constraints;
mod fallback;
mod field;
mod levers;
mod pareto;
mod profiles;
mod rank;
mod resample;
mod retry;
mod settings;
mod words;
mod words_gate;
mod words_small;

use serde::{Deserialize, Serialize};

use crate::kept::Kept;
use crate::{Comparison, GateOutcome, Num, Profile, ProfileKind, QuantilePoint, Rate, Statistic, Study};
use field::Field;
use rank::{Class, Contender};

pub(crate) use levers::levers;
pub(crate) use settings::settings;

/// Windows below which a recommendation says that another hour may differ.
const FEW_WINDOWS: u64 = 3;

/// The figure that a profile declares as its headline: the one whose comparisons are a family.
pub(crate) fn headline(kind: ProfileKind) -> (&'static str, Statistic) {
    let [headline, ..] = profiles::order(kind);
    headline.figure()
}

/// A decision for each profile on each of its workloads.
pub(crate) fn decide(study: &Study, cells: &[Kept<'_>], comparisons: &[Comparison]) -> Vec<Decision> {
    let mut decisions = Vec::new();
    for profile in &study.profiles {
        let mut workloads: Vec<&str> = Vec::new();
        for cell in cells.iter().filter(|cell| field::is_ordinary(cell.summary.arrival)) {
            if !workloads.contains(&cell.summary.workload.as_str()) {
                workloads.push(&cell.summary.workload);
            }
        }
        if let Some(own) = &profile.workload {
            workloads = vec![own];
        }
        for workload in workloads {
            let load = field::load(profile, workload, cells).unwrap_or_default();
            let field = Field::new(study, cells, comparisons, workload, load);
            decisions.push(on(profile, &field));
        }
    }
    decisions
}

/// The decision of one profile on one workload and load.
fn on(profile: &Profile, field: &Field<'_>) -> Decision {
    let contenders = rank::contenders(profile, field);
    let best = contenders.first().map(|first| first.class).filter(|class| *class < Class::Missed);
    let pool: Vec<usize> =
        contenders.iter().enumerate().filter(|(_, c)| Some(c.class) == best).map(|(at, _)| at).collect();
    let choice = rank::choose(profile, field, &contenders, &pool);
    let order = profiles::order(profile.kind);
    let [headline, ..] = order;
    let certainty = match best {
        Some(Class::Proven) if !choice.rests_on_bound() => Certainty::Proven,
        Some(_) => Certainty::Provisional,
        None => Certainty::None,
    };
    let of = |places: &[usize]| -> Vec<&Contender<'_>> {
        places.iter().filter_map(|at| contenders.get(*at)).collect()
    };
    let chosen = of(&choice.chosen);
    // What decided is what could have come out otherwise.
    let others =
        of(&choice.rivals).into_iter().filter(|c| !chosen.iter().any(|chosen| chosen.name() == c.name()));
    let drawn: Vec<Kept<'_>> = chosen.iter().copied().chain(others).map(|contender| contender.cell).collect();
    let p_not_best = resample::p_not_best(choice.by, &drawn, chosen.len(), field.study.seed);
    let fallback = chosen.first().and_then(|first| fallback::of(field, &contenders, first));
    let windows = field.cells.iter().map(|cell| cell.summary.time_windows).min().unwrap_or(0);
    let said = words::Said {
        profile,
        field,
        contenders: &contenders,
        chosen: &chosen,
        choice: &choice,
        certainty,
        p_not_best,
        windows,
    };
    Decision {
        profile: profile.kind.name().to_owned(),
        workload: field.workload.to_owned(),
        load: field.load.to_owned(),
        certainty,
        chosen: chosen.iter().map(|contender| contender.name().to_owned()).collect(),
        headline: headline.name().to_owned(),
        order: order.iter().map(|criterion| criterion.words().to_owned()).collect(),
        p_not_best,
        fallback,
        reasons: said.reasons(),
        would_change: said.would_change(),
        scope: words::scope(field, windows),
        time_windows: windows,
        candidates: chosen_first(contenders, &choice.chosen),
    }
}

/// The candidates, those at `chosen` before the others, each in their order.
fn chosen_first(contenders: Vec<Contender<'_>>, chosen: &[usize]) -> Vec<Candidate> {
    let mut placed: Vec<(usize, Candidate)> = contenders
        .into_iter()
        .enumerate()
        .map(|(at, contender)| {
            let place = chosen.iter().position(|chosen| *chosen == at);
            (place.unwrap_or(usize::MAX), contender.candidate)
        })
        .collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The decision for one profile on one workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Decision {
    /// Name of the profile.
    pub profile: String,
    /// Name of the workload.
    pub workload: String,
    /// Name of the load that it rests on.
    pub load: String,
    /// How sure it is.
    pub certainty: Certainty,
    /// The target to take; several where they are tied, none where none can be recommended.
    pub chosen: Vec<String>,
    /// The declared headline figure, by name.
    pub headline: String,
    /// What decides after it, in order, in words.
    pub order: Vec<String>,
    /// Every target, best first.
    pub candidates: Vec<Candidate>,
    /// Probability that another target is really the best, from resampled blocks.
    pub p_not_best: Option<Num>,
    /// Whom to ask when the first fails.
    pub fallback: Option<Fallback>,
    /// The decision in plain words, one sentence each, the decision itself first.
    pub reasons: Vec<String>,
    /// What evidence would change it.
    pub would_change: Vec<String>,
    /// What it is limited to: these prompts, these hours, this vantage point.
    pub scope: String,
    /// Time windows that it rests on; with fewer than three, another hour may differ.
    pub time_windows: u64,
}

/// How sure a decision is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The chosen target is shown to meet every constraint.
    Proven,
    /// The best candidate, with constraints that its n cannot prove, or a cost that decides and is only a lower bound.
    Provisional,
    /// Every target is shown to miss a constraint, or nothing was measured.
    #[default]
    None,
}

/// One target under a profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Candidate {
    /// Name of the target.
    pub target: String,
    /// Why it cannot be chosen, whatever its figures say: nothing was answered, or the client was too slow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded: Option<String>,
    /// Each constraint and how it came out.
    pub constraints: Vec<GateOutcome>,
    /// The headline figure.
    pub headline: Rate,
    /// Unit of the headline figure.
    pub headline_unit: String,
    /// Cost per useful answer, USD.
    pub cost_per_useful_usd: Rate,
    /// 95th percentile of the time to first token over all attempts, ms.
    pub ttft_p95_ms: Option<QuantilePoint>,
    /// Whether no other target is both cheaper and quicker (cost per useful answer, TTFT p95).
    pub is_pareto: bool,
}

/// Whom to ask when the first choice fails.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fallback {
    /// Name of the target.
    pub target: String,
    /// Why this one: how little its failures are tied to the first's.
    pub reason: String,
}

/// The provider's lever against the model's, on one workload, load and figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lever {
    /// Name of the workload.
    pub workload: String,
    /// Name of the load.
    pub load: String,
    /// `cost_per_useful` or `time_to_first_token`.
    pub figure: String,
    /// Per model: how far its providers are apart.
    pub models: Vec<Spread>,
    /// Median over models of dearest ÷ cheapest (slowest ÷ quickest) provider.
    pub within_model: Option<Num>,
    /// Dearest ÷ cheapest (slowest ÷ quickest) model, each at its best provider.
    pub across_models: Option<Num>,
    /// Which targets are left out, and why: their figures are not valid, or only lower bounds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How far the providers of one model are apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spread {
    /// The model.
    pub model: String,
    /// The lowest figure and its target.
    pub lowest: Option<(String, Num)>,
    /// The highest figure and its target.
    pub highest: Option<(String, Num)>,
    /// highest ÷ lowest.
    pub ratio: Option<Num>,
}

/// Settings of a client that follow from the tails of one cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Name of the target.
    pub target: String,
    /// Name of the workload.
    pub workload: String,
    /// Values to copy: `first_token_timeout`, `idle_timeout`, `total_timeout`, `max_tokens`, `max_concurrency`,
    /// `keep_warm_interval`.
    pub values: Vec<Setting>,
    /// What to do about each class of error that was seen.
    pub retry: Vec<RetryAdvice>,
}

/// One setting to copy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value; `None` where the evidence gives none.
    pub value: Option<Num>,
    /// `ms`, `tokens`, `requests`.
    pub unit: String,
    /// The evidence that it rests on.
    pub evidence: String,
    /// How sure it is: in words, with n.
    pub confidence: String,
}

/// What to do about one class of error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetryAdvice {
    /// The class: `429`, `5xx`, `timeout`, `transport`, `truncated`, `invalid answer`.
    pub class: String,
    /// How often it was seen.
    pub seen: u64,
    /// What to do.
    pub advice: String,
}
