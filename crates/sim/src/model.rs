//! The timing law: what a model answers to a request, and when.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::ask::Ask;
use crate::chunk::{Chunk, Dialect, Usage, Whole};
use crate::config::{DEFAULT_TOKENS, Fault, FaultKind, MAX_TOKENS, Model, Rate};
use crate::reply::{Block, Content, Ending, Event, Framing, Reply, Run, Sheet};
use crate::slots::Slots;

/// The text of every answer, a token a word, over and over.
const WORDS: [&str; 32] = [
    " north", " by", " west", " lies", " the", " old", " harbour", ",", " where", " small", " boats",
    " wait", " for", " wind", " and", " tide", ".", " Each", " morning", " the", " pilot", " reads", " his",
    " charts", ",", " counts", " the", " buoys", " and", " sets", " out", ".",
];

/// Pieces of text of one kind, before they repeat.
const VARIANTS: u32 = WORDS.len() as u32;

/// A model and the bytes that it answers with, made once.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) model: Model,
    pub(crate) slots: Option<Slots>,
    /// The model's name as a JSON string.
    name: String,
    chat: OnceLock<Arc<Block>>,
    completions: OnceLock<Arc<Block>>,
}

/// The kinds of event that a model's answer consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Opener,
    /// Reasoning of this many tokens.
    Reasoning(u32),
    /// Answer of this many tokens.
    Answer(u32),
    Finish(&'static str),
    Usage(Usage),
    Error,
    Malformed,
    Done,
}

/// Like events at equal distance.
#[derive(Clone, Copy, Debug)]
struct Beat {
    at_ns: u64,
    gap_ns: f64,
    count: u32,
    what: What,
}

/// What one request gets.
#[derive(Clone, Copy, Debug)]
struct Draw<'a> {
    first_ns: u64,
    token_ns: f64,
    reasoning: u32,
    answer: u32,
    finish: &'static str,
    fault: Option<&'a Fault>,
}

impl Worker {
    pub(crate) fn new(model: Model) -> Self {
        let name = serde_json::Value::from(model.name.as_str()).to_string();
        let slots = model.slots.map(|slots| Slots::new(slots, model.queue));
        Self { model, slots, name, chat: OnceLock::new(), completions: OnceLock::new() }
    }

    /// The answer to the `nth` request of this model, as writes.
    pub(crate) fn reply(&self, ask: &Ask, nth: u64) -> Reply {
        let draw = self.draw(ask, nth);
        match draw.fault {
            Some(fault) if fault.kind == FaultKind::Http => refusal(fault).reply(),
            _ if !ask.stream => self.whole(ask, &draw).reply(),
            _ if self.model.running_usage => self.stream_sheet(ask, &draw).reply(),
            _ => self.stream_reply(ask, &draw),
        }
    }

    /// The same as events, for transforms.
    pub(crate) fn sheet(&self, ask: &Ask, nth: u64) -> Sheet {
        let draw = self.draw(ask, nth);
        match draw.fault {
            Some(fault) if fault.kind == FaultKind::Http => refusal(fault),
            _ if !ask.stream => self.whole(ask, &draw),
            _ => self.stream_sheet(ask, &draw),
        }
    }

