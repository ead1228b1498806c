//! Time per output token: tokens of a stream, those of its first event, and the time between.

use inferometer_record::{Sample, Status, TokensSource};

use super::{Stamped, flag, has_flag};

/// tpot = (last − first) / (N − k₁) of an ok stream. N: tokens of the streamed output events. k₁: tokens of the first
/// of them, from the same source. Null where N is unknown, N − k₁ ≤ 0, fewer than two distinct stamps, or coalesced.
pub(super) fn fill(sample: &mut Sample, events: &[Stamped]) {
    if sample.status != Status::Ok {
        return;
    }
    if sample.output_tokens.is_none() && sample.counted_output_tokens.is_some() {
        sample.tokens_source = TokensSource::Estimated;
        flag(sample, "tokens_estimated");
    }
    let Some(n) = streamed_tokens(sample) else { return };
    let visible = visible_events(sample, events);
    let Some((k1, estimated)) = first_tokens(sample, visible, n) else { return };
    sample.first_chunk_tokens = Some(k1);
    if estimated {
        flag(sample, "first_chunk_estimated");
    }
    if has_flag(sample, "coalesced") || has_flag(sample, "not_streamed") {
        return;
    }
    let span = match visible {
        [first, .., last] => last.at_ns.saturating_sub(first.at_ns),
        _ => 0,
    };
    let after_first = n.saturating_sub(k1);
    if span > 0 && after_first > 0 {
        sample.tpot_ms = Some(span as f64 / 1e6 / after_first as f64);
    }
}

/// N: the reported output, less reasoning that was never streamed; the tokenizer's count where nothing was reported.
pub(crate) fn streamed_tokens(sample: &Sample) -> Option<u64> {
    match sample.output_tokens {
        None => sample.counted_output_tokens,
        Some(reported) if has_flag(sample, "hidden_reasoning") => {
            reported.checked_sub(sample.reasoning_tokens?)
        }
        Some(reported) => Some(reported),
    }
}

/// The events that carry the N tokens. Where reasoning was hidden, the stream begins with its answer.
fn visible_events<'a>(sample: &Sample, events: &'a [Stamped]) -> &'a [Stamped] {
    if !has_flag(sample, "hidden_reasoning") {
        return events;
    }
    let first = events.iter().position(|event| event.answer).unwrap_or(events.len());
    events.get(first..).unwrap_or_default()
}

/// k₁ and whether it is estimated. What the server told of the first event counts, if N is the server's too and no
/// hidden reasoning is in it; else a tool call is 1 and text its share of the characters, at least 1.
fn first_tokens(sample: &Sample, events: &[Stamped], n: u64) -> Option<(u64, bool)> {
    let first = events.first()?;
    let is_told = sample.output_tokens.is_some() && !has_flag(sample, "hidden_reasoning");
    if let Some(told) = first.tokens.filter(|told| is_told && *told > 0) {
        return Some((u64::from(told), false));
    }
    let chars: u64 = events.iter().map(|event| u64::from(event.chars)).sum();
    if first.tool || chars == 0 {
        return Some((1, true));
    }
    // round(N · chars₁ / chars) in integers: half up.
    let product = u128::from(n) * u128::from(first.chars);
    let rounded = (2 * product + u128::from(chars)) / (2 * u128::from(chars));
    Some((u64::try_from(rounded).unwrap_or(u64::MAX).max(1), true))
}
