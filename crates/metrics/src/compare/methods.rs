//! The methods: each takes two sides and says what it finds, or nothing where its evidence was not gathered.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use inferometer_stats::cluster::{self, Cluster};
use inferometer_stats::mover::{self, Estimate};
use inferometer_stats::paired::Table;
use inferometer_stats::special::normal_quantile;
use inferometer_stats::{ALPHA, Bounds, Prob, equivalence, ratio, walsh, wilcoxon};

use crate::names::name;
use crate::row::Row;
use crate::{Arrival, CellSummary, estimate};

use super::finding::{Finding, Need, Scale};
use super::side::{Side, Totals};

/// Observations of each side from which a 95th percentile is compared, and a 99th.
const MIN_FOR_TAIL: [usize; 2] = [20, 300];
/// Prompts and pairs that differ from which shares are resampled over prompts.
const MIN_PROMPTS: usize = 30;
const MIN_DISCORDANT: u64 = 5;
/// No fewer resamples than this stand behind an interval.
const MIN_DRAWS: usize = 999;

/// Paired log ratios: Wilcoxon's test, Hodges and Lehmann's ratio.
pub(super) fn typical(metric: &str, a: &Side<'_>, b: &Side<'_>) -> Option<Finding> {
    let log_ratio =
        |(a, b): (&Row, &Row)| wilcoxon::log_ratio(a.request_value(metric)?, b.request_value(metric)?);
    let differences: Vec<f64> = a.pairs(b).into_iter().filter_map(log_ratio).collect();
    let tested = wilcoxon::signed_rank(&differences)?;
    let shift = walsh::estimate(&differences, ALPHA)?;
    let narrow = walsh::estimate(&differences, equivalence::ALPHA)?;
    let exp = |bounds: Bounds| Bounds { lo: bounds.lo.map(f64::exp), hi: bounds.hi.map(f64::exp) };
    Some(Finding {
        scale: Scale::Ratio,
        n: differences.len() as u64,
        estimate: Estimate { value: shift.value.exp(), bounds: exp(shift.bounds) },
        narrow: exp(narrow.bounds),
        p: tested.p,
        notes: unpaired(differences.len(), a, b).into_iter().collect(),
        need: Need::Ranks(differences),
    })
}

fn unpaired(pairs: usize, a: &Side<'_>, b: &Side<'_>) -> Option<String> {
    let most = a.requests().max(b.requests());
    (pairs < most).then(|| format!("{pairs} pairs of {most} requests: the others had no partner"))
}

/// Difference of a quantile over all attempts, MOVER.
pub(super) fn tail(metric: &str, p: Prob, a: &Side<'_>, b: &Side<'_>) -> Option<Finding> {
    let [p95, p99] = MIN_FOR_TAIL;
    let least = if p == Prob::P95 { p95 } else { p99 };
    let n = a.observations(metric).min(b.observations(metric));
    if n < least {
        return None;
    }
    let at = |alpha: f64| {
        let ((a, _), (b, _)) = (a.quantile(metric, p, alpha)?, b.quantile(metric, p, alpha)?);
        mover::difference(a, b)
    };
    let bounds_at = |alpha: f64| at(alpha).map_or(Bounds::OPEN, |found| found.bounds);
    let (of_a, a_is_bound) = a.quantile(metric, p, ALPHA)?;
    let (of_b, b_is_bound) = b.quantile(metric, p, ALPHA)?;
    let estimate = mover::difference(of_a, of_b)?;
    let mut notes = Vec::new();
    if a_is_bound || b_is_bound {
        notes.push("censored: timed out, or cut by the run".to_owned());
    }
    if of_b.value.is_infinite() {
        notes.push(format!("{p} of the second is without end: too many failed"));
    }
    Some(Finding {
        scale: Scale::Milliseconds(of_a.value.min(of_b.value)),
        n: n as u64,
        need: match need(estimate) {
            Need::Estimate { effect, error } => {
                let worth = a.worth(metric, p).min(b.worth(metric, p));
                Need::Quantile { effect, error, p, worth }
            }
            other => other,
        },
        estimate,
        narrow: bounds_at(equivalence::ALPHA),
        p: mover::p_value(bounds_at, 0.0),
        notes,
    })
}

/// Standard error from the half-width of a 95 % interval of a difference.
fn need(estimate: Estimate) -> Need {
    match estimate.bounds {
        Bounds { lo: Some(lo), hi: Some(hi) } => {
            Need::Estimate { effect: estimate.value, error: (hi - lo) / 2.0 / z(ALPHA) }
        }
        _ => Need::Unknown,
    }
}

fn z(alpha: f64) -> f64 {
    -normal_quantile(alpha / 2.0)
}

