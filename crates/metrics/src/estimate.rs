//! One figure of a cell as a value with its interval: what two cells are held against each other by.

use inferometer_stats::mover::Estimate;
use inferometer_stats::{Bounds, Prob};

use crate::distribution::proportion_of;
use crate::names::name;
use crate::{CellSummary, Metric, Num, Proportion, QuantilePoint, Rate};

/// The figure over all attempts, as the summary has it; `None` where it was not measured.
pub(crate) fn of(cell: &CellSummary, metric: &str, quantile: Option<Prob>) -> Option<Estimate> {
    match quantile {
        Some(p) => {
            let figure = match metric {
                name::BURST_TTFT => &cell.bursts.as_ref()?.ttft,
                _ => cell.metrics.get(metric)?,
            };
            point(quantile_of(figure.all_attempts.as_deref().unwrap_or(figure), p)?)
        }
        None => single(cell, metric),
    }
}

/// Observations behind it.
pub(crate) fn count(cell: &CellSummary, metric: &str) -> u64 {
    let figure = cell.metrics.get(metric);
    figure.map_or(cell.counts.issued, |figure| figure.all_attempts.as_deref().unwrap_or(figure).n)
}

fn quantile_of(metric: &Metric, p: Prob) -> Option<&QuantilePoint> {
    let points = [
        (Prob::new(1, 20), &metric.p05),
        (Prob::new(1, 10), &metric.p10),
        (Some(Prob::P50), &metric.p50),
        (Some(Prob::P90), &metric.p90),
        (Some(Prob::P95), &metric.p95),
        (Some(Prob::P99), &metric.p99),
        (Some(Prob::P999), &metric.p999),
    ];
    points.into_iter().find(|(of, _)| *of == Some(p)).and_then(|(_, point)| point.as_ref())
}

fn single(cell: &CellSummary, metric: &str) -> Option<Estimate> {
    let steady = cell.throughput.steady.as_ref();
    match metric {
        name::ERROR_RATE => {
            proportion(proportion_of(cell.counts.failed, cell.counts.ok + cell.counts.failed))
        }
        name::USEFUL_RATE => proportion(cell.validity.useful),
        name::GOODPUT => proportion(cell.goodput.as_ref()?.share),
        name::TOOL_CALLS => proportion(cell.validity.tool_calls),
        name::BURST_ERROR_RATE => {
            let bursts = cell.bursts.as_ref()?;
            proportion(proportion_of(bursts.refused.count + bursts.failed.count, bursts.refused.n))
        }
        name::TTFT_SPREAD => rate(&cell.stability.all_attempts_spread_ms),
        name::COST_PER_USEFUL => rate(&cell.cost.per_useful_usd),
        name::TOKENS_RATE => rate(&steady?.output_token_throughput),
        name::USEFUL_TOKENS_RATE => rate(&steady?.useful_token_throughput),
        name::INPUT_RATE => rate(&steady?.input_token_throughput),
        name::REQUEST_RATE => rate(&steady?.request_throughput),
        _ => None,
    }
}

fn estimate(value: Option<Num>, lo: Option<Num>, hi: Option<Num>) -> Option<Estimate> {
    let bounds = Bounds { lo: lo.map(Num::get), hi: hi.map(Num::get) };
    Some(Estimate { value: value?.get(), bounds })
}

/// Of a censored one the value is a lower bound, which makes every interval that it enters wider.
fn point(point: &QuantilePoint) -> Option<Estimate> {
    estimate(point.value, point.lo, point.hi)
}

fn proportion(share: Proportion) -> Option<Estimate> {
    estimate(share.value, share.lo, share.hi)
}

fn rate(rate: &Rate) -> Option<Estimate> {
    estimate(rate.value, rate.lo, rate.hi)
}
