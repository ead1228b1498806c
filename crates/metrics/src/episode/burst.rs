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

/// The median over bursts of the time until a request waits no longer than `usual_ms` again.
fn recovery(episodes: &[Vec<Row>], usual_ms: f64) -> Rate {
    let points: Vec<Point> = episodes.iter().filter_map(|episode| back_after(episode, usual_ms)).collect();
    let n = points.len();
    let watched_out = points.iter().filter(|point| point.is_censored()).count();
    let Some(found) =
        Sorted::from_points(points).ok().and_then(|sorted| quantile::estimate(&sorted, Prob::P50, ALPHA))
    else {
        return Rate::default();
    };
    let note = (watched_out > 0)
        .then(|| format!("after {watched_out} of {n} bursts it was not back while it was watched"));
    Rate {
        value: Num::new(found.value).filter(|_| !found.above),
        lo: found.lo.and_then(Num::new).or_else(|| Num::new(found.value).filter(|_| found.above)),
        hi: found.hi.and_then(Num::new),
        note,
    }
}

/// From the burst's start to that of the first request after it that is as quick as at rest; else longer than it was
/// watched.
fn back_after(episode: &[Row], usual_ms: f64) -> Option<Point> {
    let from = of_burst(episode).filter_map(|row| row.start.get()).min()?;
    let since = |at: u64| at.saturating_sub(from) as f64 / 1e6;
    let after = || episode.iter().filter(|row| row.role == Some(role::RECOVERY) && row.is_final);
    let is_quick = |row: &&Row| row.is_ok() && row.ttft.get().is_some_and(|ttft| ttft <= usual_ms);
    match after().filter(is_quick).filter_map(|row| row.start.get()).min() {
        Some(start) => Some(Point::Exact(since(start))),
        None => after().filter_map(|row| row.end.get()).max().map(|end| Point::Above(since(end))),
    }
}

fn notes(longest: Option<Num>, at_rest: usize) -> Vec<String> {
    let late = longest.filter(|ms| ms.get() > SENT_WITHIN_MS);
    let late =
        late.map(|ms| format!("one burst took {ms:.1} ms to send: {SENT_WITHIN_MS:.0} ms is the promise"));
    let few = (at_rest < FEW_AT_REST)
        .then(|| format!("only {at_rest} requests at rest: when it is back to that is little sure"));
    late.into_iter().chain(few).collect()
}
