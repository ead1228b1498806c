//! Whether the client was good enough for these figures.

use inferometer_metrics::{CellSummary, Client, Lateness, Metric};

use crate::number::{count, digits, of, proportion, time, time_point};
use crate::page::{Fact, Text};

use super::joined;

/// Valid or not, and the evidence.
pub(super) fn fact(cell: &CellSummary) -> Fact {
    let client = &cell.client;
    let mut lines = vec![verdict(cell)];
    lines.extend(
        joined([
            lag(&client.schedule_lag),
            late(client),
            lateness("wake-up", &client.health.wakeup_lateness),
        ])
        .map(Text::from),
    );
    lines.extend(rate(client));
    lines.extend(client.notes.iter().map(|note| Text::warn(note.clone())));
    Fact { label: "client", lines }
}

/// Why the figures are not valid, in one sentence.
pub(super) fn reasons(cell: &CellSummary) -> String {
    let reasons = &cell.client.reasons;
    if reasons.is_empty() {
        "the client gave no proof that it kept up".to_owned()
    } else {
        reasons.join("; ")
    }
}

fn verdict(cell: &CellSummary) -> Text {
    let client = &cell.client;
    if !client.valid {
        return Text::bad("NOT VALID, for the reasons above");
    }
    let error = client.error_ms.map(|ms| format!("client error ≤\u{a0}{}", time(ms)));
    let error = error.or_else(|| Some("client error unknown".to_owned()));
    let tolerance = client.tolerance_ms.map(|ms| format!("tolerance {}", time(ms)));
    joined([Some("valid".to_owned()), error, tolerance]).unwrap_or_default().into()
}

/// Schedule lag: how much later than planned requests left.
fn lag(lag: &Metric) -> Option<String> {
    let p50 = lag.p50.as_ref()?;
    let p99 = lag.p99.as_ref().map(|p99| format!(", p99 {}", time_point(Some(p99)).0));
    let max = lag.max.map(|max| format!(", max {}", time(max)));
    Some(format!(
        "schedule lag p50 {}{}{} (n\u{a0}=\u{a0}{})",
        time_point(Some(p50)).0,
        p99.unwrap_or_default(),
        max.unwrap_or_default(),
        count(lag.n)
    ))
}

fn late(client: &Client) -> Option<String> {
    let late = &client.late_starts;
    (late.count > 0)
        .then(|| format!("late or dropped starts {} ({})", proportion(late).unwrap_or_default(), of(late)))
}

fn lateness(label: &str, lateness: &Lateness) -> Option<String> {
    let part = |name: &str, ms: Option<f64>| ms.map(|ms| format!("{name} {}\u{a0}ms", digits(ms)));
    let parts: Vec<String> =
        [part("p99", lateness.p99_ms), part("max", lateness.max_ms)].into_iter().flatten().collect();
    let n = count(lateness.n);
    (lateness.n > 0).then(|| format!("{label} lateness {} (n\u{a0}=\u{a0}{n})", parts.join(", ")))
}

/// Where the instants of a load are drawn, their own rate is not quite the one asked for.
fn draw(client: &Client) -> &'static str {
    let shown = |rate: Option<inferometer_metrics::Num>| rate.map(|rate| digits(rate.get()));
    let is_other = client.asked_rate.is_some() && shown(client.asked_rate) != shown(client.planned_rate);
    if is_other { " (this seed's draw)" } else { "" }
}

/// What the self-check found of this machine, when it was checked: of the run, not of a cell.
pub(super) fn self_check(cells: &[CellSummary]) -> Fact {
    let ceiling = cells.iter().find_map(|cell| cell.client.health.ceiling);
    let said = ceiling.and_then(|ceiling| {
        joined([
            ceiling.stamp_error_p99_ms.map(|ms| format!("stamp error p99 {}\u{a0}ms", digits(ms))),
            ceiling.requests_per_s.map(|most| format!("at most {}\u{a0}requests/s", digits(most))),
        ])
    });
    Fact { label: "self-check", lines: said.into_iter().map(Text::from).collect() }
}

/// The rate that was asked for and the one that was reached; a closed loop asks for none.
fn rate(client: &Client) -> Option<Text> {
    client.asked_rate.or(client.planned_rate)?;
    let per_second = |label: &str, rate: Option<inferometer_metrics::Num>| {
        rate.map(|rate| format!("{label} {}", digits(rate.get())))
    };
    let rates = joined([
        per_second("asked", client.asked_rate),
        per_second("planned", client.planned_rate).map(|planned| planned + draw(client)),
        per_second("achieved", client.achieved_rate),
    ])?;
    let held = match client.rate_held {
        Some(true) => ": held",
        Some(false) => ": NOT HELD",
        None => "",
    };
    let text = format!("rate in requests/s: {rates}{held}");
    Some(Text::bad_if(client.rate_held == Some(false), text))
}
