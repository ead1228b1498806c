//! The timing law: what a model answers to a request, and when.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use inferometer_tokens::Tokenizer;
use rand::RngExt;

use crate::answers::Knowledge;
use crate::ask::Ask;
use crate::beat::{Beat, Tokens, What, chunk, literal};
use crate::chunk::{Dialect, Usage, Whole};
use crate::cold::Warmth;
use crate::config::{DEFAULT_TOKENS, Fault, FaultKind, MAX_TOKENS, Model, Rate};
use crate::limit::Bucket;
use crate::random::{Purpose, random};
use crate::reply::{Block, Content, Ending, Event, Framing, Reply, Run, Said, Sheet};
use crate::slots::Slots;
use crate::speech::{PieceKind, VARIANTS, Words};

/// A model and the bytes that it answers with, made once.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) model: Model,
    pub(crate) slots: Option<Slots>,
    pub(crate) warmth: Option<Warmth>,
    pub(crate) bucket: Option<Bucket>,
    knowledge: Option<Knowledge>,
    /// The model's name as a JSON string.
    name: String,
    chat: OnceLock<Arc<Block>>,
    completions: OnceLock<Arc<Block>>,
}

/// What one request gets.
#[derive(Clone, Debug)]
struct Draw<'a> {
    first_ns: u64,
    token_ns: f64,
    input: u64,
    reasoning: Words,
    answer: Words,
    finish: &'static str,
    /// Whether the answer is the right one, where there is one.
    right: Option<bool>,
    fault: Option<&'a Fault>,
}

impl Worker {
    /// A model at rest, which knows what `knowledge` knows.
    pub(crate) fn new(model: Model, knowledge: Option<Knowledge>) -> Self {
        Self {
            name: serde_json::Value::from(model.name.as_str()).to_string(),
            slots: match model.scale {
                Some(scale) => Some(Slots::scaled(scale, model.queue)),
                None => model.slots.map(|slots| Slots::new(slots, model.queue)),
            },
            warmth: model.cold.map(|cold| Warmth::new(cold, model.seed)),
            bucket: model.limit.map(Bucket::new),
            knowledge,
            model,
            chat: OnceLock::new(),
            completions: OnceLock::new(),
        }
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
        let mut random = random(model.seed, nth, Purpose::Answer);
        let mut pick: f64 = random.random();
        let fault = model.faults.iter().find(|fault| {
            pick -= fault.share;
            pick < 0.0
        });
        let prompt = self.knowledge.as_ref().map(|_| ask.prompt_text());
        let input = prompt.as_ref().map_or(ask.input_tokens, |text| Tokenizer::o200k().count(text));
        let prefill = nanos(model.prefill_per_token).saturating_mul(input);
        let first_ns = nanos(model.ttft.draw(&mut random)).saturating_add(prefill);
        let said = self.knowledge.as_ref().zip(prompt).and_then(|(known, text)| known.answer(&text, nth));
        let mut draw = Draw {
            first_ns,
            token_ns: match model.rate {
                Rate::PerSecond(rate) => 1e9 / rate,
                Rate::Flood => 0.0,
            },
            input,
            reasoning: Words::NONE,
            answer: Words::NONE,
            finish: "stop",
            right: said.as_ref().map(|(_, right)| *right),
            fault,
        };
        if fault.is_none_or(|fault| fault.kind != FaultKind::Empty) {
            let reasoning = model.reasoning_tokens.draw(&mut random);
            self.fill(ask, &mut draw, reasoning, said.map(|(words, _)| words));
        }
        draw
    }

    /// Fills in what is said, as far as the request's limit lets it: reasoning first.
    fn fill(&self, ask: &Ask, draw: &mut Draw, reasoning: u32, said: Option<Words>) {
        let limit = ask.max_tokens.unwrap_or(MAX_TOKENS).min(MAX_TOKENS);
        let reasoning = reasoning.min(limit);
        draw.reasoning = Words::Salad(reasoning);
        let says_something = said.is_some();
        let wanted = self.model.tokens.or(ask.max_tokens).unwrap_or(DEFAULT_TOKENS);
        let (answer, cut) = said.unwrap_or(Words::Salad(wanted)).split(limit - reasoning);
        let whole_limit = !says_something && self.model.tokens.is_none() && ask.max_tokens.is_some();
        draw.finish = match () {
            () if cut.tokens() > 0 || whole_limit => "length",
            () if answer.has_call() => "tool_calls",
            () => "stop",
        };
        draw.answer = answer;
    }

