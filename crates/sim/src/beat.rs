//! The events of a model's answer: of which kinds they are, when each is due, and what they say.

use crate::chunk::{Call, Chunk, Say, Usage};
use crate::reply::Content;
use crate::speech::{Piece, PieceKind, Words, joined, word};

/// The kinds of event that a model's answer consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Opener,
    /// Reasoning of this many tokens.
    Reasoning(u32),
    /// Answer of this many tokens.
    Answer(u32),
    /// A part of an answer that says something.
    Piece(Piece),
    Finish(&'static str),
    Usage(Usage),
    Error,
    Malformed,
    Done,
}

impl What {
    /// What a writer is told of it; `chunk` is the chunk that it is.
    pub(crate) fn say<'c>(&self, chunk: Option<&'c Chunk>) -> Say<'c> {
        match self {
            Self::Error => Say::Error,
            Self::Malformed => Say::Malformed,
            _ => chunk.map_or(Say::Done, Say::Chunk),
        }
    }
}

/// Like events at equal distance.
#[derive(Clone, Debug)]
pub(crate) struct Beat {
    pub(crate) at_ns: u64,
    pub(crate) gap_ns: f64,
    pub(crate) count: u32,
    pub(crate) what: What,
}

/// Places tokens in time: an event comes as much after the first as the tokens before it take.
pub(crate) struct Tokens {
    chunk: u32,
    first_ns: u64,
    token_ns: f64,
    /// Tokens placed so far, and those before the last event. A part of a chunk takes as long as a whole one.
    before: u32,
    last: u32,
}

impl Tokens {
    /// The first at `first_ns`, one after another each `token_ns`, so many to an event.
    pub(crate) fn new(first_ns: u64, token_ns: f64, chunk: u32) -> Self {
        Self { chunk, first_ns, token_ns, before: 0, last: 0 }
    }

    /// The events of `words`; `salad` names those that say nothing.
    pub(crate) fn push(&mut self, beats: &mut Vec<Beat>, words: &Words, salad: fn(u32) -> What) {
        match words {
            Words::Salad(tokens) => {
                let (full, rest) = (tokens / self.chunk, tokens % self.chunk);
                self.place(beats, salad(self.chunk), self.chunk, full);
                self.place(beats, salad(rest), self.chunk, u32::from(rest > 0));
            }
            Words::Said(pieces) => {
                for piece in joined(pieces, self.chunk) {
                    let tokens = piece.tokens;
                    self.place(beats, What::Piece(piece), tokens, 1);
                }
            }
        }
    }

    fn place(&mut self, beats: &mut Vec<Beat>, what: What, tokens: u32, count: u32) {
        if count > 0 {
            let gap_ns = self.token_ns * f64::from(tokens);
            beats.push(Beat { at_ns: self.at(self.before), gap_ns, count, what });
            self.last = self.before.saturating_add(tokens.saturating_mul(count - 1));
            self.before = self.before.saturating_add(tokens.saturating_mul(count));
        }
    }

    /// At the time of the last event.
    pub(crate) fn now(&self, what: What) -> Beat {
        Beat { at_ns: self.at(self.last), gap_ns: 0.0, count: 1, what }
    }

    fn at(&self, tokens: u32) -> u64 {
        self.first_ns.saturating_add((self.token_ns * f64::from(tokens)) as u64)
    }
}

/// The `i`th event of a kind; none for those that are not of the usual form.
pub(crate) fn chunk(what: &What, i: u32) -> (Option<Chunk>, Content) {
    let text = |k: u32| (0..k).map(|j| word(i.wrapping_mul(k).wrapping_add(j))).collect::<String>();
    match *what {
        What::Opener => (Some(Chunk { role: true, ..Chunk::default() }), Content::default()),
        What::Reasoning(k) => {
            let reasoning = Some(("reasoning_content", text(k)));
            (Some(Chunk { reasoning, ..Chunk::default() }), Content::reasoning(k))
        }
        What::Answer(k) => (Some(Chunk { content: Some(text(k)), ..Chunk::default() }), Content::answer(k)),
        What::Piece(ref piece) => (Some(piece_chunk(piece)), Content::answer(piece.tokens)),
        What::Finish(reason) => {
            (Some(Chunk { finish: Some(reason.into()), ..Chunk::default() }), Content::default())
        }
        What::Usage(usage) => (Some(Chunk { usage: Some(usage), ..Chunk::default() }), Content::default()),
        What::Error | What::Malformed | What::Done => (None, Content::default()),
    }
}

fn piece_chunk(piece: &Piece) -> Chunk {
    let text = piece.text.clone();
    match piece.kind {
        PieceKind::Content => Chunk { content: Some(text), ..Chunk::default() },
        PieceKind::Call => Chunk { call: Some(Call::Opens(text)), ..Chunk::default() },
        PieceKind::Arguments => Chunk { call: Some(Call::Arguments(text)), ..Chunk::default() },
    }
}
