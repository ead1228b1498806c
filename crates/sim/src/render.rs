//! A model's answer as bytes: from a kit that is made once, event by event, or as a whole.

use std::sync::Arc;

use crate::ask::Ask;
use crate::beat::{Beat, What, chunk};
use crate::chunk::{Facts, Usage, Whole};
use crate::config::{FaultKind, Rate};
use crate::dialect::{Dialect, Writer};
use crate::model::{Draw, Worker, ending};
use crate::reply::{Block, Content, Ending, Event, Framing, Reply, Run, Sheet};
use crate::speech::{PieceKind, VARIANTS};

impl Worker {
    /// A stream whose events are mostly those of the kit.
    pub(crate) fn stream_reply(&self, ask: &Ask, draw: &Draw) -> Reply {
        let kit = self.kit(ask.dialect);
        let mut own = Block::default();
        let beats = self.beats(ask, draw);
        let mut writer = ask.dialect.writer(self.facts(draw));
        let placed: Vec<_> = beats.iter().map(|beat| self.place(beat, &mut *writer, &mut own)).collect();
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
        let Sheet { status, headers, head_ns, single_bytes, .. } = self.stream_head(ask.dialect);
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

    fn stream_head(&self, dialect: Dialect) -> Sheet {
        let sheet = Sheet::new(200).header("content-type", dialect.content_type());
        Sheet { head_ns: self.model.early_head.then_some(0), ..sheet.header("cache-control", "no-cache") }
    }

    /// A stream whose events are written one by one.
    pub(crate) fn stream_sheet(&self, ask: &Ask, draw: &Draw) -> Sheet {
        let mut sheet = self.stream_head(ask.dialect);
        let mut writer = ask.dialect.writer(self.facts(draw));
        let counts_along = self.model.running_usage || ask.dialect.counts_along();
        let mut sent = 0;
        // What was said and is yet to be shown: some dialects tell a tool call only when it is complete.
        let mut unseen = Content::default();
        for beat in self.beats(ask, draw) {
            for i in 0..beat.count {
                let (mut chunk, content) = chunk(&beat.what, i);
                sent += u64::from(content.tokens);
                if counts_along && let Some(chunk) = chunk.as_mut() {
                    chunk.usage = Some(Usage { completion: sent, ..self.usage(draw) });
                }
                let body = writer.event(beat.what.say(chunk.as_ref()));
                let seen = if body.is_empty() { Content::default() } else { unseen.and(content) };
                unseen = if body.is_empty() { unseen.and(content) } else { Content::default() };
                let at_ns = beat.at_ns.saturating_add((beat.gap_ns * f64::from(i)) as u64);
                sheet.events.push(Event { at_ns, body, content: seen });
            }
        }
        drop(writer);
        self.conclude(&mut sheet, draw);
        sheet
    }

    /// The answer in one JSON body, when its last token is there.
    pub(crate) fn whole(&self, ask: &Ask, draw: &Draw) -> Sheet {
        let (reasoning, answer) = (draw.reasoning.tokens(), draw.answer.tokens());
        let part = |kind| draw.answer.text(kind);
        let whole = Whole {
            content: part(PieceKind::Content),
            reasoning: draw.reasoning.text(PieceKind::Content),
            call: draw.answer.has_call().then(|| (part(PieceKind::Call), part(PieceKind::Arguments))),
            finish: Some(draw.finish.into()),
            usage: Some(self.usage(draw)),
            vectors: ask.wishes.vectors.map(|wanted| {
                let is_empty = draw.fault.is_some_and(|fault| fault.kind == FaultKind::Empty);
                let wanted = if is_empty { wanted.none() } else { wanted };
                wanted.drawn(self.model.seed, ask.wishes.prompt_hash)
            }),
        };
        let has_vector = whole.vectors.as_ref().is_some_and(|vectors| !vectors.is_empty());
        let mut body = ask.dialect.whole(&whole, self.facts(draw));
        let kind = draw.fault.map(|fault| fault.kind);
        match kind {
            Some(FaultKind::StreamError) => body = ask.dialect.broken(),
            Some(FaultKind::Truncate | FaultKind::Malformed | FaultKind::Cut | FaultKind::Reset) => {
                body.truncate(body.len() / 2);
            }
            Some(FaultKind::Hang) => body.clear(),
            _ => {}
        }
        let mut sheet = Sheet::json(200, body);
        let content = Content {
            tokens: reasoning + answer,
            reasoning: reasoning > 0,
            answer: answer > 0 || has_vector,
        };
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
        let make = || {
            let mut kit = Block::default();
            let mut writer = dialect.writer(Facts::of(&self.name));
            let k = self.model.tokens_per_chunk;
            for i in 0..VARIANTS {
                push(&mut kit, &mut *writer, &What::Answer(k), i);
            }
            for i in 0..VARIANTS {
                push(&mut kit, &mut *writer, &What::Reasoning(k), i);
            }
            for what in SINGLES {
                push(&mut kit, &mut *writer, &what, 0);
            }
            Arc::new(kit)
        };
        self.kits.get(dialect.row()).map_or_else(make, |kit| Arc::clone(kit.get_or_init(make)))
    }

    /// Where the bytes of `beat` are: in the kit, or appended to `own`.
    fn place(&self, beat: &Beat, writer: &mut dyn Writer, own: &mut Block) -> Place {
        let full = self.model.tokens_per_chunk;
        match &beat.what {
            What::Answer(k) if *k == full => Place::Kit(0, VARIANTS),
            What::Reasoning(k) if *k == full => Place::Kit(VARIANTS, VARIANTS),
            what => match SINGLES.iter().position(|single| single == what) {
                Some(at) => Place::Kit(2 * VARIANTS + at as u32, 1),
                None => Place::Own(push(own, writer, what, 0)),
            },
        }
    }

    /// What is known of an answer before its first byte.
    fn facts(&self, draw: &Draw) -> Facts<'_> {
        let (first_ns, token_ns) = (draw.first_ns, draw.token_ns);
        Facts { model: &self.name, usage: self.usage(draw), first_ns, token_ns }
    }
}

fn push(block: &mut Block, writer: &mut dyn Writer, what: &What, i: u32) -> u32 {
    let (chunk, content) = chunk(what, i);
    block.push(Framing::Chunked, &writer.event(what.say(chunk.as_ref())), content)
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
