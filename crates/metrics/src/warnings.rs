//! What a reader must know beside a cell's figures.

use crate::CellSummary;
use crate::accumulator::CellAccumulator;
use crate::names::name;

/// A share of cached prompt tokens above this is said.
const CACHED_SHARE: f64 = 0.01;

/// Tokens per output event above which a chunk is no longer nearly a token.
const TOKENS_PER_CHUNK: f64 = 1.25;

/// A reported cost that differs from ours by more than this share is said.
const COST_DEVIATION: f64 = 0.01;

/// Adds every warning that the summary gives cause for.
pub(crate) fn add(summary: &mut CellSummary, cell: &CellAccumulator) {
    let found = [
        unlisted(cell.causes.others),
        invisible(summary),
        cached(summary, cell),
        chunked(summary),
        mixed(summary),
        coalesced(summary),
        cost(summary),
        deviation(cell),
    ];
    summary.warnings.extend(found.into_iter().flatten());
    summary.warnings.extend(ttft(summary));
    if let Some(chunks) = summary.tokens.per_chunk.filter(|chunks| chunks.get() > TOKENS_PER_CHUNK)
        && let Some(gaps) = summary.metrics.get_mut(name::CHUNK_GAP)
    {
        gaps.notes.push(format!("{chunks:.2} tokens per chunk: per-token percentiles cannot be known"));
    }
    if let Some(unreliable) = coalesced(summary) {
        for figure in [name::TTFT, name::TTFA, name::TPOT, name::CHUNK_GAP, name::CHUNK_GAP_MAX] {
            if let Some(metric) = summary.metrics.get_mut(figure) {
                metric.notes.push(unreliable.clone());
            }
        }
    }
}

/// Failures beyond the distinct causes that are kept.
fn unlisted(others: u64) -> Option<String> {
    (others > 0).then(|| format!("{others} more failures of causes that are not listed"))
}

/// Answers that were paid for and that nobody can have read (W26): a table without their times says nothing of it.
fn invisible(summary: &CellSummary) -> Option<String> {
    let count = summary.validity.flags.get("output_invisible").copied().filter(|count| *count > 0)?;
    Some(format!(
        "{count} answers count output tokens of which nothing was visible: they have no first token"
    ))
}

/// The few tokens that precede every prompt are always in a cache: alone, they are no news.
fn cached(summary: &CellSummary, cell: &CellAccumulator) -> Option<String> {
    let share = summary.tokens.cached_share.filter(|_| cell.tokens.cached_beyond_share() > CACHED_SHARE)?;
    let though = if cell.context.cache_busted { ", though every prompt was made new" } else { "" };
    Some(format!("{:.1} % of the prompt tokens came from a cache{though}", share.get() * 100.0))
}

fn chunked(summary: &CellSummary) -> Option<String> {
    let chunks = summary.tokens.per_chunk.filter(|chunks| chunks.get() > TOKENS_PER_CHUNK)?;
    Some(format!("{chunks:.2} tokens per chunk: gaps between chunks are not gaps between tokens"))
}

/// Vectors of different lengths cannot be held against each other.
fn mixed(summary: &CellSummary) -> Option<String> {
    let lengths: Vec<String> = summary.dimensions.iter().map(u64::to_string).collect();
    (lengths.len() > 1).then(|| format!("vectors of {} dimensions: not of one model", lengths.join(" and ")))
}

fn coalesced(summary: &CellSummary) -> Option<String> {
    let count = summary.validity.flags.get("coalesced").copied().filter(|count| *count > 0)?;
    Some(format!("{count} streams arrived coalesced: their gaps, tpot and TTFT are unreliable"))
}

fn cost(summary: &CellSummary) -> Option<String> {
    let cost = &summary.cost;
    let is_partly_known = cost.lower_bound && cost.total_usd.is_some();
    is_partly_known
        .then(|| format!("the cost of {} attempts is unknown: totals are lower bounds", cost.unknown))
}

/// A price list that is out of date makes every cost wrong, and a ranking by it.
fn deviation(cell: &CellAccumulator) -> Option<String> {
    let share = cell.money.deviation().filter(|share| share.abs() > COST_DEVIATION)?;
    let direction = if share > 0.0 { "more" } else { "less" };
    Some(format!(
        "price_differs: the provider reports a cost that is {:.1} % {direction} than its prices here make: they are out of \
         date, or something else is billed",
        share.abs() * 100.0
    ))
}

fn ttft(summary: &CellSummary) -> Vec<String> {
    let stability = &summary.stability;
    let mut warnings = Vec::new();
    if stability.wide_tail {
        warnings.push("wide_tail: TTFT p95 is more than 3 × p50".to_owned());
    }
    if let Some(change) = stability.drift.filter(|drift| drift.found).and_then(|drift| drift.change_ms) {
        warnings.push(format!("drift: median TTFT changed by {change:+.0} ms over the run"));
    }
    if stability.bimodal == Some(true) {
        warnings.push("bimodal: TTFT has more than one mode; a median between them is nobody's".to_owned());
    }
    warnings
}
