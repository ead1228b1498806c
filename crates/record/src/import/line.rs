//! One line of AIPerf's `profile_export.jsonl`, and the sample that it makes.
//!
//! A line holds `metadata` (wall times in nanoseconds since 1970, ids), `metrics` (`{tag: {value, unit}}`, times in
//! milliseconds) and `error`. AIPerf's definitions, where they are ours as well: `time_to_first_token` runs to the first
//! event with content or reasoning, `request_latency` to the last event with content, `inter_token_latency` is
//! (latency − TTFT) / (tokens − 1), so that the first event counts for one token. Its token counts come from a tokenizer
//! of the client's. Its first versions called some fields otherwise; those names are read as well.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{Events, Phase, Sample, Status, TokensSource};

/// Longest error text that is kept, bytes: as of our own samples.
const ERROR_BYTES_MAX: usize = 2 * 1024;

/// Beyond this many milliseconds (about 30 years) a time is no time.
const MS_MAX: f64 = 1e12;

/// The fields of a line that are read.
#[derive(Debug, Deserialize)]
pub(super) struct Line {
    pub(super) metadata: Metadata,
    /// A tag that stands twice counts as it stands last.
    metrics: Option<Map<String, Value>>,
    error: Option<ErrorDetails>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    request_num: Option<u64>,
    session_num: Option<u64>,
    conversation_id: Option<String>,
    turn_index: Option<u64>,
    credit_issued_ns: Option<u64>,
    #[serde(alias = "timestamp_ns")]
    request_start_ns: u64,
    request_ack_ns: Option<u64>,
    request_end_ns: Option<u64>,
    #[serde(alias = "credit_phase")]
    benchmark_phase: Option<String>,
    #[serde(default)]
    was_cancelled: bool,
}

#[derive(Debug, Deserialize)]
struct ErrorDetails {
    /// A number, or one as text.
    #[serde(alias = "error_code")]
    code: Option<Value>,
    #[serde(rename = "type", alias = "error_type")]
    kind: Option<String>,
    #[serde(alias = "error_message")]
    message: Option<String>,
}

impl Metadata {
    /// The earliest time of the line, nanoseconds since 1970.
    pub(super) fn earliest_ns(&self) -> u64 {
        self.credit_issued_ns.unwrap_or(u64::MAX).min(self.request_start_ns)
    }
}

/// Where a sample stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) run_id: String,
    pub(super) target: String,
    pub(super) workload: String,
    pub(super) load: String,
    /// Nanoseconds since 1970 from which the run's times count.
    pub(super) origin_ns: u64,
}

impl Line {
    /// The sample and its events; `nth` numbers the lines from 0.
    pub(super) fn record(self, place: &Place, nth: u64) -> (Sample, Option<Events>) {
        let Place { run_id, target, workload, load, .. } = place.clone();
        let Line { metadata, metrics, error } = self;
        let metrics = Metrics(metrics.unwrap_or_default());
        let mut sample = Sample {
            run_id,
            target,
            workload,
            load,
            phase: phase(metadata.benchmark_phase.as_deref()),
            request: nth,
            seq: metadata.request_num.or(metadata.session_num).unwrap_or(nth),
            prompt_id: prompt_id(&metadata, nth),
            attempt: 1,
            attempts: 1,
            is_final: true,
            ..Sample::default()
        };
        stamp(&mut sample, &metadata, &metrics, place.origin_ns);
        count(&mut sample, &metrics);
        end(&mut sample, &metadata, error);
        let events = events(&mut sample, &metrics);
        flag(&mut sample, &metrics);
        (sample, events)
    }
}

fn phase(name: Option<&str>) -> Phase {
    if name.is_some_and(|name| name.eq_ignore_ascii_case("warmup")) { Phase::Warmup } else { Phase::Measure }
}

/// Turns of one conversation are different prompts.
fn prompt_id(metadata: &Metadata, nth: u64) -> String {
    match (&metadata.conversation_id, metadata.turn_index) {
        (Some(id), None | Some(0)) => id.clone(),
        (Some(id), Some(turn)) => format!("{id}:{turn}"),
        (None, _) => format!("line-{}", nth + 1),
    }
}

/// The wall times as times of the run, and the spans that AIPerf measured on its own monotonic clock.
fn stamp(sample: &mut Sample, metadata: &Metadata, metrics: &Metrics, origin_ns: u64) {
    let start = metadata.request_start_ns.saturating_sub(origin_ns);
    let after = |wall: Option<u64>| wall.map(|wall| wall.saturating_sub(origin_ns)).filter(|at| *at >= start);
    let span = |ms: Option<f64>| ms.map(|ms| start.saturating_add((ms * 1e6).round() as u64));
    sample.sched_ns = metadata.credit_issued_ns.map(|wall| wall.saturating_sub(origin_ns));
    sample.start_ns = Some(start);
    sample.headers_ns = after(metadata.request_ack_ns);
    sample.end_ns = after(metadata.request_end_ns);
    sample.ttft_ms = metrics.ms("time_to_first_token").or_else(|| metrics.ms("ttft"));
    sample.ttfa_ms = metrics.ms("time_to_first_output_token");
    sample.request_latency_ms = metrics.ms("request_latency");
    sample.tpot_ms = metrics.ms("inter_token_latency");
    sample.first_ns = span(sample.ttft_ms);
    sample.answer_ns = span(sample.ttfa_ms);
    // Of a whole answer, the latency is known, and that nothing came before its end.
    sample.last_ns = sample.first_ns.and(span(sample.request_latency_ms));
    sample.end_ns = sample.end_ns.max(sample.last_ns);
    let lag_ns = sample.sched_ns.and_then(|sched| start.checked_sub(sched));
    sample.schedule_lag_ms = lag_ns.map(|ns| ns as f64 / 1e6);
}

