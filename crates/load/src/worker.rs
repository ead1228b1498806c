//! The worker, off the shards: appraises every ended attempt, settles the budget, passes the sample on.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use inferometer_plan::Secrets;
use inferometer_record::{Phase, Sample, Status};

use crate::appraise::Appraiser;
use crate::finished::{Finished, Message};
use crate::precision::{Goal, MAX_VALUES};
use crate::purse::Purse;
use crate::runner::{Sink, SinkError};
use crate::text::text;
use crate::{Control, Error, Live};

/// The sink is called at least so often, so that what it buffers reaches the disk.
const TICK: Duration = Duration::from_millis(200);

/// What the worker keeps of one lane.
pub(crate) struct Book<'a> {
    pub(crate) appraiser: Appraiser<'a>,
    pub(crate) live: [Arc<Live>; 2],
    last_end: Option<u64>,
    warmups: u64,
    refused: u64,
    words: Option<String>,
    values: Vec<f64>,
}

impl<'a> Book<'a> {
    pub(crate) fn new(appraiser: Appraiser<'a>, live: [Arc<Live>; 2]) -> Self {
        Self { appraiser, live, last_end: None, warmups: 0, refused: 0, words: None, values: Vec::new() }
    }

    /// The same behind what earlier processes have seen of the goal's figure.
    pub(crate) fn after(self, values: Vec<f64>) -> Self {
        Self { values, ..self }
    }

    fn note(&mut self, sample: &Sample, goal: Option<&Goal>) {
        if sample.status.is_failure() {
            self.live.iter().for_each(|live| live.fail());
        }
        match sample.phase {
            Phase::Preflight => {}
            Phase::Warmup => {
                self.warmups += 1;
                if is_refusal(sample) {
                    self.refused += 1;
                    self.words.get_or_insert_with(|| said(sample));
                }
            }
            Phase::Measure => {
                self.last_end = self.last_end.max(sample.end_ns);
                let value = goal.filter(|_| sample.is_final).and_then(|goal| goal.value(sample));
                self.values.extend(value.filter(|_| self.values.len() < MAX_VALUES));
            }
        }
    }

    /// The words of a target that refused every warm-up.
    fn refusal(&self) -> Option<String> {
        self.words.clone().filter(|_| self.refused == self.warmups)
    }
}

/// Whether the server will answer so again, whatever happens.
fn is_refusal(sample: &Sample) -> bool {
    sample.status == Status::HttpError
        && matches!(sample.http_status, Some(400..=499))
        && !matches!(sample.http_status, Some(408 | 409 | 425 | 429))
}

fn said(sample: &Sample) -> String {
    let status = sample.http_status.map(|status| format!("HTTP {status}"));
    let words = sample.error_message.clone().or_else(|| sample.error_code.clone());
    status.into_iter().chain(words).collect::<Vec<_>>().join(": ")
}

/// The worker of some lanes.
pub(crate) struct Worker<'a> {
    pub(crate) books: Vec<Book<'a>>,
    pub(crate) secrets: &'a Secrets,
    pub(crate) keep_text: bool,
    pub(crate) purse: &'a Purse,
    pub(crate) goal: Option<Goal>,
}

impl Worker<'_> {
    /// Takes what comes until the shards and their conductor have ended.
    pub(crate) fn run(
        &mut self,
        inbox: &Receiver<Message>,
        sink: &mut dyn Sink,
        control: &Control,
    ) -> Result<(), Error> {
        loop {
            let passed_on = match inbox.recv_timeout(TICK) {
                Ok(message) => self.take(message, sink),
                Err(RecvTimeoutError::Timeout) => sink.tick(),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            if let Err(error) = passed_on {
                control.cut();
                // The shards end by themselves; what they still send has nowhere to go, and no question an answer.
                while inbox.recv().is_ok() {}
                return Err(Error::Sink(error));
            }
        }
    }

    /// Of each lane the end of its last measured attempt, nanoseconds on the run's line.
    pub(crate) fn last_ends(&self) -> Vec<Option<u64>> {
        self.books.iter().map(|book| book.last_end).collect()
    }

    /// Takes one message.
    pub(crate) fn take(&mut self, message: Message, sink: &mut dyn Sink) -> Result<(), SinkError> {
        match message {
            Message::Ended(finished) => return self.ended(*finished, sink),
            // Who asked may have been cut meanwhile.
            Message::IsRefused(lane, reply) => {
                let _ = reply.send(self.books.get(lane).and_then(Book::refusal));
            }
            Message::IsPrecise { measured, first, reply } => {
                let _ = reply.send(self.is_precise(&measured, first));
            }
        }
        Ok(())
    }

    fn ended(&mut self, finished: Finished, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let hold = finished.hold;
        let Some(book) = self.books.get_mut(finished.lane) else { return Ok(()) };
        let text = self.keep_text.then(|| text(&finished, self.secrets));
        let (sample, events) = book.appraiser.appraise(finished);
        self.purse.settle(hold, &sample);
        book.note(&sample, self.goal.as_ref());
        text.map_or(Ok(()), |text| sink.accept_text(text))?;
        sink.accept(sample, events)
    }

    /// Whether the figure is known well enough of every lane that is measured, and there is one: by all its trials, or by
    /// the `first` of them.
    fn is_precise(&self, measured: &[bool], first: Option<u64>) -> bool {
        let Some(goal) = &self.goal else { return false };
        let books = || self.books.iter().zip(measured).filter(|(_, measured)| **measured);
        let seen = |book: &'_ Book<'_>| {
            let n = first.map_or(book.values.len(), |first| book.values.len().min(first as usize));
            book.values.get(..n).is_some_and(|values| goal.is_reached(values))
        };
        books().next().is_some() && books().all(|(book, _)| seen(book))
    }
}
