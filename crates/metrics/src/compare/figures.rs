//! Which figures are compared, which side of each is good, and which one a profile declares.

use crate::names::name;
use crate::{ProfileKind, Statistic};

/// Every figure that is compared, and what of it.
pub(super) const COMPARED: [(&str, Statistic); 11] = [
    (name::TTFT, Statistic::Typical),
    (name::LATENCY, Statistic::Typical),
    (name::TTFT, Statistic::P95),
    (name::LATENCY, Statistic::P95),
    (name::TTFT, Statistic::P99),
    (name::LATENCY, Statistic::P99),
    (name::USEFUL_RATE, Statistic::Share),
    (name::ERROR_RATE, Statistic::Share),
    (name::COST_PER_USEFUL, Statistic::CostPerUseful),
    (name::USEFUL_TOKENS_RATE, Statistic::Rate),
    (name::TOKENS_RATE, Statistic::Rate),
];

/// Whether little of a figure is good.
pub(crate) fn lower_is_better(metric: &str) -> bool {
    !matches!(
        metric,
        name::USEFUL_RATE
            | name::USEFUL_TOKENS_RATE
            | name::TOKENS_RATE
            | name::REQUEST_RATE
            | name::GOODPUT
            | name::SPEED
            | name::SPEED_E2E
            | name::SPEED_CHARS
            | name::TOOL_CALLS
            | name::AVAILABILITY
    )
}

/// The figure that a profile declares as its headline: the one whose comparisons are a family.
pub(crate) fn headline(kind: ProfileKind) -> (&'static str, Statistic) {
    match kind {
        ProfileKind::Chat => (name::TTFT, Statistic::P95),
        ProfileKind::Rag | ProfileKind::Agent => (name::COST_PER_USEFUL, Statistic::CostPerUseful),
        ProfileKind::Batch => (name::USEFUL_TOKENS_RATE, Statistic::Rate),
        ProfileKind::Production => (name::LATENCY, Statistic::P95),
    }
}
