//! The sample: one attempt at one request, everything that was seen of it.

use inferometer_wire::limits::Limit;
use serde::{Deserialize, Serialize};

/// Which part of a cell a sample belongs to. Only `measure` enters figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The one request before any load, which finds out whether the target can be asked at all.
    Preflight,
    /// Dropped from every figure, but logged and paid for.
    Warmup,
    /// What the figures are made of.
    #[default]
    Measure,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A complete answer, whatever it is worth (see `verdict`).
    Ok,
    /// A status other than 2xx.
    HttpError,
    /// An error inside a 2xx answer.
    StreamError,
    /// The body ended cleanly with nothing that says the answer is complete.
    Truncated,
    /// One of our own timeouts: connect, first token, idle or total.
    Timeout,
    /// DNS, TCP, TLS, or a connection lost before the answer was complete.
    Transport,
    /// Bytes that are no answer in this dialect.
    Protocol,
    /// Cut by the run itself: its end, or an interrupt. Nobody's failure.
    #[default]
    Cancelled,
    /// Our own lack (file descriptors, ports, memory): counts as cancelled and makes the cell not valid.
    ClientLimit,
}

impl Status {
    /// Every status, in the order of the reports.
    pub const ALL: [Status; 9] = [
        Status::Ok,
        Status::HttpError,
        Status::StreamError,
        Status::Truncated,
        Status::Timeout,
        Status::Transport,
        Status::Protocol,
        Status::Cancelled,
        Status::ClientLimit,
    ];

    /// The name in `samples.jsonl`.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::HttpError => "http_error",
            Status::StreamError => "stream_error",
            Status::Truncated => "truncated",
            Status::Timeout => "timeout",
            Status::Transport => "transport",
            Status::Protocol => "protocol",
            Status::Cancelled => "cancelled",
            Status::ClientLimit => "client_limit",
        }
    }

    /// Cut short by ourselves: neither a success nor the server's failure.
    pub const fn is_cancelled(self) -> bool {
        matches!(self, Status::Cancelled | Status::ClientLimit)
    }

    /// The server's failure: neither ok nor cut by ourselves.
    pub const fn is_failure(self) -> bool {
        !matches!(self, Status::Ok) && !self.is_cancelled()
    }
}

/// What an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Worth having.
    Valid,
    /// Worth having where the workload says so.
    Degraded,
    /// Not worth having.
    Invalid,
    /// The checks could not run.
    Unverifiable,
}

impl Verdict {
    /// The name in `samples.jsonl`.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Valid => "valid",
            Verdict::Degraded => "degraded",
            Verdict::Invalid => "invalid",
            Verdict::Unverifiable => "unverifiable",
        }
    }
}

/// Where token counts come from. Sources never mix in one figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokensSource {
    /// The server's usage.
    Server,
    /// A server's usage outside the standard place (`x_groq`).
    ServerExt,
    /// Counted by the pinned tokenizer.
    Estimated,
    /// Output events of an unfinished request, each taken for so many tokens. Never in tpot or money.
    Events,
    /// Unknown.
    #[default]
    None,
}

