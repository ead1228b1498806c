//! Times of requests and streams: the table of quantiles, and what is said of their tail and stability.

use inferometer_metrics::{CellSummary, Metric, QuantilePoint, TailFigure, name};

use crate::number::{
    NONE, Scale, count, digits, is_max, of, over, percent, point, proportion, rate, reads_alike, time,
    time_point, time_rate,
};
use crate::page::{Block, Column, Fact, Table, Text};

use super::{joined, marked};

/// Rows of the table: what each is called, and where it stands in the summary.
const ROWS: [(&str, &str); 8] = [
    ("TTFT", name::TTFT),
    ("└ from plan", name::TTFT_SCHED),
    ("└ first try", name::TTFT_FIRST_TRY),
    ("TTFA", name::TTFA),
    ("latency", name::LATENCY),
    ("└ from plan", name::LATENCY_SCHED),
    ("└ first try", name::LATENCY_FIRST_TRY),
    ("TPOT", name::TPOT),
];

/// Quantiles with intervals; `None` where nothing was timed.
pub(super) fn table(cell: &CellSummary) -> Option<Block> {
    let mut rows = Vec::new();
    for (label, name) in ROWS {
        let Some(metric) = cell.metrics.get(name) else { continue };
        if metric.n > 0 && !repeats(cell, name, metric) {
            rows.push(row(label, metric, cell));
        }
        let all = metric.all_attempts.as_deref();
        let differs = all.is_some_and(|all| all.n > 0 && !reads_alike(all, metric));
        if let Some(all) = all.filter(|_| differs && matches!(name, name::TTFT | name::LATENCY)) {
            let label =
                if metric.n > 0 { "└ all attempts".to_owned() } else { format!("{label}, all attempts") };
            rows.push(row(&label, all, cell));
        }
    }
    let columns = vec![
        Column::left(""),
        Column::right("p50"),
        Column::left("95\u{a0}%"),
        Column::right("p95"),
        Column::left("95\u{a0}%"),
        Column::right("worst"),
        Column::right("n"),
        Column::left(""),
    ];
    (!rows.is_empty()).then_some(Block::Table(Table { columns, rows }))
}

/// Whether a row would say what the one above it says: TTFA is TTFT without reasoning, a schedule that was kept adds
/// nothing, nor does a first try that was the only one.
fn repeats(cell: &CellSummary, name: &str, metric: &Metric) -> bool {
    let above = match name {
        name::TTFT_SCHED | name::TTFT_FIRST_TRY | name::TTFA => name::TTFT,
        name::LATENCY_SCHED | name::LATENCY_FIRST_TRY => name::LATENCY,
        _ => return false,
    };
    cell.metrics.get(above).is_some_and(|above| reads_alike(above, metric))
}

fn row(label: &str, metric: &Metric, cell: &CellSummary) -> Vec<Text> {
    let point = |point: &Option<QuantilePoint>| {
        let (value, mut interval) = time_point(point.as_ref());
        if is_max(point.as_ref()) {
            interval = format!("{interval} max\u{a0}of\u{a0}{}", count(metric.n));
        }
        [Text::from(value), Text::from(interval)]
    };
    let worst = metric.max.map_or_else(|| NONE.to_owned(), time);
    let mark = if cell.client.valid { "" } else { "not\u{a0}valid" };
    let mut cells = vec![Text::from(label)];
    cells.extend(point(&metric.p50));
    cells.extend(point(&metric.p95));
    cells.extend([Text::from(worst), Text::from(count(metric.n)), Text::bad(mark)]);
    cells
}

/// What the table cannot say.
pub(super) fn facts(cell: &CellSummary) -> Vec<Fact> {
    vec![
        Fact { label: "tail", lines: tail(cell) },
        Fact { label: "stability", lines: stability(cell) },
        Fact { label: "stalls", lines: stalls(cell).into_iter().map(Text::from).collect() },
        Fact { label: "speed", lines: speed(cell).into_iter().map(|text| marked(cell, text)).collect() },
    ]
}

/// What lessens the figures of the table.
pub(super) fn caveats(cell: &CellSummary) -> Vec<Fact> {
    vec![
        Fact { label: "n_eff", lines: dependence(cell).into_iter().map(Text::from).collect() },
        Fact { label: "notes", lines: notes(cell) },
    ]
}

/// The tail figure that this n allows.
fn tail(cell: &CellSummary) -> Vec<Text> {
    let mut lines: Vec<String> = Vec::new();
    let Some(ttft) = cell.metrics.get(name::TTFT) else { return Vec::new() };
    lines.extend(tail_of("TTFT", ttft));
    if let Some(all) = ttft.all_attempts.as_deref().filter(|all| !reads_alike(all, ttft)) {
        lines.extend(tail_of("TTFT of all attempts", all));
    }
    if let Some(latency) =
        cell.metrics.get(name::LATENCY).filter(|latency| latency.tail == Some(TailFigure::P99))
    {
        lines.extend(tail_of("latency", latency));
    }
    lines.into_iter().map(|text| marked(cell, text)).collect()
}

