//! Running totals of a cell: tokens by source, stalls, verdicts.

use std::collections::BTreeMap;

use inferometer_record::{Events, Sample, Verdict};

use crate::distribution::proportion_of;
use crate::fill::has_flag;
use crate::{Num, Proportion, Stalls, Tokens, Validity};

/// Distinct flags that are counted; more can only come from a file that is not ours.
const MAX_FLAGS: usize = 256;

/// Cached tokens of a request that say nothing: the mark of a text's beginning and what a chat template puts before the
/// prompt are the same in every request, however new its prompt is.
const ALWAYS_CACHED: u64 = 4;

/// A total that is absent until its first part comes.
fn add(total: &mut Option<u64>, part: Option<u64>) {
    if let Some(part) = part {
        *total = Some(total.unwrap_or(0).saturating_add(part));
    }
}

/// Tokens of a cell.
#[derive(Debug, Default)]
pub(crate) struct TokenTally {
    totals: Tokens,
    cached_of: u64,
    cached: u64,
    /// Of `cached`, what is more than [`ALWAYS_CACHED`] in its request.
    cached_beyond: u64,
    told_cached: bool,
    streamed: u64,
    events: u64,
    partial_told: u64,
    partial_events: u64,
}

impl TokenTally {
    /// An ok answer; `streamed` are the tokens of its output events.
    pub(crate) fn push_ok(&mut self, sample: &Sample, streamed: Option<u64>) {
        let totals = &mut self.totals;
        add(&mut totals.input, sample.input_tokens);
        add(&mut totals.output, sample.output_tokens);
        add(&mut totals.reasoning, sample.reasoning_tokens);
        add(&mut totals.cache_read, sample.cache_read_tokens);
        add(&mut totals.cache_write, sample.cache_write_tokens);
        add(&mut totals.counted_input, sample.counted_input_tokens);
        add(&mut totals.counted_output, sample.counted_output_tokens);
        totals.characters = totals.characters.saturating_add(sample.output_chars);
        let has_usage = sample.input_tokens.is_some() || sample.output_tokens.is_some();
        totals.requests_with_usage += u64::from(has_usage);
        totals.requests_without_usage += u64::from(!has_usage);
        if has_usage {
            count(&mut totals.usage_identities, sample.usage_identity.as_deref().unwrap_or("unknown"));
        }
        if let (Some(input), Some(cached)) = (sample.input_tokens, sample.cache_read_tokens) {
            self.cached_of = self.cached_of.saturating_add(input);
            self.cached = self.cached.saturating_add(cached);
            self.cached_beyond = self.cached_beyond.saturating_add(cached.saturating_sub(ALWAYS_CACHED));
            self.told_cached = true;
        }
        if let Some(streamed) = streamed.filter(|_| sample.chunks > 0 && !has_flag(sample, "not_streamed")) {
            self.streamed = self.streamed.saturating_add(streamed);
            self.events = self.events.saturating_add(sample.chunks);
        }
    }

    /// What was seen of an attempt that did not end ok: its running usage, else its events.
    pub(crate) fn push_partial(&mut self, sample: &Sample, events: Option<&Events>) {
        let told = events.and_then(|events| events.tokens.as_deref());
        let running =
            told.map(|told| told.iter().map(|tokens| u64::from(*tokens)).sum()).filter(|sum| *sum > 0);
        match sample.output_tokens.filter(|tokens| *tokens > 0).or(running) {
            Some(tokens) => self.partial_told = self.partial_told.saturating_add(tokens),
            None => self.partial_events = self.partial_events.saturating_add(sample.chunks),
        }
    }

    /// Streamed tokens per output event over ok answers; `None` without any.
    pub(crate) fn per_event(&self) -> Option<f64> {
        (self.events > 0).then(|| self.streamed as f64 / self.events as f64).filter(|ratio| *ratio > 0.0)
    }

    /// Share of the prompt tokens that a cache gave beyond the few that it always gives; 0 where nothing is told.
    pub(crate) fn cached_beyond_share(&self) -> f64 {
        self.cached_beyond as f64 / self.cached_of.max(1) as f64
    }

