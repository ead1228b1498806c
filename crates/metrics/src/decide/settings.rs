//! Settings of a client that follow from the tails of what was measured.

use inferometer_stats::proportion::clopper_pearson_upper;
use inferometer_stats::{ALPHA, Prob, Sorted, quantile};

use crate::kept::Kept;
use crate::row::Row;
use crate::{Arrival, ColdStart, Num, Study};

use super::words_small::rounded;
use super::{Setting, Settings, field, retry};

/// Where even p99 has no upper bound, a timeout is this many times the longest that was seen.
const BEYOND_MAX: f64 = 2.0;

/// More useful tokens per second than with fewer requests in flight, at least: below it, more in flight only wait.
const WORTH_MORE: f64 = 1.10;

/// A load under which more than this share fails is too much.
const MOST_FAILURES: f64 = 0.05;

/// This share of first requests is slower than 95 % of the warm ones even where there is no cold start.
const SLOW_BY_CHANCE: f64 = 0.05;

/// How the confidence of a setting begins that is not needed.
const NOT_NEEDED: &str = "not needed";

/// How the confidence of a setting begins that the evidence does not give.
const NOT_KNOWN: &str = "not known";

/// Settings for every target on every workload that gave an answer.
pub(crate) fn settings(study: &Study, cells: &[Kept<'_>]) -> Vec<Settings> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.summary.counts.ok > 0) {
        let pair = (cell.summary.target.as_str(), cell.summary.workload.as_str());
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    pairs.into_iter().map(|(target, workload)| of(study, target, workload, cells)).collect()
}

fn of(study: &Study, target: &str, workload: &str, all: &[Kept<'_>]) -> Settings {
    let cells: Vec<Kept<'_>> = all
        .iter()
        .filter(|cell| cell.summary.target == target && cell.summary.workload == workload)
        .copied()
        .collect();
    // The tail needs n: the ordinary cell of most answers says most.
    let ordinary = || cells.iter().filter(|cell| field::is_ordinary(cell.summary.arrival));
    let widest = ordinary().max_by_key(|cell| cell.summary.counts.ok).or_else(|| cells.first());
    let mut values: Vec<Setting> = widest.iter().flat_map(|cell| tails(**cell)).collect();
    values.extend(max_concurrency(ordinary()));
    values.extend(keep_warm(&cells, study.equivalence.ratio));
    Settings {
        target: target.to_owned(),
        workload: workload.to_owned(),
        values,
        retry: retry::advice(&cells),
    }
}

/// A setting that cuts a tail.
struct Tail {
    name: &'static str,
    unit: &'static str,
    /// It is never advised to be less.
    least: f64,
    /// The figure of an answer.
    figure: fn(&Row) -> Option<f64>,
}

/// No timeout cuts what one lost packet delays: TCP's first retransmission may take a second (RFC 6298, 2.4), and none
/// has to be lost while a run lasts.
const LEAST_TIMEOUT_MS: f64 = 1_000.0;

const TAILS: [Tail; 4] = [
    Tail::timeout("first_token_timeout", |row| row.ttft.get()),
    Tail::timeout("idle_timeout", |row| row.gap_max.get()),
    Tail::timeout("total_timeout", |row| row.latency.get()),
    Tail { name: "max_tokens", unit: "tokens", least: 0.0, figure: |row| row.output.get() },
];

impl Tail {
    const fn timeout(name: &'static str, figure: fn(&Row) -> Option<f64>) -> Self {
        Self { name, unit: "ms", least: LEAST_TIMEOUT_MS, figure }
    }
}

/// The limits that good answers of a cell would have kept.
fn tails(cell: Kept<'_>) -> Vec<Setting> {
    let good: Vec<&Row> = cell.requests().filter(|row| row.is_ok() && row.is_useful).collect();
    // Where nothing is judged useful, an answer that is complete is the best there is.
    let (answers, what): (Vec<&Row>, &str) = if good.is_empty() {
        (cell.requests().filter(|row| row.is_ok()).collect(), "complete answers")
    } else {
        (good, "useful answers")
    };
    let load = &cell.summary.load;
    let of = |kind: &Tail| {
        let values = answers.iter().filter_map(|row| (kind.figure)(row)).collect();
        tail(kind, &Sorted::new(values).ok()?, &format!("{what} ({load})"))
    };
    TAILS.iter().filter_map(of).collect()
}

fn tail(kind: &Tail, sorted: &Sorted, what: &str) -> Option<Setting> {
    let &Tail { name, unit, least, .. } = kind;
    let n = sorted.len();
    let max = sorted.max()?;
    let upper = |p: Prob| quantile::estimate(sorted, p, ALPHA).and_then(|found| found.hi);
    let (limit, evidence, confidence) = if let Some(hi) = upper(Prob::P999) {
        (hi, "upper bound of p99.9".to_owned(), "high")
    } else if let Some(hi) = upper(Prob::P99) {
        (hi, "upper bound of p99".to_owned(), "fair: p99.9 is not bounded")
    } else {
        (
            max * BEYOND_MAX,
            format!("{BEYOND_MAX} × the largest, {} {unit}", rounded(max)),
            "low: too few answers to bound p99",
        )
    };
    let measured = round_up(limit);
    let value = measured.max(least);
    let raised = if value > measured { ", raised to what one lost packet may take" } else { "" };
    let cut = sorted.over(value).over as u64;
    let at_most = clopper_pearson_upper(cut, n as u64, ALPHA) * 100.0;
    Some(Setting {
        name: name.to_owned(),
        value: Num::new(value),
        unit: unit.to_owned(),
        evidence: format!(
            "{evidence} of {n} {what}{raised}; would have cut {cut} of them (at most {at_most:.2} %)"
        ),
        confidence: format!("{confidence}, n = {n}"),
    })
}

/// To two significant digits, upwards: a limit is no measurement.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let step = 10_f64.powf(value.log10().floor() - 1.0);
    let rounded = (value / step).ceil() * step;
    if step >= 1.0 { rounded.round() } else { rounded }
}

/// The most requests in flight that still won throughput without failures.
fn max_concurrency<'a>(cells: impl Iterator<Item = &'a Kept<'a>>) -> Option<Setting> {
    let mut curve: Vec<(u32, Kept<'a>)> = cells
        .filter_map(|cell| match cell.summary.arrival {
            Arrival::Closed { slots } => Some((slots, *cell)),
            _ => None,
        })
        .collect();
    curve.sort_by_key(|(slots, _)| *slots);
    let (first, rest) = curve.split_first()?;
    let setting = |value: Option<u32>, evidence: String, confidence: &str| Setting {
        name: "max_concurrency".to_owned(),
        value: value.and_then(|slots| Num::new(f64::from(slots))),
        unit: "requests".to_owned(),
        evidence,
        confidence: confidence.to_owned(),
    };
    if rest.is_empty() {
        let evidence = format!("only one load was measured, {} in flight: there is no curve", first.0);
        return Some(setting(None, evidence, "none"));
    }
    let useful = |cell: &Kept<'_>| cell.summary.throughput.useful_token_throughput.map_or(0.0, Num::get);
    let failing = |cell: &Kept<'_>| {
        let counts = &cell.summary.counts;
        counts.failed as f64 > MOST_FAILURES * (counts.ok + counts.failed) as f64
    };
    let mut best = first;
    for next in rest {
        let (before, after) = (useful(&best.1), useful(&next.1));
        let (from, to) = (best.0, next.0);
        if failing(&next.1) {
            let counts = &next.1.summary.counts;
            let evidence =
                format!("at {to} in flight {} of {} failed", counts.failed, counts.ok + counts.failed);
            return Some(setting(Some(from), evidence, "fair: by the loads measured"));
        }
        if after < before * WORTH_MORE {
            let (before, after) = (rounded(before), rounded(after));
            let evidence =
                format!("useful tokens/s: {before} at {from} in flight, no more than {after} at {to}");
            return Some(setting(Some(from), evidence, "fair: by the loads measured"));
        }
        best = next;
    }
    let evidence = format!("throughput still grew at {} in flight, the most that was measured", best.0);
    Some(setting(Some(best.0), evidence, "low: the limit lies higher"))
}