/// Difference of paired shares: Newcombe's interval and McNemar's test, or both by resampling prompts where there are
/// prompts enough.
pub(super) fn share(metric: &str, a: &Side<'_>, b: &Side<'_>, seed: u64) -> Option<Finding> {
    let has: fn(&Row) -> bool = match metric {
        name::ERROR_RATE => |row| row.status.is_failure(),
        _ if !(is_judged(a) && is_judged(b)) => return None,
        _ => |row| row.is_useful,
    };
    let mut table = Table::default();
    let mut prompts: BTreeMap<u64, Cluster> = BTreeMap::new();
    let pairs = a.pairs(b);
    for (a, b) in &pairs {
        table.push(has(a), has(b));
        let cluster = prompts.entry(a.prompt).or_default();
        let add = |(count, n): (f64, f64), row: &Row| (count + f64::from(u8::from(has(row))), n + 1.0);
        (cluster.a, cluster.b) = (add(cluster.a, a), add(cluster.b, b));
    }
    let estimate = table.difference(ALPHA)?;
    let finding = Finding {
        scale: Scale::Share,
        n: table.n(),
        estimate,
        narrow: table.difference(equivalence::ALPHA)?.bounds,
        p: table.p(),
        need: need(estimate),
        notes: unpaired(pairs.len(), a, b).into_iter().collect(),
    };
    Some(resample(finding, &table, prompts, seed))
}

fn is_judged(side: &Side<'_>) -> bool {
    let validity = &side.cell.summary.validity;
    validity.valid + validity.degraded + validity.invalid > 0
}

/// Answers to one prompt resemble each other: where prompts were asked again and are enough, they are resampled.
fn resample(mut finding: Finding, table: &Table, prompts: BTreeMap<u64, Cluster>, seed: u64) -> Finding {
    let (ids, is_repeated) = (prompts.len(), (prompts.len() as u64) < table.n());
    if !is_repeated {
        return finding;
    }
    let is_enough = ids >= MIN_PROMPTS && table.discordant() >= MIN_DISCORDANT;
    let clusters: Vec<Cluster> = prompts.into_values().collect();
    let resampled = || cluster::compare(&clusters, cluster::Scale::Difference, MIN_DRAWS, seed);
    match is_enough.then(resampled).flatten() {
        Some(found) => {
            finding.estimate = Estimate { value: found.value, bounds: found.bounds(ALPHA) };
            finding.narrow = found.bounds(equivalence::ALPHA);
            finding.p = found.p();
            finding.need = Need::Estimate { effect: found.value, error: found.error };
            finding.notes.push(format!("resampled over {ids} prompts"));
        }
        None => finding.notes.push(format!("{ids} prompts asked again: their answers count as independent")),
    }
    finding
}

/// Ratio of costs per useful answer, over the prompts that both were asked. `members` of the family decide how fine p
/// must be. Where the cost of one is a lower bound, so is the ratio, from that side; of two such nothing can be said.
pub(super) fn cost(a: &Side<'_>, b: &Side<'_>, members: usize, seed: u64) -> Option<Finding> {
    match (a.is_cost_bound(), b.is_cost_bound()) {
        (false, false) => known_cost(a, b, members, seed),
        (true, true) => None,
        (of_a, _) => {
            let finding = known_cost(a, b, members, seed)?;
            Some(if of_a { at_least(finding, a) } else { at_most(finding, b) })
        }
    }
}

/// The dearer `a` truly is, the greater the ratio: only that it is above 1 can be shown.
fn at_least(finding: Finding, a: &Side<'_>) -> Finding {
    bounded(finding, a, "least", Ordering::Greater, |Bounds { lo, .. }| Bounds { lo, hi: None })
}

/// The dearer `b` truly is, the less the ratio: only that it is below 1 can be shown.
fn at_most(finding: Finding, b: &Side<'_>) -> Finding {
    bounded(finding, b, "most", Ordering::Less, |Bounds { hi, .. }| Bounds { lo: None, hi })
}

fn bounded(
    finding: Finding,
    unknown: &Side<'_>,
    word: &str,
    shown: Ordering,
    keep: fn(Bounds) -> Bounds,
) -> Finding {
    let CellSummary { target, cost, .. } = unknown.cell.summary;
    let is_shown = finding.estimate.value.partial_cmp(&1.0) == Some(shown);
    let asked = cost.asked();
    let note = format!(
        "at {word}: {} of {asked} attempts of {target} are without a known cost, which counts as nothing",
        cost.unknown
    );
    Finding {
        estimate: Estimate { bounds: keep(finding.estimate.bounds), ..finding.estimate },
        narrow: keep(finding.narrow),
        p: if is_shown { finding.p } else { 1.0 },
        need: if is_shown { finding.need } else { Need::Unknown },
        notes: finding.notes.into_iter().chain([note]).collect(),
        ..finding
    }
}

