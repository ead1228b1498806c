//! The plots, as specifications for Vega-Lite: JSON that tests can compare.
//!
//! Colours are CSS variables of the style sheet, so that one drawing serves light, dark and paper. Samples stand once
//! on the page; a specification names the cells whose samples it draws (`usermeta.cells`) and `report.js` puts them in.
//! Every width is the reader's.
//!
//! Two things are drawn by hand, as SVG without a script: the interval bars inside tables (a chart library per table
//! cell would be slower than the rest of the page together) and the raster of arrivals (tens of thousands of ticks,
//! which are one path a row instead of an element each).

mod course;
mod labels;
mod load;
mod money;
mod pareto;
mod raster;
mod samples;
mod split;
mod tail;
mod theme;
mod ttft;
mod validity;

use askama::Template;
use inferometer_metrics::{CellSummary, Metric, Num, QuantilePoint, name};
use serde_json::{Value, json};

use super::json::Json;
use super::story::{Group, Story};
use super::table::{Cell, Table};

pub(super) use raster::Raster;
pub(super) use samples::samples;
pub(super) use theme::theme;

/// Groups of cells whose samples are drawn; the figures of all stand in the tables.
const GROUPS_MAX: usize = 6;

/// A plot, with the same in words and figures for who cannot see it.
#[derive(Template)]
#[template(path = "chart.html")]
pub(super) struct Chart {
    id: String,
    title: String,
    /// What to see in it, and how it is drawn.
    note: String,
    key: Vec<Key>,
    views: Vec<View>,
    table: Table,
}

impl askama::filters::HtmlSafe for Chart {}

/// A colour and what it stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    class: String,
    name: String,
}

/// One drawing.
struct View {
    title: String,
    label: String,
    spec: Json,
}

impl View {
    fn new(title: &str, label: String, spec: Value) -> Self {
        Self { title: title.to_owned(), label, spec: Json(spec) }
    }
}

/// The plots of one group of cells.
pub(super) struct Section {
    pub(super) title: String,
    /// Shown at once: the group with the most cells, and what follows from all.
    pub(super) is_open: bool,
    pub(super) charts: Vec<Chart>,
    pub(super) raster: Option<Raster>,
}

/// Every plot of the run.
pub(super) fn sections(story: &Story<'_>, groups: &[Group]) -> Vec<Section> {
    let most = groups.iter().map(|group| group.cells.len()).max().unwrap_or(0);
    let section = |(at, group): (usize, &Group)| {
        let charts = [ttft::chart, course::chart, tail::chart, pareto::chart, money::chart, validity::chart];
        Section {
            title: group.title.clone(),
            is_open: group.cells.len() == most,
            charts: charts.into_iter().filter_map(|chart| chart(story, at, group)).collect(),
            raster: raster::raster(story, at, group),
        }
    };
    let mut sections: Vec<Section> = groups.iter().take(GROUPS_MAX).enumerate().map(section).collect();
    let loads = load::charts(story);
    if !loads.is_empty() {
        sections.push(Section { title: "Under load".to_owned(), is_open: true, charts: loads, raster: None });
    }
    sections
}

/// The provider colours of `cells`; one alone needs no key.
fn provider_key<'a>(story: &Story<'_>, cells: impl Iterator<Item = &'a CellSummary>) -> Vec<Key> {
    let mut key: Vec<Key> = Vec::new();
    for cell in cells {
        let own = Key {
            class: format!("c{}", story.color(&cell.target)),
            name: story.provider(&cell.target).to_owned(),
        };
        if !key.contains(&own) {
            key.push(own);
        }
    }
    if key.len() > 1 { key } else { Vec::new() }
}

fn color(story: &Story<'_>, cell: &CellSummary) -> String {
    format!("var(--s{})", story.color(&cell.target))
}

/// A distribution over all attempts, where there is one, else over ok ones.
fn all_attempts<'a>(cell: &'a CellSummary, figure: &str) -> Option<&'a Metric> {
    let metric = cell.metrics.get(figure)?;
    Some(metric.all_attempts.as_deref().unwrap_or(metric))
}

/// Where the figure that [`all_attempts`] takes stands.
fn all_attempts_at(index: usize, cell: &CellSummary, figure: &str) -> String {
    let has = cell.metrics.get(figure).is_some_and(|metric| metric.all_attempts.is_some());
    format!("/cells/{index}/metrics/{figure}{}", if has { "/all_attempts" } else { "" })
}

fn ttft_p95(cell: &CellSummary) -> Option<&QuantilePoint> {
    all_attempts(cell, name::TTFT)?.p95.as_ref()
}