    fn draw(&self, ask: &Ask, nth: u64) -> Draw<'_> {
        let model = &self.model;
        let mut random = ChaCha8Rng::seed_from_u64(model.seed);
        random.set_stream(nth);
        let mut pick: f64 = random.random();
        let fault = model.faults.iter().find(|fault| {
            pick -= fault.share;
            pick < 0.0
        });
        let prefill = nanos(model.prefill_per_token).saturating_mul(ask.input_tokens);
        let wanted = model.tokens.or(ask.max_tokens).unwrap_or(DEFAULT_TOKENS);
        let limit = ask.max_tokens.unwrap_or(MAX_TOKENS).min(MAX_TOKENS);
        let reasoning = model.reasoning_tokens.min(limit);
        let answer = wanted.min(limit - reasoning);
        let capped = answer < wanted || (model.tokens.is_none() && ask.max_tokens.is_some());
        let empty = fault.is_some_and(|fault| fault.kind == FaultKind::Empty);
        Draw {
            first_ns: nanos(model.ttft.draw(&mut random)).saturating_add(prefill),
            token_ns: match model.rate {
                Rate::PerSecond(rate) => 1e9 / rate,
                Rate::Flood => 0.0,
            },
            reasoning: if empty { 0 } else { reasoning },
            answer: if empty { 0 } else { answer },
            finish: if capped && !empty { "length" } else { "stop" },
            fault,
        }
    }

    /// The events of a streamed answer, in order.
    fn beats(&self, ask: &Ask, draw: &Draw) -> Vec<Beat> {
        let mut beats = Vec::with_capacity(8);
        if self.model.role_opener && ask.dialect == Dialect::Chat {
            beats.push(Beat { at_ns: draw.first_ns, gap_ns: 0.0, count: 1, what: What::Opener });
        }
        let break_at =
            draw.fault.filter(|fault| fault.kind != FaultKind::Empty).map(|fault| fault.after_tokens);
        let mut tokens = Tokens { chunk: self.model.tokens_per_chunk, draw, chunks: 0 };
        let before = break_at.unwrap_or(u32::MAX);
        let (reasoning, answer) = split(draw, before);
        tokens.push(&mut beats, reasoning, What::Reasoning);
        tokens.push(&mut beats, answer, What::Answer);
        let malformed = draw.fault.is_some_and(|fault| fault.kind == FaultKind::Malformed);
        if malformed {
            beats.push(tokens.now(What::Malformed));
            tokens.push(&mut beats, draw.reasoning - reasoning, What::Reasoning);
            tokens.push(&mut beats, draw.answer - answer, What::Answer);
        }
        if break_at.is_none() || malformed {
            beats.push(tokens.now(What::Finish(draw.finish)));
            if ask.include_usage || self.model.running_usage {
                beats.push(tokens.now(What::Usage(usage(ask, draw))));
            }
            beats.push(tokens.now(What::Done));
        } else if draw.fault.is_some_and(|fault| fault.kind == FaultKind::StreamError) {
            beats.extend([tokens.now(What::Error), tokens.now(What::Done)]);
        }
        beats
    }

    fn stream_reply(&self, ask: &Ask, draw: &Draw) -> Reply {
        let kit = self.kit(ask.dialect);
        let mut own = Block::default();
        let beats = self.beats(ask, draw);
        let placed: Vec<_> = beats.iter().map(|beat| self.place(beat, ask.dialect, &mut own)).collect();
        let own = Arc::new(own);
        let runs = beats.iter().zip(placed).map(|(beat, place)| {
            let (block, (first, cycle)) = match place {
                Place::Kit(first, cycle) => (Arc::clone(&kit), (first, cycle)),
                Place::Own(first) => (Arc::clone(&own), (first, 1)),
            };
            let flood = self.model.rate == Rate::Flood;
            Run { block, at_ns: beat.at_ns, gap_ns: beat.gap_ns, first, cycle, count: beat.count, flood }
        });
        let runs = runs.collect();
        let Sheet { status, headers, head_ns, single_bytes, .. } = self.stream_head();
        let (ending, fault, usage) = outcome(ask, draw);
        Reply {
            status,
            headers,
            head_ns,
            framing: Framing::Chunked,
            runs,
            single_bytes,
            ending,
            usage,
            fault,
        }
    }

    fn stream_head(&self) -> Sheet {
        let sheet = Sheet::new(200).header("content-type", "text/event-stream");
        Sheet { head_ns: self.model.early_head.then_some(0), ..sheet.header("cache-control", "no-cache") }
    }

    fn stream_sheet(&self, ask: &Ask, draw: &Draw) -> Sheet {
        let mut sheet = self.stream_head();
        let mut sent = 0;
        for beat in self.beats(ask, draw) {
            for i in 0..beat.count {
                let (mut chunk, content) = chunk(beat.what, i);
                sent += u64::from(content.tokens);
                if self.model.running_usage
                    && let Some(chunk) = chunk.as_mut()
                {
                    chunk.usage = Some(Usage { completion: sent, ..usage(ask, draw) });
                }
                let body =
                    chunk.map_or_else(|| literal(beat.what), |chunk| chunk.event(ask.dialect, &self.name));
                let at_ns = beat.at_ns.saturating_add((beat.gap_ns * f64::from(i)) as u64);
                sheet.events.push(Event { at_ns, body, content });
            }
        }
        (sheet.ending, sheet.fault, sheet.usage) = outcome(ask, draw);
        sheet
    }

    /// The answer in one JSON body, when its last token is there.
    fn whole(&self, ask: &Ask, draw: &Draw) -> Sheet {
        let text = |tokens| (0..tokens).map(word).collect::<String>();
        let (reasoning, answer) = (draw.reasoning, draw.answer);
        let whole = Whole {
            content: text(answer),
            reasoning: text(reasoning),
            finish: Some(draw.finish.into()),
            usage: Some(usage(ask, draw)),
        };
        let mut body = whole.body(ask.dialect, &self.name);
        let kind = draw.fault.map(|fault| fault.kind);
        match kind {
            Some(FaultKind::StreamError) => body = literal(What::Error).split_off("data: ".len()),
            Some(FaultKind::Truncate | FaultKind::Malformed | FaultKind::Cut | FaultKind::Reset) => {
                body.truncate(body.len() / 2);
            }
            Some(FaultKind::Hang) => body.clear(),
            _ => {}
        }
        let mut sheet = Sheet::json(200, body);
        let content = Content { tokens: reasoning + answer, reasoning: reasoning > 0, answer: answer > 0 };
        let work_ns = draw.token_ns * f64::from(content.tokens.saturating_sub(1));
        if let Some(event) = sheet.events.first_mut() {
            event.at_ns = draw.first_ns.saturating_add(work_ns as u64);
            event.content = content;
        }
        (sheet.ending, sheet.fault, sheet.usage) = outcome(ask, draw);
        if matches!(sheet.ending, Ending::Cut | Ending::Reset) {
            sheet.framing = Some(Framing::Chunked);
        }
        sheet
    }

    /// The block of everything that is the same in each answer.
    fn kit(&self, dialect: Dialect) -> Arc<Block> {
        let cell = match dialect {
            Dialect::Chat => &self.chat,
            Dialect::Completions => &self.completions,
        };
        Arc::clone(cell.get_or_init(|| {
            let mut kit = Block::default();
            let k = self.model.tokens_per_chunk;
            for i in 0..VARIANTS {
                self.push(&mut kit, dialect, What::Answer(k), i);
            }
            for i in 0..VARIANTS {
                self.push(&mut kit, dialect, What::Reasoning(k), i);
            }
            for what in SINGLES {
                self.push(&mut kit, dialect, what, 0);
            }
            Arc::new(kit)
        }))
    }

    fn push(&self, block: &mut Block, dialect: Dialect, what: What, i: u32) -> u32 {
        let (chunk, content) = chunk(what, i);
        let body = chunk.map_or_else(|| literal(what), |chunk| chunk.event(dialect, &self.name));
        block.push(Framing::Chunked, &body, content)
    }

    /// Where the bytes of `beat` are: in the kit, or appended to `own`.
    fn place(&self, beat: &Beat, dialect: Dialect, own: &mut Block) -> Place {
        let full = self.model.tokens_per_chunk;
        match beat.what {
            What::Answer(k) if k == full => Place::Kit(0, VARIANTS),
            What::Reasoning(k) if k == full => Place::Kit(VARIANTS, VARIANTS),
            what => match SINGLES.iter().position(|single| *single == what) {
                Some(at) => Place::Kit(2 * VARIANTS + at as u32, 1),
                None => Place::Own(self.push(own, dialect, what, 0)),
            },
        }
    }
}

