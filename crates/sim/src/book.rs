//! Which name is answered how.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use inferometer_clock::Mono;
use inferometer_workload::Oracle;

use crate::answers::{Knowledge, Tasks};
use crate::ask::Ask;
use crate::config::{Config, Freeze};
use crate::model::Worker;
use crate::reply::{Reply, Sheet};
use crate::script::{self, Script};
use crate::transform::{self, Transform};

/// The most different model strings that are remembered; more are unknown.
const MAX_NAMES: usize = 2_000;

/// The longest model string, in bytes.
const MAX_NAME: usize = 64 * 1024;

/// The most prompts whose tries are counted, per model.
const MAX_PROMPTS: usize = 1_000_000;

/// Stands before a script in a model string.
const SCRIPT: &str = "script:";

/// The model's name in a script's events, as a JSON string.
const SCRIPT_MODEL: &str = "\"sim\"";

/// Every name that can be asked for, and how it is answered.
#[derive(Debug)]
pub(crate) struct Book {
    /// By model string, once it was asked for.
    entries: Mutex<HashMap<String, Arc<Entry>>>,
    /// By configured name.
    behaviours: HashMap<String, Behaviour>,
    default: String,
}

/// A model string's way of answering, and what happened under it.
#[derive(Debug)]
pub(crate) struct Entry {
    behaviour: Behaviour,
    transforms: Vec<Transform>,
    past: Mutex<Past>,
}

#[derive(Clone, Debug)]
enum Behaviour {
    Model(Arc<Worker>),
    Script(Arc<Script>),
}

/// What a model string has seen.
#[derive(Debug, Default)]
struct Past {
    requests: u64,
    first: Option<Mono>,
    tries: HashMap<u64, u32>,
}

/// Which of its model string's requests one is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Among all, from 1.
    pub(crate) nth: u64,
    /// Among those with the same prompt, from 1.
    pub(crate) try_number: u32,
    /// When the first of all was read.
    first: Mono,
}

/// A model string that cannot be answered: the status, and why.
pub(crate) type Unknown = (u16, String);

impl Book {
    pub(crate) fn new(config: &Config) -> io::Result<Self> {
        let mut behaviours = HashMap::new();
        // Models with the same tasks share what they know.
        let mut oracles: Vec<(&Tasks, Oracle)> = Vec::new();
        for model in &config.models {
            let knowledge = model.tasks.as_ref().map(|tasks| Knowledge {
                oracle: match oracles.iter().find(|(known, _)| *known == tasks) {
                    Some((_, oracle)) => oracle.clone(),
                    None => oracles.push_mut((tasks, tasks.oracle())).1.clone(),
                },
                accuracy: model.accuracy,
                seed: model.seed,
            });
            let worker = Worker::new(model.clone(), knowledge);
            behaviours.insert(model.name.clone(), Behaviour::Model(Arc::new(worker)));
        }
        for scenario in &config.scenarios {
            let script = Script::parse(&scenario.script).map_err(io::Error::other)?;
            behaviours.insert(scenario.name.clone(), Behaviour::Script(Arc::new(script)));
        }
        for capture in &config.captures {
            let script = Script::of_capture(&capture.path, capture.gap)?;
            behaviours.insert(capture.name.clone(), Behaviour::Script(Arc::new(script)));
        }
        Ok(Self { entries: Mutex::default(), behaviours, default: config.default_model.clone() })
    }

