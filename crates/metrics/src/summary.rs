//! `summary.json`: every figure, with its n, interval and notes.
//!
//! In every type: `None` does not exist or is not known; `lo` and `hi` are a 95 % interval, `None` an open side.

use std::collections::BTreeMap;

use inferometer_record::{State, Status};
use serde::{Deserialize, Serialize};

use crate::{
    Arrival, Bursts, CellCheck, ColdStarts, Comparison, Decision, GateOutcome, Lever, Num, Pacing, Settings,
    ToldLimit, Window,
};

/// `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Version of the folder's format.
    pub schema: u32,
    /// The run.
    pub run_id: String,
    /// How far the run came; `running` is a run whose writer was killed.
    pub state: State,
    /// Whether the run ended before its plan did, by a signal or a kill.
    pub interrupted: bool,
    /// The cells, in the plan's order.
    pub cells: Vec<CellSummary>,
    /// Pairs of targets, figure by figure.
    pub comparisons: Vec<Comparison>,
    /// Decisions by profile.
    pub profiles: Vec<Decision>,
    /// The provider's lever against the model's.
    pub levers: Vec<Lever>,
    /// Settings to copy, by target and workload.
    pub settings: Vec<Settings>,
    /// Gates that hold one target against another, or against a baseline run.
    pub gates: Vec<GateOutcome>,
    /// What a reader must know beside the figures.
    pub warnings: Vec<String>,
}

/// Everything about one cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CellSummary {
    /// Name of the target.
    pub target: String,
    /// Name of the workload.
    pub workload: String,
    /// Name of the load.
    pub load: String,
    /// How requests arrived.
    pub arrival: Arrival,
    /// The measured window.
    pub window: Option<Window>,
    /// Time windows (of a watch) that its samples come from; 1 where none has a name. Samples of one hour are one cluster.
    pub time_windows: u64,
    /// Requests and attempts.
    pub counts: Counts,
    /// Every figure by name (`metrics::name`).
    pub metrics: BTreeMap<String, Metric>,
    /// Stability of the time to first token.
    pub stability: Stability,
    /// Stalls of the streams.
    pub stalls: Stalls,
    /// Tokens by source.
    pub tokens: Tokens,
    /// Components of the vectors of ok answers: each number once, in order, at most eight of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dimensions: Vec<u64>,
    /// Tokens and requests per second.
    pub throughput: Throughput,
    /// Requests that met every objective; absent where there is none.
    pub goodput: Option<Goodput>,
    /// Money.
    pub cost: Cost,
    /// What the answers were worth.
    pub validity: Validity,
    /// Limits of requests and tokens, as the target's answers told them; empty where they told none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<ToldLimit>,
    /// What our own pacer held back to keep under them; absent where it held back nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<Pacing>,
    /// Checks over several answers: of a summary that was made from a run, each of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CellCheck>,
    /// Cold starts; only of a load that looks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_starts: Option<ColdStarts>,
    /// Bursts; only of a load that makes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Bursts>,
    /// Why nothing, or not all, was measured: the target's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
    /// Whether the client was good enough for these figures.
    pub client: Client,
    /// The distinct causes of failure, the first seen first.
    pub failures: Vec<Cause>,
    /// Each gate and how it came out.
    pub gates: Vec<GateOutcome>,
    /// What a reader must know beside the figures.
    pub warnings: Vec<String>,
}

