//! Is there an answer in the answer?

use inferometer_wire::{Answer, Flag, Transcript};

use crate::{Expect, Finding};

/// No choice holds visible text, a tool call, a refusal or audio. Names the nearest cause; where reasoning used up the
/// limit, `capped` stands beside it.
pub(crate) fn empty(answer: &Answer, _: &Expect) -> Option<Finding> {
    if !answer.transcripts().all(Transcript::is_answerless) {
        return None;
    }
    let has_white_space = answer.transcripts().any(|said| !said.visible().is_empty());
    Some(Finding::invalid(match () {
        () if reasoned(answer) => "reasoning_only",
        () if has_white_space => "whitespace_only",
        () => "empty",
    }))
}

/// The server counted output of which nothing could be seen.
pub(crate) fn invisible(answer: &Answer, _: &Expect) -> Option<Finding> {
    answer.flags.contains(Flag::OutputInvisible).then_some(Finding::invalid("output_invisible"))
}

fn reasoned(answer: &Answer) -> bool {
    let counted = answer.usage.as_ref().and_then(|usage| usage.reasoning).is_some_and(|tokens| tokens > 0);
    let said = answer.transcripts().any(|said| !said.reasoning.trim().is_empty());
    counted || said || answer.flags.contains(Flag::ThinkTags)
}
