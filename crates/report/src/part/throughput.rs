//! What passed per second, and how much of it was good.

use inferometer_metrics::{CellSummary, Goodput, Rate, Throughput};

use crate::number::{count, counted, digits, percent, proportion, rate, whole};
use crate::page::{Fact, Text};

use super::{joined, marked};

/// Throughput and goodput.
pub(super) fn facts(cell: &CellSummary) -> Vec<Fact> {
    let mut lines: Vec<Text> = overall(&cell.throughput).into_iter().map(|text| marked(cell, text)).collect();
    lines.extend(steady(&cell.throughput).into_iter().map(|text| marked(cell, text)));
    lines.extend(peak(&cell.throughput).map(Text::from));
    lines.extend(notes(&cell.throughput).map(Text::from));
    let good = cell.goodput.as_ref().map(|goodput| marked(cell, good(goodput)));
    vec![Fact { label: "throughput", lines }, Fact { label: "goodput", lines: good.into_iter().collect() }]
}

fn overall(throughput: &Throughput) -> Option<String> {
    let rates = joined([
        rate(&throughput.output_token_throughput, "tokens/s"),
        rate(&throughput.request_throughput, "requests/s"),
        input(&throughput.output_token_throughput, &throughput.input_token_throughput),
    ])?;
    let window = throughput.window_s.map(|window| format!(" in {}\u{a0}s", digits(window.get())));
    let tokens = throughput.output_tokens.map(|tokens| format!(" ({}\u{a0}tokens)", whole(tokens)));
    Some(format!("{rates}{}{}", window.unwrap_or_default(), tokens.unwrap_or_default()))
}

/// Prompt tokens per second, where there is no output to tell of.
fn input(of_output: &Rate, of_input: &Rate) -> Option<String> {
    if of_output.value.is_some() { None } else { rate(of_input, "input tokens/s") }
}

/// The part without ramp and drain.
fn steady(throughput: &Throughput) -> Option<String> {
    let steady = throughput.steady.as_ref()?;
    let rates = joined([
        rate(&steady.output_token_throughput, "tokens/s"),
        rate(&steady.request_throughput, "requests/s"),
        input(&steady.output_token_throughput, &steady.input_token_throughput),
    ])?;
    let of = counted(steady.requests, "request", "requests");
    Some(format!("steady part {rates} ({of}, by {})", steady.rule.replace('_', " ")))
}

fn peak(throughput: &Throughput) -> Option<String> {
    let (peak, mean) = (throughput.peak?, throughput.mean?);
    let width = throughput.buckets.as_ref().map(|buckets| format!(" of {}\u{a0}s", digits(buckets.width_s)));
    Some(format!(
        "peak {} and mean {} tokens/s over the same full buckets{}",
        digits(peak.get()),
        digits(mean.get()),
        width.unwrap_or_default()
    ))
}

/// What must be said wherever a rate stands.
fn notes(throughput: &Throughput) -> impl Iterator<Item = String> {
    let unfinished = throughput.unfinished_tokens.filter(|_| throughput.includes_unfinished);
    let unfinished = unfinished
        .map(|tokens| format!("includes {}\u{a0}tokens of requests that did not end ok", whole(tokens)));
    let is_plain = throughput.sources.is_empty() || throughput.sources.iter().eq(["server"]);
    let sources = (!is_plain).then(|| format!("token counts: {}", throughput.sources.join(", ")));
    let noted = |rate: &Rate| rate.note.clone();
    // What is unfinished has been said already, with its number.
    let tokens = noted(&throughput.output_token_throughput).filter(|_| unfinished.is_none());
    let rates = [tokens, noted(&throughput.request_throughput)];
    let steady = throughput.steady.iter();
    let steady = steady
        .flat_map(|s| [("tokens/s", &s.output_token_throughput), ("requests/s", &s.request_throughput)]);
    let steady: Vec<(&str, String)> = steady.filter_map(|(unit, rate)| Some((unit, noted(rate)?))).collect();
    let mut said: Vec<String> = unfinished.into_iter().chain(sources).collect();
    said.extend(rates.into_iter().flatten());
    match steady.as_slice() {
        [(_, of_tokens), (_, of_requests)] if of_tokens == of_requests => {
            said.push(format!("steady part: {of_tokens}"));
        }
        notes => said.extend(notes.iter().map(|(unit, note)| format!("steady part in {unit}: {note}"))),
    }
    said.extend(throughput.notes.iter().cloned());
    said.into_iter()
}

fn good(goodput: &Goodput) -> String {
    let objectives = &goodput.objectives;
    let all = goodput.met + goodput.missed + goodput.unknown;
    let attainment = match goodput.attainment {
        None => return format!("no request to judge by {objectives}"),
        Some([lower, upper]) if lower != upper => {
            format!("{} to {}", percent(lower.get()), percent(upper.get()))
        }
        Some([value, _]) => proportion(&goodput.share).unwrap_or_else(|| percent(value.get())),
    };
    let parts = [
        Some(format!("{attainment} met {objectives} ({} of {})", count(goodput.met), count(all))),
        goodput.per_second.map(|rate| format!("{}\u{a0}good requests/s", digits(rate.get()))),
        (goodput.unknown > 0).then(|| format!("{} could not be evaluated", count(goodput.unknown))),
        (goodput.excluded > 0).then(|| format!("{} cut by the run, left out", count(goodput.excluded))),
    ];
    joined(parts).unwrap_or_default()
}
