//! A constraint that does not hold, in plain words.

use crate::names::name;
use crate::{Gate, GateOutcome, Op};

/// What is wrong with "it", and what was seen: `it fails more than 2 % of its requests (16 of 300)`. A figure that has
/// no words is told by the gate's own text.
pub(super) fn broken(outcome: &GateOutcome) -> String {
    let n = outcome.n;
    let gate: Option<Gate> = outcome.gate.parse().ok();
    let said = gate.as_ref().and_then(|gate| Some((in_words(gate)?, gate)));
    let Some((said, gate)) = said else {
        let seen = outcome.bad.map_or(String::new(), |bad| format!(" ({bad} of {n} on the bad side)"));
        return format!("{} holds{seen}", outcome.gate);
    };
    let seen = outcome.bad.map_or(String::new(), |bad| match (gate.quantile(), gate.op().is_upper()) {
        (Some(_), _) => format!(" ({bad} of {n} took longer or failed)"),
        (None, true) => format!(" ({bad} of {n})"),
        (None, false) => format!(" ({} of {n})", n.saturating_sub(bad)),
    });
    format!("{said}{seen}")
}

/// `None` where no sentence is known, or the gate turns a figure the other way round.
fn in_words(gate: &Gate) -> Option<String> {
    let limit = limit(&gate.to_string());
    let p = gate.quantile().map(|p| format!("p{}", percent(p.as_f64())));
    let than = match gate.op() {
        Op::Above => "more than",
        Op::Below => "less than",
        Op::AtLeast | Op::AtMost => return None,
    };
    Some(match (gate.metric(), p, gate.op().is_upper()) {
        (name::ERROR_RATE, None, true) => format!("it fails {than} {limit} of its requests"),
        (name::BURST_ERROR_RATE, None, true) => format!("it fails {than} {limit} of the requests of a burst"),
        (name::USEFUL_RATE, None, false) => format!("{than} {limit} of its answers are useful"),
        (name::TOOL_CALLS, None, false) => format!("{than} {limit} of its tool calls are valid"),
        (name::AVAILABILITY, None, false) => format!("it is available {than} {limit} of the time"),
        (name::TTFT_SPREAD, None, true) => format!("its TTFT p95 is {than} {limit} above its p50"),
        (name::TTFT, Some(p), true) => format!("its TTFT {p} is {than} {limit}"),
        (name::LATENCY, Some(p), true) => format!("its latency {p} is {than} {limit}"),
        (name::BURST_TTFT, Some(p), true) => format!("its TTFT {p} in a burst is {than} {limit}"),
        _ => return None,
    })
}

/// 95, 99.9: the quantile as it is typed.
fn percent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

/// The limit as typed, its unit apart from the number: `2 %`, `1500 ms`.
fn limit(gate: &str) -> String {
    let typed = gate.rsplit(['>', '<', '=']).next().unwrap_or_default().trim();
    let at = typed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(typed.len());
    let (number, unit) = typed.split_at(at);
    format!("{number} {}", unit.trim()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(gate: &str, bad: Option<u64>, said: &str) {
        let outcome = GateOutcome { gate: gate.to_owned(), bad, n: 300, ..GateOutcome::default() };
        assert_eq!(broken(&outcome), said);
    }

    #[test]
    fn what_is_broken_is_told_in_words() {
        check("error_rate>2%", Some(16), "it fails more than 2 % of its requests (16 of 300)");
        check("useful_rate < 50%", Some(180), "less than 50 % of its answers are useful (120 of 300)");
        check("ttft_p95>2s", Some(40), "its TTFT p95 is more than 2 s (40 of 300 took longer or failed)");
        check("ttft_p99.9>1.5s", None, "its TTFT p99.9 is more than 1.5 s");
        check("e2el_p99>30s", Some(9), "its latency p99 is more than 30 s (9 of 300 took longer or failed)");
        check("ttft_spread>1500ms", None, "its TTFT p95 is more than 1500 ms above its p50");
        check(
            "burst_error_rate>5%",
            Some(30),
            "it fails more than 5 % of the requests of a burst (30 of 300)",
        );
        check("burst_ttft_p95>5s", None, "its TTFT p95 in a burst is more than 5 s");
        check("availability<99%", None, "it is available less than 99 % of the time");
        check("tool_calls<95%", Some(30), "less than 95 % of its tool calls are valid (270 of 300)");
        // No words of their own.
        check("error_rate>=2%", Some(16), "error_rate>=2% holds (16 of 300 on the bad side)");
        check("cost_per_useful>0.01", None, "cost_per_useful>0.01 holds");
        check("no gate at all", None, "no gate at all holds");
    }
}