/// Requests by how they ended: over final samples, ok + failed + cancelled = issued.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Requests.
    pub issued: u64,
    /// Complete answers.
    pub ok: u64,
    /// The server's failures, all kinds.
    pub failed: u64,
    /// Cut by the run itself, our own lack included.
    pub cancelled: u64,
    /// Failed with an HTTP status.
    pub http_error: u64,
    /// Failed with an error inside the answer.
    pub stream_error: u64,
    /// Ended without being complete.
    pub truncated: u64,
    /// Ran into one of our timeouts.
    pub timeout: u64,
    /// Connection failed.
    pub transport: u64,
    /// Unreadable.
    pub protocol: u64,
    /// Our own lack; part of `cancelled`.
    pub client_limit: u64,
    /// Answers worth having.
    pub useful: u64,
    /// Complete answers without any output.
    pub empty: u64,
    /// Complete answers cut by the token limit.
    pub capped: u64,
    /// Attempts, retries included.
    pub attempts: u64,
    /// Attempts that were not the request's first.
    pub retries: u64,
    /// Attempts answered 429.
    pub rate_limited: u64,
    /// Attempts refused because too much was asked: most of those answered 429, and 503 or 529 where they mean the same.
    pub throttled: u64,
    /// Kept connections that the server had closed: not its failures.
    pub stale_reconnects: u64,
    /// Preflight requests: in no figure.
    pub preflight: u64,
    /// Warm-up requests: in no figure but their tokens inside the window.
    pub warmup: u64,
    /// Trials of an interleaved plan that were given up because the target lagged too far behind: never sent.
    pub missing: u64,
}

impl Counts {
    /// The requests that ended so; `cancelled` leaves out `client_limit` here.
    pub fn of(&self, status: Status) -> u64 {
        match status {
            Status::Ok => self.ok,
            Status::HttpError => self.http_error,
            Status::StreamError => self.stream_error,
            Status::Truncated => self.truncated,
            Status::Timeout => self.timeout,
            Status::Transport => self.transport,
            Status::Protocol => self.protocol,
            Status::Cancelled => self.cancelled.saturating_sub(self.client_limit),
            Status::ClientLimit => self.client_limit,
        }
    }
}

/// One figure: a distribution over requests, or a single value with its interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metric {
    /// `ms`, `tokens`, `tokens/s`, `requests/s`, `characters/s`, `ratio`, `USD`.
    pub unit: String,
    /// Observations.
    pub n: u64,
    /// The value of a figure that is no distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Num>,
    /// Lower bound of `value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lo: Option<Num>,
    /// Upper bound of `value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hi: Option<Num>,
    /// Mean; absent for speeds, which are never averaged.
    pub mean: Option<Num>,
    /// Standard deviation with n − 1.
    pub std: Option<Num>,
    /// Smallest.
    pub min: Option<Num>,
    /// Largest.
    pub max: Option<Num>,
    /// 5th percentile; only of figures whose bad tail is the low one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p05: Option<QuantilePoint>,
    /// 10th percentile; only of figures whose bad tail is the low one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p10: Option<QuantilePoint>,
    /// Median.
    pub p50: Option<QuantilePoint>,
    /// 90th percentile.
    pub p90: Option<QuantilePoint>,
    /// 95th percentile.
    pub p95: Option<QuantilePoint>,
    /// 99th percentile.
    pub p99: Option<QuantilePoint>,
    /// 99.9th percentile.
    pub p999: Option<QuantilePoint>,
    /// Shares over named limits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<Over>,
    /// The tail figure to show first: the share over a limit below n = 100, else p99.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<TailFigure>,
    /// What a reader must know beside the figure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The same over all attempts, failures at infinity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_attempts: Option<Box<Metric>>,
}

/// A quantile by nearest rank, its interval from order statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuantilePoint {
    /// The order statistic. A lower bound where `above` is set.
    pub value: Option<Num>,
    /// Lower bound; `None` is open.
    pub lo: Option<Num>,
    /// Upper bound; `None` is open.
    pub hi: Option<Num>,
    /// The true quantile lies above `value`, which was censored: print `> value`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub above: bool,
    /// n / τ, where serial dependence made the sample worth less than its n.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_eff: Option<Num>,
    /// `max of n`, an open bound, censoring: why this point is less than it looks.
    pub note: Option<String>,
}

/// A proportion with Wilson's two-sided interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Proportion {
    /// Those that have the property.
    pub count: u64,
    /// All.
    pub n: u64,
    /// count / n.
    pub value: Option<Num>,
    /// Lower bound.
    pub lo: Option<Num>,
    /// Upper bound.
    pub hi: Option<Num>,
}

