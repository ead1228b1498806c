//! One attempt: a request sent, every event stamped, until the answer ends or a limit is reached.
//!
//! This is the receiving path. Between a read and its stamp nothing happens (the transport stamps reads); after it,
//! an event costs its decode and one push. Counting, judging and pricing wait until the attempt has ended.

use std::pin::pin;
use std::time::Duration;

use http::HeaderMap;
use inferometer_clock::{Deadline, Mono};
use inferometer_metrics::Stamped;
use inferometer_transport::{self as transport, Client, Connect, Exchange, Request, Trace};
use inferometer_wire::{Answer, Decoder, End, Event, Head, Progress};
use tokio::sync::watch;

use crate::rules::Rules;

/// After `[DONE]` the body's end is awaited so long, so that the connection can be kept.
const DRAIN_AFTER_DONE: Duration = Duration::from_millis(250);
/// After the last finish reason, usage and `[DONE]` are awaited so long.
const DRAIN_AFTER_FINISH: Duration = Duration::from_secs(2);

/// Which limit ended an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Connect,
    FirstToken,
    Idle,
    Total,
    /// The run's own end, or an interrupt.
    Cut,
    /// Enough: the answer was complete and only the connection's end was still awaited.
    Drained,
}

/// How an attempt ended, before anyone judges it.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The body ended, or all of it that matters had come.
    Whole,
    /// The transport failed, before or in the answer.
    Failed(transport::Error),
    /// A limit was reached.
    Limited(Limit),
}

/// Status line and headers of the answer.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) compressed: bool,
    pub(crate) stamp_bound: bool,
}

/// What one attempt saw.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) start: Mono,
    pub(crate) end: Mono,
    pub(crate) ended: Ended,
    pub(crate) received: Option<Received>,
    pub(crate) answer: Option<Answer>,
    /// Output events; absolute nanoseconds.
    pub(crate) events: Vec<Stamped>,
}

/// Sends `request` and sees it to its end. `trace` keeps the phases even of an attempt that never connected.
pub(crate) async fn run<C: Connect>(
    rules: &Rules<'_>,
    client: &Client<C>,
    request: Request,
    trace: &Trace,
    mut cut: watch::Receiver<bool>,
) -> Seen {
    let start = rules.clock.now();
    let mut guard =
        Guard { rules, start, at: Mono::default(), limit: Limit::Total, timer: Deadline::new(rules.clock) };
    guard.rearm(trace, Reading::Nothing);
    let mut interrupted = pin!(async move {
        // An error says that nobody is left to cut the run.
        if cut.wait_for(|cut| *cut).await.is_err() {
            std::future::pending::<()>().await;
        }
    });
    let sent = tokio::select! {
        biased;
        sent = client.send(request, trace) => sent,
        limit = guard.connecting(trace) => return Seen::nothing(start, rules.clock.now(), Ended::Limited(limit)),
        () = &mut interrupted => return Seen::nothing(start, rules.clock.now(), Ended::Limited(Limit::Cut)),
    };
    let mut exchange = match sent {
        Ok(exchange) => exchange,
        Err(error) => return Seen::nothing(start, rules.clock.now(), Ended::Failed(error)),
    };
    let mut body = Body::new(rules, &exchange);
    let ended = loop {
        guard.rearm(trace, body.reading);
        tokio::select! {
            biased;
            frame = exchange.next() => match frame {
                Some(Ok(frame)) => body.take(&frame),
                Some(Err(error)) => break Ended::Failed(error),
                None => break Ended::Whole,
            },
            limit = guard.expired() => break Ended::Limited(limit),
            () = &mut interrupted => break Ended::Limited(Limit::Cut),
        }
    };
    body.finish(start, rules.clock.now(), ended, &exchange)
}

impl Seen {
    fn nothing(start: Mono, end: Mono, ended: Ended) -> Self {
        Self { start, end, ended, received: None, answer: None, events: Vec::new() }
    }
}

/// What has been read of the answer, as far as limits care.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Nothing of the body.
    Nothing,
    /// Up to this read; whether there was output in it.
    Body { last_read: Mono, output: bool },
    /// The answer is complete, and nothing is awaited beyond this instant.
    Complete { until: Mono },
}

/// The nearest limit of an attempt, on one timer.
struct Guard<'a> {
    rules: &'a Rules<'a>,
    start: Mono,
    at: Mono,
    limit: Limit,
    timer: Deadline,
}