/// What was found after an idle gap.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Warmth {
    /// The penalty's interval lies above 0.
    Cold,
    /// The penalty is shown to be within the margin, and no more first requests were slow than chance makes slow.
    Warm,
    /// Neither.
    Unknown,
}

/// Both states of the connection together: the penalty leaves the connection out, so that both speak of the same.
fn warmth(start: &ColdStart, margin: f64) -> Warmth {
    let penalty = start.penalty.p50.as_ref();
    let usual = start.warm_ttft.p50.as_ref().and_then(|p50| p50.value);
    let is_small = |hi: Num| usual.is_some_and(|usual| hi.get() <= margin * usual.get());
    let is_by_chance = start.seen.lo.is_some_and(|lo| lo.get() <= SLOW_BY_CHANCE);
    if penalty.and_then(|p50| p50.lo).is_some_and(|lo| lo.get() > 0.0) {
        Warmth::Cold
    } else if penalty.and_then(|p50| p50.hi).is_some_and(is_small) && is_by_chance {
        Warmth::Warm
    } else {
        Warmth::Unknown
    }
}

/// How often to ask so that no request meets a cold start: within the longest gap after which none is shown to be.
/// `margin`: up to this share of the warm TTFT a penalty is as good as none.
fn keep_warm(cells: &[Kept<'_>], margin: f64) -> Option<Setting> {
    let gaps: Vec<(f64, Warmth, &ColdStart)> = cells
        .iter()
        .filter_map(|cell| cell.summary.cold_starts.as_ref())
        .filter(|cold| cold.either.n > 0)
        .map(|cold| (cold.gap_s, warmth(&cold.either, margin), &cold.either))
        .collect();
    let of = |wanted: Warmth| gaps.iter().filter(move |(_, warmth, _)| *warmth == wanted);
    let coldest = of(Warmth::Cold).min_by(|a, b| a.0.total_cmp(&b.0));
    let is_below = |gap: &&(f64, Warmth, &ColdStart)| coldest.is_none_or(|cold| gap.0 < cold.0);
    let longest_warm = of(Warmth::Warm).filter(is_below).max_by(|a, b| a.0.total_cmp(&b.0));
    let unknown = of(Warmth::Unknown).max_by(|a, b| a.0.total_cmp(&b.0));
    let (_, _, shown) = coldest.or(longest_warm).or(unknown)?;
    let (n, percent) = (shown.n, margin * 100.0);
    let (value, confidence) = match (coldest, longest_warm) {
        (Some(_), Some(warm)) => {
            (Num::new(warm.0 * 1e3), format!("fair, n = {n}: at most {percent:.0} % longer up to there"))
        }
        (Some(cold), None) => {
            (Num::new(cold.0 * 1e3 / 2.0), format!("low, n = {n}: half the shortest gap that was cold"))
        }
        (None, Some(_)) => (
            None,
            format!(
                "{NOT_NEEDED} up to that gap, n = {n}: shown to be at most {percent:.0} % longer than a warm one"
            ),
        ),
        (None, None) => (
            None,
            format!("{NOT_KNOWN} (n = {n}): neither a cold start nor less than {percent:.0} % is shown"),
        ),
    };
    Some(Setting {
        name: "keep_warm_interval".to_owned(),
        value,
        unit: "ms".to_owned(),
        evidence: shown.detail.clone(),
        confidence,
    })
}