fn count(sample: &mut Sample, metrics: &Metrics) {
    sample.input_tokens = metrics.count("input_sequence_length").or_else(|| metrics.count("error_isl"));
    sample.output_tokens = metrics.count("output_sequence_length");
    sample.reasoning_tokens = metrics.count("reasoning_token_count");
    if sample.output_tokens.is_some() || sample.input_tokens.is_some() {
        sample.tokens_source = TokensSource::Estimated;
    }
}

/// How the request ended.
fn end(sample: &mut Sample, metadata: &Metadata, error: Option<ErrorDetails>) {
    let Some(ErrorDetails { code, kind, message }) = error else {
        sample.status = if metadata.was_cancelled { Status::Cancelled } else { Status::Ok };
        return;
    };
    let kind = kind.unwrap_or_default();
    sample.http_status = code.as_ref().and_then(http_status);
    sample.status = status(metadata.was_cancelled, sample.http_status, &kind);
    sample.http_status = sample.http_status.filter(|_| sample.status == Status::HttpError);
    sample.error_code = Some(kind).filter(|kind| !kind.is_empty());
    sample.error_message = message.map(|mut message| {
        message.truncate(message.floor_char_boundary(ERROR_BYTES_MAX));
        message
    });
}

fn http_status(code: &Value) -> Option<u16> {
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|code| (100..600).contains(code))
}

/// AIPerf names Python's exceptions.
fn status(was_cancelled: bool, http: Option<u16>, kind: &str) -> Status {
    let kind = kind.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    if was_cancelled || has(&["cancel"]) {
        Status::Cancelled
    } else if has(&["timeout"]) {
        Status::Timeout
    } else if http.is_some_and(|code| code >= 400) {
        Status::HttpError
    } else if has(&["connect", "oserror", "socket", "dns", "ssl", "payload", "clienterror"]) {
        Status::Transport
    } else if has(&["sse", "stream"]) {
        Status::StreamError
    } else {
        Status::Protocol
    }
}

/// The output events, where the gaps between them were exported.
fn events(sample: &mut Sample, metrics: &Metrics) -> Option<Events> {
    let first_ns = sample.first_ns?;
    sample.chunks = 1;
    let gaps_ms = metrics.list("inter_chunk_latency")?;
    let gap_ns = |ms: &f64| (ms * 1e6).round() as u64;
    sample.chunks = gaps_ms.len() as u64 + 1;
    sample.gap_max_ns = gaps_ms.iter().map(gap_ns).max();
    // Rounded as a running sum, so that the last event stands where it stood.
    let mut passed = 0.0;
    let mut last_us = first_ns / 1_000;
    let deltas_us = gaps_ms.iter().map(|gap| {
        passed += gap;
        let at_us = first_ns.saturating_add((passed * 1e6) as u64) / 1_000;
        at_us.saturating_sub(std::mem::replace(&mut last_us, at_us))
    });
    Some(Events {
        request: sample.request,
        attempt: 1,
        first_us: Some(first_ns / 1_000),
        deltas_us: deltas_us.collect(),
        ..Events::default()
    })
}

/// What else is to be known of the sample.
fn flag(sample: &mut Sample, metrics: &Metrics) {
    let mut flags = vec!["imported", "wall_clock"];
    if sample.status == Status::Ok && sample.first_ns.is_none() {
        flags.push("not_streamed");
    }
    if sample.chunks == 1 && metrics.list("inter_chunk_latency").is_none() {
        flags.push("events_unknown");
    }
    flags.sort_unstable();
    sample.flags = flags.into_iter().map(str::to_owned).collect();
}

/// `{tag: {value, unit}}`. A value of another unit or form than its tag has is none.
struct Metrics(Map<String, Value>);

impl Metrics {
    fn value(&self, tag: &str, units: &[&str]) -> Option<&Value> {
        let metric = self.0.get(tag)?;
        let unit = metric.get("unit").and_then(Value::as_str);
        unit.is_none_or(|unit| units.contains(&unit)).then(|| metric.get("value"))?
    }

    fn ms(&self, tag: &str) -> Option<f64> {
        plausible(self.value(tag, &["ms"])?)
    }

    fn count(&self, tag: &str) -> Option<u64> {
        let value = self.value(tag, &["tokens", "token"])?;
        value
            .as_u64()
            .or_else(|| value.as_f64().filter(|n| (0.0..1e15).contains(n)).map(|n| n.round() as u64))
    }

    /// Milliseconds, all plausible or none.
    fn list(&self, tag: &str) -> Option<Vec<f64>> {
        self.value(tag, &["ms"])?.as_array()?.iter().map(plausible).collect()
    }
}

fn plausible(value: &Value) -> Option<f64> {
    value.as_f64().filter(|ms| (0.0..MS_MAX).contains(ms))
}