impl Proportion {
    /// Whether there is nothing to divide.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }
}

/// The share of observations over a limit: exact at any n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Over {
    /// The limit, in the figure's unit.
    pub limit: Option<Num>,
    /// The share of those known to be over it.
    pub share: Proportion,
    /// Censored below the limit: not known to be over it.
    pub unknown: u64,
}

/// Which tail figure to show first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TailFigure {
    /// Below n = 100: the share over this limit (in the figure's unit), beside the max.
    ShareOver(Num),
    /// From n = 100 on.
    P99,
}

/// A value with its interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rate {
    /// The value.
    pub value: Option<Num>,
    /// Lower bound.
    pub lo: Option<Num>,
    /// Upper bound.
    pub hi: Option<Num>,
    /// What a reader must know beside it.
    pub note: Option<String>,
}

/// Stability of the time to first token, ok only and over all attempts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stability {
    /// p95 − p50, ms.
    pub spread_ms: Rate,
    /// p95 / p50.
    pub p95_over_p50: Rate,
    /// p95 − p50 over all attempts, ms.
    pub all_attempts_spread_ms: Rate,
    /// The lower bound of p95 / p50 is above 3.
    pub wide_tail: bool,
    /// Whether the median moved over the run; absent where there are too few requests to tell.
    pub drift: Option<Drift>,
    /// Whether log TTFT has more than one mode (Hartigan's dip, p < .01); absent below n = 50.
    pub bimodal: Option<bool>,
    /// p of the dip test.
    pub dip_p: Option<Num>,
}

/// Whether the median moved over the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Drift {
    /// Mann–Kendall p < .01 on block medians, and the change is more than 10 % of p50.
    pub found: bool,
    /// p of the Mann–Kendall test.
    pub p: Option<Num>,
    /// Theil–Sen slope × run, ms: positive is getting slower.
    pub change_ms: Option<Num>,
}

/// Gaps long enough to be felt. Absolute: at least 500 ms. Relative: over max(200 ms, 5 × the stream's median gap).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stalls {
    /// Stalls by the absolute rule.
    pub count: u64,
    /// Streams that had one.
    pub streams: Proportion,
    /// The longest, ms, less the client's own lateness.
    pub longest_ms: Option<Num>,
    /// Σ stalled / Σ (last − first) over all streams.
    pub share: Option<Num>,
    /// Stalls by the relative rule.
    pub relative_count: u64,
    /// Streams that had one by the relative rule, of those with gaps enough to judge.
    pub relative_streams: Proportion,
}

/// Tokens by source: sources never mix in one figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tokens {
    /// Prompt tokens of ok requests by the server's usage.
    pub input: Option<u64>,
    /// Output tokens of ok requests by the server's usage, reasoning included.
    pub output: Option<u64>,
    /// Reasoning tokens of ok requests by the server's usage.
    pub reasoning: Option<u64>,
    /// Prompt tokens read from a cache.
    pub cache_read: Option<u64>,
    /// Prompt tokens written to a cache.
    pub cache_write: Option<u64>,
    /// cache_read / input over the requests that told both.
    pub cached_share: Option<Num>,
    /// ok requests with the server's usage.
    pub requests_with_usage: u64,
    /// ok requests without.
    pub requests_without_usage: u64,
    /// The identity that the numbers of each usage satisfy (`inclusive`, `additive`, `disjoint`, `unknown`), counted: a
    /// target that mixes them is not to be priced blindly.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub usage_identities: BTreeMap<String, u64>,
    /// Prompt tokens of ok requests by the pinned tokenizer.
    pub counted_input: Option<u64>,
    /// Output tokens of ok requests by the pinned tokenizer.
    pub counted_output: Option<u64>,
    /// Output tokens seen from requests that did not end ok: apart from every total above.
    pub partial: Option<Num>,
    /// Where `partial` comes from: `server` (running usage), `events`, or both.
    pub partial_source: Vec<String>,
    /// Streamed tokens per output event over ok requests.
    pub per_chunk: Option<Num>,
    /// Characters of ok answers.
    pub characters: u64,
}

