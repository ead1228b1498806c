//! One answer and what was asked for, prepared for the rules.

use inferometer_wire::{Answer, Transcript, Usage};

use crate::Expect;

/// What every rule looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'a> {
    pub(crate) answer: &'a Answer,
    pub(crate) expect: &'a Expect<'a>,
    /// The choice that is judged: the first that says anything besides reasoning, else the first.
    pub(crate) said: &'a Transcript,
    /// Its text without a leading think block.
    pub(crate) visible: &'a str,
}

impl<'a> Case<'a> {
    pub(crate) fn new(answer: &'a Answer, expect: &'a Expect<'a>) -> Self {
        let said = judged(answer);
        Self { answer, expect, said, visible: said.visible() }
    }

    pub(crate) fn usage(&self) -> Option<&'a Usage> {
        self.answer.usage.as_ref()
    }

    /// What the server counted as output, reasoning included.
    pub(crate) fn output_tokens(&self) -> Option<u64> {
        self.usage()?.output
    }

    /// Whether any choice reasoned, by its text or by the server's count.
    pub(crate) fn reasoned(&self) -> bool {
        let counted = self.usage().and_then(|usage| usage.reasoning).is_some_and(|tokens| tokens > 0);
        let said = self.answer.transcripts().any(|said| !said.reasoning.trim().is_empty());
        counted || said || self.answer.flags.contains(inferometer_wire::Flag::ThinkTags)
    }

    /// Whether no choice says anything besides reasoning.
    pub(crate) fn is_answerless(&self) -> bool {
        self.answer.transcripts().all(Transcript::is_answerless)
    }
}

/// The choice of an answer that is judged and graded.
pub(crate) fn judged(answer: &Answer) -> &Transcript {
    answer.transcripts().find(|said| !said.is_answerless()).unwrap_or(&answer.transcript)
}
