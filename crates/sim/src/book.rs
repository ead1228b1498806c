//! Which name is answered how.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use inferometer_clock::Mono;
use tokio::sync::Semaphore;

use crate::ask::Ask;
use crate::config::{Config, Freeze};
use crate::model::Worker;
use crate::reply::{Reply, Sheet};

/// The most different model strings that are remembered; more are unknown.
const MAX_NAMES: usize = 10_000;

/// The most prompts whose tries are counted, per model.
const MAX_PROMPTS: usize = 1_000_000;

/// Every name that was asked for, and how it is answered.
#[derive(Debug)]
pub(crate) struct Book {
    entries: Mutex<HashMap<String, Arc<Entry>>>,
    default: String,
}

/// A name's way of answering, and what happened under it.
#[derive(Debug)]
pub(crate) struct Entry {
    worker: Worker,
    pub(crate) slots: Option<Slots>,
    past: Mutex<Past>,
}

/// Work is done in slots; who finds none waits, first in, first out.
#[derive(Debug)]
pub(crate) struct Slots {
    pub(crate) free: Semaphore,
    waiting: Mutex<u32>,
    queue: Option<u32>,
}

/// What a name has seen.
#[derive(Debug, Default)]
struct Past {
    requests: u64,
    first: Option<Mono>,
    tries: HashMap<u64, u32>,
}

/// Which of its name's requests one is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Among all, from 1.
    pub(crate) nth: u64,
    /// Among those with the same prompt, from 1.
    pub(crate) try_number: u32,
    /// When the first of all was read.
    pub(crate) first: Mono,
}

impl Book {
    pub(crate) fn new(config: &Config) -> Self {
        let entries = config.models.iter().map(|model| {
            let slots = model.slots.map(|slots| Slots {
                free: Semaphore::new(slots as usize),
                waiting: Mutex::default(),
                queue: model.queue,
            });
            let entry = Entry { worker: Worker::new(model.clone()), slots, past: Mutex::default() };
            (model.name.clone(), Arc::new(entry))
        });
        Self { entries: Mutex::new(entries.collect()), default: config.default_model.clone() }
    }

    /// The entry of `name`.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<Entry>, String> {
        let name = if name.is_empty() { &self.default } else { name };
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.get(name).cloned().ok_or_else(|| format!("the model `{name}` does not exist"))
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<_> = entries.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    /// Forgets what happened.
    pub(crate) fn reset(&self) {
        for entry in self.entries.lock().unwrap_or_else(PoisonError::into_inner).values() {
            *entry.past.lock().unwrap_or_else(PoisonError::into_inner) = Past::default();
        }
    }
}

impl Entry {
    /// Counts a request that was read at `read`.
    pub(crate) fn arrive(&self, prompt: u64, read: Mono) -> Arrival {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        past.requests += 1;
        let (nth, first) = (past.requests, *past.first.get_or_insert(read));
        let known = past.tries.len() < MAX_PROMPTS || past.tries.contains_key(&prompt);
        let try_number = if known {
            let tries = past.tries.entry(prompt).or_default();
            *tries += 1;
            *tries
        } else {
            1
        };
        Arrival { nth, try_number, first }
    }

    /// The answer to a request.
    pub(crate) fn reply(&self, ask: &Ask, arrival: Arrival) -> Reply {
        let model = &self.worker.model;
        if let Some(field) = ask.first_of(&model.refuse) {
            return refuse_field(field).reply();
        }
        if arrival.try_number <= model.retry_429_times {
            let sheet = Sheet::error(429, "rate_limit_exceeded", "try again later");
            return sheet.header("retry-after", &model.retry_after).reply();
        }
        self.worker.reply(ask, arrival.nth)
    }

    /// The spans in which nothing moves, as instants.
    pub(crate) fn frozen(&self, arrival: Arrival) -> Vec<(Mono, Mono)> {
        let spans = self.worker.model.frozen.iter();
        spans.map(|Freeze { from, until }| (arrival.first + *from, arrival.first + *until)).collect()
    }
}

impl Slots {
    /// Enters the queue, unless it is full.
    pub(crate) fn enter(&self) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if self.free.available_permits() == 0 && self.queue.is_some_and(|most| *waiting >= most) {
            return false;
        }
        *waiting += 1;
        true
    }

    /// Leaves the queue.
    pub(crate) fn leave(&self) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

/// The answer to a field that is not known here (W35).
fn refuse_field(field: &str) -> Sheet {
    Sheet::error(400, "invalid_request_error", &format!("Unrecognized request argument supplied: {field}"))
}
