//! What the caller learns of a stream while it flows.

/// One thing seen in a stream, in stream order. Whoever fed the bytes stamps it with the time of their read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An output event: it carried at least one non-empty piece of model output.
    Output(Output),
    /// Reasoning that cannot be read (encrypted, signed): no output event, but a sign of work.
    Opaque,
    /// A comment, a ping or an empty event: resets an idle timeout, is never a token.
    KeepAlive,
}

/// What one output event carried, over all its choices and channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Whether it carries anything that is not reasoning: content, a tool call, a refusal, audio.
    pub answer: bool,
    /// Whether it carries a piece of a tool call: its tokens do not follow from its characters (W13).
    pub tool: bool,
    /// Unicode scalar values of new output, all channels.
    pub chars: u32,
    /// Its tokens where the server tells: the difference of running usage, else the length of the logprobs.
    /// [`crate::Answer::event_tokens`] says which of the two; one stream never mixes them.
    pub tokens: Option<u32>,
}
