//! Stability of the time to first token: spread, drift, modes.

use inferometer_stats::spread::{self, Spread};
use inferometer_stats::{ALPHA, Bounds, Prob, Sorted, dip, trend};

use crate::distribution::Population;
use crate::{Drift, Num, Rate, Stability};

/// Blocks whose medians are tested for a trend.
const DRIFT_BLOCKS: usize = 20;

/// Requests a block needs for its median to mean something.
const DRIFT_MIN_BLOCK: usize = 5;

/// Fewest blocks that are tested: with 8, a trend can reach p < .01.
const DRIFT_MIN_BLOCKS: usize = 8;

/// p below which drift and more than one mode are said.
const P_FOUND: f64 = 0.01;

/// Change over the run, as a share of p50, below which drift is not worth saying.
const DRIFT_SHARE: f64 = 0.1;

/// p95 / p50 above which a tail is wide.
const WIDE_TAIL: f64 = 3.0;

/// Stability of TTFT: `ok` in start order over ok requests, `all` over all attempts.
pub(crate) fn of(ok: &Population, all: &Population) -> Stability {
    let of_ok = spread_of(ok);
    let of_all = spread_of(all);
    let ratio_lo = of_ok.and_then(|spread| spread.ratio_bounds.lo);
    let dip_p = dip_p(ok);
    Stability {
        spread_ms: rate(of_ok, 0.0, |spread| (spread.difference, spread.difference_bounds)),
        p95_over_p50: rate(of_ok, 1.0, |spread| (spread.ratio, spread.ratio_bounds)),
        all_attempts_spread_ms: rate(of_all, 0.0, |spread| (spread.difference, spread.difference_bounds)),
        wide_tail: ratio_lo.is_some_and(|lo| lo > WIDE_TAIL),
        drift: drift(ok),
        bimodal: dip_p.map(|p| p < P_FOUND),
        dip_p: dip_p.and_then(Num::new),
    }
}

fn spread_of(population: &Population) -> Option<Spread> {
    let at = |p| population.quantile(p, ALPHA / 2.0);
    Some(spread::combine(&at(Prob::P50)?, &at(Prob::P95)?))
}

/// No p95 is below its p50: a bound below `least` (0 between them, 1 as their ratio) only says that two intervals, each
/// made by itself, overlap.
fn rate(spread: Option<Spread>, least: f64, of: fn(&Spread) -> (Option<f64>, Bounds)) -> Rate {
    let Some(spread) = spread else { return Rate::default() };
    let (value, bounds) = of(&spread);
    Rate {
        value: value.and_then(Num::new),
        lo: bounds.lo.map(|lo| lo.max(least)).and_then(Num::new),
        hi: bounds.hi.map(|hi| hi.max(least)).and_then(Num::new),
        note: spread.above.then(|| "> value: p95 is censored".to_owned()),
    }
}

/// Mann–Kendall on block medians in start order, and the Theil–Sen slope × run.
fn drift(ok: &Population) -> Option<Drift> {
    let series = ok.exact();
    let blocks = (series.len() / DRIFT_MIN_BLOCK).min(DRIFT_BLOCKS);
    if blocks < DRIFT_MIN_BLOCKS {
        return None;
    }
    let medians = trend::block_medians(series, blocks);
    let p = trend::mann_kendall(&medians)?.p;
    let points: Vec<(f64, f64)> = medians.iter().enumerate().map(|(i, median)| (i as f64, *median)).collect();
    let change = trend::theil_sen(&points)? * blocks as f64;
    let p50 = ok.quantile(Prob::P50, ALPHA)?.value;
    let found = p < P_FOUND && change.abs() > DRIFT_SHARE * p50;
    Some(Drift { found, p: Num::new(p), change_ms: Num::new(change) })
}

/// Hartigan's dip on log TTFT; not tested below its least n.
fn dip_p(ok: &Population) -> Option<f64> {
    let logs = ok.exact().iter().filter(|ms| **ms > 0.0).map(|ms| ms.ln()).collect();
    dip::dip(&Sorted::new(logs).ok()?)?.p
}
