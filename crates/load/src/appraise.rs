//! From a finished attempt to its sample: counted, judged, priced. Runs on the worker, off the shards.

use inferometer_clock::{Mono, Wall};
use inferometer_metrics::{self as metrics, Stamped};
use inferometer_plan::{Cell, Secrets};
use inferometer_price::Decimal;
use inferometer_record::{Events, Sample, Status, TokensSource};
use inferometer_tokens::Tokenizer;
use inferometer_wire::limits::{self, Told};
use inferometer_wire::request::Prompt;
use inferometer_wire::{Answer, Flag, Normal, Transcript, Usage, UsageSource};

use crate::attempt::Received;
use crate::axis::Axis;
use crate::classify::classify;
use crate::finished::Finished;
use crate::heart::Hiccup;
use crate::{headers, redact, repeats, verdict};

/// Errors of signed requests that may come of a clock that is wrong, on whichever side: then both times are told.
const CLOCK_ERRORS: [&str; 5] = [
    "ExpiredTokenException",
    "InvalidSignatureException",
    "RequestExpired",
    "RequestTimeTooSkewed",
    "SignatureDoesNotMatch",
];

/// What every sample of a cell says.
pub(crate) struct Appraiser<'a> {
    pub(crate) cell: Cell<'a>,
    pub(crate) secrets: &'a Secrets,
    pub(crate) run_id: &'a str,
    pub(crate) segment: u32,
    pub(crate) axis: Axis,
    pub(crate) tokenizer: Tokenizer,
}

