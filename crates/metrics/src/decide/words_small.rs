//! The small words of a decision: values with their intervals, lists, ends of sentences.

use crate::Num;
use crate::kept::Kept;

use super::field::{is_bound, value};
use super::profiles::Criterion;

/// A value with its interval; `None` where there is none.
pub(super) fn shown(criterion: Criterion, cell: Kept<'_>) -> Option<String> {
    let rate = value(criterion, cell);
    let at_least = if is_bound(criterion, cell) { "at least " } else { "" };
    let number = |value: Num| match criterion {
        Criterion::CostPerUseful => format!("${}", rounded(value.get())),
        Criterion::UsefulThroughput => format!("{} tokens/s", rounded(value.get())),
        _ if value.finite().is_none() => "infinite (failures)".to_owned(),
        _ => format!("{} ms", rounded(value.get())),
    };
    let bound = |bound: Num| rounded(bound.get());
    let value = format!("{at_least}{}", number(rate.value?));
    Some(match (rate.lo, rate.hi) {
        (Some(lo), Some(hi)) => format!("{value} [{}–{}]", bound(lo), bound(hi)),
        (Some(lo), None) => format!("{value} [≥ {}]", bound(lo)),
        (None, Some(hi)) => format!("{value} [≤ {}]", bound(hi)),
        (None, None) => value,
    })
}

/// Three significant digits, whole ones never rounded away.
pub(super) fn rounded(value: f64) -> String {
    if value.is_infinite() {
        return "∞".to_owned();
    }
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    let decimals = usize::try_from(2 - magnitude).unwrap_or(0).min(12);
    format!("{value:.decimals$}")
}

/// In how many of the draws.
pub(super) fn how_often(share: f64) -> String {
    if share <= 0.0 { String::new() } else { format!(" in {} % of the draws", rounded(share * 100.0)) }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn listed(names: &[&str], word: &str) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [head @ .., last] => format!("{} {word} {last}", head.join(", ")),
    }
}

/// Text that ends like a sentence, however it did before.
pub(super) fn sentence(text: &str) -> String {
    if text.ends_with(['.', '?', '!']) { text.to_owned() } else { format!("{text}.") }
}