fn tail_of(label: &str, metric: &Metric) -> Option<String> {
    let said = match metric.tail? {
        TailFigure::P99 => {
            let p99 = metric.p99.as_ref()?;
            let max = if is_max(Some(p99)) {
                format!(" max\u{a0}of\u{a0}{}", count(metric.n))
            } else {
                String::new()
            };
            let (value, interval) = time_point(Some(p99));
            format!("p99 {value} {interval}{max} (n\u{a0}=\u{a0}{})", count(metric.n))
        }
        TailFigure::ShareOver(first) => {
            let is_telling =
                |limit: &&inferometer_metrics::Over| limit.limit == Some(first) || limit.share.count > 0;
            joined(metric.over.iter().filter(is_telling).map(over))?
        }
    };
    Some(format!("{label} {said}"))
}

fn stability(cell: &CellSummary) -> Vec<Text> {
    let stability = &cell.stability;
    let spread = time_rate(&stability.spread_ms).map(|text| format!("TTFT p95\u{a0}−\u{a0}p50 {text}"));
    let ratio = rate(&stability.p95_over_p50, "").map(|text| format!("p95/p50 {text}"));
    let all = &stability.all_attempts_spread_ms;
    let differs = all.value != stability.spread_ms.value;
    let all =
        time_rate(all).filter(|_| differs).map(|text| format!("p95\u{a0}−\u{a0}p50 of all attempts {text}"));
    joined([spread, ratio, all]).into_iter().map(|text| marked(cell, text)).collect()
}

fn stalls(cell: &CellSummary) -> Option<String> {
    let stalls = &cell.stalls;
    if stalls.streams.n == 0 {
        return None;
    }
    if stalls.count == 0 {
        return Some(format!("none of 500\u{a0}ms or more in {} streams", count(stalls.streams.n)));
    }
    joined([
        Some(format!("{} streams had gaps of 500\u{a0}ms or more", of(&stalls.streams))),
        proportion(&stalls.streams),
        stalls.longest_ms.map(|ms| format!("longest {}", time(ms))),
        stalls.share.map(|share| format!("{} of all streaming time", percent(share.get()))),
    ])
}

/// Tokens per second as one user sees them: the median, and the slow tail.
fn speed(cell: &CellSummary) -> Option<String> {
    let speed = cell.metrics.get(name::SPEED)?;
    let median = point(speed.p50.as_ref()?, Scale::PLAIN)?;
    let slow = speed.p05.as_ref().and_then(|p05| point(p05, Scale::PLAIN)).map(|text| format!("p05 {text}"));
    let e2e = cell.metrics.get(name::SPEED_E2E).and_then(|e2e| point(e2e.p50.as_ref()?, Scale::PLAIN));
    joined([
        Some(format!("tokens/s per user p50 {median}")),
        slow,
        Some(format!("n\u{a0}=\u{a0}{}", count(speed.n))),
        e2e.map(|text| format!("end to end p50 {text}")),
    ])
}

/// Where neighbours in time are alike, n requests are worth fewer.
fn dependence(cell: &CellSummary) -> Option<String> {
    let shown = [("TTFT", name::TTFT), ("latency", name::LATENCY), ("TPOT", name::TPOT)];
    let worth = shown.into_iter().flat_map(|(label, name)| {
        let metric = cell.metrics.get(name);
        let points = metric.into_iter().flat_map(|metric| [("p50", &metric.p50), ("p95", &metric.p95)]);
        points.filter_map(move |(quantile, point)| {
            let n_eff = point.as_ref()?.n_eff?;
            Some(Some(format!("{label} {quantile} {}", digits(n_eff.get()))))
        })
    });
    joined(worth).map(|text| format!("requests close in time are alike, so that fewer count: {text}"))
}

/// Notes on the figures in the table and on the spread, each once with the figures it is about.
fn notes(cell: &CellSummary) -> Vec<Text> {
    let mut said: Vec<(&str, Vec<String>)> = Vec::new();
    let mut add = |note, figure| match said.iter_mut().find(|(known, _)| *known == note) {
        Some((_, figures)) => figures.push(figure),
        None => said.push((note, vec![figure])),
    };
    for (label, name) in ROWS.into_iter().filter(|(label, _)| !label.starts_with('└')) {
        let Some(metric) = cell.metrics.get(name) else { continue };
        metric.notes.iter().for_each(|note| add(note.as_str(), label.to_owned()));
        let all = metric.all_attempts.as_deref().filter(|_| matches!(name, name::TTFT | name::LATENCY));
        let all = all.into_iter().flat_map(|all| &all.notes);
        all.for_each(|note| add(note.as_str(), format!("{label} of all attempts")));
    }
    cell.stability.spread_ms.note.iter().for_each(|note| add(note.as_str(), "spread".to_owned()));
    said.into_iter().map(|(note, figures)| format!("{}: {note}", figures.join(", ")).into()).collect()
}