    pub(crate) fn finish(&self) -> Tokens {
        let per_event = self.per_event();
        let partial = self.partial_told as f64 + self.partial_events as f64 * per_event.unwrap_or(1.0);
        let named = [("server", self.partial_told > 0), ("events", self.partial_events > 0)];
        let share = self.cached as f64 / self.cached_of as f64;
        Tokens {
            cached_share: if self.told_cached { Num::new(share) } else { None },
            partial: Num::new(partial).filter(|_| partial > 0.0),
            partial_source: named
                .iter()
                .filter(|(_, used)| *used)
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            per_chunk: per_event.and_then(Num::new),
            ..self.totals.clone()
        }
    }
}

/// Stalls of a cell's ok streams.
#[derive(Debug, Default)]
pub(crate) struct StallTally {
    count: u64,
    streams: u64,
    stalled: u64,
    longest_ns: Option<u64>,
    stalled_ns: f64,
    span_ns: f64,
    relative: u64,
    relative_streams: u64,
    relative_stalled: u64,
}

impl StallTally {
    pub(crate) fn push(&mut self, sample: &Sample) {
        let Some(stalls) = sample.stalls else { return };
        self.count += u64::from(stalls);
        self.streams += 1;
        self.stalled += u64::from(stalls > 0);
        self.longest_ns = self.longest_ns.max(sample.stall_max_ns);
        if let (Some(share), Some(first), Some(last)) = (sample.stall_share, sample.first_ns, sample.last_ns)
        {
            let span = last.saturating_sub(first) as f64;
            self.span_ns += span;
            self.stalled_ns += span * share.clamp(0.0, 1.0);
        }
        if let Some(relative) = sample.stalls_relative {
            self.relative += u64::from(relative);
            self.relative_streams += 1;
            self.relative_stalled += u64::from(relative > 0);
        }
    }

    pub(crate) fn finish(&self) -> Stalls {
        Stalls {
            count: self.count,
            streams: proportion_of(self.stalled, self.streams),
            longest_ms: self.longest_ns.and_then(|ns| Num::new(ns as f64 / 1e6)),
            share: if self.span_ns > 0.0 { Num::new(self.stalled_ns / self.span_ns) } else { None },
            relative_count: self.relative,
            relative_streams: proportion_of(self.relative_stalled, self.relative_streams),
        }
    }
}

/// What answers were worth.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    validity: Validity,
    tool_calls: u64,
    valid_tool_calls: u64,
}

impl Answers {
    pub(crate) fn push_verdict(&mut self, sample: &Sample) {
        let of_verdict = match sample.verdict {
            Some(Verdict::Valid) => &mut self.validity.valid,
            Some(Verdict::Degraded) => &mut self.validity.degraded,
            Some(Verdict::Invalid) => &mut self.validity.invalid,
            Some(Verdict::Unverifiable) | None => &mut self.validity.unverifiable,
        };
        *of_verdict += 1;
        if is_about_tools(sample) {
            let is_worth_it = matches!(sample.verdict, Some(Verdict::Valid | Verdict::Degraded));
            self.tool_calls += 1;
            self.valid_tool_calls += u64::from(is_worth_it && sample.grade != Some(false));
        }
    }

    /// Counts each flag of the request once, whichever list it stands in.
    pub(crate) fn push_flags(&mut self, sample: &Sample) {
        let only_verdict = sample.verdict_flags.iter().filter(|flag| !has_flag(sample, flag));
        for flag in sample.flags.iter().chain(only_verdict) {
            count(&mut self.validity.flags, flag);
        }
    }

    /// `of` are the requests that were not cancelled.
    pub(crate) fn finish(&self, useful: u64, of: u64, degraded_is_useful: bool) -> Validity {
        let useful: Proportion = proportion_of(useful, of);
        let tool_calls = proportion_of(self.valid_tool_calls, self.tool_calls);
        Validity { useful, degraded_is_useful, tool_calls, ..self.validity.clone() }
    }
}

/// Whether an answer had a tool call, or the verdict says that it owed one.
fn is_about_tools(sample: &Sample) -> bool {
    let called = matches!(sample.finish_reason.as_deref(), Some("tool_calls" | "tool_use" | "function_call"));
    called || sample.verdict_flags.iter().chain(&sample.flags).any(|flag| flag.starts_with("tool"))
}

fn count(flags: &mut BTreeMap<String, u64>, flag: &str) {
    if let Some(count) = flags.get_mut(flag) {
        *count += 1;
    } else if flags.len() < MAX_FLAGS {
        flags.insert(flag.to_owned(), 1);
    }
}
