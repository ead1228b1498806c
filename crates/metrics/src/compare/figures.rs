//! Which figures are compared, and which side of each is good.

use crate::Statistic;
use crate::names::name;

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
pub fn lower_is_better(metric: &str) -> bool {
    !matches!(
        metric,
        name::USEFUL_RATE
            | name::USEFUL_TOKENS_RATE
            | name::TOKENS_RATE
            | name::INPUT_RATE
            | name::REQUEST_RATE
            | name::GOODPUT
            | name::SPEED
            | name::SPEED_E2E
            | name::SPEED_CHARS
            | name::TOOL_CALLS
            | name::AVAILABILITY
    )
}