    /// The events of a streamed answer, in order.
    fn beats(&self, ask: &Ask, draw: &Draw) -> Vec<Beat> {
        let mut beats = Vec::with_capacity(8);
        if self.model.role_opener && ask.dialect == Dialect::Chat {
            beats.push(Beat { at_ns: draw.first_ns, gap_ns: 0.0, count: 1, what: What::Opener });
        }
        let break_at =
            draw.fault.filter(|fault| fault.kind != FaultKind::Empty).map(|fault| fault.after_tokens);
        let mut tokens = Tokens::new(draw.first_ns, draw.token_ns, self.model.tokens_per_chunk);
        let before = break_at.unwrap_or(u32::MAX);
        let (reasoning, reasoning_left) = draw.reasoning.split(before);
        let (answer, answer_left) = draw.answer.split(before - reasoning.tokens());
        tokens.push(&mut beats, &reasoning, What::Reasoning);
        tokens.push(&mut beats, &answer, What::Answer);
        let malformed = draw.fault.is_some_and(|fault| fault.kind == FaultKind::Malformed);
        if malformed {
            beats.push(tokens.now(What::Malformed));
            tokens.push(&mut beats, &reasoning_left, What::Reasoning);
            tokens.push(&mut beats, &answer_left, What::Answer);
        }
        if break_at.is_none() || malformed {
            beats.push(tokens.now(What::Finish(draw.finish)));
            if ask.include_usage || self.model.running_usage {
                beats.push(tokens.now(What::Usage(self.usage(draw))));
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
        Reply {
            status,
            headers,
            head_ns,
            framing: Framing::Chunked,
            runs,
            single_bytes,
            ending: ending(draw),
            said: self.said(draw),
            fault: draw.fault.map(|fault| fault.kind.name()),
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
                let (mut chunk, content) = chunk(&beat.what, i);
                sent += u64::from(content.tokens);
                if self.model.running_usage
                    && let Some(chunk) = chunk.as_mut()
                {
                    chunk.usage = Some(Usage { completion: sent, ..self.usage(draw) });
                }
                let body =
                    chunk.map_or_else(|| literal(&beat.what), |chunk| chunk.event(ask.dialect, &self.name));
                let at_ns = beat.at_ns.saturating_add((beat.gap_ns * f64::from(i)) as u64);
                sheet.events.push(Event { at_ns, body, content });
            }
        }
        self.conclude(&mut sheet, draw);
        sheet
    }

    /// The answer in one JSON body, when its last token is there.
    fn whole(&self, ask: &Ask, draw: &Draw) -> Sheet {
        let (reasoning, answer) = (draw.reasoning.tokens(), draw.answer.tokens());
        let part = |kind| draw.answer.text(kind);
        let whole = Whole {
            content: part(PieceKind::Content),
            reasoning: draw.reasoning.text(PieceKind::Content),
            call: draw.answer.has_call().then(|| (part(PieceKind::Call), part(PieceKind::Arguments))),
            finish: Some(draw.finish.into()),
            usage: Some(self.usage(draw)),
        };
        let mut body = whole.body(ask.dialect, &self.name);
        let kind = draw.fault.map(|fault| fault.kind);
        match kind {
            Some(FaultKind::StreamError) => body = literal(&What::Error).split_off("data: ".len()),
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
        self.conclude(&mut sheet, draw);
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
                self.push(&mut kit, dialect, &What::Answer(k), i);
            }
            for i in 0..VARIANTS {
                self.push(&mut kit, dialect, &What::Reasoning(k), i);
            }
            for what in SINGLES {
                self.push(&mut kit, dialect, &what, 0);
            }
            Arc::new(kit)
        }))
    }

    fn push(&self, block: &mut Block, dialect: Dialect, what: &What, i: u32) -> u32 {
        let (chunk, content) = chunk(what, i);
        let body = chunk.map_or_else(|| literal(what), |chunk| chunk.event(dialect, &self.name));
        block.push(Framing::Chunked, &body, content)
    }

    /// Where the bytes of `beat` are: in the kit, or appended to `own`.
    fn place(&self, beat: &Beat, dialect: Dialect, own: &mut Block) -> Place {
        let full = self.model.tokens_per_chunk;
        match &beat.what {
            What::Answer(k) if *k == full => Place::Kit(0, VARIANTS),
            What::Reasoning(k) if *k == full => Place::Kit(VARIANTS, VARIANTS),
            what => match SINGLES.iter().position(|single| single == what) {
                Some(at) => Place::Kit(2 * VARIANTS + at as u32, 1),
                None => Place::Own(self.push(own, dialect, what, 0)),
            },
        }
    }

    fn usage(&self, draw: &Draw) -> Usage {
        let reasoning = u64::from(draw.reasoning.tokens());
        let completion = reasoning + u64::from(draw.answer.tokens());
        let usage = Usage::new(draw.input, completion);
        let price = self.model.price.filter(|price| price.reported);
        let cost = price.map(|price| price.of(usage));
        Usage { reasoning: (reasoning > 0).then_some(reasoning), cost, ..usage }
    }

    /// What is told of it beside the bytes.
    fn said(&self, draw: &Draw) -> Said {
        let usage = self.usage(draw);
        Said { usage: Some((usage.prompt, usage.completion)), right: draw.right, cost: usage.cost }
    }

    fn conclude(&self, sheet: &mut Sheet, draw: &Draw) {
        sheet.ending = ending(draw);
        sheet.fault = draw.fault.map(|fault| fault.kind.name());
        sheet.said = self.said(draw);
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

/// How an answer ends.
fn ending(draw: &Draw) -> Ending {
    match draw.fault.map(|fault| fault.kind) {
        Some(FaultKind::Reset) => Ending::Reset,
        Some(FaultKind::Cut) => Ending::Cut,
        Some(FaultKind::Hang) => Ending::Hang,
        _ => Ending::Finish,
    }
}

fn refusal(fault: &Fault) -> Sheet {
    let mut sheet = Sheet::error(fault.status, "simulated", "a simulated refusal");
    if let Some(after) = &fault.retry_after {
        sheet = sheet.header("retry-after", after);
    }
    sheet.fault = Some(fault.kind.name());
    sheet
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
