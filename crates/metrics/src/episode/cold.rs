//! Cold starts: what the first request after an idle gap waits longer than the warm control right after it.

use std::collections::BTreeMap;

use inferometer_stats::{Point, Prob, quantile};

use super::{ColdStart, ColdStarts, by_episode, role};
use crate::distribution::{Population, proportion_of};
use crate::figures::Shape;
use crate::names::name;
use crate::row::Row;
use crate::{Num, figures};

/// The cold starts of a cell, out of every attempt of its measured phase.
pub(crate) fn cold_starts(rows: &[Row], gap_s: f64) -> ColdStarts {
    let episodes = by_episode(rows);
    let of_states = |states: &[Roles]| of_states(rows, &episodes, gap_s, states);
    ColdStarts {
        gap_s: if gap_s.is_finite() { gap_s } else { 0.0 },
        fresh: of_states(&[FRESH]),
        kept: of_states(&[KEPT]),
        either: of_states(&[FRESH, KEPT]),
    }
}

/// The roles of the first request and of its control, on one state of the connection.
type Roles = (&'static str, &'static str);

const FRESH: Roles = (role::COLD_FRESH, role::WARM_FRESH);
const KEPT: Roles = (role::COLD_KEPT, role::WARM_KEPT);

fn of_states(rows: &[Row], episodes: &BTreeMap<u32, Vec<Row>>, gap_s: f64, states: &[Roles]) -> ColdStart {
    let of_roles = |roles: Vec<&str>| -> Vec<Row> {
        let plays = |row: &&Row| row.is_final && row.role.is_some_and(|role| roles.contains(&role));
        rows.iter().filter(plays).copied().collect()
    };
    let colds = of_roles(states.iter().map(|(cold, _)| *cold).collect());
    let warms = of_roles(states.iter().map(|(_, warm)| *warm).collect());
    let mut warm_waits: Vec<f64> = warms.iter().filter_map(wait).collect();
    warm_waits.sort_unstable_by(f64::total_cmp);
    let usual = quantile::nearest(&warm_waits, Prob::P95);
    let pairs = states.iter().flat_map(|(cold, warm)| {
        episodes.values().filter_map(|episode| {
            let of = |role: &str| episode.iter().find(|row| row.role == Some(role) && row.is_final);
            Some((wait(of(cold)?)?, wait(of(warm)?)?))
        })
    });
    let pairs: Vec<(f64, f64)> = pairs.collect();
    let beyond = pairs.iter().filter(|(cold, _)| usual.is_some_and(|usual| *cold > usual)).count() as u64;
    let n = pairs.len() as u64;
    let penalty = Population::signed(pairs.iter().map(|(cold, warm)| cold - warm));
    let found =
        ColdStart {
            n,
            cold_ttft: figures::both(name::TTFT, &colds),
            warm_ttft: figures::both(name::TTFT, &warms),
            penalty: penalty.metric("ms", Shape::Plain, &[]),
            connect: Population::new(colds.iter().filter_map(|row| row.connect.get()).map(Point::Exact))
                .metric("ms", Shape::Plain, &[]),
            seen: proportion_of(beyond, n),
            failed: colds.iter().filter(|row| row.status.is_failure()).count() as u64,
            detail: String::new(),
        };
    ColdStart { detail: detail(&found, gap_s), ..found }
}

/// TTFT less the time to connect: what the server itself took.
fn wait(row: &Row) -> Option<f64> {
    Some(row.ttft.get().filter(|_| row.is_ok())? - row.connect.get().unwrap_or(0.0))
}

/// A penalty whose interval lies above 0 is a cold start; that none was seen is a result too.
fn detail(found: &ColdStart, gap_s: f64) -> String {
    let n = found.n;
    let penalty = found.penalty.p50.as_ref();
    let bound = |bound: Option<Num>| bound.map_or("open".to_owned(), |ms| format!("{:.0}", ms.get()));
    let Some((point, ms)) = penalty.and_then(|point| Some((point, point.value?.get()))) else {
        return format!("not measured: no gap of {gap_s} s after which both requests were answered");
    };
    let interval = format!("{ms:+.0} ms [{}, {}]", bound(point.lo), bound(point.hi));
    if point.lo.is_some_and(|lo| lo.get() > 0.0) {
        format!("the first request after {gap_s} s waits {interval} longer than a warm one, n = {n}")
    } else if found.seen.count == 0 || point.hi.is_some_and(|hi| hi.get() <= 0.0) {
        format!("none seen up to {gap_s} s, n = {n} (difference {interval})")
    } else {
        let seen = found.seen.count;
        format!(
            "not told apart from none at {gap_s} s, n = {n} (difference {interval}; {seen} slower than 95 % of the \
             warm ones)"
        )
    }
}
