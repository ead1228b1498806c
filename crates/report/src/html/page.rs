//! The page as a whole.

use std::collections::BTreeSet;

use askama::Template;

use crate::number::{count, counted};

use super::assets::{STYLE, policy, scripts};
use super::comparisons::{Family, families};
use super::decision::{Card, cards};
use super::json::Json;
use super::methods::{Methods, methods};
use super::plot::{Section, samples, sections, theme};
use super::settings::{Block, blocks};
use super::story::Story;
use super::table::Table;
use super::{episodes, matrix, models, troubles};

#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    title: String,
    subtitle: Vec<String>,
    policy: String,
    style: &'static str,
    scripts: [&'static str; 4],
    notices: Vec<String>,
    decisions: Vec<Card>,
    gates: Option<Table>,
    matrix: Vec<Table>,
    models: Vec<Table>,
    levers: Vec<String>,
    settings: Vec<Block>,
    plots: Vec<Section>,
    drawn: String,
    episodes: Vec<Table>,
    families: Vec<Family>,
    causes: Option<Table>,
    warnings: Vec<(String, String)>,
    methods: Methods,
    samples: Json,
    theme: Json,
}

pub(super) fn write(story: &Story<'_>) -> String {
    let groups = story.groups();
    let scripts = scripts();
    let page = Page {
        title: title(story),
        subtitle: subtitle(story),
        policy: policy(&scripts),
        style: STYLE,
        scripts,
        notices: troubles::notices(story),
        decisions: cards(story),
        gates: troubles::gates(story),
        matrix: matrix::tables(story, &groups),
        models: models::tables(story, &groups),
        levers: models::levers(story),
        settings: blocks(story),
        plots: sections(story, &groups),
        drawn: drawn(story),
        episodes: episodes::tables(story),
        families: families(story),
        causes: troubles::causes(story),
        warnings: troubles::warnings(story),
        methods: methods(story),
        samples: Json(samples(story, &groups)),
        theme: Json(theme()),
    };
    // A template fails only where writing does, and writing to a string cannot.
    page.render().unwrap_or_default()
}

fn title(story: &Story<'_>) -> String {
    let name = story
        .run
        .manifest
        .plan
        .get("name")
        .and_then(serde_json::Value::as_str)
        .filter(|name| !name.is_empty());
    name.map_or_else(|| story.summary.run_id.clone(), |name| crate::clean::clean(name).into_owned())
}

/// What was measured, in one line.
fn subtitle(story: &Story<'_>) -> Vec<String> {
    let cells = &story.summary.cells;
    let distinct = |of: fn(&inferometer_metrics::CellSummary) -> &str| {
        cells.iter().map(of).collect::<BTreeSet<_>>().len() as u64
    };
    let requests = cells.iter().map(|cell| cell.counts.issued).sum();
    let created = crate::clean::clean(&story.run.manifest.created).into_owned();
    let parts = [
        created,
        counted(distinct(|cell| &cell.target), "target", "targets"),
        counted(distinct(|cell| &cell.workload), "workload", "workloads"),
        counted(requests, "request", "requests"),
        story.summary.run_id.clone(),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

/// How many of the samples are drawn, where that is not all.
fn drawn(story: &Story<'_>) -> String {
    let quota = story.dots.quota() as u64;
    let cells = story.summary.cells.iter().filter_map(|cell| story.dots_of(cell));
    let most = cells.map(super::dots::CellDots::seen).max().unwrap_or(0);
    let mut said = if most > quota {
        format!(
            "Of cells with more than {} samples, that many are drawn, chosen by a seeded draw, and always the slowest; every figure is of all samples.",
            count(quota)
        )
    } else {
        "Every sample is drawn.".to_owned()
    };
    if story.dots.left_out() > 0 {
        said = format!(
            "{said} {} of further cells are not drawn.",
            counted(story.dots.left_out(), "sample", "samples")
        );
    }
    said
}
