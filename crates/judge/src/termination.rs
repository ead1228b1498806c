//! Did the answer end as an answer should?

use inferometer_wire::Finish;

use crate::Case;
use crate::evidence::{Head, Tail};
use crate::text::ends_mid_sentence;
use crate::verdict::Finding;

/// v.finish.length, v.finish.missing: stopped by a limit or a filter, or for no reason that we know: there may have
/// been more to say.
pub(crate) fn finish(case: &Case<'_>) -> Option<Finding> {
    match case.answer.finish {
        // An error is a failed answer, which the check of transport has seen.
        Some(Finish::Stop | Finish::ToolCalls | Finish::Error) => None,
        Some(Finish::Length) => Some(capped(case)),
        Some(Finish::ContentFilter) if is_refusal(case) => None,
        Some(Finish::ContentFilter) => Some(Finding::degraded("content_filtered")),
        Some(Finish::Unknown) | None if is_at_limit(case) => Some(capped(case)),
        Some(Finish::Unknown) => Some(Finding::degraded("finish_unknown")),
        None => Some(Finding::degraded("no_finish_reason")),
    }
}

/// The beginning of an answer is worth something where a text was asked for, nothing where a task was set.
fn capped(case: &Case<'_>) -> Finding {
    if case.expect.is_task() { Finding::invalid("capped") } else { Finding::degraded("capped") }
}

/// The server's count reached the limit: where it gives no reason that we know, that may have been the reason.
fn is_at_limit(case: &Case<'_>) -> bool {
    case.expect.max_tokens.zip(case.output_tokens()).is_some_and(|(limit, output)| output >= u64::from(limit))
}

/// v.finish.cap_as_stop: `stop` at the limit, and the text breaks off in mid-sentence. A count at the limit alone
/// proves nothing: the token that ends the text may be in it.
pub(crate) fn cap_as_stop(case: &Case<'_>) -> Option<Finding> {
    let stopped = case.answer.finish == Some(Finish::Stop);
    (stopped && is_at_limit(case) && ends_mid_sentence(case.visible)).then(|| {
        Finding::degraded("cap_as_stop")
            .because(format_args!("at the limit, ends with {}", Tail(case.visible)))
    })
}

/// v.finish.tool_mismatch. Where a tool was forced, `stop` is what OpenAI itself says.
pub(crate) fn tool_mismatch(case: &Case<'_>) -> Option<Finding> {
    let parameters = &case.expect.parameters;
    let calls = case.said.tools.len();
    let differs = match case.answer.finish {
        Some(Finish::ToolCalls) => calls == 0,
        Some(Finish::Stop) => {
            calls > 0 && parameters.tools().next().is_some() && !parameters.is_tool_forced()
        }
        _ => false,
    };
    let reason = case.answer.finish_reason.as_deref().unwrap_or_default();
    differs.then(|| {
        Finding::degraded("finish_tool_mismatch")
            .because(format_args!("{} with {calls} tool calls", Head(reason)))
    })
}

/// v.finish.nonstandard: a name of another interface, which we know but a client may not.
pub(crate) fn nonstandard(case: &Case<'_>) -> Option<Finding> {
    let reason = case.answer.finish_reason.as_deref()?;
    let is_known = case.answer.finish.is_some_and(|finish| finish != Finish::Unknown);
    (is_known && !case.answer.finish_is_own)
        .then(|| Finding::note("finish_nonstandard").because(format_args!("{}", Head(reason))))
}

/// v.stop.leaked: a stop string stands in the output that it should have ended.
pub(crate) fn stop_leaked(case: &Case<'_>) -> Option<Finding> {
    let stops = case.expect.parameters.stops();
    let stop = stops.iter().find(|stop| {
        !stop.is_empty() && memchr::memmem::find(case.visible.as_bytes(), stop.as_bytes()).is_some()
    })?;
    Some(Finding::degraded("stop_leaked").because(format_args!("{}", Head(stop))))
}

/// v.refusal by its channel or its finish reason: certain. With text beside it, there may be some worth in that.
pub(crate) fn refusal(case: &Case<'_>) -> Option<Finding> {
    if !is_refusal(case) {
        return None;
    }
    let words = if case.said.refusal.trim().is_empty() { case.visible } else { &case.said.refusal };
    let has_more = !case.said.refusal.trim().is_empty() && !case.visible.trim().is_empty();
    let found = if has_more { Finding::degraded("refusal") } else { Finding::invalid("refusal") };
    Some(found.because(format_args!("{}", Head(words))))
}

fn is_refusal(case: &Case<'_>) -> bool {
    let by_reason =
        case.answer.finish_reason.as_deref().is_some_and(|raw| raw.eq_ignore_ascii_case("refusal"));
    by_reason || !case.said.refusal.trim().is_empty()
}
