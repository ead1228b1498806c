//! An answer as the connection plays it: framed bytes and the times at which they are due.

use std::sync::Arc;

use crate::dialect::Dialect;
use crate::price::Cost;

/// What an event carries, as far as the truth about it goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// Tokens in it.
    pub(crate) tokens: u32,
    /// Whether it shows reasoning.
    pub(crate) reasoning: bool,
    /// Whether it shows output other than reasoning.
    pub(crate) answer: bool,
}

impl Content {
    pub(crate) const fn answer(tokens: u32) -> Self {
        Self { tokens, reasoning: false, answer: true }
    }

    pub(crate) const fn reasoning(tokens: u32) -> Self {
        Self { tokens, reasoning: true, answer: false }
    }

    /// Whether it shows any output.
    pub(crate) const fn is_output(self) -> bool {
        self.reasoning || self.answer
    }

    /// Both together.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            reasoning: self.reasoning || other.reasoning,
            answer: self.answer || other.answer,
        }
    }
}

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `transfer-encoding: chunked`, one chunk a write.
    Chunked,
    /// `content-length`.
    Length(u64),
    /// The close of the connection.
    Close,
}

/// What happens after the last write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The body is ended as its framing asks; the connection goes on as configured.
    Finish,
    /// The body is ended, and then the connection closes although nobody said so.
    FinishThenClose,
    /// The connection closes in the middle of the body.
    Cut,
    /// The connection is reset.
    Reset,
    /// Nothing more comes until the client leaves.
    Hang,
}

/// Framed bytes of several events behind one another, and where each is.
#[derive(Debug, Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
}

/// One write's bytes.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u32,
    end: u32,
    content: Content,
}

impl Block {
    /// Appends one event's body bytes, framed; returns its index. An empty body stays empty: as a chunk it would end all.
    pub(crate) fn push(&mut self, framing: Framing, body: &[u8], content: Content) -> u32 {
        let start = self.bytes.len() as u32;
        let chunked = framing == Framing::Chunked && !body.is_empty();
        if chunked {
            self.bytes.extend_from_slice(format!("{:x}\r\n", body.len()).as_bytes());
        }
        self.bytes.extend_from_slice(body);
        if chunked {
            self.bytes.extend_from_slice(b"\r\n");
        }
        self.pieces.push(Piece { start, end: self.bytes.len() as u32, content });
        self.pieces.len() as u32 - 1
    }

    /// The bytes and the content of piece `index`; nothing where there is no such piece.
    pub(crate) fn piece(&self, index: u32) -> (&[u8], Content) {
        let Some(piece) = self.pieces.get(index as usize) else { return (&[], Content::default()) };
        (self.bytes.get(piece.start as usize..piece.end as usize).unwrap_or(&[]), piece.content)
    }
}

/// Writes of equal distance. Many of them cost as much memory as one.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Where the bytes are.
    pub(crate) block: Arc<Block>,
    /// When the first is due, in nanoseconds after the work began.
    pub(crate) at_ns: u64,
    /// Nanoseconds between one and the next.
    pub(crate) gap_ns: f64,
    /// The first piece.
    pub(crate) first: u32,
    /// How many pieces follow one another before the first comes again.
    pub(crate) cycle: u32,
    /// How many writes.
    pub(crate) count: u32,
    /// Whether several may share a write.
    pub(crate) flood: bool,
}

impl Run {
    /// A single write.
    pub(crate) fn once(block: Arc<Block>, at_ns: u64, piece: u32) -> Self {
        Self { block, at_ns, gap_ns: 0.0, first: piece, cycle: 1, count: 1, flood: false }
    }

    /// When write `i` is due, in nanoseconds after the work began.
    pub(crate) fn due_ns(&self, i: u32) -> u64 {
        self.at_ns.saturating_add((self.gap_ns * f64::from(i)) as u64)
    }

    /// The bytes and the content of write `i`.
    pub(crate) fn write(&self, i: u32) -> (&[u8], Content) {
        self.block.piece(self.first + i % self.cycle.max(1))
    }
}