/// One attempt at one request. Flat; times are integer nanoseconds from the run's origin (`run.json`,
/// `segments[segment]`: `monotonic_origin_ns` is at `offset_ns`) on one monotonic clock; `None` did not happen or is not known, never 0.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// Name of the run.
    pub run_id: String,
    /// Index into the run's segments: one per start of the process (a resumed run has several).
    pub segment: u32,
    /// Name of the target.
    pub target: String,
    /// Name of the workload.
    pub workload: String,
    /// Name of the load.
    pub load: String,
    /// Part of the cell.
    pub phase: Phase,
    /// Block of an interleaved plan; episode of a cold start or burst load.
    pub block: Option<u32>,
    /// The part of an episode that it plays: `cold_fresh`, `warm_kept`, `burst`, … (`metrics::role`).
    pub role: Option<String>,
    /// Time window of a watch.
    pub window: Option<String>,
    /// Where the client stands.
    pub vantage: Option<String>,
    /// Id of the request, unique in the run; attempts share it.
    pub request: u64,
    /// Position in the cell's plan, from 0 in each phase.
    pub seq: u64,
    /// Id of the prompt.
    pub prompt_id: String,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// How many attempts the request had made when this one ended.
    pub attempts: u32,
    /// Whether this is the request's last attempt: exactly one is.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// Planned send.
    pub sched_ns: Option<u64>,
    /// How long our own pacer held it back, to keep under the limits that were told, before its planned send: the server
    /// had no part in it.
    pub paced_ns: Option<u64>,
    /// Handed to the transport, before DNS and connect.
    pub start_ns: Option<u64>,
    /// End of name resolution; absent on a reused connection or an address literal.
    pub dns_ns: Option<u64>,
    /// End of TCP connect; absent on a reused connection.
    pub connect_ns: Option<u64>,
    /// End of the TLS handshake; absent on a reused or plain connection.
    pub tls_ns: Option<u64>,
    /// Last byte of the request accepted by the kernel.
    pub sent_ns: Option<u64>,
    /// Status line and headers complete.
    pub headers_ns: Option<u64>,
    /// First body byte.
    pub byte_ns: Option<u64>,
    /// First output event.
    pub first_ns: Option<u64>,
    /// First output event that is not reasoning.
    pub answer_ns: Option<u64>,
    /// Last output event.
    pub last_ns: Option<u64>,
    /// Terminal event, end of the body, or the failure.
    pub end_ns: Option<u64>,
    /// How it ended.
    pub status: Status,
    /// HTTP status code.
    pub http_status: Option<u16>,
    /// The server's own error code, or ours (`connect_timeout`, `not_a_stream`, …).
    pub error_code: Option<String>,
    /// What went wrong: at most 2 KiB, keys removed.
    pub error_message: Option<String>,
    /// The server's advice, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// The raw finish reason.
    pub finish_reason: Option<String>,
    /// `1.1` or `2`.
    pub http_version: Option<String>,
    /// Whether the connection had carried a request before.
    pub conn_reused: Option<bool>,
    /// Kept connections that turned out to be closed by the server.
    pub stale_reconnects: u32,
    /// Prompt tokens by the server's usage, cached ones included.
    pub input_tokens: Option<u64>,
    /// Output tokens by the server's usage, reasoning included.
    pub output_tokens: Option<u64>,
    /// Reasoning tokens by the server's usage.
    pub reasoning_tokens: Option<u64>,
    /// Prompt tokens read from a cache.
    pub cache_read_tokens: Option<u64>,
    /// Prompt tokens written to a cache.
    pub cache_write_tokens: Option<u64>,
    /// Where `output_tokens` comes from.
    pub tokens_source: TokensSource,
    /// The identity that the usage satisfies: `inclusive`, `additive`, `disjoint`.
    pub usage_identity: Option<String>,
    /// The server's usage as it came.
    pub usage: Option<Box<serde_json::value::RawValue>>,
    /// Prompt tokens by the pinned tokenizer.
    pub counted_input_tokens: Option<u64>,
    /// Output tokens (visible and reasoning text) by the pinned tokenizer.
    pub counted_output_tokens: Option<u64>,
    /// k₁: tokens of the first output event, from the same source as `output_tokens`.
    pub first_chunk_tokens: Option<u64>,
    /// Components of the vectors of an answer that is no text.
    pub dimensions: Option<u64>,
    /// Output events.
    pub chunks: u64,
    /// Median time between output events.
    pub gap_p50_ns: Option<u64>,
    /// 99th percentile of the time between output events.
    pub gap_p99_ns: Option<u64>,
    /// Longest time between output events.
    pub gap_max_ns: Option<u64>,
    /// Stalls by the absolute rule.
    pub stalls: Option<u32>,
    /// Longest of them, less the client's own lateness.
    pub stall_max_ns: Option<u64>,
    /// Share of (last − first) spent in them.
    pub stall_share: Option<f64>,
    /// Stalls by the relative rule; absent where the stream had too few gaps to judge.
    pub stalls_relative: Option<u32>,
    /// Keep-alives: comments, pings, empty events.
    pub keepalives: u64,
    /// Characters of output, all channels.
    pub output_chars: u64,
    /// Time to first token.
    pub ttft_ms: Option<f64>,
    /// Time to first answer token.
    pub ttfa_ms: Option<f64>,
    /// Time per output token after the first event.
    pub tpot_ms: Option<f64>,
    /// Last output event − start.
    pub request_latency_ms: Option<f64>,
    /// Start − planned send.
    pub schedule_lag_ms: Option<f64>,
    /// Start to connection ready, on a new connection.
    pub connect_ms: Option<f64>,
    /// What the answer is worth.
    pub verdict: Option<Verdict>,
    /// Why.
    pub verdict_flags: Vec<String>,
    /// What those flags rest on, `flag: words`: a few words of the answer at most; none of an answer that held a key.
    pub verdict_evidence: Vec<String>,
    /// Whether the answer passed the workload's own checks; absent where it has none.
    pub grade: Option<bool>,
    /// Cost in US dollars, an exact decimal.
    pub cost_usd: Option<String>,
    /// Of it, uncached input.
    pub cost_input_usd: Option<String>,
    /// Of it, input read from a cache.
    pub cost_cache_read_usd: Option<String>,
    /// Of it, input written to a cache.
    pub cost_cache_write_usd: Option<String>,
    /// Of it, visible output.
    pub cost_output_usd: Option<String>,
    /// Of it, reasoning.
    pub cost_reasoning_usd: Option<String>,
    /// Of it, the price of a request.
    pub cost_request_usd: Option<String>,
    /// Cost that the provider reported, an exact decimal.
    pub cost_reported_usd: Option<String>,
    /// Where the price comes from.
    pub cost_source: Option<String>,
    /// The model the server says it used.
    pub model_echo: Option<String>,
    /// The server's id of the request: of a header, else the answer's own.
    pub server_request_id: Option<String>,
    /// The id that the answer itself bears.
    pub response_id: Option<String>,
    /// FNV-1a of the answer's texts, 64 bits in hexadecimal: the same text has the same. Absent where there is no text,
    /// or the answer is not complete.
    pub answer_hash: Option<String>,
    /// Whether the request asked for what repeats: temperature 0, or a seed. `false` from a temperature of 0.5 on, at which
    /// answers should differ; absent between the two, and where it was left to the server.
    pub repeatable: Option<bool>,
    /// The server's own timings, as they came: for comparison, never our measurement.
    pub server_timing: Option<Box<serde_json::value::RawValue>>,
    /// Rate-limit headers, as they came.
    pub ratelimit: Option<Box<serde_json::value::RawValue>>,
    /// The limits that they tell, of whatever family they are.
    pub limits: Vec<Limit>,
    /// What else was seen: `first_chunk_estimated`, `coalesced`, `compressed`, `not_streamed`, `vectors`, …, sorted.
    pub flags: Vec<String>,
}

/// The stamps of a sample's output events, beside it in `events.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Events {
    /// The sample's request.
    pub request: u64,
    /// The sample's attempt.
    pub attempt: u32,
    /// First output event, microseconds from the run's origin.
    pub first_us: Option<u64>,
    /// Each further event, microseconds after the one before it.
    pub deltas_us: Vec<u64>,
    /// Characters per event, all channels.
    pub chars: Vec<u32>,
    /// Tokens per event where the server told (running usage or logprobs).
    pub tokens: Option<Vec<u32>>,
}
