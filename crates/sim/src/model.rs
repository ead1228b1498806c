//! The timing law: what a model answers to a request, and when.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use inferometer_tokens::Tokenizer;
use rand::RngExt;

use crate::answers::Knowledge;
use crate::ask::Ask;
use crate::beat::{Beat, Tokens, What};
use crate::chunk::Usage;
use crate::cold::Warmth;
use crate::config::{DEFAULT_TOKENS, Fault, FaultKind, MAX_TOKENS, Model, Rate};
use crate::dialect::Dialect;
use crate::limit::Bucket;
use crate::random::{Purpose, random};
use crate::reply::{Block, Ending, Reply, Said, Sheet};
use crate::slots::Slots;
use crate::speech::Words;

/// A model and the bytes that it answers with, made once.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) model: Model,
    pub(crate) slots: Option<Slots>,
    pub(crate) warmth: Option<Warmth>,
    pub(crate) bucket: Option<Bucket>,
    knowledge: Option<Knowledge>,
    /// The model's name as a JSON string.
    pub(crate) name: String,
    /// Of each dialect, everything that is the same in each answer.
    pub(crate) kits: [OnceLock<Arc<Block>>; Dialect::COUNT],
}

/// What one request gets.
#[derive(Clone, Debug)]
pub(crate) struct Draw<'a> {
    pub(crate) first_ns: u64,
    pub(crate) token_ns: f64,
    pub(crate) input: u64,
    pub(crate) reasoning: Words,
    pub(crate) answer: Words,
    pub(crate) finish: &'static str,
    /// Whether the answer is the right one, where there is one.
    pub(crate) right: Option<bool>,
    pub(crate) fault: Option<&'a Fault>,
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
            kits: [const { OnceLock::new() }; Dialect::COUNT],
        }
    }

    /// The answer to the `nth` request of this model, as writes.
    pub(crate) fn reply(&self, ask: &Ask, nth: u64) -> Reply {
        let draw = self.draw(ask, nth);
        match draw.fault {
            Some(fault) if fault.kind == FaultKind::Http => refusal(ask, fault).reply(),
            _ if !ask.wishes.stream => self.whole(ask, &draw).reply(),
            _ if ask.dialect.is_stateless() && !self.model.running_usage => self.stream_reply(ask, &draw),
            _ => self.stream_sheet(ask, &draw).reply(),
        }
    }

    /// The same as events, for transforms.
    pub(crate) fn sheet(&self, ask: &Ask, nth: u64) -> Sheet {
        let draw = self.draw(ask, nth);
        match draw.fault {
            Some(fault) if fault.kind == FaultKind::Http => refusal(ask, fault),
            _ if !ask.wishes.stream => self.whole(ask, &draw),
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
        let input = prompt.as_ref().map_or(ask.wishes.input_tokens, |text| Tokenizer::o200k().count(text));
        let prefill = nanos(model.prefill_per_token).saturating_mul(input);
        let first_ns = nanos(model.ttft.draw(&mut random)).saturating_add(prefill);
        let is_text = ask.wishes.vectors.is_none();
        let known = self.knowledge.as_ref().zip(prompt).filter(|_| is_text);
        let said = known.and_then(|(known, text)| known.answer(&text, nth));
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
        if is_text && fault.is_none_or(|fault| fault.kind != FaultKind::Empty) {
            let reasoning = model.reasoning_tokens.draw(&mut random);
            self.fill(ask, &mut draw, reasoning, said.map(|(words, _)| words));
        }
        draw
    }

    /// Fills in what is said, as far as the request's limit lets it: reasoning first.
    fn fill(&self, ask: &Ask, draw: &mut Draw, reasoning: u32, said: Option<Words>) {
        let limit = ask.wishes.max_tokens.unwrap_or(MAX_TOKENS).min(MAX_TOKENS);
        let reasoning = reasoning.min(limit);
        draw.reasoning = Words::Salad(reasoning);
        let says_something = said.is_some();
        let wanted = self.model.tokens.or(ask.wishes.max_tokens).unwrap_or(DEFAULT_TOKENS);
        let (answer, cut) = said.unwrap_or(Words::Salad(wanted)).split(limit - reasoning);
        let whole_limit = !says_something && self.model.tokens.is_none() && ask.wishes.max_tokens.is_some();
        draw.finish = match () {
            () if cut.tokens() > 0 || whole_limit => "length",
            () if answer.has_call() => "tool_calls",
            () => "stop",
        };
        draw.answer = answer;
    }

    /// The events of a streamed answer, in order.
    pub(crate) fn beats(&self, ask: &Ask, draw: &Draw) -> Vec<Beat> {
        let mut beats = Vec::with_capacity(8);
        if self.model.role_opener && ask.dialect.opens() {
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
            if ask.wishes.include_usage || self.model.running_usage {
                beats.push(tokens.now(What::Usage(self.usage(draw))));
            }
            beats.push(tokens.now(What::Done));
        } else if draw.fault.is_some_and(|fault| fault.kind == FaultKind::StreamError) {
            beats.extend([tokens.now(What::Error), tokens.now(What::Done)]);
        }
        beats
    }

    pub(crate) fn usage(&self, draw: &Draw) -> Usage {
        let reasoning = u64::from(draw.reasoning.tokens());
        let completion = reasoning + u64::from(draw.answer.tokens());
        let usage = Usage::new(draw.input, completion);
        let price = self.model.price.filter(|price| price.reported);
        let cost = price.map(|price| price.of(usage));
        Usage { reasoning: (reasoning > 0).then_some(reasoning), cost, ..usage }
    }

    /// What is told of it beside the bytes.
    pub(crate) fn said(&self, draw: &Draw) -> Said {
        let usage = self.usage(draw);
        Said { usage: Some((usage.prompt, usage.completion)), right: draw.right, cost: usage.cost }
    }

    pub(crate) fn conclude(&self, sheet: &mut Sheet, draw: &Draw) {
        sheet.ending = ending(draw);
        sheet.fault = draw.fault.map(|fault| fault.kind.name());
        sheet.said = self.said(draw);
    }
}

/// How an answer ends.
pub(crate) fn ending(draw: &Draw) -> Ending {
    match draw.fault.map(|fault| fault.kind) {
        Some(FaultKind::Reset) => Ending::Reset,
        Some(FaultKind::Cut) => Ending::Cut,
        Some(FaultKind::Hang) => Ending::Hang,
        _ => Ending::Finish,
    }
}

fn refusal(ask: &Ask, fault: &Fault) -> Sheet {
    let mut sheet = ask.dialect.error(fault.status, "simulated", "a simulated refusal");
    if let Some(after) = &fault.retry_after {
        sheet = sheet.header("retry-after", after);
    }
    sheet.fault = Some(fault.kind.name());
    sheet
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
