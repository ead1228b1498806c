//! What else was seen in an answer: stable names for the record.

/// Something worth knowing about an answer that is not its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Flag {
    /// The answer ended at its token limit.
    Capped,
    /// The provider's filter ended the answer.
    ContentFiltered,
    /// Each delta repeated the ones before it (W18).
    CumulativeDeltas,
    /// An event, or a whole answer, above [`crate::MAX_EVENT`].
    EventTooLarge,
    /// The finish reason is none that we know (W45).
    FinishUnknown,
    /// Usage counts reasoning tokens of which no text was streamed.
    HiddenReasoning,
    /// Bytes that are not UTF-8, or half surrogates, were replaced in at least one event (W70).
    InvalidUtf8,
    /// Log probabilities came for tokens of the content (W25).
    Logprobs,
    /// Complete, but nothing ever said why the model stopped (W42).
    NoFinishReason,
    /// A stream was asked for, one JSON document came (W53, W54).
    NotStreamed,
    /// Usage counts output tokens, nothing was visible (W26).
    OutputInvisible,
    /// Usage counts reasoning on top of completion tokens (W36).
    ReasoningAdditive,
    /// The content begins with a think tag (W07).
    ThinkTags,
    /// The connection broke after the answer was complete (W76).
    UncleanClose,
    /// Reasoning in a shape that we do not know (W05).
    UnknownReasoningShape,
    /// The last event had no blank line after it (W69).
    UnterminatedEvent,
    /// A part of usage exceeds the whole it is said to be in; the rest was set to 0 (W38).
    UsageClamped,
    /// A usage count that is no count: negative, fractional, text, or above 2^53 (W39).
    UsageInvalid,
    /// A usage count became smaller (W39).
    UsageNonmonotonic,
}

impl Flag {
    /// Every flag, sorted by name.
    pub const ALL: [Flag; 19] = [
        Flag::Capped,
        Flag::ContentFiltered,
        Flag::CumulativeDeltas,
        Flag::EventTooLarge,
        Flag::FinishUnknown,
        Flag::HiddenReasoning,
        Flag::InvalidUtf8,
        Flag::Logprobs,
        Flag::NoFinishReason,
        Flag::NotStreamed,
        Flag::OutputInvisible,
        Flag::ReasoningAdditive,
        Flag::ThinkTags,
        Flag::UncleanClose,
        Flag::UnknownReasoningShape,
        Flag::UnterminatedEvent,
        Flag::UsageClamped,
        Flag::UsageInvalid,
        Flag::UsageNonmonotonic,
    ];

    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Flag::Capped => "capped",
            Flag::ContentFiltered => "content_filtered",
            Flag::CumulativeDeltas => "cumulative_deltas",
            Flag::EventTooLarge => "event_too_large",
            Flag::FinishUnknown => "finish_unknown",
            Flag::HiddenReasoning => "hidden_reasoning",
            Flag::InvalidUtf8 => "invalid_utf8",
            Flag::Logprobs => "logprobs",
            Flag::NoFinishReason => "no_finish_reason",
            Flag::NotStreamed => "not_streamed",
            Flag::OutputInvisible => "output_invisible",
            Flag::ReasoningAdditive => "reasoning_additive",
            Flag::ThinkTags => "think_tags",
            Flag::UncleanClose => "unclean_close",
            Flag::UnknownReasoningShape => "unknown_reasoning_shape",
            Flag::UnterminatedEvent => "unterminated_event",
            Flag::UsageClamped => "usage_clamped",
            Flag::UsageInvalid => "usage_invalid",
            Flag::UsageNonmonotonic => "usage_nonmonotonic",
        }
    }
}

/// A set of [`Flag`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    /// Adds a flag.
    pub fn set(&mut self, flag: Flag) {
        self.0 |= 1 << flag as u8;
    }

    /// Adds a flag where `condition` holds.
    pub fn set_if(&mut self, condition: bool, flag: Flag) {
        if condition {
            self.set(flag);
        }
    }

    /// Whether the flag is set.
    pub const fn contains(self, flag: Flag) -> bool {
        self.0 & (1 << flag as u8) != 0
    }

    /// The flags that are set, sorted by name.
    pub fn iter(self) -> impl Iterator<Item = Flag> {
        Flag::ALL.into_iter().filter(move |flag| self.contains(*flag))
    }

    /// The names of the flags that are set, sorted.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.iter().map(Flag::name)
    }
}

impl FromIterator<Flag> for Flags {
    fn from_iter<I: IntoIterator<Item = Flag>>(flags: I) -> Flags {
        let mut set = Flags::default();
        flags.into_iter().for_each(|flag| set.set(flag));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_complete_sorted_and_distinct() {
        let names: Vec<_> = Flag::ALL.into_iter().collect::<Flags>().names().collect();
        assert_eq!(names.len(), Flag::ALL.len());
        assert!(names.is_sorted());
        assert!(Flag::ALL.into_iter().enumerate().all(|(at, flag)| flag as usize == at));
    }
}
