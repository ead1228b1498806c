//! What the server really did, request by request.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::config::Model;

/// The most finished requests that are kept; later ones are only counted.
pub const MAX_RECORDS: usize = 200_000;

/// The most write stamps that are kept, over all requests; later ones are only counted.
pub const MAX_STAMPS: usize = 32_000_000;

/// The most different prompts, paths and statuses that are counted.
pub const MAX_DISTINCT: usize = 1_000_000;

/// How an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The body was ended as its framing asks.
    #[default]
    Finished,
    /// The server closed the connection in the middle of the body.
    Cut,
    /// The server reset the connection.
    Reset,
    /// The client went away first.
    ClientClosed,
}

/// One request, as the server lived it. Times are nanoseconds on `CLOCK_MONOTONIC`; a write's stamp is taken just
/// before the call that hands its last byte to the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The request's number on this server, from 1; also in the answer's `x-request-id: sim-N`.
    pub ordinal: u64,
    /// Its number among the requests for its model, from 1: what draws and alternations depend on.
    pub nth: u64,
    /// Its number among the requests for its model with the same prompt, from 1.
    pub try_number: u32,
    /// The connection's number, from 1.
    pub connection: u64,
    /// Its number on its connection, from 1.
    pub connection_request: u32,
    /// The request's target as sent, with its query.
    pub path: String,
    /// The model as asked for; scripts and combinations too.
    pub model: String,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// A hash of the prompt's JSON text, in hexadecimal.
    pub prompt_hash: String,
    /// Words of the prompt's JSON text between white space; the usage's input tokens unless a script says another number.
    pub input_tokens: u64,
    /// Completion tokens that usage states, where it states some.
    pub output_tokens: Option<u64>,
    /// Tokens in the events that were written.
    pub sent_tokens: u64,
    /// The HTTP status answered.
    pub status: u16,
    /// What was wrong on purpose: a kind of fault, or `limit`.
    pub fault: Option<String>,
    /// Whether the right answer was chosen, however much of it was sent; null where there is none.
    pub right: Option<bool>,
    /// The cost that usage tells, in US dollars.
    pub cost: Option<String>,
    /// How it ended.
    pub end: End,
    /// The request's head was read.
    pub head_ns: u64,
    /// The request was completely read. A script's times count from here.
    pub read_ns: u64,
    /// A slot was free and the work began; a model's times count from here, or from the end of its start.
    pub slot_ns: Option<u64>,
    /// Slots that the model had then; null where it has no limit.
    pub slots: Option<u32>,
    /// How long it waited, with its slot, for the model to start; null where the model was warm.
    pub cold_ns: Option<u64>,
    /// When the first output event was planned.
    pub planned_first_ns: Option<u64>,
    /// When the last output event was planned.
    pub planned_last_ns: Option<u64>,
    /// The first byte of the answer, its head.
    pub answered_ns: Option<u64>,
    /// The first write of the body.
    pub first_write_ns: Option<u64>,
    /// The first event with output.
    pub first_output_ns: Option<u64>,
    /// The first event with output that is not reasoning.
    pub first_answer_ns: Option<u64>,
    /// The last event with output.
    pub last_output_ns: Option<u64>,
    /// The last write of the body.
    pub last_write_ns: Option<u64>,
    /// The answer was over.
    pub end_ns: u64,
    /// Each event's write, in microseconds after `first_write_ns`. Empty where the configuration keeps none.
    pub writes_us: Vec<u32>,
}

/// Sums over all requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Connections accepted.
    pub connections: u64,
    /// Connections open now.
    pub open_connections: u64,
    /// Connections refused since too many were open.
    pub refused_connections: u64,
    /// Requests for an answer that were completely read.
    pub requests: u64,
    /// Of them, those whose answer is not over.
    pub in_flight: u64,
    /// The most that were in flight at once.
    pub peak_concurrent: u64,
    /// Different prompts.
    pub distinct_prompts: u64,
    /// Requests by HTTP status answered.
    pub by_status: BTreeMap<u16, u64>,
    /// All requests by their target as sent, those of `/truth` excepted.
    pub paths: BTreeMap<String, u64>,
    /// Requests that are counted but have no record.
    pub records_dropped: u64,
    /// Write stamps that were not kept.
    pub stamps_dropped: u64,
}

