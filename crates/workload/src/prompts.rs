//! The prompts of a run, ready to send.

use std::sync::Arc;

use inferometer_judge::Grader;
use inferometer_wire::request::Prompt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};
use serde_json::{Map, Value};

use crate::entry::{Body, Entry};
use crate::nonce::{NONCE_WORDS, Nonce};
use crate::shipped::Tasks;
use crate::synthetic::Generator;
use crate::{Cache, Error, Lengths, Note, Source, builtin, dataset};

/// What one request asks.
#[derive(Clone, Debug)]
pub struct Item {
    /// Which prompt, the same in every run: a dataset's own id, `item-N`, `builtin-NN`, `synthetic-N`, or a
    /// shipped kind and a number: `chat-N`.
    pub id: String,
    /// The prompt as it is sent.
    pub prompt: Prompt,
    /// The token limit that the prompt brings along or that was drawn for it; `None` where neither is.
    pub max_tokens: Option<u32>,
    /// Further fields of the request body: tools, a response format. Mostly empty.
    pub parameters: Arc<Map<String, Value>>,
    /// What makes the answer right; `None` where nothing does.
    pub grader: Option<Arc<Grader>>,
}

/// The prompts of a run. Cheap to clone; shared by all shards.
///
/// A prompt has a place in the workload, `seq`, which is the same for every cell; and it goes out in a `request` whose
/// number is unique in the run and gives it its nonce, so that no cell finds the prompts of another in a server's cache.
/// Both give the same prompt whoever asks, whenever and in whatever order.
#[derive(Clone, Debug)]
pub struct Prompts {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    stock: Stock,
    output: Option<Lengths>,
    seed: u64,
    nonce: Option<Nonce>,
    notes: Vec<Note>,
}

#[derive(Debug)]
enum Stock {
    Generated(Generator),
    Shipped(Tasks),
    /// At least one.
    Held(Vec<Entry>),
}

impl Prompts {
    /// Gets the prompts of `source` ready: reads what a dataset needs and no more. Blocks on the file; call it before
    /// the load starts.
    ///
    /// `wanted` is how many requests will be sent, `None` where time ends the run. The same `seed`, `run_id` and source
    /// give the same prompts; another run id gives other nonces, so that no run finds the prompts of an earlier one in
    /// a cache. With [`Cache::AsIs`] and [`Cache::Warm`] there are no nonces and the run id is without effect.
    pub fn prepare(
        source: &Source,
        wanted: Option<u64>,
        seed: u64,
        run_id: &str,
        cache: Cache,
    ) -> Result<Self, Error> {
        let (stock, output, mut notes) = match source {
            Source::Builtin { output } => (Stock::Held(builtin_entries()), output, Vec::new()),
            Source::Dataset { path, output } => {
                let taken = dataset::read(path, wanted)?;
                (Stock::Held(taken.entries), output, taken.notes)
            }
            Source::Shipped { kind, input, output } => {
                kind.check_input(*input)?;
                (Stock::Shipped(Tasks::new(*kind, seed, *input)), output, Vec::new())
            }
            Source::Synthetic { input, output } => {
                input.check("input")?;
                (Stock::Generated(Generator::new(seed, *input)), output, Vec::new())
            }
        };
        if let Some(output) = output {
            output.check("output")?;
        }
        notes.extend(stock.cycled(wanted, cache));
        let nonce = (cache == Cache::Bust).then(|| Nonce::new(seed, run_id));
        Ok(Self { inner: Arc::new(Inner { stock, output: *output, seed, nonce, notes }) })
    }

    /// What the prompt at `seq` is when it goes out in `request`. No file is read and nothing counted: about a
    /// microsecond for held prompts, and 0.1 ms for 128,000 generated tokens or for a shipped task with its check.
    pub fn item(&self, seq: u64, request: u64) -> Item {
        let Inner { stock, output, seed, nonce, .. } = &*self.inner;
        let mut rng = ChaCha8Rng::seed_from_u64(*seed);
        rng.set_stream(seq);
        let drawn = output.map(|lengths| lengths.draw(&mut rng));
        let prefix = || nonce.as_ref().map_or_else(String::new, |nonce| prefix(nonce, request));
        match stock {
            Stock::Generated(generator) => Item {
                id: format!("synthetic-{}", seq + 1),
                prompt: Prompt::Text(generator.text(&mut rng, nonce.as_ref().map(|nonce| (nonce, request)))),
                max_tokens: drawn,
                parameters: Arc::default(),
                grader: None,
            },
            Stock::Shipped(tasks) => {
                let task = tasks.task(seq);
                Item {
                    id: format!("{}-{}", tasks.kind(), seq + 1),
                    prompt: task.asked.prompt(&prefix()),
                    max_tokens: drawn,
                    parameters: task.parameters,
                    // The checks of our own tasks all run, as their tests show.
                    grader: Grader::new(task.check).ok().map(Arc::new),
                }
            }
            Stock::Held(entries) => {
                let entry = &entries[(seq % entries.len() as u64) as usize];
                Item {
                    id: entry.id.clone(),
                    prompt: entry.body.prompt(&prefix()),
                    max_tokens: entry.max_tokens.or(drawn),
                    parameters: Arc::clone(&entry.parameters),
                    grader: entry.grader.clone(),
                }
            }
        }
    }

    /// How many different prompts there are, nonces aside; `None` where each request has its own.
    pub fn distinct(&self) -> Option<u64> {
        match &self.inner.stock {
            Stock::Generated(_) | Stock::Shipped(_) => None,
            Stock::Held(entries) => Some(entries.len() as u64),
        }
    }

    /// What a report must say about the prompts.
    pub fn notes(&self) -> &[Note] {
        &self.inner.notes
    }
}

impl Stock {
    /// Says so where `wanted` requests are more than there are prompts.
    fn cycled(&self, wanted: Option<u64>, cache: Cache) -> Option<Note> {
        let Self::Held(entries) = self else { return None };
        let prompts = entries.len() as u64;
        let enough = wanted.is_some_and(|requests| requests <= prompts);
        (!enough).then_some(Note::Cycled { prompts, requests: wanted, cache })
    }
}

/// The nonce of a prompt that has a text of its own: `[six words]`, then a blank line.
fn prefix(nonce: &Nonce, request: u64) -> String {
    let mut prefix = String::from("[");
    nonce.append(&mut prefix, request, NONCE_WORDS);
    prefix.push_str("]\n\n");
    prefix
}

fn builtin_entries() -> Vec<Entry> {
    let entry = |(index, text): (usize, &&str)| Entry {
        id: builtin::id(index),
        body: Body::Text((*text).to_owned()),
        max_tokens: None,
        parameters: Arc::default(),
        grader: None,
        extra_bytes: 0,
    };
    builtin::PROMPTS.iter().enumerate().map(entry).collect()
}
