//! What figures are called where people read them.

use inferometer_metrics::name;

/// Figures by their names in `summary.json`.
const TITLES: [(&str, &str); 16] = [
    (name::TTFT, "TTFT"),
    (name::TTFA, "TTFA"),
    (name::TPOT, "Time per output token"),
    (name::LATENCY, "Latency"),
    (name::SPEED, "Tokens/s of a stream"),
    (name::SPEED_E2E, "Tokens/s end to end"),
    (name::TOKENS_RATE, "Tokens/s of all streams"),
    (name::REQUEST_RATE, "Requests/s"),
    (name::ERROR_RATE, "Error rate"),
    (name::USEFUL_RATE, "Useful answers"),
    (name::GOODPUT, "Goodput"),
    (name::COST_PER_USEFUL, "Cost per useful answer"),
    ("ttft_spread", "TTFT p95 − p50"),
    (name::USEFUL_TOKENS_RATE, "Useful tokens/s"),
    ("time_to_first_token_p95", "TTFT p95"),
    ("request_latency_p95", "Latency p95"),
];

/// The title of a figure; a name that has none is shown with its words apart.
pub(super) fn title(name: &str) -> String {
    let found = TITLES.iter().find(|(known, _)| *known == name);
    found.map_or_else(|| name.replace('_', " "), |(_, title)| (*title).to_owned())
}
