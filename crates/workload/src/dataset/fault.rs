//! What can be wrong with a dataset, and what would be right.

use std::io;

/// A fault and the line it was found on.
#[derive(Debug)]
pub(crate) struct Problem {
    /// From 1.
    pub(crate) line: u64,
    pub(crate) fault: Fault,
}

impl Problem {
    pub(crate) fn new(line: u64, fault: impl Into<Fault>) -> Self {
        Self { line, fault: fault.into() }
    }
}

/// What is wrong with a dataset where it was read, and what would be right.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// `prompt` and `messages`, or `conversations`, at once.
    #[error("more than one of prompt, messages and conversations: keep one")]
    Ambiguous,
    /// `check` and `checks` at once.
    #[error("both check and checks: keep one")]
    AmbiguousCheck,
    /// `max_tokens` and `output_tokens` differ.
    #[error("max_tokens and output_tokens differ: keep one")]
    AmbiguousLimit,
    /// A token limit of 0 or beyond 32 bits.
    #[error("a token limit of {0}: write a whole number from 1 to 4294967295")]
    BadLimit(u64),
    /// An id that is not a short string or a number.
    #[error("id must be a number or a string of 1 to 128 bytes")]
    BadId,
    /// A message that is not one.
    #[error("message {nth} {why}: write {{\"role\": \"user\", \"content\": \"…\"}}")]
    BadMessage {
        /// Which of the messages, from 1.
        nth: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A field of the request that no server would take.
    #[error("{name} must be {wanted}, as in a chat request")]
    BadParameter {
        /// The field.
        name: &'static str,
        /// What it must be.
        wanted: &'static str,
    },
    /// A check that is one, but whose expression or schema is none.
    #[error("the check cannot run: {0}")]
    CheckCannotRun(String),
    /// `prompt` is an empty string or `messages` an empty list.
    #[error("{0} is empty: there is nothing to ask")]
    EmptyPrompt(&'static str),
    /// Reading failed.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// Two elements of an array without a comma.
    #[error("a comma or ] is missing after the last element")]
    NoComma,
    /// `check` or `checks` is no check.
    #[error(
        "no check: {0}; write \"not_empty\", {{\"equals\": \"…\"}}, {{\"contains\": \"…\"}}, {{\"regex\": \"…\"}}, \
         {{\"number\": {{\"value\": 3}}}}, {{\"json_schema\": {{…}}}}, {{\"tool_call\": {{\"name\": \"…\"}}}}, \
         {{\"language\": \"en\"}}, {{\"max_length\": 500}}, {{\"all\": […]}} or {{\"any\": […]}}"
    )]
    NotACheck(String),
    /// `messages` is not a list of objects, or a field of one has the wrong type.
    #[error("messages must be a list of objects such as {{\"role\": \"user\", \"content\": \"…\"}} ({0})")]
    NotMessages(String),
    /// None of the fields that hold a prompt.
    #[error(
        "no prompt: write {{\"prompt\": \"…\"}}, {{\"messages\": [{{\"role\": \"user\", \"content\": \"…\"}}]}}, or \
         ShareGPT's {{\"conversations\": [{{\"from\": \"human\", \"value\": \"…\"}}]}}"
    )]
    NoPrompt,
    /// An element of the array is a number, a string, a list.
    #[error("each element must be an object, as in [{{\"prompt\": \"…\"}}, …]")]
    NotAnObject,
    /// Not JSON, or a field of the wrong type.
    #[error(
        "{0}: each line (or each element of one JSON array) must be an object such as {{\"prompt\": \"…\"}}"
    )]
    NotJson(String),
    /// A file that is known to hold no UTF-8 text.
    #[error("this is {0}: give UTF-8 text, JSONL or a JSON array")]
    NotText(&'static str),
    /// Bytes that are not UTF-8.
    #[error("not UTF-8 at byte {at} of the line: save the file as UTF-8")]
    NotUtf8 {
        /// Offset from the element's start, from 1.
        at: usize,
    },
    /// An element beyond the limit.
    #[error("larger than {bytes_max} bytes: split it, or leave it out")]
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// The file ends before the array does.
    #[error("the file ends inside the array: it may have been cut off")]
    Unfinished,
}
