//! The names of figures, and what else people call them.

/// Names of the figures in `summary.json`. AIPerf's tags where the meaning is the same; a new meaning has a new name.
pub mod name {
    /// First output event − start, ms.
    pub const TTFT: &str = "time_to_first_token";
    /// First output event that is not reasoning − start, ms.
    pub const TTFA: &str = "time_to_first_output_token";
    /// (last − first) / (N − k₁), ms.
    pub const TPOT: &str = "time_per_output_token";
    /// Last output event − start, ms.
    pub const LATENCY: &str = "request_latency";
    /// TTFT of requests on a connection that had carried one before, ms.
    pub const TTFT_REUSED: &str = "time_to_first_token_reused_connection";
    /// First output event − planned send, ms: open loop only.
    pub const TTFT_SCHED: &str = "time_to_first_token_from_schedule";
    /// Last output event − planned send, ms: open loop only.
    pub const LATENCY_SCHED: &str = "request_latency_from_schedule";
    /// First output event − start of the request's first attempt, ms: where there were retries.
    pub const TTFT_FIRST_TRY: &str = "time_to_first_token_from_first_try";
    /// Last output event − start of the request's first attempt, ms: where there were retries.
    pub const LATENCY_FIRST_TRY: &str = "request_latency_from_first_try";
    /// Time between output events, all streams pooled, ms. A chunk is not a token.
    pub const CHUNK_GAP: &str = "inter_chunk_latency";
    /// Longest time between output events of each stream, ms.
    pub const CHUNK_GAP_MAX: &str = "inter_chunk_latency_max";
    /// 1 / tpot, tokens/s.
    pub const SPEED: &str = "output_token_throughput_per_user";
    /// N / latency, tokens/s.
    pub const SPEED_E2E: &str = "e2e_output_token_throughput";
    /// (characters − those of the first event) / (last − first), characters/s: needs no tokenizer.
    pub const SPEED_CHARS: &str = "output_character_throughput_per_user";
    /// Prompt tokens.
    pub const INPUT: &str = "input_sequence_length";
    /// Output tokens, reasoning included.
    pub const OUTPUT: &str = "output_sequence_length";
    /// Reasoning tokens.
    pub const REASONING: &str = "reasoning_token_count";
    /// Start − planned send, ms: the client's own fault.
    pub const SCHEDULE_LAG: &str = "schedule_lag";
    /// Start to connection ready, new connections only, ms.
    pub const CONNECT: &str = "connect_time";
    /// Name resolution, new connections only, ms.
    pub const DNS: &str = "dns_time";
    /// End − last output event, ms.
    pub const CLOSE_DELAY: &str = "close_delay";
    /// Output tokens of all streams per second of the window.
    pub const TOKENS_RATE: &str = "output_token_throughput";
    /// Prompt tokens of the successful requests that ended in the window, per second.
    pub const INPUT_RATE: &str = "input_token_throughput";
    /// Successful requests that ended in the window, per second.
    pub const REQUEST_RATE: &str = "request_throughput";
    /// Share of requests that failed.
    pub const ERROR_RATE: &str = "request_error_rate";
    /// Share of requests whose answer was useful.
    pub const USEFUL_RATE: &str = "useful_rate";
    /// Requests that met every objective.
    pub const GOODPUT: &str = "goodput";
    /// Cost of all attempts ÷ useful answers, USD.
    pub const COST_PER_USEFUL: &str = "cost_per_useful";
    /// p95 − p50 of the time to first token over all attempts, ms: in gates.
    pub const TTFT_SPREAD: &str = "time_to_first_token_spread";
    /// Output tokens of useful answers per second of the steady part: in gates.
    pub const USEFUL_TOKENS_RATE: &str = "useful_token_throughput";
    /// Share of answers with a tool call, or that owed one, whose call was valid: in gates.
    pub const TOOL_CALLS: &str = "tool_call_validity";
    /// Time to first token of the requests of a burst, ms: in gates.
    pub const BURST_TTFT: &str = "burst_time_to_first_token";
    /// Share of the requests of a burst that were refused or failed: in gates.
    pub const BURST_ERROR_RATE: &str = "burst_error_rate";
    /// Share of time windows in which the target could be called: in gates.
    pub const AVAILABILITY: &str = "availability";
}