/// Where a beat's bytes are.
enum Place {
    /// In the model's kit: first piece, cycle.
    Kit(u32, u32),
    /// In the answer's own block.
    Own(u32),
}

/// Events of the kit that have one form only.
const SINGLES: [What; 6] =
    [What::Opener, What::Finish("stop"), What::Finish("length"), What::Done, What::Error, What::Malformed];

/// Places tokens in time: chunk i comes i chunks' tokens after the first.
struct Tokens<'a> {
    chunk: u32,
    draw: &'a Draw<'a>,
    chunks: u32,
}

impl Tokens<'_> {
    fn push(&mut self, beats: &mut Vec<Beat>, tokens: u32, what: fn(u32) -> What) {
        let gap_ns = self.draw.token_ns * f64::from(self.chunk);
        let (full, rest) = (tokens / self.chunk, tokens % self.chunk);
        if full > 0 {
            beats.push(Beat { at_ns: self.at(self.chunks), gap_ns, count: full, what: what(self.chunk) });
            self.chunks += full;
        }
        if rest > 0 {
            beats.push(Beat { at_ns: self.at(self.chunks), gap_ns: 0.0, count: 1, what: what(rest) });
            self.chunks += 1;
        }
    }

    /// At the time of the last chunk.
    fn now(&self, what: What) -> Beat {
        Beat { at_ns: self.at(self.chunks.saturating_sub(1)), gap_ns: 0.0, count: 1, what }
    }

    fn at(&self, chunk: u32) -> u64 {
        let after = self.draw.token_ns * f64::from(self.chunk) * f64::from(chunk);
        self.draw.first_ns.saturating_add(after as u64)
    }
}

