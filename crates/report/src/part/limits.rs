//! The limits that a target told, and what our own pacer held back.

use inferometer_metrics::{CellSummary, Num, Pacing, ToldLimit, limits_of};

use crate::number::{NONE, count, counted, percent, time};
use crate::page::{Fact, Text};

/// Of a target whose answers have no such headers.
pub(crate) const NOT_TOLD: &str = "not told in any answer";

/// Both, for one cell.
pub(super) fn fact(cell: &CellSummary) -> Fact {
    // Where nothing was refused nobody misses them.
    let not_told = || (cell.counts.throttled > 0).then(|| NOT_TOLD.to_owned());
    let lines = [told(&cell.limits).or_else(not_told), cell.pacing.as_ref().map(paced)];
    Fact { label: "limits", lines: lines.into_iter().flatten().map(Text::from).collect() }
}

/// Both of each target that has something to say, where no cell says it by itself.
pub(super) fn of_all(cells: &[CellSummary]) -> Fact {
    let lines = by_target(cells).into_iter().filter_map(|of| {
        let told = of.told.or_else(|| (of.throttled > 0).then(|| NOT_TOLD.to_owned()));
        let said: Vec<String> = told.into_iter().chain(of.paced).collect();
        (!said.is_empty()).then(|| Text::from(format!("{}: {}", of.target, said.join("; "))))
    });
    Fact { label: "limits", lines: lines.collect() }
}

/// What all cells of one target say of its limits.
pub(crate) struct OfTarget<'a> {
    pub(crate) target: &'a str,
    /// Nothing where no answer told any.
    pub(crate) told: Option<String>,
    /// Attempts refused because too much was asked.
    pub(crate) throttled: u64,
    /// What our own pacer held back, by cell.
    pub(crate) paced: Vec<String>,
}

/// Each target, in the order in which they first come.
pub(crate) fn by_target(cells: &[CellSummary]) -> Vec<OfTarget<'_>> {
    let mut targets: Vec<&str> = Vec::new();
    for cell in cells {
        if !targets.contains(&cell.target.as_str()) {
            targets.push(&cell.target);
        }
    }
    let of = |target| {
        let own = || cells.iter().filter(|cell| cell.target == target);
        OfTarget {
            target,
            told: told(&limits_of(own())),
            throttled: own().map(|cell| cell.counts.throttled).sum(),
            paced: own().filter_map(|cell| cell.pacing.as_ref()).map(paced).collect(),
        }
    };
    targets.into_iter().map(of).collect()
}

/// `limits told: 500 requests/min, 30,000 tokens/min; lowest left 12 %`.
fn told(limits: &[ToldLimit]) -> Option<String> {
    let known: Vec<String> = limits.iter().filter_map(limit).collect();
    if known.is_empty() {
        return None;
    }
    let shares = limits.iter().filter_map(|limit| limit.lowest_share.map(|share| (share.get(), limit.kind)));
    let lowest = shares.min_by(|one, other| one.0.total_cmp(&other.0));
    let lowest = lowest.map(|(share, kind)| {
        let of = if known.len() > 1 { format!(" of the {}", kind.words()) } else { String::new() };
        format!("; lowest left {}{of}", percent(share))
    });
    Some(format!("told: {}{}", known.join(", "), lowest.unwrap_or_default()))
}

/// How much, of what, over how long; a window that was not told is left out.
fn limit(told: &ToldLimit) -> Option<String> {
    let kind = told.kind.words();
    let of_window = told.window_s.map(window).unwrap_or_default();
    match (told.limit, told.lowest) {
        (Some(limit), _) => Some(format!("{}\u{a0}{kind}{of_window}", count(limit))),
        (None, Some(lowest)) => {
            Some(format!("{kind}{of_window} without a total, at least {} left", count(lowest)))
        }
        (None, None) => None,
    }
}

fn window(seconds: u64) -> String {
    match seconds {
        1 => "/s".to_owned(),
        60 => "/min".to_owned(),
        3_600 => "/h".to_owned(),
        86_400 => "/day".to_owned(),
        _ => format!(" in {}\u{a0}s", count(seconds)),
    }
}

/// What our own pacer held back.
fn paced(pacing: &Pacing) -> String {
    let seconds = |seconds: f64| Num::new(seconds * 1e3).map_or_else(|| NONE.to_owned(), time);
    format!(
        "paced under them: {} waited {} in all, {} at most; in no latency, but in the time that rates are of",
        counted(pacing.attempts, "attempt", "attempts"),
        seconds(pacing.total_s),
        seconds(pacing.longest_s)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_one_line() {
        let limit = |kind: &str, window_s, limit, lowest: Option<u64>| {
            let told =
                serde_json::json!({"kind": kind, "window_s": window_s, "limit": limit, "lowest": lowest});
            let told: ToldLimit = serde_json::from_value(told).unwrap();
            let share = told.limit.zip(told.lowest).map(|(limit, lowest)| lowest as f64 / limit as f64);
            ToldLimit { lowest_share: share.and_then(Num::new), ..told }
        };
        let check = |limits: &[ToldLimit], right: Option<&str>| assert_eq!(told(limits).as_deref(), right);
        check(&[], None);
        let (minute, none) = (Some(60), None::<u64>);
        let both = [
            limit("requests", minute, Some(500), Some(60)),
            limit("tokens", minute, Some(30_000), Some(9_000)),
        ];
        check(
            &both,
            Some(
                "told: 500\u{a0}requests/min, 30,000\u{a0}tokens/min; lowest left 12.0\u{a0}% of the requests",
            ),
        );
        check(&[limit("input_tokens", none, Some(7), None)], Some("told: 7\u{a0}input tokens"));
        let alone = limit("requests", Some(300), None, Some(5));
        check(&[alone], Some("told: requests in 300\u{a0}s without a total, at least 5 left"));
    }
}