/// As [`cost`], as if all costs were known.
fn known_cost(a: &Side<'_>, b: &Side<'_>, members: usize, seed: u64) -> Option<Finding> {
    let (of_a, of_b) = (a.prompts.as_ref()?, b.prompts.as_ref()?);
    let both = of_a.iter().filter_map(|(prompt, a)| Some((*a, *of_b.get(prompt)?)));
    let (totals_a, totals_b): (Vec<Totals>, Vec<Totals>) = both.unzip();
    let clusters: Vec<Cluster> =
        totals_a.iter().zip(&totals_b).map(|(a, b)| Cluster { a: *a, b: *b }).collect();
    let draws = cluster::draws_for(members, ALPHA).max(MIN_DRAWS);
    let Some(found) = cluster::compare(&clusters, cluster::Scale::LogRatio, draws, seed) else {
        return none_useful(a, &totals_a, b, &totals_b);
    };
    let exp = |bounds: Bounds| Bounds { lo: bounds.lo.map(f64::exp), hi: bounds.hi.map(f64::exp) };
    let method = if found.draws() > 0 { "resampled over" } else { "by Student's t over" };
    Some(Finding {
        scale: Scale::Ratio,
        n: clusters.len() as u64,
        estimate: Estimate { value: found.value.exp(), bounds: exp(found.bounds(ALPHA)) },
        narrow: exp(found.bounds(equivalence::ALPHA)),
        p: found.p(),
        need: Need::Estimate { effect: found.value, error: found.error },
        notes: vec![format!("{method} {} prompts", clusters.len())],
    })
}

/// Where one side gave no useful answer its cost is only bounded from below, by what the other's interval is held
/// against; each bound at half the error probability.
fn none_useful(a: &Side<'_>, of_a: &[Totals], b: &Side<'_>, of_b: &[Totals]) -> Option<Finding> {
    let useful = |totals: &[Totals]| totals.iter().map(|(_, useful)| useful).sum::<f64>();
    let (a_is_bare, b_is_bare) = (useful(of_a) == 0.0, useful(of_b) == 0.0);
    if of_a.is_empty() || a_is_bare == b_is_bare {
        return None;
    }
    let (bare, other) = if a_is_bare { (a, of_b) } else { (b, of_a) };
    let asked = bare.cell.attempts.len() as u64;
    let paid: f64 = bare.prompts.iter().flatten().map(|(_, (cost, _))| cost).sum();
    let mean = paid / asked.max(1) as f64;
    let least = |alpha: f64| {
        let dear = ratio::zero_useful_lower(mean, asked, alpha / 2.0)?;
        Some(dear / ratio::fieller(other, alpha / 2.0)?.bounds.hi?)
    };
    let bounds_at = |alpha: f64| match least(alpha).filter(|least| *least > 0.0) {
        Some(least) if a_is_bare => Bounds { lo: Some(least), hi: None },
        Some(least) => Bounds { lo: None, hi: Some(1.0 / least) },
        None => Bounds::OPEN,
    };
    Some(Finding {
        scale: Scale::Ratio,
        n: of_a.len() as u64,
        estimate: Estimate { value: if a_is_bare { f64::INFINITY } else { 0.0 }, bounds: bounds_at(ALPHA) },
        narrow: Bounds::OPEN,
        p: mover::p_value(bounds_at, 1.0),
        need: Need::Unknown,
        notes: vec![format!("{} gave no useful answer", if a_is_bare { "the first" } else { "the second" })],
    })
}

/// Ratio of rates of the steady parts, each with its interval from batch means.
pub(super) fn rate(metric: &str, a: &Side<'_>, b: &Side<'_>) -> Option<Finding> {
    let is_steady = |side: &Side<'_>| !matches!(side.cell.context.arrival, Arrival::ColdStart { .. });
    if !(is_steady(a) && is_steady(b)) {
        return None;
    }
    let of = |side: &Side<'_>| estimate::of(side.cell.summary, metric, None);
    let (a, b, n) = (
        of(a)?,
        of(b)?,
        estimate::count(a.cell.summary, metric).min(estimate::count(b.cell.summary, metric)),
    );
    let at = |alpha: f64| mover::ratio(rescaled(a, alpha), rescaled(b, alpha));
    let bounds_at = |alpha: f64| at(alpha).map_or(Bounds::OPEN, |found| found.bounds);
    let estimate = at(ALPHA)?;
    let ln = |bound: Option<f64>| bound.map(f64::ln);
    let logs = Bounds { lo: ln(estimate.bounds.lo), hi: ln(estimate.bounds.hi) };
    Some(Finding {
        scale: Scale::Ratio,
        n,
        estimate,
        narrow: bounds_at(equivalence::ALPHA),
        p: mover::p_value(bounds_at, 1.0),
        need: need(Estimate { value: estimate.value.ln(), bounds: logs }),
        notes: vec!["by batch means of the steady parts".to_owned()],
    })
}

/// A 95 % interval at another error probability, as if it were normal.
fn rescaled(estimate: Estimate, alpha: f64) -> Estimate {
    let factor = z(alpha) / z(ALPHA);
    let scaled = |end: f64| estimate.value + (end - estimate.value) * factor;
    let Bounds { lo, hi } = estimate.bounds;
    Estimate { bounds: Bounds { lo: lo.map(scaled), hi: hi.map(scaled) }, ..estimate }
}
