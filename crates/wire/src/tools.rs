//! Tool calls, put together from pieces whose index and id may be missing or collide (W11 to W13).

use crate::answer::ToolCall;
use crate::chunk::ToolDelta;
use crate::error;

/// Most calls that are kept apart in one choice; pieces of further ones join the last.
const MAX_CALLS: usize = 1024;

/// The calls of one choice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tools {
    calls: Vec<ToolCall>,
    /// The index that opened each call.
    indices: Vec<Option<u64>>,
}

impl Tools {
    /// Adds a piece; returns the characters that are new output.
    pub(crate) fn add(&mut self, piece: ToolDelta<'_>) -> usize {
        let Some(function) = piece.function else { return 0 };
        let name = function.name.into_text();
        let arguments = function.arguments.into_text_or_json();
        if name.is_empty() && arguments.is_empty() && piece.id.text().is_empty() {
            return 0;
        }
        let at = self.place(piece.index.as_u64(), piece.id.text());
        let Some(call) = self.calls.get_mut(at) else { return 0 };
        let mut chars = 0;
        // Some servers repeat the name in every piece, others cut it into pieces.
        if call.name != *name {
            call.name.push_str(&name);
            chars += name.chars().count();
        }
        call.arguments.push_str(&arguments);
        chars + arguments.chars().count()
    }

    /// Calls that carry something.
    pub(crate) fn into_calls(self) -> Vec<ToolCall> {
        self.calls.into_iter().filter(|call| !call.name.is_empty() || !call.arguments.is_empty()).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Which call a piece belongs to: by id, else by index, else the last one opened.
    fn place(&mut self, index: Option<u64>, id: &str) -> usize {
        let by_index = index.and_then(|_| self.indices.iter().rposition(|known| *known == index));
        let found = if id.is_empty() {
            by_index.or(if index.is_none() { self.calls.len().checked_sub(1) } else { None })
        } else {
            let id = error::label(id);
            let by_id = self.calls.iter().rposition(|call| call.id == id);
            by_id.or(by_index.filter(|at| self.calls.get(*at).is_some_and(|call| call.id.is_empty())))
        };
        let at = found.unwrap_or_else(|| self.open(index));
        if let Some(call) = self.calls.get_mut(at).filter(|call| call.id.is_empty()) {
            call.id.push_str(error::label(id));
        }
        at
    }

    fn open(&mut self, index: Option<u64>) -> usize {
        if self.calls.len() < MAX_CALLS {
            self.calls.push(ToolCall::default());
            self.indices.push(index);
        }
        self.calls.len() - 1
    }
}