impl Appraiser<'_> {
    /// The sample of `finished`, and the stamps of its output events.
    pub(crate) fn appraise(&self, finished: Finished) -> (Sample, Option<Events>) {
        let mut sample = self.identity(&finished);
        self.stamps(&mut sample, &finished);
        if finished.has_new_key {
            sample.flags.push("key_renewed".to_string());
        }
        ending(&mut sample, &finished);
        if let Some(received) = &finished.seen.received {
            head(&mut sample, received);
        }
        self.kind(&mut sample, finished.seen.answer.as_ref());
        if let Some(answer) = &finished.seen.answer {
            self.count(&mut sample, answer);
        }
        self.count_prompt(&mut sample, &finished.prepared.item.prompt);
        verdict::judge(&mut sample, &finished, self.cell, self.secrets);
        repeats::note(&mut sample, &finished, self.cell);
        if let Some(answer) = &finished.seen.answer {
            self.price(&mut sample, answer.usage.as_ref());
        }
        let events = self.relative(finished.seen.events);
        let lateness = |from, to| lateness(&finished.hiccups, self.axis, from, to);
        metrics::fill(&mut sample, &events, &lateness);
        redact::redact(&mut sample, self.secrets);
        let recorded = metrics::events_of(&sample, &events);
        (sample, recorded)
    }

    fn identity(&self, finished: &Finished) -> Sample {
        Sample {
            run_id: self.run_id.to_string(),
            segment: self.segment,
            target: self.cell.target.name.clone(),
            workload: self.cell.workload.name.clone(),
            load: self.cell.load.name.clone(),
            phase: finished.phase,
            block: finished.block,
            role: finished.role.map(str::to_string),
            request: finished.request,
            seq: finished.seq,
            prompt_id: finished.prepared.item.id.clone(),
            attempt: finished.attempt,
            attempts: finished.attempt,
            is_final: finished.is_final,
            ..Sample::default()
        }
    }

    fn stamps(&self, sample: &mut Sample, finished: &Finished) {
        let at = |stamp: Option<Mono>| stamp.map(|stamp| self.axis.ns(stamp));
        let stamps = &finished.stamps;
        sample.sched_ns = at(Some(finished.sched));
        sample.paced_ns = (!finished.paced.is_zero()).then_some(finished.paced.as_nanos() as u64);
        sample.start_ns = at(finished.seen.start);
        sample.dns_ns = at(stamps.dns);
        sample.connect_ns = at(stamps.connect);
        sample.tls_ns = at(stamps.tls);
        sample.sent_ns = at(stamps.sent);
        sample.headers_ns = at(stamps.headers);
        sample.byte_ns = at(stamps.byte);
        sample.end_ns = at(Some(finished.seen.end));
        sample.conn_reused = stamps.version.map(|_| stamps.reused);
        sample.stale_reconnects = stamps.stale_reconnects;
        sample.http_version = stamps.version.map(|version| match version {
            http::Version::HTTP_2 => "2".to_string(),
            http::Version::HTTP_10 => "1.0".to_string(),
            _ => "1.1".to_string(),
        });
    }

    /// Flags what was asked for in one piece, whatever came of it: neither has a failed whole answer a first token that
    /// never came, nor a failed vector tokens.
    fn kind(&self, sample: &mut Sample, answer: Option<&Answer>) {
        let target = self.cell.target;
        let is_known =
            answer.is_some_and(|answer| answer.streamed || answer.flags.contains(Flag::NotStreamed));
        if !target.stream && !is_known {
            sample.flags.push(Flag::NotStreamed.name().to_string());
        }
        if !target.dialect.generates() {
            sample.flags.push(metrics::VECTORS.to_string());
        }
    }

    fn count(&self, sample: &mut Sample, answer: &Answer) {
        // Tags that the target is known for hide nothing: what follows them was seen as the answer.
        let is_known = |name: &&str| self.cell.target.think_tags && *name == Flag::ThinkTags.name();
        sample.flags.extend(answer.flags.names().filter(|name| !is_known(name)).map(str::to_string));
        sample.finish_reason.clone_from(&answer.finish_reason);
        sample.model_echo.clone_from(&answer.model);
        sample.server_request_id = sample.server_request_id.take().or_else(|| answer.id.clone());
        sample.server_timing.clone_from(&answer.server_timing);
        sample.keepalives = answer.keepalives;
        if let Some(vectors) = answer.vectors {
            sample.dimensions = Some(vectors.dimensions).filter(|dimensions| *dimensions > 0);
            if let Some(usage) = &answer.usage {
                count_usage(sample, usage);
            }
            sample.tokens_source = TokensSource::None;
            return;
        }
        let counted: u64 = answer.transcripts().map(|transcript| self.count_transcript(transcript)).sum();
        sample.counted_output_tokens = (sample.status == Status::Ok || counted > 0).then_some(counted);
        match &answer.usage {
            Some(usage) => count_usage(sample, usage),
            None if sample.status == Status::Ok => sample.tokens_source = TokensSource::Estimated,
            None if counted > 0 => sample.tokens_source = TokensSource::Events,
            None => {}
        }
    }

    fn count_transcript(&self, transcript: &Transcript) -> u64 {
        let tools = transcript.tools.iter().flat_map(|tool| [&tool.name, &tool.arguments]);
        let texts = [&transcript.content, &transcript.reasoning, &transcript.refusal];
        texts.into_iter().chain(tools).map(|text| self.tokenizer.count(text)).sum()
    }

    fn count_prompt(&self, sample: &mut Sample, prompt: &Prompt) {
        sample.counted_input_tokens = Some(self.tokenizer.count(&prompt.text()));
    }

    fn price(&self, sample: &mut Sample, usage: Option<&Usage>) {
        let Some(price) = &self.cell.target.price else { return };
        let Some(mut parts) = usage.map(Usage::normal) else { return };
        if !self.cell.target.dialect.generates() {
            // There is no output to pay for.
            parts = Normal { output_visible: Some(0), output: Some(0), ..parts };
        }
        let Some(cost) = price.cost(&parts) else { return };
        let usd = |amount: Decimal| Some(amount.normalize().to_string());
        sample.cost_usd = usd(cost.total);
        sample.cost_input_usd = usd(cost.input);
        sample.cost_cache_read_usd = usd(cost.cache_read);
        sample.cost_cache_write_usd = usd(cost.cache_write);
        sample.cost_output_usd = usd(cost.output);
        sample.cost_reasoning_usd = usd(cost.reasoning);
        sample.cost_request_usd = usd(cost.request);
        sample.cost_source = Some(price.source.clone());
        sample.flags.extend(cost.flags.iter().map(ToString::to_string));
    }

    /// Output events with their stamps on the run's line of time.
    fn relative(&self, mut events: Vec<Stamped>) -> Vec<Stamped> {
        for event in &mut events {
            event.at_ns = self.axis.ns(Mono::from_nanos(event.at_ns));
        }
        events
    }
}

