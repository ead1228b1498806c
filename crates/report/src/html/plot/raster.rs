//! When the tokens of chosen streams arrived: a row a request, a tick an event, so that stalls are seen.
//!
//! Drawn as SVG here and not by the chart library: the ticks of a row are one path.

use std::fmt::Write as _;

use askama::Template;

use crate::html::story::{Group, Story};
use crate::html::streams::{Stream, Why};
use crate::html::table::{Cell, Column, Row, Table};
use crate::number::{count, digits};

/// Rows of one group: with many targets each has fewer.
const ROWS_MAX: usize = 60;
/// Rows of one target.
const ROWS_PER_CELL_MAX: usize = 5;
/// Ticks that a row can show side by side: those nearer to each other are one.
const COLUMNS: u64 = 1000;

/// Rows of one model, on one scale.
pub(super) struct Panel {
    title: String,
    /// Seconds at the right edge, and marks between.
    marks: Vec<Mark>,
    rows: Vec<Drawn>,
}

/// A mark on the axis of time.
struct Mark {
    percent: f64,
    text: String,
}

/// One stream as it is drawn: in thousandths of the panel's width.
struct Drawn {
    label: String,
    /// What hovering tells.
    title: String,
    class: String,
    ticks: String,
    stalls: Vec<(u64, u64)>,
    /// First row of its target.
    is_first: bool,
    first: u64,
}

/// The raster of a group.
#[derive(Template)]
#[template(path = "raster.html")]
pub(in crate::html) struct Raster {
    id: String,
    panels: Vec<Panel>,
    table: Table,
}

impl askama::filters::HtmlSafe for Raster {}

/// The raster, where events were kept.
pub(super) fn raster(story: &Story<'_>, at: usize, group: &Group) -> Option<Raster> {
    let per_cell = (ROWS_MAX / group.cells.len().max(1)).clamp(1, ROWS_PER_CELL_MAX);
    let mut table = Table {
        id: format!("raster-{at}-data"),
        caption: "The streams that are drawn".to_owned(),
        corner: "Target".to_owned(),
        columns: vec![
            Column::number("Request", ""),
            Column::text("Chosen as"),
            Column::number("First", "s"),
            Column::number("Last", "s"),
            Column::number("Events", ""),
            Column::number("Stalls", "≥ 500 ms"),
            Column::number("Longest gap", "s"),
        ],
        rows: Vec::new(),
    };
    let panels = story
        .panels(group)
        .iter()
        .filter_map(|group| panel(story, group, per_cell, &mut table))
        .collect::<Vec<_>>();
    (!panels.is_empty()).then(|| Raster { id: format!("raster-{at}"), panels, table })
}

fn panel(story: &Story<'_>, group: &Group, per_cell: usize, table: &mut Table) -> Option<Panel> {
    let cells = story.cells(&group.cells).take(ROWS_MAX).filter_map(|(member, cell)| {
        let chosen = story.dots_of(cell)?.streams.chosen(per_cell);
        Some((member, format!("c{}", story.color(&cell.target)), chosen))
    });
    let cells: Vec<_> = cells.collect();
    let end = cells
        .iter()
        .flat_map(|(_, _, chosen)| chosen.iter().map(|(_, stream)| stream.end_us()))
        .max()?
        .max(1);
    let mut rows = Vec::new();
    for (member, class, chosen) in &cells {
        for (at, (why, stream)) in chosen.iter().enumerate() {
            table.rows.push(data(&member.label, *why, stream));
            let label = if at == 0 { member.label.clone() } else { String::new() };
            rows.push(drawn(label, class, *why, stream, end));
        }
    }
    Some(Panel { title: group.title.clone(), marks: marks(end), rows })
}

fn drawn(label: String, class: &str, why: Why, stream: &Stream, end: u64) -> Drawn {
    let place =
        |us: u64| (u128::from(us) * u128::from(COLUMNS) / u128::from(end)).min(u128::from(COLUMNS)) as u64;
    let mut ticks = String::new();
    let mut last = None;
    for at in stream.stamps_us.iter().map(|us| place(*us)) {
        if last != Some(at) {
            // Writing to a string cannot fail.
            let _ = write!(ticks, "M{at} 1v8");
            last = Some(at);
        }
    }
    let is_first = !label.is_empty();
    let stalls: Vec<(u64, u64)> =
        stream.stalls().map(|(from, to)| (place(from), place(to).saturating_sub(place(from)))).collect();
    let first = stream.stamps_us.first().map_or(0, |us| place(*us));
    let title = format!(
        "request {}, {}: first after {} s, last after {} s, {} stalls",
        stream.request,
        why.words(),
        seconds(stream.stamps_us.first().copied().unwrap_or(0)),
        seconds(stream.end_us()),
        stalls.len()
    );
    Drawn { label, title, class: class.to_owned(), ticks, stalls, is_first, first }
}

fn data(label: &str, why: Why, stream: &Stream) -> Row {
    let gaps = stream.stamps_us.windows(2).filter_map(|pair| match pair {
        [from, to] => Some(to - from),
        _ => None,
    });
    let cells = vec![
        Cell::text(stream.request.to_string()),
        Cell::text(why.words()).with_detail(if stream.status == inferometer_record::Status::Ok {
            ""
        } else {
            stream.status.name()
        }),
        Cell::text(seconds(stream.stamps_us.first().copied().unwrap_or(0))),
        Cell::text(seconds(stream.end_us())),
        Cell::text(count((stream.stamps_us.len() + stream.cut) as u64)),
        Cell::text(count(stream.stalls().count() as u64)),
        gaps.max().map_or_else(Cell::none, |gap| Cell::text(seconds(gap))),
    ];
    Row { head: label.to_owned(), cells, ..Row::default() }
}

fn seconds(us: u64) -> String {
    digits(us as f64 / 1e6)
}

/// Round seconds between 0 and the end.
fn marks(end_us: u64) -> Vec<Mark> {
    let end = end_us as f64 / 1e6;
    let rough = 10_f64.powf((end / 4.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * rough)
        .into_iter()
        .find(|step| end / step <= 5.0)
        .unwrap_or(end);
    let count = (end / step) as usize;
    (0..=count.min(8))
        .map(|i| {
            let at = step * i as f64;
            Mark {
                percent: at / end * 100.0,
                text: if i == 0 {
                    "0".to_owned()
                } else {
                    format!("{}\u{a0}s", format!("{at:.3}").trim_end_matches('0').trim_end_matches('.'))
                },
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_inside() {
        let texts =
            |us| marks(us).into_iter().map(|mark| mark.text.replace('\u{a0}', " ")).collect::<Vec<_>>();
        assert_eq!(texts(1_900_000), ["0", "0.5 s", "1 s", "1.5 s"]);
        assert_eq!(texts(21_000_000), ["0", "5 s", "10 s", "15 s", "20 s"]);
        assert!(marks(1).len() < 10 && marks(u64::MAX).len() < 10);
        assert!(marks(7_777_777).iter().all(|mark| mark.percent <= 100.0));
    }

    #[test]
    fn ticks_that_fall_together_are_one() {
        let stream = Stream {
            request: 1,
            attempt: 1,
            status: inferometer_record::Status::Ok,
            stamps_us: vec![0, 10, 500_000, 1_200_000],
            cut: 0,
        };
        let drawn = drawn("a".to_owned(), "c1", Why::Chance, &stream, 1_200_000);
        assert_eq!(drawn.ticks, "M0 1v8M416 1v8M1000 1v8");
        assert_eq!(drawn.stalls, [(416, 584)]);
    }
}