/// The 95th percentile of the time to first token as a cell of a table.
pub(super) fn ttft_p95_cell(index: usize, cell: &CellSummary) -> Cell {
    Cell::time(&format!("{}/p95", all_attempts_at(index, cell, name::TTFT)), ttft_p95(cell))
}

fn finite(value: Option<Num>) -> Option<f64> {
    value.and_then(Num::finite)
}

/// The span of positive numbers, with room at both ends; `None` where there is none.
fn span(values: impl Iterator<Item = f64>, room: f64) -> Option<[f64; 2]> {
    let positive = values.filter(|value| *value > 0.0 && value.is_finite());
    let (lo, hi) = positive.fold((f64::INFINITY, 0.0_f64), |(lo, hi), value| (lo.min(value), hi.max(value)));
    (hi > 0.0).then(|| [lo / room, hi * room])
}

/// 1, 2, 5, 10, … within a span; only the powers of ten, and then fewer of them, where those would be many.
fn ticks([lo, hi]: [f64; 2]) -> Vec<f64> {
    let decades = (hi / lo).log10();
    let steps: &[f64] = if decades > 2.2 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let stride = (decades / 8.0).ceil().max(1.0) as i32;
    let powers = (lo.log10().floor() as i32..=hi.log10().ceil() as i32).filter(|power| power % stride == 0);
    let all = powers.flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
    // Powers of ten below one are not exact.
    all.map(|tick| format!("{tick:.3e}").parse().unwrap_or(tick))
        .filter(|tick| (lo..=hi).contains(tick))
        .collect()
}

/// Axis labels of times in ms.
const MS: &str = "datum.value >= 1000 ? datum.value / 1000 + ' s' : datum.value + ' ms'";
/// Axis labels of money.
const USD: &str = "'$' + format(datum.value, '~r')";

/// A logarithmic axis over `span`, the same in every view that shares it.
fn log_axis(field: &str, title: &str, span: [f64; 2], label: &str) -> Value {
    json!({
        "field": field,
        "type": "quantitative",
        "scale": {"type": "log", "domain": span, "nice": false, "clamp": true},
        "axis": {"title": title, "values": ticks(span), "labelExpr": label},
    })
}

/// A field of a tooltip, shown as it is.
fn tip(field: &str, title: &str) -> Value {
    json!({"field": field, "title": title, "type": "nominal"})
}

/// What hovering over a sample tells.
fn sample_tips() -> Value {
    json!([
        tip("target", "target"),
        tip("request", "request"),
        tip("attempt", "attempt"),
        tip("at_s", "started after, s"),
        tip("ttft_ms", "TTFT, ms"),
        tip("latency_ms", "latency, ms"),
        tip("tokens", "output tokens"),
        tip("ended", "ended"),
        tip("worth", "answer"),
    ])
}

/// How a sample looks: filled in its provider's colour; hollow where the answer is worth nothing; a cross where there
/// is none.
fn sample_marks() -> Value {
    json!({
        "fill": {"field": "color", "type": "nominal", "scale": null},
        "stroke": {"field": "color", "type": "nominal", "scale": null},
        "fillOpacity": {
            "condition": {"test": "datum.ended !== 'ok' || datum.worth === 'invalid'", "value": 0},
            "value": 0.4,
        },
        "shape": {"condition": {"test": "datum.ended !== 'ok'", "value": "M-1,-1L1,1M-1,1L1,-1"}, "value": "circle"},
        "size": {"condition": {"test": "datum.ended !== 'ok'", "value": 26}, "value": 12},
        "tooltip": sample_tips(),
    })
}

/// `fields` of `more` over those of `base`.
fn merged(base: Value, more: Value) -> Value {
    match (base, more) {
        (Value::Object(mut base), Value::Object(more)) => {
            base.extend(more);
            Value::Object(base)
        }
        (base, _) => base,
    }
}

/// To four significant digits: what a drawing can show.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks([80.0, 1_300.0]), [100.0, 200.0, 500.0, 1_000.0]);
        assert_eq!(ticks([0.000_9, 0.02]), [0.001, 0.002, 0.005, 0.01, 0.02]);
        assert_eq!(ticks([3.0, 40_000.0]), [10.0, 100.0, 1_000.0, 10_000.0]);
        assert!(ticks([1e-300, 1e300]).len() <= 12);
        assert_eq!(ticks([5.0, 5.0]), [5.0]);
    }

    #[test]
    fn a_span_needs_a_positive_number() {
        assert_eq!(span([2.0, 8.0, 0.0, f64::INFINITY].into_iter(), 2.0), Some([1.0, 16.0]));
        assert_eq!(span([0.0, -1.0].into_iter(), 2.0), None);
    }
}
