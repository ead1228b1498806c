//! The JSON of one event, or of a whole answer, in either dialect: typed, borrowed from the event's bytes.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::few::Few;
use crate::loose::Loose;

/// One event's JSON object. Every field may be missing or of another shape.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Chunk<'a> {
    #[serde(borrow)]
    pub(crate) id: Loose<'a>,
    #[serde(borrow)]
    pub(crate) model: Loose<'a>,
    #[serde(borrow)]
    pub(crate) object: Loose<'a>,
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Loose<'a>,
    #[serde(borrow)]
    pub(crate) code: Loose<'a>,
    #[serde(borrow)]
    pub(crate) message: Loose<'a>,
    /// Absent and null are told apart from the empty list by nobody: a usage chunk may have either (W27, W28).
    #[serde(borrow)]
    pub(crate) choices: Few<Choice<'a>>,
    #[serde(borrow)]
    pub(crate) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) detail: Option<&'a RawValue>,
    /// llama.cpp's own times.
    #[serde(borrow)]
    pub(crate) timings: Option<&'a RawValue>,
    /// Groq's extension: usage and times.
    #[serde(borrow)]
    pub(crate) x_groq: Option<&'a RawValue>,
    /// NVIDIA Dynamo's extension.
    #[serde(borrow)]
    pub(crate) nvext: Option<&'a RawValue>,
    /// Cerebras's times.
    #[serde(borrow)]
    pub(crate) time_info: Option<&'a RawValue>,
}

/// One choice of an event or of a whole answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Choice<'a> {
    #[serde(borrow)]
    pub(crate) index: Loose<'a>,
    #[serde(borrow)]
    pub(crate) delta: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(crate) message: Option<Box<Delta<'a>>>,
    #[serde(borrow)]
    pub(crate) text: Loose<'a>,
    #[serde(borrow)]
    pub(crate) finish_reason: Loose<'a>,
    #[serde(borrow)]
    pub(crate) logprobs: Option<&'a RawValue>,
}

/// What a chat choice adds: a delta, or in a whole answer the message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Delta<'a> {
    #[serde(borrow)]
    pub(crate) content: Loose<'a>,
    #[serde(borrow)]
    pub(crate) reasoning_content: Loose<'a>,
    #[serde(borrow)]
    pub(crate) reasoning: Loose<'a>,
    #[serde(borrow)]
    pub(crate) reasoning_details: Loose<'a>,
    #[serde(borrow)]
    pub(crate) refusal: Loose<'a>,
    #[serde(borrow)]
    pub(crate) tool_calls: Few<Box<ToolDelta<'a>>>,
    #[serde(borrow)]
    pub(crate) function_call: Option<Box<FunctionDelta<'a>>>,
    #[serde(borrow)]
    pub(crate) audio: Loose<'a>,
}

/// A piece of a tool call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ToolDelta<'a> {
    #[serde(borrow)]
    pub(crate) index: Loose<'a>,
    #[serde(borrow)]
    pub(crate) id: Loose<'a>,
    #[serde(borrow)]
    pub(crate) function: Option<FunctionDelta<'a>>,
}

/// A piece of a function call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FunctionDelta<'a> {
    #[serde(borrow)]
    pub(crate) name: Loose<'a>,
    #[serde(borrow)]
    pub(crate) arguments: Loose<'a>,
}
