//! The sample as a table: its columns, typed, in the order of its fields.

use serde_json::value::RawValue;

use crate::{Phase, Sample, TokensSource, Verdict};

/// A column of the table of samples.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The field's name in `samples.jsonl`.
    pub name: &'static str,
    /// The unit of its numbers: `ns`, `ms`, `tokens`, `characters`, `USD`, `1` for a share; empty where it has none.
    pub unit: &'static str,
    get: Get,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// UTF-8 text. Exact decimals are text as well, so that they stay exact.
    Text,
    /// JSON as it came.
    Json,
    /// A whole number, never negative.
    Count,
    /// A number.
    Real,
    /// True or false.
    Truth,
}

/// What stands in a column of one sample; absent is `None` around it.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValue<'a> {
    /// Text, or JSON.
    Text(std::borrow::Cow<'a, str>),
    /// A whole number.
    Count(u64),
    /// A number.
    Real(f64),
    /// True or false.
    Truth(bool),
}

#[derive(Clone, Copy, Debug)]
enum Get {
    Text(fn(&Sample) -> Option<&str>),
    Json(fn(&Sample) -> Option<&str>),
    /// JSON of several values; absent where there are none.
    Values(fn(&Sample) -> Option<String>),
    /// Words, joined by a semicolon; absent where there are none.
    List(fn(&Sample) -> &[String]),
    Count(fn(&Sample) -> Option<u64>),
    Real(fn(&Sample) -> Option<f64>),
    Truth(fn(&Sample) -> Option<bool>),
}

impl Column {
    /// What the column holds.
    pub const fn kind(&self) -> ColumnKind {
        match self.get {
            Get::Text(_) | Get::List(_) => ColumnKind::Text,
            Get::Json(_) | Get::Values(_) => ColumnKind::Json,
            Get::Count(_) => ColumnKind::Count,
            Get::Real(_) => ColumnKind::Real,
            Get::Truth(_) => ColumnKind::Truth,
        }
    }

    /// What stands in it for `sample`.
    pub fn value<'a>(&self, sample: &'a Sample) -> Option<ColumnValue<'a>> {
        match self.get {
            Get::Text(get) | Get::Json(get) => get(sample).map(|text| ColumnValue::Text(text.into())),
            Get::Values(get) => get(sample).map(|text| ColumnValue::Text(text.into())),
            Get::List(get) => Some(get(sample))
                .filter(|list| !list.is_empty())
                .map(|list| ColumnValue::Text(list.join(";").into())),
            Get::Count(get) => get(sample).map(ColumnValue::Count),
            Get::Real(get) => get(sample).map(ColumnValue::Real),
            Get::Truth(get) => get(sample).map(ColumnValue::Truth),
        }
    }
}

const fn text(name: &'static str, get: fn(&Sample) -> Option<&str>) -> Column {
    Column { name, unit: "", get: Get::Text(get) }
}

const fn usd(name: &'static str, get: fn(&Sample) -> Option<&str>) -> Column {
    Column { name, unit: "USD", get: Get::Text(get) }
}

const fn json(name: &'static str, get: fn(&Sample) -> Option<&str>) -> Column {
    Column { name, unit: "", get: Get::Json(get) }
}

const fn values(name: &'static str, get: fn(&Sample) -> Option<String>) -> Column {
    Column { name, unit: "", get: Get::Values(get) }
}

const fn list(name: &'static str, get: fn(&Sample) -> &[String]) -> Column {
    Column { name, unit: "", get: Get::List(get) }
}

const fn count(name: &'static str, unit: &'static str, get: fn(&Sample) -> Option<u64>) -> Column {
    Column { name, unit, get: Get::Count(get) }
}

const fn real(name: &'static str, unit: &'static str, get: fn(&Sample) -> Option<f64>) -> Column {
    Column { name, unit, get: Get::Real(get) }
}

const fn truth(name: &'static str, get: fn(&Sample) -> Option<bool>) -> Column {
    Column { name, unit: "", get: Get::Truth(get) }
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Preflight => "preflight",
        Phase::Warmup => "warmup",
        Phase::Measure => "measure",
    }
}

fn source(source: TokensSource) -> &'static str {
    match source {
        TokensSource::Server => "server",
        TokensSource::ServerExt => "server_ext",
        TokensSource::Estimated => "estimated",
        TokensSource::Events => "events",
        TokensSource::None => "none",
    }
}

