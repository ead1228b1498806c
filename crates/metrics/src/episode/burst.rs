//! Bursts: what happens to the requests that come at once, and how long it is felt.

use inferometer_stats::{ALPHA, Point, Prob, Sorted, quantile};

use super::{Bursts, by_episode, role};
use crate::distribution::{Population, proportion_of};
use crate::figures::Shape;
use crate::names::name;
use crate::row::Row;
use crate::{Num, Rate, figures};

/// A burst is sent within this, ms.
const SENT_WITHIN_MS: f64 = 5.0;

/// How the note on a recovery begins where the bursts were not felt.
const NOT_FELT: &str = "not felt";

/// Fewer requests at rest than this say little of what rest is.
const FEW_AT_REST: usize = 5;

/// The bursts of a cell, out of every attempt of its measured phase.
pub(crate) fn bursts(rows: &[Row], size: u32) -> Bursts {
    let of_role =
        |name: &str| -> Vec<Row> { rows.iter().filter(|row| row.role == Some(name)).copied().collect() };
    let burst = of_role(role::BURST);
    let rest: Vec<Row> = of_role(role::REST).into_iter().filter(|row| row.is_final).collect();
    let first: Vec<&Row> = burst.iter().filter(|row| row.is_first_attempt).collect();
    let refused = first.iter().filter(|row| row.http_status == Some(429)).count() as u64;
    let failed = first.iter().filter(|row| row.status.is_failure() && row.http_status != Some(429)).count();
    let episodes: Vec<Vec<Row>> = by_episode(rows)
        .into_values()
        .filter(|episode| episode.iter().any(|row| row.role == Some(role::BURST)))
        .collect();
    let sent = Population::new(episodes.iter().filter_map(|episode| sent_within(episode)).map(Point::Exact));
    let mut at_rest: Vec<f64> = rest.iter().filter(|row| row.is_ok()).filter_map(|r| r.ttft.get()).collect();
    at_rest.sort_unstable_by(f64::total_cmp);
    let usual = quantile::nearest(&at_rest, Prob::P95);
    let sent_within = sent.metric("ms", Shape::Plain, &[]);
    Bursts {
        size,
        n: episodes.len() as u64,
        rest_ttft: figures::both(name::TTFT, &rest),
        ttft: figures::both(name::TTFT, &burst),
        refused: proportion_of(refused, first.len() as u64),
        failed: proportion_of(failed as u64, first.len() as u64),
        recovery: usual.map(|usual| recovery(&episodes, usual)).unwrap_or_default(),
        notes: notes(sent_within.max, at_rest.len()),
        sent_within,
    }
}

fn of_burst(episode: &[Row]) -> impl Iterator<Item = &Row> {
    episode.iter().filter(|row| row.role == Some(role::BURST) && row.is_first_attempt)
}

/// First to last request of the burst handed to the kernel, ms.
fn sent_within(episode: &[Row]) -> Option<f64> {
    let sent = || of_burst(episode).filter_map(|row| row.sent.get());
    Some((sent().max()? - sent().min()?) as f64 / 1e6)
}

/// How long a burst was felt.
#[derive(Clone, Copy)]
enum Back {
    /// Its own requests waited no longer than requests at rest do.
    NotFelt,
    /// The first request after it was quick already: it was back by then, ms.
    By(f64),
    /// After this, ms.
    After(f64),
    /// Not while it was watched, ms.
    NotWithin(f64),
}

impl Back {
    fn point(self) -> Point {
        match self {
            Back::NotFelt => Point::Exact(0.0),
            Back::By(ms) | Back::After(ms) => Point::Exact(ms),
            Back::NotWithin(ms) => Point::Above(ms),
        }
    }
}