/// What passed in the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Throughput {
    /// Length of the window, s.
    pub window_s: Option<Num>,
    /// Output tokens stamped inside the window, whichever request they belong to, per second.
    pub output_token_throughput: Rate,
    /// Requests that ended ok inside the window, per second.
    pub request_throughput: Rate,
    /// Prompt tokens of those requests, by the server's usage, per second.
    pub input_token_throughput: Rate,
    /// Output tokens of useful answers inside the window, per second.
    pub useful_token_throughput: Option<Num>,
    /// Characters stamped inside the window, per second.
    pub output_character_throughput: Option<Num>,
    /// Output tokens inside the window.
    pub output_tokens: Option<Num>,
    /// Those of them that belong to requests that did not end ok.
    pub unfinished_tokens: Option<Num>,
    /// Whether any token of an unfinished request is in: said wherever the rate stands.
    pub includes_unfinished: bool,
    /// Where the tokens' counts come from: `server`, `estimated`, `events`.
    pub sources: Vec<String>,
    /// The part without ramp and drain; absent where fewer than 20 requests are left.
    pub steady: Option<Steady>,
    /// Tokens over time.
    pub buckets: Option<Buckets>,
    /// Tokens per second in the fullest full bucket.
    pub peak: Option<Num>,
    /// Tokens per second over the same full buckets.
    pub mean: Option<Num>,
    /// What a reader must know beside the rates.
    pub notes: Vec<String>,
}

/// The steady part of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Steady {
    /// Its span.
    pub window: Window,
    /// How it was found: `closed_loop` or `mser5`.
    pub rule: String,
    /// Requests that ended inside it.
    pub requests: u64,
    /// Output tokens per second; the interval from batch means.
    pub output_token_throughput: Rate,
    /// Output tokens of useful answers per second, each counted when its answer ended; the interval from batch means.
    pub useful_token_throughput: Rate,
    /// Requests that ended ok per second; the interval from batch means.
    pub request_throughput: Rate,
    /// Prompt tokens of those requests, by the server's usage, per second; the interval from batch means.
    pub input_token_throughput: Rate,
}

/// Output tokens over time. They sum to every output token of the cell, the drain included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Buckets {
    /// Width of a bucket, s.
    pub width_s: f64,
    /// Tokens in each, from the window's start.
    pub tokens: Vec<Num>,
    /// How many of them lie wholly inside the window.
    pub full: u64,
}

/// Requests against the objectives. A request that is not ok missed them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Goodput {
    /// The objectives, as typed.
    pub objectives: String,
    /// [met / all, (met + unknown) / all], where all = met + missed + unknown. `None` where there is nothing to divide.
    pub attainment: Option<[Num; 2]>,
    /// Wilson's interval of met / all.
    pub share: Proportion,
    /// Requests that met every objective and ended in the window, per second.
    pub per_second: Option<Num>,
    /// Requests that met every objective.
    pub met: u64,
    /// Requests that missed one, failures included.
    pub missed: u64,
    /// Requests on which an objective could not be evaluated and none was missed.
    pub unknown: u64,
    /// Requests that the run cut before they had missed one.
    pub excluded: u64,
}