/// Everything the server knows about what it did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// The models as they are planted, in the form of the configuration.
    pub models: Vec<Model>,
    /// Sums.
    pub counters: Counters,
    /// Requests whose answer is over, in the order of their ends.
    pub requests: Vec<Record>,
}

/// The truth as it grows.
#[derive(Debug, Default)]
pub(crate) struct Log {
    truth: Truth,
    ordinal: u64,
    stamps: usize,
    prompts: HashSet<u64>,
    /// Grows with each reset: requests of an earlier time are not written down.
    epoch: u64,
}

/// A request that the log has been told of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    pub(crate) ordinal: u64,
    epoch: u64,
}

impl Log {
    /// Nothing has happened yet to `models`.
    pub(crate) fn new(models: Vec<Model>) -> Self {
        Self { truth: Truth { models, ..Truth::default() }, ..Self::default() }
    }

    pub(crate) fn truth(&self) -> &Truth {
        &self.truth
    }

    pub(crate) fn counters(&mut self) -> &mut Counters {
        &mut self.truth.counters
    }

    pub(crate) fn path(&mut self, path: &str) {
        let paths = &mut self.truth.counters.paths;
        if let Some(count) = paths.get_mut(path) {
            *count += 1;
        } else if paths.len() < MAX_DISTINCT {
            paths.insert(path.into(), 1);
        }
    }

    pub(crate) fn begin(&mut self, prompt_hash: u64) -> Ticket {
        self.ordinal += 1;
        let counters = &mut self.truth.counters;
        counters.requests += 1;
        counters.in_flight += 1;
        counters.peak_concurrent = counters.peak_concurrent.max(counters.in_flight);
        if self.prompts.len() < MAX_DISTINCT {
            self.prompts.insert(prompt_hash);
        }
        counters.distinct_prompts = self.prompts.len() as u64;
        Ticket { ordinal: self.ordinal, epoch: self.epoch }
    }

    pub(crate) fn end(&mut self, ticket: Ticket, mut record: Record) {
        if ticket.epoch != self.epoch {
            return;
        }
        let counters = &mut self.truth.counters;
        counters.in_flight = counters.in_flight.saturating_sub(1);
        *counters.by_status.entry(record.status).or_default() += 1;
        if self.truth.requests.len() >= MAX_RECORDS {
            counters.records_dropped += 1;
            return;
        }
        let room = MAX_STAMPS.saturating_sub(self.stamps);
        counters.stamps_dropped += record.writes_us.len().saturating_sub(room) as u64;
        record.writes_us.truncate(room);
        record.writes_us.shrink_to_fit();
        self.stamps += record.writes_us.len();
        self.truth.requests.push(record);
    }

    /// Forgets everything but the models and the connections that are open.
    pub(crate) fn reset(&mut self) {
        let open_connections = self.truth.counters.open_connections;
        let models = std::mem::take(&mut self.truth.models);
        *self = Self { epoch: self.epoch + 1, ..Self::new(models) };
        self.truth.counters.open_connections = open_connections;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_forgets() {
        let mut log = Log::new(vec![Model::default()]);
        let (a, b) = (log.begin(1), log.begin(1));
        log.end(a, Record { status: 200, ..Record::default() });
        assert_eq!(log.truth().counters.in_flight, 1);
        assert_eq!(log.truth().counters.peak_concurrent, 2);
        assert_eq!(log.truth().counters.distinct_prompts, 1);
        log.reset();
        log.end(b, Record::default());
        assert_eq!(*log.truth(), *Log::new(vec![Model::default()]).truth());
        assert_eq!(log.begin(1).ordinal, 1);
    }
}