fn ending(sample: &mut Sample, finished: &Finished) {
    let class = classify(&finished.seen);
    sample.status = class.status;
    sample.error_code = class.code;
    sample.error_message = class.message;
    let Some(received) = finished.seen.received.as_ref().filter(|_| class.status == Status::HttpError) else {
        return;
    };
    let named = headers::error_type(&received.headers);
    sample.error_code = sample.error_code.take().or(named);
    if let Some(note) = &finished.note {
        let said = sample.error_message.take();
        sample.error_message = Some(said.map_or_else(|| note.clone(), |said| format!("{said} ({note})")));
    }
    let is_of_clocks = sample.error_code.as_deref().is_some_and(|code| CLOCK_ERRORS.contains(&code));
    if let Some(date) = headers::date(&received.headers).filter(|_| is_of_clocks) {
        let clocks = format!("the server's clock said {date}, ours {}", Wall::now());
        let said = sample.error_message.take().map_or(clocks.clone(), |said| format!("{said} ({clocks})"));
        sample.error_message = Some(said);
    }
}

fn head(sample: &mut Sample, received: &Received) {
    let told = received.told();
    let (code, message) = (sample.error_code.as_deref(), sample.error_message.as_deref());
    let is_throttled = sample.status.is_failure() && received.is_throttled(code, message, &told);
    sample.http_status = Some(received.status);
    sample.retry_after_ms = told.retry_after.map(|wait| wait.as_millis() as u64);
    sample.limits = told.limits;
    sample.server_request_id = headers::request_id(&received.headers);
    sample.ratelimit = headers::rate_limits(&received.headers);
    let flags = [
        ("compressed", received.compressed),
        ("stamp_bound", received.stamp_bound),
        (metrics::THROTTLED, is_throttled),
    ];
    for (flag, set) in flags {
        if set {
            sample.flags.push(flag.to_string());
        }
    }
}

fn count_usage(sample: &mut Sample, usage: &Usage) {
    sample.input_tokens = usage.input;
    sample.output_tokens = usage.output;
    sample.reasoning_tokens = usage.reasoning;
    sample.cache_read_tokens = usage.cache_read;
    sample.cache_write_tokens = usage.cache_write;
    sample.usage_identity = Some(usage.identity.name().to_string());
    sample.usage = Some(usage.verbatim.clone());
    sample.cost_reported_usd.clone_from(&usage.cost);
    sample.tokens_source = match (usage.output, usage.source) {
        (None, _) => TokensSource::Estimated,
        (Some(_), UsageSource::Server) => TokensSource::Server,
        (Some(_), UsageSource::ServerExt) => TokensSource::ServerExt,
    };
}

/// How long we were late ourselves between two instants of the run.
fn lateness(hiccups: &[Hiccup], axis: Axis, from_ns: u64, to_ns: u64) -> u64 {
    let (from, to) = (axis.instant(from_ns).as_nanos(), axis.instant(to_ns).as_nanos());
    let overlap =
        |hiccup: &Hiccup| (hiccup.due_ns + hiccup.late_ns).min(to).saturating_sub(hiccup.due_ns.max(from));
    hiccups.iter().map(overlap).sum()
}

impl Received {
    /// What the headers say of limits, and how long we are asked to wait.
    pub(crate) fn told(&self) -> Told {
        let named =
            self.headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        limits::told(&named.collect::<Vec<_>>(), self.at.unix_nanos())
    }

    /// Whether the request was refused because too much was asked, as far as head, `code` and `message` tell.
    pub(crate) fn is_throttled(&self, code: Option<&str>, message: Option<&str>, told: &Told) -> bool {
        // Of a stream that fails, the status tells nothing.
        let http_status = Some(self.status).filter(|status| !(200..300).contains(status));
        limits::is_throttled(http_status, code, message, told.retry_after.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_lateness_is_what_overlaps() {
        let hiccups = [Hiccup { due_ns: 1_100, late_ns: 50 }, Hiccup { due_ns: 1_300, late_ns: 100 }];
        let check = |from, to, right| {
            for offset_ns in [0, 70_000] {
                let axis = Axis { origin: Mono::from_nanos(1_000), offset_ns };
                assert_eq!(lateness(&hiccups, axis, offset_ns + from, offset_ns + to), right);
            }
        };
        check(0, 1_000, 150);
        check(120, 350, 80);
        check(150, 300, 0);
    }
}