/// What else each figure is called, in gates and objectives: the one alias table.
const ALIASES: [(&str, &[&str]); 24] = [
    (name::TTFT, &["ttft"]),
    (name::TTFA, &["ttfa", "ttfo", "ttfot"]),
    (name::TPOT, &["tpot"]),
    (name::LATENCY, &["e2el", "e2e", "latency"]),
    (name::TTFT_REUSED, &["ttft_reused"]),
    (name::TTFT_SCHED, &["ttft_sched"]),
    (name::LATENCY_SCHED, &["e2el_sched", "latency_sched"]),
    (name::TTFT_FIRST_TRY, &["ttft_first_try"]),
    (name::LATENCY_FIRST_TRY, &["e2el_first_try", "latency_first_try"]),
    (name::CHUNK_GAP_MAX, &["chunk_gap_max"]),
    (name::SPEED, &["speed", "tps_per_user"]),
    (name::SPEED_E2E, &["speed_e2e"]),
    (name::TOKENS_RATE, &["throughput", "tps"]),
    (name::INPUT_RATE, &["input_throughput"]),
    (name::REQUEST_RATE, &["rps"]),
    (name::ERROR_RATE, &["error_rate"]),
    (name::USEFUL_RATE, &["useful"]),
    (name::COST_PER_USEFUL, &[]),
    (name::TTFT_SPREAD, &["ttft_spread"]),
    (name::USEFUL_TOKENS_RATE, &["useful_throughput"]),
    (name::TOOL_CALLS, &["tool_calls"]),
    (name::BURST_TTFT, &["burst_ttft"]),
    (name::BURST_ERROR_RATE, &[]),
    (name::AVAILABILITY, &[]),
];

/// The figure's own name for any of its names. Names that mean a different thing in other tools (`itl`) are no alias.
pub(crate) fn canonical(given: &str) -> Option<&'static str> {
    if given == name::GOODPUT {
        return Some(name::GOODPUT);
    }
    let found = ALIASES.iter().find(|(own, aliases)| *own == given || aliases.contains(&given));
    found.map(|(own, _)| *own)
}

/// The shortest name of a figure: what people type.
pub(crate) fn short(own: &'static str) -> &'static str {
    let found = ALIASES.iter().find(|(listed, _)| *listed == own);
    found.and_then(|(_, aliases)| aliases.first().copied()).unwrap_or(own)
}

/// Every name that [`canonical`] knows.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    let listed = ALIASES.iter().flat_map(|(own, aliases)| aliases.iter().copied().chain([*own]));
    listed.chain([name::GOODPUT])
}

/// The name out of `known` that is nearest to a wrong one: what was probably meant. Always some name, unless none is known.
pub(crate) fn nearest(given: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    known.min_by_key(|name| distance(given, name))
}

/// Letters to insert, drop or replace (Levenshtein). Names are short; a hostile one is cut to what any name could match.
pub(crate) fn distance(given: &str, known: &str) -> usize {
    const MAX_CHARS: usize = 64;
    let end = given.char_indices().nth(MAX_CHARS).map_or(given.len(), |(at, _)| at);
    strsim::levenshtein(given.get(..end).unwrap_or_default(), known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_lead_to_one_name_each() {
        let mut seen = std::collections::BTreeSet::new();
        for (own, aliases) in ALIASES {
            assert_eq!(canonical(own), Some(own));
            for alias in aliases {
                assert_eq!(canonical(alias), Some(own));
                assert!(seen.insert(*alias), "{alias} twice");
            }
        }
        assert_eq!(canonical("itl"), None);
    }

    #[test]
    fn the_nearest_name_is_what_was_meant() {
        let known = || ["ttft", "tpot", "e2el", "error_rate"].into_iter();
        for (given, meant) in
            [("tft", "ttft"), ("tpott", "tpot"), ("eror_rate", "error_rate"), ("e2e1", "e2el")]
        {
            assert_eq!(nearest(given, known()), Some(meant));
        }
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance(&"ä".repeat(1_000_000), ""), 64);
    }
}
