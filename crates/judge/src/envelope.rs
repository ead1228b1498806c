//! Is the envelope sound: bytes, deltas, the model's name, the counts?

use inferometer_wire::{Flag, Identity};

use crate::Case;
use crate::evidence::Head;
use crate::verdict::Finding;

/// Tokenizers differ by this factor at most, over languages and code: beyond it, one of two counts is wrong.
const TOKENIZERS_DIFFER: u64 = 3;

/// Tokens that a count may be off by, whatever the factor: stop tokens, the syntax of tool calls.
const TOKENS_OFF: u64 = 32;

/// v.http200.no_delta: a stream that carried nothing on any channel and never said that it had ended. One that stops
/// at its first token has a finish reason.
pub(crate) fn no_delta(case: &Case<'_>) -> Option<Finding> {
    let answer = case.answer;
    let is_silent = case.is_answerless()
        && answer.transcripts().all(|said| said.content.is_empty() && said.reasoning.is_empty());
    (answer.streamed && is_silent && answer.finish.is_none()).then_some(Finding::invalid("no_delta"))
}

/// v.utf8.wire: found after joining the bytes of all reads, so that a character cut by a read is none.
pub(crate) fn bytes(case: &Case<'_>) -> Option<Finding> {
    case.answer.flags.contains(Flag::InvalidUtf8).then_some(Finding::degraded("invalid_utf8"))
}

/// v.model.echo: another model answers than was asked for. Vendor prefixes, dates and variants are no difference.
pub(crate) fn model(case: &Case<'_>) -> Option<Finding> {
    let echoed = case.answer.model.as_deref()?;
    let (asked, echo) = (base_name(case.expect.model), base_name(echoed));
    if asked.is_empty() || echo.is_empty() || asked.starts_with(&echo) || echo.starts_with(&asked) {
        return None;
    }
    let (asked, echo) = (Head(case.expect.model), Head(echoed));
    Some(Finding::note("model_differs").because(format_args!("asked for {asked}, answered by {echo}")))
}

/// A model's name without path, variant and punctuation, in lower case: `Org/Model-4.1:free` is `model41`.
fn base_name(name: &str) -> String {
    let name = name.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.split([':', '@']).next().unwrap_or_default();
    let name = name.strip_suffix(".gguf").unwrap_or(name);
    let name = name.strip_suffix("-latest").unwrap_or(name);
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// v.usage.arith: the stated total is no sum of the parts.
pub(crate) fn arithmetic(case: &Case<'_>) -> Option<Finding> {
    let usage = case.usage()?;
    let known = usage.input.is_some() && usage.output.is_some();
    (known && usage.identity == Identity::Unknown)
        .then(|| Finding::note("usage_arithmetic").because(format_args!("{}", Head(usage.verbatim.get()))))
}

/// v.usage.mismatch: what was said is far more, or far less, than what was counted. Reasoning may be hidden, so that
/// less is only told where none can be.
pub(crate) fn mismatch(case: &Case<'_>) -> Option<Finding> {
    let (counted, stated) = case.expect.counted_output.zip(case.output_tokens())?;
    let far_above = |a: u64, b: u64| a > b.saturating_mul(TOKENIZERS_DIFFER).saturating_add(TOKENS_OFF);
    let is_too_few = far_above(counted, stated);
    let is_too_many = far_above(stated, counted) && !case.reasoned() && counted > 0;
    (is_too_few || is_too_many).then(|| {
        Finding::note("usage_mismatch")
            .because(format_args!("{stated} output tokens stated, {counted} counted by us"))
    })
}

/// v.cap.exceeded: more output than was asked for. Reasoning may stand outside the limit, and one token ends the text.
pub(crate) fn beyond_cap(case: &Case<'_>) -> Option<Finding> {
    let visible = case.usage()?.normal().output_visible?;
    let cap = u64::from(case.expect.max_tokens?);
    (visible > cap + 1)
        .then(|| Finding::note("cap_exceeded").because(format_args!("{visible} tokens, {cap} asked for")))
}