/// The median over bursts of the time until a request waits no longer than `usual_ms` again. Where most bursts were not
/// felt, or their end was not seen since the first request after them was quick, there is a bound and no value.
fn recovery(episodes: &[Vec<Row>], usual_ms: f64) -> Rate {
    let backs: Vec<Back> = episodes.iter().filter_map(|episode| back_after(episode, usual_ms)).collect();
    let sorted = Sorted::from_points(backs.iter().map(|back| back.point()).collect());
    let Some(found) = sorted.ok().and_then(|sorted| quantile::estimate(&sorted, Prob::P50, ALPHA)) else {
        return Rate::default();
    };
    let is_felt = found.above || found.value > 0.0;
    let is_bound =
        !found.above && backs.iter().any(|back| matches!(back, Back::By(ms) if *ms == found.value));
    let soonest = backs.iter().filter_map(|back| match back {
        Back::By(ms) | Back::After(ms) => Some(*ms),
        Back::NotFelt | Back::NotWithin(_) => None,
    });
    // Of a burst that was not felt, no more is known than that it was over by the first quick request.
    let at_most = if is_felt { Some(found.value).filter(|_| is_bound) } else { soonest.reduce(f64::min) };
    let lo = found.lo.or(Some(found.value).filter(|_| found.above)).filter(|_| is_felt && !is_bound);
    Rate {
        value: Num::new(found.value).filter(|_| !found.above && is_felt && !is_bound),
        lo: lo.and_then(Num::new),
        hi: found.hi.filter(|hi| *hi > 0.0).or(at_most).and_then(Num::new),
        note: recovery_note(&backs, is_felt, is_bound, found.hi.is_none()),
    }
}

/// What must be known of the bursts that the median is of.
fn recovery_note(backs: &[Back], is_felt: bool, is_bound: bool, is_open: bool) -> Option<String> {
    let n = backs.len();
    let count = |is: fn(&Back) -> bool| backs.iter().filter(|back| is(back)).count();
    let watched_out = count(|back| matches!(back, Back::NotWithin(_)));
    let unfelt = count(|back| matches!(back, Back::NotFelt));
    let notes = [
        (!is_felt)
            .then(|| format!("{NOT_FELT} in {unfelt} of {n} bursts: they waited no longer than at rest")),
        (is_felt && unfelt > 0).then(|| format!("{unfelt} of {n} bursts were not felt")),
        is_bound.then(|| format!("a bound: the first request after it was quick already, n = {n} bursts")),
        (watched_out > 0)
            .then(|| format!("after {watched_out} of {n} bursts it was not back while it was watched")),
        (is_felt && !is_bound && watched_out == 0 && is_open)
            .then(|| format!("{n} bursts are too few for an interval")),
    ];
    let said: Vec<String> = notes.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// From the burst's start to that of the first request after it that is as quick as at rest; else longer than it was
/// watched. Not felt: no request failed, and 95 % of them waited no longer than 95 % do at rest.
fn back_after(episode: &[Row], usual_ms: f64) -> Option<Back> {
    let from = of_burst(episode).filter_map(|row| row.start.get()).min()?;
    let since = |at: u64| at.saturating_sub(from) as f64 / 1e6;
    let is_quick = |row: &Row| row.is_ok() && row.ttft.get().is_some_and(|ttft| ttft <= usual_ms);
    let mut waits: Vec<f64> = of_burst(episode).filter_map(|row| row.ttft.get()).collect();
    waits.sort_unstable_by(f64::total_cmp);
    let is_within = quantile::nearest(&waits, Prob::P95).is_some_and(|p95| p95 <= usual_ms);
    if is_within && of_burst(episode).all(|row| row.is_ok() && row.ttft.get().is_some()) {
        return Some(Back::NotFelt);
    }
    let mut after: Vec<&Row> =
        episode.iter().filter(|row| row.role == Some(role::RECOVERY) && row.is_final).collect();
    after.sort_by_key(|row| row.start.get());
    let first = after.iter().position(|row| is_quick(row) && row.start.get().is_some());
    let Some(quick) = first.and_then(|at| Some((at, since(after.get(at)?.start.get()?)))) else {
        return after.iter().filter_map(|row| row.end.get()).max().map(|end| Back::NotWithin(since(end)));
    };
    Some(if quick.0 == 0 { Back::By(quick.1) } else { Back::After(quick.1) })
}

fn notes(longest: Option<Num>, at_rest: usize) -> Vec<String> {
    let late = longest.filter(|ms| ms.get() > SENT_WITHIN_MS);
    let late =
        late.map(|ms| format!("one burst took {ms:.1} ms to send: {SENT_WITHIN_MS:.0} ms is the promise"));
    let few = (at_rest < FEW_AT_REST)
        .then(|| format!("only {at_rest} requests at rest: when it is back to that is little sure"));
    late.into_iter().chain(few).collect()
}
