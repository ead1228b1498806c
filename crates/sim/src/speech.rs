//! What a model says, token by token.

use crate::chunk::escaped;

/// The text of an answer that says nothing, a token a word, over and over.
const WORDS: [&str; 32] = [
    " north", " by", " west", " lies", " the", " old", " harbour", ",", " where", " small", " boats",
    " wait", " for", " wind", " and", " tide", ".", " Each", " morning", " the", " pilot", " reads", " his",
    " charts", ",", " counts", " the", " buoys", " and", " sets", " out", ".",
];

/// Pieces of text of one kind, before they repeat.
pub(crate) const VARIANTS: u32 = WORDS.len() as u32;

/// The `i`th word of an answer that says nothing.
pub(crate) fn word(i: u32) -> &'static str {
    WORDS.get((i % VARIANTS) as usize).copied().unwrap_or_default()
}

/// What is said on one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// So many words that say nothing.
    Salad(u32),
    /// Pieces of a text or of a tool call.
    Said(Vec<Piece>),
}

/// A piece of an answer that is not divided any further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) kind: PieceKind,
    /// As it stands in a JSON string.
    pub(crate) text: String,
    pub(crate) tokens: u32,
}

/// What a piece is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// The visible text.
    Content,
    /// A tool call's name, with which it opens.
    Call,
    /// A tool call's arguments.
    Arguments,
}

impl Piece {
    pub(crate) fn content(text: &str, tokens: u32) -> Self {
        Self { kind: PieceKind::Content, text: escaped(text), tokens }
    }

    pub(crate) fn arguments(text: &str, tokens: u32) -> Self {
        Self { kind: PieceKind::Arguments, text: escaped(text), tokens }
    }

    pub(crate) fn call(name: &str, tokens: u32) -> Self {
        Self { kind: PieceKind::Call, text: escaped(name), tokens: tokens.max(1) }
    }
}

impl Words {
    pub(crate) const NONE: Self = Self::Salad(0);

    /// The pieces that `make` makes of parts of a text.
    pub(crate) fn of(parts: Vec<(&str, u32)>, make: fn(&str, u32) -> Piece) -> Self {
        Self::Said(parts.into_iter().map(|(text, tokens)| make(text, tokens)).collect())
    }

    /// The same behind `piece`.
    pub(crate) fn after(self, piece: Piece) -> Self {
        match self {
            Self::Salad(_) => Self::Said(vec![piece]),
            Self::Said(pieces) => Self::Said([vec![piece], pieces].concat()),
        }
    }

    pub(crate) fn tokens(&self) -> u32 {
        match self {
            Self::Salad(tokens) => *tokens,
            Self::Said(pieces) => pieces.iter().map(|piece| piece.tokens).sum(),
        }
    }

    /// What fits into `tokens` tokens, and the rest.
    pub(crate) fn split(&self, tokens: u32) -> (Self, Self) {
        match self {
            Self::Salad(all) => (Self::Salad((*all).min(tokens)), Self::Salad(all.saturating_sub(tokens))),
            Self::Said(pieces) => {
                let mut room = tokens;
                let fits = pieces.iter().take_while(|piece| {
                    let left = room.checked_sub(piece.tokens);
                    room = left.unwrap_or(0);
                    left.is_some()
                });
                let (head, tail) = pieces.split_at(fits.count());
                (Self::Said(head.to_vec()), Self::Said(tail.to_vec()))
            }
        }
    }

    /// The text of the pieces of one kind; of words that say nothing, the words.
    pub(crate) fn text(&self, kind: PieceKind) -> String {
        match self {
            Self::Salad(tokens) if kind == PieceKind::Content => (0..*tokens).map(word).collect(),
            Self::Salad(_) => String::new(),
            Self::Said(pieces) => {
                pieces.iter().filter(|piece| piece.kind == kind).map(|piece| piece.text.as_str()).collect()
            }
        }
    }

    /// Whether a tool is called.
    pub(crate) fn has_call(&self) -> bool {
        matches!(self, Self::Said(pieces) if pieces.iter().any(|piece| piece.kind == PieceKind::Call))
    }
}

/// `pieces` joined to events of at least `tokens` tokens each, as far as they are of one kind.
pub(crate) fn joined(pieces: &[Piece], tokens: u32) -> Vec<Piece> {
    let mut events: Vec<Piece> = Vec::new();
    for piece in pieces {
        match events.last_mut() {
            Some(last) if last.kind == piece.kind && last.kind != PieceKind::Call && last.tokens < tokens => {
                last.text.push_str(&piece.text);
                last.tokens += piece.tokens;
            }
            _ => events.push(piece.clone()),
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(parts: &[(&str, u32)]) -> Words {
        Words::of(parts.to_vec(), Piece::content)
    }

    #[test]
    fn what_does_not_fit_is_left_whole() {
        let words = said(&[("a", 1), ("é", 2), ("b", 1)]);
        let (head, tail) = words.split(2);
        assert_eq!((head, tail), (said(&[("a", 1)]), said(&[("é", 2), ("b", 1)])));
        assert_eq!(words.tokens(), 4);
        assert_eq!(Words::Salad(5).split(2), (Words::Salad(2), Words::Salad(3)));
        assert_eq!(Words::Salad(2).text(PieceKind::Content), " north by");
    }

    #[test]
    fn events_have_their_tokens_and_one_kind() {
        let call = said(&[]).after(Piece::call("f", 1));
        let Words::Said(mut pieces) = call else { panic!("pieces") };
        for text in ["{\"", "a", "\":1}"] {
            pieces.push(Piece::arguments(text, 1));
        }
        let events: Vec<_> = joined(&pieces, 2).into_iter().map(|piece| (piece.text, piece.tokens)).collect();
        assert_eq!(events, [("f".into(), 1), ("{\\\"a".into(), 2), ("\\\":1}".into(), 1)]);
        let words = Words::Said(pieces);
        assert!(words.has_call());
        assert_eq!(words.text(PieceKind::Arguments), "{\\\"a\\\":1}");
    }
}
