//! One attempt: a request sent, every event stamped, until the answer ends or a limit is reached.
//!
//! This is the receiving path. Between a read and its stamp nothing happens (the transport stamps reads); after it,
//! an event costs its decode and one push. Counting, judging and pricing wait until the attempt has ended.

use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::HeaderMap;
use inferometer_clock::{Clock, Deadline, Mono, Wall};
use inferometer_metrics::Stamped;
use inferometer_transport::{self as transport, Client, Connect, Connections, Exchange, Request, Trace};
use inferometer_wire::{Answer, Decoder, End, Event, Head, Progress};
use tokio::sync::watch;

use crate::control::Interrupt;
use crate::guard::{Guard, Limit, Reading};
use crate::rules::Rules;

/// After `[DONE]` the body's end is awaited so long, so that the connection can be kept.
const DRAIN_AFTER_DONE: Duration = Duration::from_millis(250);
/// After the last finish reason, usage and `[DONE]` are awaited so long.
const DRAIN_AFTER_FINISH: Duration = Duration::from_secs(2);

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
    /// When they came, by the wall's clock: instants in them are held against it.
    pub(crate) at: Wall,
    pub(crate) compressed: bool,
    pub(crate) stamp_bound: bool,
}

/// What one attempt saw.
#[derive(Debug)]
pub(crate) struct Seen {
    /// `None` where it never started: the run was cut before.
    pub(crate) start: Option<Mono>,
    pub(crate) end: Mono,
    pub(crate) ended: Ended,
    pub(crate) received: Option<Received>,
    pub(crate) answer: Option<Answer>,
    /// Output events; absolute nanoseconds.
    pub(crate) events: Vec<Stamped>,
}

/// How far an attempt came while its slot waited for it.
pub(crate) enum Attempt {
    /// It has ended.
    Ended(Box<Seen>),
    /// Its answer is complete; usage, `[DONE]` or the end of the body may follow, which nobody need wait for.
    Complete(Box<Completing>),
}

/// Sends `request` on a connection of its way and sees its answer to completion. `trace` keeps the phases even of an attempt that never connected.
pub(crate) async fn run<C: Connect>(
    rules: &Rules<'_>,
    client: &Client<C>,
    (request, way): (Request, Connections),
    trace: &Trace,
    cut: watch::Receiver<bool>,
) -> Attempt {
    let start = rules.clock.now();
    let mut guard = Guard::new(rules, start);
    guard.rearm(trace, Reading::Nothing);
    let mut interrupt = Interrupt::new(&cut);
    let nothing = |ended| Attempt::Ended(Box::new(Seen::nothing(Some(start), rules.clock.now(), ended)));
    let sent = tokio::select! {
        biased;
        sent = client.send_on(request, trace, way) => sent,
        limit = guard.connecting(trace) => return nothing(Ended::Limited(limit)),
        () = poll_fn(|cx| interrupt.poll_cut(cx)) => return nothing(Ended::Limited(Limit::Cut)),
    };
    let mut exchange = match sent {
        Ok(exchange) => exchange,
        Err(error) => return nothing(Ended::Failed(error)),
    };
    let mut body = Body::new(rules, &exchange);
    if let Some(ticket) = rules.ticket {
        let told = body.received.told();
        ticket.hear(&told, body.received.is_throttled(None, None, &told), rules.clock.now());
    }
    let ended = poll_fn(|cx| {
        if let Poll::Ready(ended) = body.poll_reads(&mut exchange, true, cx) {
            return Poll::Ready(ended);
        }
        guard.rearm(trace, body.reading);
        if let Poll::Ready(limit) = guard.poll_expired(cx) {
            return Poll::Ready(Some(Ended::Limited(limit)));
        }
        interrupt.poll_cut(cx).map(|()| Some(Ended::Limited(Limit::Cut)))
    });
    let Some(ended) = ended.await else {
        let (clock, trace) = (rules.clock.clone(), trace.clone());
        let total_until = start + rules.shard.timeouts.total;
        let completing = Completing { start, total_until, clock, trace, exchange, body, interrupt };
        return Attempt::Complete(Box::new(completing));
    };
    Attempt::Ended(Box::new(body.finish(start, end_of(rules.clock, trace), ended, &exchange)))
}

/// The end of a body that did not say when it was complete: its last read, else now.
fn end_of(clock: &Clock, trace: &Trace) -> Mono {
    trace.body_end().unwrap_or_else(|| clock.now())
}

