//! Tokens by source: what the server says, what we counted, never mixed.

use inferometer_metrics::{CellSummary, Tokens};

use crate::RunView;
use crate::number::{count, counted, digits, percent, whole};
use crate::page::{Fact, Text};

use super::joined;

/// Tokens, each line from one source.
pub(super) fn facts(run: &RunView<'_>, cell: &CellSummary) -> Vec<Fact> {
    let tokens = &cell.tokens;
    // That total = prompt + completion is the rule, and no news.
    let is_plain = tokens.usage_identities.keys().all(|identity| identity == "inclusive");
    let identities = identities(tokens).filter(|_| !is_plain);
    let lines = [by_server(tokens, run.is_imported()), identities, by_tokenizer(tokens), partial(tokens)];
    let lines = lines.into_iter().flatten().map(Text::from).collect();
    vec![Fact { label: "tokens", lines: if cell.counts.ok > 0 { lines } else { Vec::new() } }]
}

/// `is_imported`: another tool's records say how many tokens there were, and not who counted them.
fn by_server(tokens: &Tokens, is_imported: bool) -> Option<String> {
    let source = if is_imported { "counted by its client" } else { "the server's usage" };
    let said = joined([
        tokens.input.map(|n| format!("{} in", count(n))),
        tokens.output.map(|n| format!("{} out", count(n))),
        tokens.reasoning.filter(|n| *n > 0).map(|n| format!("{} of them reasoning", count(n))),
        tokens.cache_read.filter(|n| *n > 0).map(|n| format!("{} read from a cache", count(n))),
        tokens
            .cached_share
            .filter(|share| share.get() > 0.0)
            .map(|share| format!("{} cached", percent(share.get()))),
        tokens.cache_write.filter(|n| *n > 0).map(|n| format!("{} written to a cache", count(n))),
        tokens.per_chunk.map(|n| format!("{} a chunk", digits(n.get()))),
    ]);
    let all = tokens.requests_with_usage + tokens.requests_without_usage;
    match said {
        Some(said) if tokens.requests_with_usage > 0 => {
            let with = count(tokens.requests_with_usage);
            Some(format!("{said} ({source}, {with} of {} answers)", count(all)))
        }
        _ if all > 0 => {
            Some(format!("unknown: the server told no usage in {}", counted(all, "answer", "answers")))
        }
        _ => None,
    }
}

/// How the usage of each target adds up, once for those that do it alike.
pub(super) fn usage(cells: &[CellSummary]) -> Vec<Text> {
    let mut targets: Vec<(&str, Tokens)> = Vec::new();
    for cell in cells {
        let seen = &cell.tokens.usage_identities;
        let at = targets.iter().position(|(target, _)| *target == cell.target);
        let at = at.unwrap_or_else(|| {
            targets.push((&cell.target, Tokens::default()));
            targets.len() - 1
        });
        for (identity, n) in seen {
            if let Some((_, sums)) = targets.get_mut(at) {
                *sums.usage_identities.entry(identity.clone()).or_default() += n;
            }
        }
    }
    let mut said: Vec<(Vec<&str>, Tokens, Vec<&str>)> = Vec::new();
    for (target, sums) in &targets {
        let kinds: Vec<&str> = sums.usage_identities.keys().map(String::as_str).collect();
        match said.iter_mut().find(|(known, ..)| *known == kinds) {
            Some((_, all, who)) => {
                for (identity, n) in &sums.usage_identities {
                    *all.usage_identities.entry(identity.clone()).or_default() += n;
                }
                who.push(target);
            }
            None => said.push((kinds, sums.clone(), vec![target])),
        }
    }
    let lines =
        said.iter().filter_map(|(_, sums, who)| Some(format!("{} ({})", identities(sums)?, who.join(", "))));
    lines.map(Text::from).collect()
}

/// How the numbers of each usage add up, counted.
fn identities(tokens: &Tokens) -> Option<String> {
    let meaning = |identity: &str| match identity {
        "inclusive" => "total = prompt + completion",
        "additive" => "total = prompt + completion + reasoning",
        "disjoint" => "cached tokens apart from input tokens",
        _ => "no identity to see",
    };
    let seen = tokens.usage_identities.iter();
    let named = joined(seen.map(|(identity, n)| Some(format!("{} in {}", meaning(identity), count(*n)))))?;
    Some(format!("usage adds up as {named}"))
}

fn by_tokenizer(tokens: &Tokens) -> Option<String> {
    let said = joined([
        tokens.counted_input.map(|n| format!("{} in", count(n))),
        tokens.counted_output.map(|n| format!("{} out", count(n))),
    ])?;
    // Vectors have no text, be it empty.
    let characters = tokens.counted_output.map(|_| counted(tokens.characters, "character", "characters"));
    joined([Some(format!("{said} (our count, o200k)")), characters])
}

fn partial(tokens: &Tokens) -> Option<String> {
    let partial = tokens.partial.filter(|partial| partial.get() > 0.0)?;
    let source = tokens.partial_source.join(" and ");
    Some(format!("{} more from requests that did not end ok (by {source})", whole(partial)))
}
