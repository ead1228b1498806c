//! Is there an answer in the answer, and is it readable?

use inferometer_wire::Flag;

use crate::Case;
use crate::evidence::{Head, Tail};
use crate::verdict::Finding;

/// Shortest prompt whose repetition at the beginning of an answer is no chance and no quotation, in characters.
const ECHO_CHARS_MIN: usize = 40;

/// Beginnings of a conversation's template.
const TEMPLATES: [&str; 6] =
    ["### Instruction:", "### System:", "<<SYS>>", "SYSTEM:", "system\n", "You are a helpful assistant."];

/// Phrases with which models refuse, in the languages that we know them in; all in lower case.
const REFUSALS: [&str; 8] = [
    "i can't assist with",
    "i cannot assist with",
    "i can't help with that",
    "i cannot help with that",
    "i'm sorry, but i can't",
    "i'm sorry, but i cannot",
    "i am unable to assist",
    "i'm unable to assist",
];

/// Where a refusal says so, in characters from the beginning.
const REFUSAL_WITHIN: usize = 200;

/// v.content.empty, v.content.reasoning_only: no choice holds visible text, a tool call, a refusal or audio. Names the
/// nearest cause; where reasoning used up the limit, `capped` stands beside it.
pub(crate) fn empty(case: &Case<'_>) -> Option<Finding> {
    if !case.is_answerless() {
        return None;
    }
    let has_white_space = case.answer.transcripts().any(|said| !said.visible().is_empty());
    Some(Finding::invalid(match () {
        () if case.reasoned() => "reasoning_only",
        () if has_white_space => "whitespace_only",
        () => "empty",
    }))
}

/// v.content.tokens_vanished: the server counted output of which nothing could be seen. What it counts as hidden
/// reasoning has not vanished.
pub(crate) fn invisible(case: &Case<'_>) -> Option<Finding> {
    let is_hidden = case.answer.flags.contains(Flag::HiddenReasoning);
    (case.answer.flags.contains(Flag::OutputInvisible) && !is_hidden)
        .then_some(Finding::invalid("output_invisible"))
}

/// v.utf8.replacement: a replacement character that the prompt does not hold, where the bytes were sound. At the end
/// of a capped answer it is a character that the limit cut.
pub(crate) fn replacement(case: &Case<'_>) -> Option<Finding> {
    let is_capped = case.answer.flags.contains(Flag::Capped);
    let text = if is_capped { case.visible.trim_end_matches('\u{FFFD}') } else { case.visible };
    let at = text.find('\u{FFFD}')?;
    if case.answer.flags.contains(Flag::InvalidUtf8) || case.expect.prompt.contains('\u{FFFD}') {
        return None;
    }
    let before = Tail(text.get(..at).unwrap_or_default());
    Some(Finding::degraded("replacement_character").because(format_args!("after {before}")))
}

/// v.prompt_echo: the answer begins with the whole prompt, or with a piece of a template that the prompt does not hold.
pub(crate) fn prompt_echo(case: &Case<'_>) -> Option<Finding> {
    let (prompt, visible) = (case.expect.prompt.trim(), case.visible.trim_start());
    let is_long = prompt.chars().nth(ECHO_CHARS_MIN).is_some();
    let template = TEMPLATES.iter().any(|mark| visible.starts_with(mark) && !prompt.contains(mark));
    (template || is_long && visible.starts_with(prompt))
        .then(|| Finding::degraded("prompt_echo").because(format_args!("begins with {}", Head(visible))))
}

/// v.refusal by its words: a guess, so that it is noted and nothing more.
pub(crate) fn refusal_phrase(case: &Case<'_>) -> Option<Finding> {
    let beginning: String = case.visible.chars().take(REFUSAL_WITHIN).collect();
    let beginning = beginning.to_lowercase().replace('’', "'");
    REFUSALS
        .iter()
        .any(|phrase| beginning.contains(phrase))
        .then(|| Finding::note("refusal_phrase").because(format_args!("{}", Head(&beginning))))
}