/// An attempt whose answer is complete, on its own: it owns all it needs, so that its slot can go on.
pub(crate) struct Completing {
    start: Mono,
    total_until: Mono,
    clock: Clock,
    trace: Trace,
    exchange: Exchange,
    body: Body,
    interrupt: Interrupt,
}

impl Completing {
    /// When the answer was complete: from then on its slot is free.
    pub(crate) fn completed(&self) -> Mono {
        self.body.completed.unwrap_or(self.total_until)
    }

    /// Start to first output event; of an answer that came whole, to its end.
    pub(crate) fn ttft(&self) -> Duration {
        let first = self.body.events.first().map(|event| Mono::from_nanos(event.at_ns));
        first.unwrap_or_else(|| self.completed()) - self.start
    }

    /// Takes what still comes, under a short limit; at the body's end the connection is kept.
    pub(crate) async fn finish(mut self: Box<Self>) -> Seen {
        let mut timer = Deadline::new(&self.clock);
        let ended = poll_fn(|cx| self.poll_ended(&mut timer, cx)).await;
        let end = end_of(&self.clock, &self.trace);
        let Self { start, body, exchange, .. } = *self;
        body.finish(start, end, ended, &exchange)
    }

    fn poll_ended(&mut self, timer: &mut Deadline, cx: &mut Context<'_>) -> Poll<Ended> {
        if let Poll::Ready(Some(ended)) = self.body.poll_reads(&mut self.exchange, false, cx) {
            return Poll::Ready(ended);
        }
        timer.set(Some(match self.body.reading {
            Reading::Complete { until } => until,
            // A further choice began after all seen so far had finished.
            Reading::Nothing | Reading::Body { .. } => self.total_until,
        }));
        if timer.poll_expired(cx).is_ready() {
            return Poll::Ready(Ended::Limited(self.limit(Limit::Total)));
        }
        self.interrupt.poll_cut(cx).map(|()| Ended::Limited(self.limit(Limit::Cut)))
    }

    /// A limit that meets a complete answer takes nothing from it.
    fn limit(&self, limit: Limit) -> Limit {
        if self.body.completed.is_some() { Limit::Drained } else { limit }
    }
}

impl Seen {
    pub(crate) fn nothing(start: Option<Mono>, end: Mono, ended: Ended) -> Self {
        Self { start, end, ended, received: None, answer: None, events: Vec::new() }
    }
}

/// The answer while it comes in.
pub(crate) struct Body {
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
        let head = Head { status, content_type, streaming: rules.shard.streaming };
        let decoder = Decoder::new(rules.shard.dialect, head);
        Self {
            decoder: if rules.shard.think_tags { decoder.with_think_tags() } else { decoder },
            received: Received {
                status,
                headers: exchange.headers().clone(),
                at: Wall::now(),
                compressed: false,
                stamp_bound: exchange.stamp_bound(),
            },
            events: Vec::new(),
            reading: Reading::Nothing,
            completed: None,
            done: false,
        }
    }

    /// Takes what is there, read by read. Ready with how the body ended or, where `until_complete`, with nothing as soon
    /// as the answer is complete.
    fn poll_reads(
        &mut self,
        exchange: &mut Exchange,
        until_complete: bool,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Ended>> {
        loop {
            match ready!(exchange.poll_read(cx, &mut |data, at| self.take(data, at))) {
                Some(Ok(())) => {}
                Some(Err(error)) => return Poll::Ready(Some(Ended::Failed(error))),
                None => return Poll::Ready(Some(Ended::Whole)),
            }
            if until_complete && self.completed.is_some() {
                return Poll::Ready(None);
            }
        }
    }

    fn take(&mut self, data: &[u8], at: Mono) {
        let (events, at_ns) = (&mut self.events, at.as_nanos());
        self.decoder.feed(data, &mut |event| stamp(events, at_ns, event));
        self.reading = match self.decoder.progress() {
            Progress::Open => {
                self.completed = None;
                Reading::Body { last_read: at, output: !self.events.is_empty() }
            }
            // Counted from the first such read: whatever still trickles in makes the wait no longer.
            Progress::Finished => {
                let completed = *self.completed.get_or_insert(at);
                Reading::Complete { until: completed + DRAIN_AFTER_FINISH }
            }
            Progress::Done => {
                let completed = self.completed.filter(|_| self.done).unwrap_or(at);
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
            start: Some(start),
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
