//! A body that is one JSON document: kept until its last bracket closes.

use crate::sse::MAX_EVENT;

/// A JSON document on its way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whole {
    bytes: Vec<u8>,
    depth: usize,
    in_string: bool,
    after_backslash: bool,
}

/// How far a document has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    Complete,
    TooLarge,
}

impl Whole {
    /// Takes the next bytes, up to the document's end. Its first byte is a bracket.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> State {
        let end = bytes.iter().position(|byte| self.closes(*byte));
        let taken = end.map_or(bytes, |end| &bytes[..=end]);
        if self.bytes.len() + taken.len() > MAX_EVENT {
            self.bytes = Vec::new();
            return State::TooLarge;
        }
        self.bytes.extend_from_slice(taken);
        if end.is_some() { State::Complete } else { State::Open }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether this byte closes the document's outermost bracket.
    fn closes(&mut self, byte: u8) -> bool {
        if self.in_string {
            let escaped = std::mem::take(&mut self.after_backslash);
            self.after_backslash = byte == b'\\' && !escaped;
            self.in_string = byte != b'"' || escaped;
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_at_the_last_bracket_in_any_cut() {
        for (text, document) in [
            (r#"{"a":[1,{"b":"}]\"}\\"}]} trailing"#, Some(r#"{"a":[1,{"b":"}]\"}\\"}]}"#)),
            ("[]", Some("[]")),
            (r#"{"a":"}"#, None),
        ] {
            let mut whole = Whole::default();
            let ended = text.as_bytes().iter().any(|byte| whole.feed(&[*byte]) == State::Complete);
            assert_eq!(ended.then_some(whole.bytes()), document.map(str::as_bytes), "{text}");
            let mut at_once = Whole::default();
            assert_eq!(at_once.feed(text.as_bytes()) == State::Complete, ended);
        }
    }
}