    /// The entry of a model string.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<Entry>, Unknown> {
        let name = if name.is_empty() { &self.default } else { name };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.get(name) {
            return Ok(Arc::clone(entry));
        }
        let entry = Arc::new(self.open(name)?);
        if entries.len() >= MAX_NAMES {
            return Err((404, format!("more than {MAX_NAMES} different models were asked for")));
        }
        entries.insert(name.to_owned(), Arc::clone(&entry));
        Ok(entry)
    }

    /// Reads a model string: a name or a script, then transforms.
    fn open(&self, name: &str) -> Result<Entry, Unknown> {
        if name.len() > MAX_NAME {
            return Err((400, format!("the model's name is longer than {MAX_NAME} bytes")));
        }
        let mut base = name;
        let mut transforms = Vec::new();
        while let Some((before, last)) = base.rsplit_once('+')
            && let Ok(transform) = last.parse()
        {
            transforms.push(transform);
            base = before;
        }
        Ok(Entry { behaviour: self.behaviour(base)?, transforms, past: Mutex::default() })
    }

    fn behaviour(&self, base: &str) -> Result<Behaviour, Unknown> {
        let script = |script| Ok(Behaviour::Script(Arc::new(script)));
        if let Some(text) = base.strip_prefix(SCRIPT) {
            return Script::parse(text).map_err(|error| (400, error)).and_then(script);
        }
        if let Some(behaviour) = self.behaviours.get(base) {
            return Ok(behaviour.clone());
        }
        let found = script::find(base).ok_or_else(|| (404, format!("the model `{base}` does not exist")))?;
        found.map_err(|error| (500, error)).and_then(script)
    }

    /// Names of models and scenarios, those of the configuration first.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.behaviours.keys().map(String::as_str).collect();
        names.sort_unstable();
        names.extend(script::scenarios().map(|(name, _)| -> &str { name }));
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
        let mut try_number = 1;
        if known {
            let tries = past.tries.entry(prompt).or_default();
            *tries += 1;
            try_number = *tries;
        }
        Arrival { nth, try_number, first }
    }

    /// The answer to a request, and the spans in which nothing moves.
    pub(crate) fn answer(&self, ask: &Ask, arrival: Arrival) -> (Reply, Vec<(Mono, Mono)>) {
        let (mut sheet, frozen) = match &self.behaviour {
            Behaviour::Model(worker) => {
                let frozen = &worker.model.frozen;
                match refusal(worker, ask, arrival) {
                    Some(sheet) => (sheet, frozen),
                    None if self.transforms.is_empty() => {
                        return (worker.reply(ask, arrival.nth), spans(frozen, arrival));
                    }
                    None => (worker.sheet(ask, arrival.nth), frozen),
                }
            }
            Behaviour::Script(script) => {
                let Some(part) = script.part(arrival.nth, arrival.try_number) else {
                    return (Sheet::new(200).reply(), Vec::new());
                };
                let refused = refuse(ask, &part.refuse);
                let mut sheet = refused.unwrap_or_else(|| part.sheet(ask, arrival.nth, SCRIPT_MODEL));
                transform::apply(&part.transforms, &mut sheet);
                (sheet, &part.frozen)
            }
        };
        let refused: Vec<_> = self.transforms.iter().filter_map(|transform| transform.refuses()).collect();
        if let Some(refusal) = refuse(ask, &refused) {
            return (refusal.reply(), Vec::new());
        }
        transform::apply(&self.transforms, &mut sheet);
        (sheet.reply(), spans(frozen, arrival))
    }

    /// The model that works, where there is one.
    pub(crate) fn worker(&self) -> Option<&Worker> {
        match &self.behaviour {
            Behaviour::Model(worker) => Some(worker),
            Behaviour::Script(_) => None,
        }
    }
}

/// The model's refusal of a field or of a first try.
fn refusal(worker: &Worker, ask: &Ask, arrival: Arrival) -> Option<Sheet> {
    let model = &worker.model;
    if arrival.try_number <= model.retry_429_times {
        let sheet = ask.dialect.error(429, "rate_limit_exceeded", "try again later");
        return Some(sheet.header("retry-after", &model.retry_after));
    }
    refuse(ask, &model.refuse)
}

/// The answer to a field that is not known here (W35).
fn refuse(ask: &Ask, fields: &[impl AsRef<str>]) -> Option<Sheet> {
    let field = ask.first_of(fields)?;
    let message = format!("Unrecognized request argument supplied: {field}");
    Some(ask.dialect.error(400, "invalid_request_error", &message))
}

fn spans(frozen: &[Freeze], arrival: Arrival) -> Vec<(Mono, Mono)> {
    let instants = |freeze: &Freeze| (arrival.first + freeze.from, arrival.first + freeze.until);
    frozen.iter().map(instants).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_strings() {
        let book = Book::new(&Config::default()).unwrap();
        let check = |name: &str, transforms: Result<usize, u16>| {
            let found = book.find(name).map(|entry| entry.transforms.len()).map_err(|(status, _)| status);
            assert_eq!(found, transforms, "{name}");
        };
        check("", Ok(0));
        check("sim", Ok(0));
        check("sim+w59", Ok(1));
        check("c01+w59+w60+w66", Ok(3));
        check("w01", Ok(0));
        check("script:50 role;D", Ok(0));
        check("script:raw a+b;D+w66", Ok(1));
        check("script:raw a+b", Ok(0));
        check("gpt", Err(404));
        check("c01+gpt", Err(404));
        check("script:50 rolle", Err(400));
    }

    #[test]
    fn arrivals_are_counted_by_model_and_by_prompt() {
        let book = Book::new(&Config::default()).unwrap();
        let (sim, other) = (book.find("sim").unwrap(), book.find("c01").unwrap());
        let at = Mono::from_nanos;
        sim.arrive(1, at(5));
        other.arrive(1, at(6));
        let arrival = sim.arrive(1, at(7));
        assert_eq!((arrival.nth, arrival.try_number, arrival.first), (2, 2, at(5)));
        assert_eq!(sim.arrive(2, at(8)).try_number, 1);
        book.reset();
        assert_eq!(sim.arrive(1, at(9)).nth, 1);
    }
}
