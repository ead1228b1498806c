//! The samples on the page: once, column by column, each cell under its place in the summary.

use serde_json::{Map, Value, json};

use inferometer_record::Verdict;

use crate::html::dots::Dot;
use crate::html::story::{Group, Story};

use super::rounded;

/// `{index: {target, row, color, request: […], at_s: […], …}}` over the cells that are drawn. Columns that hold nothing are left
/// out.
pub(in crate::html) fn samples(story: &Story<'_>, groups: &[Group]) -> Value {
    let quota = story.dots.quota();
    let mut cells = Map::new();
    for (member, cell) in groups.iter().take(super::GROUPS_MAX).flat_map(|group| story.cells(&group.cells)) {
        let Some(dots) = story.dots_of(cell) else { continue };
        let shown = dots.shown(quota);
        let head = json!({"target": cell.target, "row": member.label, "color": super::color(story, cell)});
        cells.insert(member.index.to_string(), super::merged(head, columns(&shown)));
    }
    Value::Object(cells)
}

fn columns(dots: &[&Dot]) -> Value {
    let column = |of: &dyn Fn(&Dot) -> Value| dots.iter().map(|dot| of(dot)).collect::<Vec<Value>>();
    let all = [
        ("request", column(&|dot| dot.request.into())),
        ("attempt", column(&|dot| if dot.attempt > 1 { dot.attempt.into() } else { Value::Null })),
        ("at_s", column(&|dot| json!((dot.at_s() * 100.0).round() / 100.0))),
        ("ttft_ms", column(&|dot| dot.ttft_ms.map_or(Value::Null, |ms| json!(rounded(ms))))),
        ("latency_ms", column(&|dot| dot.latency_ms.map_or(Value::Null, |ms| json!(rounded(ms))))),
        ("tokens", column(&|dot| dot.output_tokens.map_or(Value::Null, Value::from))),
        (
            "ended",
            column(&|dot| {
                if dot.status == inferometer_record::Status::Ok { 0.into() } else { dot.status.name().into() }
            }),
        ),
        (
            "worth",
            column(&|dot| {
                dot.verdict
                    .filter(|verdict| *verdict != Verdict::Valid)
                    .map_or(Value::Null, |verdict| Verdict::name(verdict).into())
            }),
        ),
    ];
    let used = all.into_iter().filter(|(_, column)| column.iter().any(|value| !value.is_null()));
    used.map(|(name, column)| (name.to_owned(), Value::Array(column))).collect::<Map<_, _>>().into()
}
