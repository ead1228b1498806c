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

/// Words of a model's name that say how it is served, not which it is.
const SERVED_AS: [&str; 9] = ["latest", "instruct", "chat", "it", "hf", "fp8", "fp16", "bf16", "int8"];

/// v.model.echo: another model answers than was asked for. Vendor prefixes, dates and variants are no difference, and a
/// file's name is no model's.
pub(crate) fn model(case: &Case<'_>) -> Option<Finding> {
    let (asked, echoed) = (case.expect.model, case.answer.model.as_deref()?);
    let (wanted, given) = (name_parts(asked), name_parts(echoed));
    let ending = echoed.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_file = echoed.starts_with('/') || ending.eq_ignore_ascii_case("gguf");
    // The newest of a family has a number that was not asked for.
    let is_newest = asked.ends_with("latest") && given.starts_with(&wanted);
    if wanted.is_empty() || given.is_empty() || wanted == given || is_file || is_newest {
        return None;
    }
    let (asked, echoed) = (Head(asked), Head(echoed));
    Some(Finding::note("model_differs").because(format_args!("asked for {asked}, answered by {echoed}")))
}

/// Whether two names are one model's, as servers echo it: vendor prefixes, dates and variants are no difference. A name
/// of nothing else differs from none.
pub fn is_same_model(one: &str, other: &str) -> bool {
    let (one, other) = (name_parts(one), name_parts(other));
    one.is_empty() || other.is_empty() || one == other
}

/// A model's name in lower-case words, without path, variant, date and what says only how it is served:
/// `Org/Model-4.1-Instruct-2025-04-14:free` is `model 4 1`.
fn name_parts(name: &str) -> Vec<String> {
    let name = name.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.split([':', '@']).next().unwrap_or_default().to_lowercase();
    let mut parts: Vec<String> = Vec::new();
    let mut of_date = 0;
    for part in name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
        let is_digits = part.bytes().all(|byte| byte.is_ascii_digit());
        if is_digits && part.len() >= 4 {
            // A year: month and day may follow.
            of_date = 2;
        } else if is_digits && part.len() == 2 && of_date > 0 {
            of_date -= 1;
        } else if !SERVED_AS.contains(&part) {
            of_date = 0;
            parts.push(part.to_owned());
        }
    }
    parts
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