/// Money, in US dollars. Exact sums are decimal strings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// Σ cost of all attempts, failed and useless ones too. `None` where no cost is known.
    pub total_usd: Option<String>,
    /// The total by what it was paid for: `input`, `cache_read`, `cache_write`, `output`, `reasoning`, `request`. What
    /// cost nothing is not there.
    pub parts_usd: BTreeMap<String, String>,
    /// Attempts whose cost is known (one that was never sent costs nothing).
    pub priced: u64,
    /// Attempts whose cost is not known.
    pub unknown: u64,
    /// Some cost is unknown: every total here is a lower bound.
    pub lower_bound: bool,
    /// Total ÷ useful answers, with Fieller's interval over prompts.
    pub per_useful_usd: Rate,
    /// Total ÷ complete answers × 1,000.
    pub per_1000_answers_usd: Option<Num>,
    /// Share of the total spent on attempts whose answer was not useful.
    pub waste_share: Option<Num>,
    /// Share of the total spent on reasoning.
    pub reasoning_share: Option<Num>,
    /// The stated requests a month, each of which must have a useful answer in the end, × cost per useful answer, USD;
    /// absent where none is stated.
    pub per_month_usd: Rate,
    /// Σ cost of warm-up and preflight, not in the total.
    pub warmup_usd: Option<String>,
    /// Σ cost that the provider reported, over the attempts for which it did.
    pub reported_usd: Option<String>,
    /// reported − ours, over the attempts that have both.
    pub residual_usd: Option<String>,
    /// Where prices come from.
    pub sources: Vec<String>,
}

/// What the answers were worth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Validity {
    /// Useful answers over requests that were not cancelled.
    pub useful: Proportion,
    /// Answers worth having.
    pub valid: u64,
    /// Worth having where the workload says so.
    pub degraded: u64,
    /// Whether the workload says so: a token limit was asked for, hence answers are cut at it.
    pub degraded_is_useful: bool,
    /// Not worth having.
    pub invalid: u64,
    /// Not checked.
    pub unverifiable: u64,
    /// Answers with a valid tool call over those that had a tool call or owed one.
    #[serde(skip_serializing_if = "Proportion::is_empty")]
    pub tool_calls: Proportion,
    /// Answers by verdict flag and sample flag.
    pub flags: BTreeMap<String, u64>,
}

/// Whether the client was good enough for these figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Client {
    /// Whether the achieved rate is the plan's, to 1 %; absent in a closed loop.
    pub rate_held: Option<bool>,
    /// Requests per second that were asked for; absent in a closed loop and without a limit.
    pub asked_rate: Option<Num>,
    /// The realised schedule's own rate for this seed.
    pub planned_rate: Option<Num>,
    /// Starts per second.
    pub achieved_rate: Option<Num>,
    /// Whether the figures are valid.
    pub valid: bool,
    /// Why they are not.
    pub reasons: Vec<String>,
    /// What a reader must know though the figures are valid.
    pub notes: Vec<String>,
    /// The lateness that these figures can bear: max(0.5 ms, min(5 ms, 5 % of TTFT p50)).
    pub tolerance_ms: Option<Num>,
    /// Client error is at most this, ms: p99 of this cell's own wake-up lateness, the largest below 100 wake-ups. In a
    /// valid cell it is within the tolerance.
    pub error_ms: Option<Num>,
    /// Start − planned send, ms.
    pub schedule_lag: Metric,
    /// Starts that were planned.
    pub planned_starts: u64,
    /// Of those: dropped, or later than the tolerance.
    pub late_starts: Proportion,
    /// What the runner saw of itself.
    pub health: crate::ClientHealth,
}

/// One cause of failure, with how often it came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cause {
    /// How the attempt ended.
    pub status: Status,
    /// HTTP status code.
    pub http_status: Option<u16>,
    /// The error's code.
    pub code: Option<String>,
    /// The message of the first attempt that failed so.
    pub message: Option<String>,
    /// Attempts that failed so.
    pub count: u64,
    /// The first of them: its request.
    pub first_request: u64,
}

impl Client {
    /// Why the figures are not valid, the first reason.
    pub(crate) fn reason(&self) -> &str {
        self.reasons.first().map_or("the client was too slow", String::as_str)
    }
}

impl Cost {
    /// Attempts whose cost was looked for.
    pub(crate) fn asked(&self) -> u64 {
        self.priced.saturating_add(self.unknown)
    }
}
