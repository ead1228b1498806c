//! A finished answer: how it ended, what it said, what the server counted.

use serde_json::value::RawValue;

use crate::finish::Finish;
use crate::flags::Flags;
use crate::logprobs::Spelling;
use crate::meter::EventTokens;
use crate::usage::Usage;
use crate::vectors::Vectors;

/// How the bytes came to their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The body ended as HTTP says it should.
    Eof,
    /// The connection was lost, or the body's framing broke.
    Broken,
    /// We stopped reading.
    Cut,
}

/// How far an answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// Nothing says yet that it is complete.
    Open,
    /// Every choice that was seen has a finish reason; usage may follow.
    Finished,
    /// `[DONE]`, an error event, a whole JSON answer, or as much of an error body as is kept: nothing to wait for.
    Done,
}

/// How an answer ended. Messages are at most [`crate::MAX_MESSAGE`] bytes; secrets are removed by the caller, who knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Complete, whatever it is worth.
    Complete,
    /// A status other than 2xx.
    HttpError {
        /// The server's code, from the body.
        code: Option<String>,
        /// The server's words.
        message: Option<String>,
    },
    /// An error inside a 2xx answer.
    StreamError {
        /// The server's code; `not_a_stream` where an error document without one came in place of a stream.
        code: Option<String>,
        /// The server's words.
        message: Option<String>,
    },
    /// A clean end with nothing that says the answer is complete.
    Truncated,
    /// Bytes that are no answer in this dialect.
    Protocol {
        /// `malformed_event`, `event_too_large`, `answer_too_large`, `bad_crc`, `bad_frame`, `finish_changed`, `not_a_stream`, `not_an_answer`, `ndjson`.
        code: &'static str,
        /// What was found.
        message: String,
    },
    /// The connection was lost before the answer was complete.
    Broken,
    /// We stopped reading before the answer was complete.
    Cut,
}

/// One tool call, put together from its pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The server's id of the call; empty where it gave none.
    pub id: String,
    /// The function's name.
    pub name: String,
    /// The arguments as they came, usually JSON text.
    pub arguments: String,
}

/// What one choice of an answer said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// Visible text, think tags included.
    pub content: String,
    /// Reasoning text that came on its own channel.
    pub reasoning: String,
    /// The text of a refusal.
    pub refusal: String,
    /// Tool calls, in the order in which they were opened.
    pub tools: Vec<ToolCall>,
    /// What was said in audio: its transcript.
    pub audio: String,
    /// Whether audio data came.
    pub has_audio: bool,
    /// What the log probabilities of the content spell: those that came with reasoning, a tool call or a refusal alone
    /// are left out.
    pub spelling: Spelling,
}

impl Transcript {
    /// The content without a leading `<think>…</think>`; empty while that block is open.
    pub fn visible(&self) -> &str {
        crate::think::after_block(&self.content)
    }

    /// Whether nothing that could be read or used came, reasoning apart.
    pub fn is_answerless(&self) -> bool {
        self.visible().trim().is_empty()
            && self.refusal.trim().is_empty()
            && self.tools.is_empty()
            && self.audio.is_empty()
            && !self.has_audio
    }
}

/// One answer, after its end.
#[derive(Clone, Debug)]
pub struct Answer {
    /// How it ended.
    pub outcome: Outcome,
    /// The raw finish reason of the first choice.
    pub finish_reason: Option<String>,
    /// What that reason means.
    pub finish: Option<Finish>,
    /// Whether the dialect's own documentation knows that reason.
    pub finish_is_own: bool,
    /// What the server counted.
    pub usage: Option<Usage>,
    /// What the first choice (the lowest index) said.
    pub transcript: Transcript,
    /// What further choices said, by index.
    pub others: Vec<Transcript>,
    /// What the answer consists of where it is no text.
    pub vectors: Option<Vectors>,
    /// The model that the server says it used.
    pub model: Option<String>,
    /// The server's id of the answer.
    pub id: Option<String>,
    /// The server's own timings as they came (`timings`, `x_groq`, `nvext`, `time_info`): for comparison only.
    pub server_timing: Option<Box<RawValue>>,
    /// Whether it came as events. A whole JSON answer has no output events and so no first token.
    pub streamed: bool,
    /// Where [`crate::Output::tokens`] comes from; absent where no event told its tokens.
    pub event_tokens: Option<EventTokens>,
    /// Comments, pings and empty events.
    pub keepalives: u64,
    /// Events that could not be read.
    pub malformed: u64,
    /// Events after the end, not read.
    pub ignored: u64,
    /// What else was seen.
    pub flags: Flags,
}

impl Answer {
    /// The transcripts of all choices.
    pub fn transcripts(&self) -> impl Iterator<Item = &Transcript> {
        std::iter::once(&self.transcript).chain(&self.others)
    }
}