/// Reasoning and answer tokens among the first `tokens`.
fn split(draw: &Draw, tokens: u32) -> (u32, u32) {
    let reasoning = draw.reasoning.min(tokens);
    (reasoning, draw.answer.min(tokens - reasoning))
}

fn usage(ask: &Ask, draw: &Draw) -> Usage {
    let completion = u64::from(draw.reasoning) + u64::from(draw.answer);
    let reasoning = (draw.reasoning > 0).then_some(u64::from(draw.reasoning));
    Usage { reasoning, ..Usage::new(ask.input_tokens, completion) }
}

/// How an answer ends, what is wrong with it, and what its usage would say.
fn outcome(ask: &Ask, draw: &Draw) -> (Ending, Option<&'static str>, Option<(u64, u64)>) {
    let ending = match draw.fault.map(|fault| fault.kind) {
        Some(FaultKind::Reset) => Ending::Reset,
        Some(FaultKind::Cut) => Ending::Cut,
        Some(FaultKind::Hang) => Ending::Hang,
        _ => Ending::Finish,
    };
    let usage = usage(ask, draw);
    (ending, draw.fault.map(|fault| fault.kind.name()), Some((usage.prompt, usage.completion)))
}

fn refusal(fault: &Fault) -> Sheet {
    let mut sheet = Sheet::error(fault.status, "simulated", "a simulated refusal");
    if let Some(after) = &fault.retry_after {
        sheet = sheet.header("retry-after", after);
    }
    sheet.fault = Some(fault.kind.name());
    sheet
}

fn word(i: u32) -> &'static str {
    WORDS.get((i % VARIANTS) as usize).copied().unwrap_or_default()
}

/// The `i`th event of a kind; none for those that are not of the usual form.
fn chunk(what: What, i: u32) -> (Option<Chunk>, Content) {
    let text = |k: u32| (0..k).map(|j| word(i.wrapping_mul(k).wrapping_add(j))).collect::<String>();
    match what {
        What::Opener => (Some(Chunk { role: true, ..Chunk::default() }), Content::default()),
        What::Reasoning(k) => {
            let reasoning = Some(("reasoning_content", text(k)));
            (Some(Chunk { reasoning, ..Chunk::default() }), Content::reasoning(k))
        }
        What::Answer(k) => (Some(Chunk { content: Some(text(k)), ..Chunk::default() }), Content::answer(k)),
        What::Finish(reason) => {
            (Some(Chunk { finish: Some(reason.into()), ..Chunk::default() }), Content::default())
        }
        What::Usage(usage) => (Some(Chunk { usage: Some(usage), ..Chunk::default() }), Content::default()),
        What::Error | What::Malformed | What::Done => (None, Content::default()),
    }
}

/// The bytes of the events that are no chunks.
fn literal(what: What) -> Vec<u8> {
    match what {
        What::Error => b"data: {\"error\":{\"message\":\"engine stopped\",\"code\":500}}\n\n".to_vec(),
        What::Malformed => b"data: {\"choices\":[{\"delta\":{\"conte\n\n".to_vec(),
        _ => b"data: [DONE]\n\n".to_vec(),
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