impl Guard<'_> {
    /// Sets the timer to the nearest limit that now holds.
    fn rearm(&mut self, trace: &Trace, reading: Reading) {
        let timeouts = &self.rules.shard.timeouts;
        let mut nearest = (self.start + timeouts.total, Limit::Total);
        let mut consider = |at: Mono, limit: Limit| {
            if at < nearest.0 {
                nearest = (at, limit);
            }
        };
        if let Some(cut_at) = self.rules.cut_at {
            consider(cut_at, Limit::Cut);
        }
        match reading {
            Reading::Nothing if trace.sent().is_none() && !is_connected(trace) => {
                consider(self.start + timeouts.connect, Limit::Connect);
            }
            Reading::Body { last_read, .. } => {
                if let Some(idle) = timeouts.idle {
                    consider(last_read + idle, Limit::Idle);
                }
            }
            Reading::Complete { until } => consider(until, Limit::Drained),
            Reading::Nothing => {}
        }
        let awaits_output = matches!(reading, Reading::Nothing | Reading::Body { output: false, .. });
        if let Some(first) = timeouts.first_token.filter(|_| awaits_output) {
            consider(self.start + first, Limit::FirstToken);
        }
        (self.at, self.limit) = nearest;
        self.timer.set(Some(self.at));
    }

    /// Waits for the limit while nothing has come back; the connect limit falls away once there is a connection.
    async fn connecting(&mut self, trace: &Trace) -> Limit {
        loop {
            self.timer.expired().await;
            let expired = self.at;
            self.rearm(trace, Reading::Nothing);
            if self.at <= expired {
                return self.limit;
            }
        }
    }

    async fn expired(&mut self) -> Limit {
        self.timer.expired().await;
        self.limit
    }
}

/// Whether the request has a connection to go out on.
fn is_connected(trace: &Trace) -> bool {
    trace.reused() || trace.version().is_some()
}

/// The answer while it comes in.
struct Body {
    decoder: Decoder,
    received: Received,
    events: Vec<Stamped>,
    reading: Reading,
    /// The read that completed the answer: by the last finish reason, later by `[DONE]`.
    completed: Option<Mono>,
    /// Whether `[DONE]`, or the last byte of a whole answer, was in it.
    done: bool,
}

impl Body {
    fn new(rules: &Rules<'_>, exchange: &Exchange) -> Self {
        let status = exchange.status().as_u16();
        let content_type =
            exchange.headers().get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        Self {
            decoder: Decoder::new(
                rules.shard.dialect,
                Head { status, content_type, streaming: rules.shard.streaming },
            ),
            received: Received {
                status,
                headers: exchange.headers().clone(),
                compressed: false,
                stamp_bound: exchange.stamp_bound(),
            },
            events: Vec::new(),
            reading: Reading::Nothing,
            completed: None,
            done: false,
        }
    }

    fn take(&mut self, frame: &transport::Frame) {
        let (events, at_ns) = (&mut self.events, frame.at.as_nanos());
        self.decoder.feed(&frame.data, &mut |event| stamp(events, at_ns, event));
        self.reading = match self.decoder.progress() {
            Progress::Open => {
                self.completed = None;
                Reading::Body { last_read: frame.at, output: !self.events.is_empty() }
            }
            // Counted from the first such read: whatever still trickles in makes the wait no longer.
            Progress::Finished => {
                let completed = *self.completed.get_or_insert(frame.at);
                Reading::Complete { until: completed + DRAIN_AFTER_FINISH }
            }
            Progress::Done => {
                let completed = self.completed.filter(|_| self.done).unwrap_or(frame.at);
                (self.completed, self.done) = (Some(completed), true);
                Reading::Complete { until: completed + DRAIN_AFTER_DONE }
            }
        };
    }

    fn finish(self, start: Mono, now: Mono, ended: Ended, exchange: &Exchange) -> Seen {
        let Self { decoder, mut received, mut events, completed, .. } = self;
        received.compressed = exchange.compressed();
        let (end, ended) = match ended {
            Ended::Whole | Ended::Limited(Limit::Drained) => (End::Eof, Ended::Whole),
            Ended::Failed(_) => (End::Broken, ended),
            Ended::Limited(_) => (End::Cut, ended),
        };
        let answer = decoder.finish(end, &mut |event| stamp(&mut events, now.as_nanos(), event));
        Seen {
            start,
            // Not the end of our own wait for what might have come after it.
            end: completed.unwrap_or(now),
            ended,
            received: Some(received),
            answer: Some(answer),
            events,
        }
    }
}

fn stamp(events: &mut Vec<Stamped>, at_ns: u64, event: Event) {
    if let Event::Output(output) = event {
        events.push(Stamped {
            at_ns,
            chars: output.chars,
            tokens: output.tokens,
            answer: output.answer,
            tool: output.tool,
        });
    }
}