/// What an answer says, as far as the truth tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Input and output tokens of the usage, where it says something.
    pub(crate) usage: Option<(u64, u64)>,
    /// Whether the answer is the right one, where there is one.
    pub(crate) right: Option<bool>,
    /// The cost that the usage tells.
    pub(crate) cost: Option<Cost>,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Headers beside those of framing and connection.
    pub(crate) headers: Vec<(String, String)>,
    /// Nanoseconds after the work began at which the head goes out by itself; else it goes with the first write.
    pub(crate) head_ns: Option<u64>,
    pub(crate) framing: Framing,
    pub(crate) runs: Vec<Run>,
    /// Each byte in a write of its own (W66).
    pub(crate) single_bytes: bool,
    pub(crate) ending: Ending,
    pub(crate) said: Said,
    /// What is wrong with it, in a word.
    pub(crate) fault: Option<&'static str>,
}

/// An event of an answer that is still to be framed, for answers that are not only repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) at_ns: u64,
    pub(crate) body: Vec<u8>,
    pub(crate) content: Content,
}

/// An answer as a list of events: what scripts make and transforms change.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) head_ns: Option<u64>,
    /// None: chunked for event streams, else by length.
    pub(crate) framing: Option<Framing>,
    pub(crate) events: Vec<Event>,
    pub(crate) single_bytes: bool,
    pub(crate) ending: Ending,
    pub(crate) said: Said,
    pub(crate) fault: Option<&'static str>,
}

impl Sheet {
    /// An empty answer with `status`.
    pub(crate) fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            head_ns: None,
            framing: None,
            events: Vec::new(),
            single_bytes: false,
            ending: Ending::Finish,
            said: Said::default(),
            fault: None,
        }
    }

    /// A whole JSON body at once.
    pub(crate) fn json(status: u16, body: impl Into<Vec<u8>>) -> Self {
        let mut sheet = Self::new(status).header("content-type", "application/json");
        sheet.events.push(Event { at_ns: 0, body: body.into(), content: Content::default() });
        sheet
    }

    /// With one header more.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    fn is_event_stream(&self) -> bool {
        self.headers.iter().any(|(name, value)| {
            let streams = || Dialect::all().any(|dialect| value.starts_with(dialect.content_type()));
            name.eq_ignore_ascii_case("content-type") && streams()
        })
    }

    /// Frames the events.
    pub(crate) fn reply(self) -> Reply {
        let length = self.events.iter().map(|event| event.body.len() as u64).sum();
        let default = if self.is_event_stream() { Framing::Chunked } else { Framing::Length(length) };
        let framing = match self.framing.unwrap_or(default) {
            Framing::Length(_) => Framing::Length(length),
            other => other,
        };
        let mut block = Block::default();
        for event in &self.events {
            block.push(framing, &event.body, event.content);
        }
        let block = Arc::new(block);
        let runs = self.events.iter().enumerate();
        Reply {
            status: self.status,
            head_ns: self.head_ns,
            framing,
            runs: runs.map(|(i, event)| Run::once(Arc::clone(&block), event.at_ns, i as u32)).collect(),
            headers: self.headers,
            single_bytes: self.single_bytes,
            ending: self.ending,
            said: self.said,
            fault: self.fault,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_framed_and_lengths_are_counted() {
        let event = |body: &str| Event { at_ns: 7, body: body.into(), content: Content::answer(1) };
        let mut sheet = Sheet::new(200).header("content-type", "text/event-stream");
        sheet.events = vec![event("data: a\n\n"), event("0123456789abcdef")];
        let reply = sheet.clone().reply();
        assert_eq!(reply.framing, Framing::Chunked);
        assert_eq!(reply.runs[0].write(0).0, b"9\r\ndata: a\n\n\r\n");
        assert_eq!(reply.runs[1].write(0).0, b"10\r\n0123456789abcdef\r\n");
        assert_eq!(reply.runs[1].due_ns(0), 7);
        sheet.headers.clear();
        let reply = sheet.reply();
        assert_eq!(reply.framing, Framing::Length(25));
        assert_eq!(reply.runs[0].write(0).0, b"data: a\n\n");
    }

    #[test]
    fn a_run_repeats_its_pieces() {
        let mut block = Block::default();
        for body in ["a", "b", "c"] {
            block.push(Framing::Close, body.as_bytes(), Content::default());
        }
        let run = Run {
            block: Arc::new(block),
            at_ns: 100,
            gap_ns: 2.5,
            first: 1,
            cycle: 2,
            count: 5,
            flood: false,
        };
        let text: Vec<u8> = (0..5).flat_map(|i| run.write(i).0.to_vec()).collect();
        assert_eq!(text, b"bcbcb");
        assert_eq!((0..5).map(|i| run.due_ns(i)).collect::<Vec<_>>(), [100, 102, 105, 107, 110]);
    }
}