/// Every field of a sample, in order: one that is added there is added here.
pub const COLUMNS: &[Column] = &[
    text("run_id", |s| Some(&s.run_id)),
    count("segment", "", |s| Some(u64::from(s.segment))),
    text("target", |s| Some(&s.target)),
    text("workload", |s| Some(&s.workload)),
    text("load", |s| Some(&s.load)),
    text("phase", |s| Some(phase(s.phase))),
    count("block", "", |s| s.block.map(u64::from)),
    text("role", |s| s.role.as_deref()),
    text("window", |s| s.window.as_deref()),
    text("vantage", |s| s.vantage.as_deref()),
    count("request", "", |s| Some(s.request)),
    count("seq", "", |s| Some(s.seq)),
    text("prompt_id", |s| Some(&s.prompt_id)),
    count("attempt", "", |s| Some(u64::from(s.attempt))),
    count("attempts", "", |s| Some(u64::from(s.attempts))),
    truth("final", |s| Some(s.is_final)),
    count("sched_ns", "ns", |s| s.sched_ns),
    count("paced_ns", "ns", |s| s.paced_ns),
    count("start_ns", "ns", |s| s.start_ns),
    count("dns_ns", "ns", |s| s.dns_ns),
    count("connect_ns", "ns", |s| s.connect_ns),
    count("tls_ns", "ns", |s| s.tls_ns),
    count("sent_ns", "ns", |s| s.sent_ns),
    count("headers_ns", "ns", |s| s.headers_ns),
    count("byte_ns", "ns", |s| s.byte_ns),
    count("first_ns", "ns", |s| s.first_ns),
    count("answer_ns", "ns", |s| s.answer_ns),
    count("last_ns", "ns", |s| s.last_ns),
    count("end_ns", "ns", |s| s.end_ns),
    text("status", |s| Some(s.status.name())),
    count("http_status", "", |s| s.http_status.map(u64::from)),
    text("error_code", |s| s.error_code.as_deref()),
    text("error_message", |s| s.error_message.as_deref()),
    count("retry_after_ms", "ms", |s| s.retry_after_ms),
    text("finish_reason", |s| s.finish_reason.as_deref()),
    text("http_version", |s| s.http_version.as_deref()),
    truth("conn_reused", |s| s.conn_reused),
    count("stale_reconnects", "", |s| Some(u64::from(s.stale_reconnects))),
    count("input_tokens", "tokens", |s| s.input_tokens),
    count("output_tokens", "tokens", |s| s.output_tokens),
    count("reasoning_tokens", "tokens", |s| s.reasoning_tokens),
    count("cache_read_tokens", "tokens", |s| s.cache_read_tokens),
    count("cache_write_tokens", "tokens", |s| s.cache_write_tokens),
    text("tokens_source", |s| Some(source(s.tokens_source))),
    text("usage_identity", |s| s.usage_identity.as_deref()),
    json("usage", |s| s.usage.as_deref().map(RawValue::get)),
    count("counted_input_tokens", "tokens", |s| s.counted_input_tokens),
    count("counted_output_tokens", "tokens", |s| s.counted_output_tokens),
    count("first_chunk_tokens", "tokens", |s| s.first_chunk_tokens),
    count("dimensions", "", |s| s.dimensions),
    count("chunks", "", |s| Some(s.chunks)),
    count("gap_p50_ns", "ns", |s| s.gap_p50_ns),
    count("gap_p99_ns", "ns", |s| s.gap_p99_ns),
    count("gap_max_ns", "ns", |s| s.gap_max_ns),
    count("stalls", "", |s| s.stalls.map(u64::from)),
    count("stall_max_ns", "ns", |s| s.stall_max_ns),
    real("stall_share", "1", |s| s.stall_share),
    count("stalls_relative", "", |s| s.stalls_relative.map(u64::from)),
    count("keepalives", "", |s| Some(s.keepalives)),
    count("output_chars", "characters", |s| Some(s.output_chars)),
    real("ttft_ms", "ms", |s| s.ttft_ms),
    real("ttfa_ms", "ms", |s| s.ttfa_ms),
    real("tpot_ms", "ms", |s| s.tpot_ms),
    real("request_latency_ms", "ms", |s| s.request_latency_ms),
    real("schedule_lag_ms", "ms", |s| s.schedule_lag_ms),
    real("connect_ms", "ms", |s| s.connect_ms),
    text("verdict", |s| s.verdict.map(Verdict::name)),
    list("verdict_flags", |s| &s.verdict_flags),
    list("verdict_evidence", |s| &s.verdict_evidence),
    truth("grade", |s| s.grade),
    usd("cost_usd", |s| s.cost_usd.as_deref()),
    usd("cost_input_usd", |s| s.cost_input_usd.as_deref()),
    usd("cost_cache_read_usd", |s| s.cost_cache_read_usd.as_deref()),
    usd("cost_cache_write_usd", |s| s.cost_cache_write_usd.as_deref()),
    usd("cost_output_usd", |s| s.cost_output_usd.as_deref()),
    usd("cost_reasoning_usd", |s| s.cost_reasoning_usd.as_deref()),
    usd("cost_request_usd", |s| s.cost_request_usd.as_deref()),
    usd("cost_reported_usd", |s| s.cost_reported_usd.as_deref()),
    text("cost_source", |s| s.cost_source.as_deref()),
    text("model_echo", |s| s.model_echo.as_deref()),
    text("server_request_id", |s| s.server_request_id.as_deref()),
    text("response_id", |s| s.response_id.as_deref()),
    text("answer_hash", |s| s.answer_hash.as_deref()),
    truth("repeatable", |s| s.repeatable),
    json("server_timing", |s| s.server_timing.as_deref().map(RawValue::get)),
    json("ratelimit", |s| s.ratelimit.as_deref().map(RawValue::get)),
    values("limits", |s| (!s.limits.is_empty()).then(|| serde_json::to_string(&s.limits).ok()).flatten()),
    list("flags", |s| &s.flags),
];
