//! Hand-made attempts and cells.

use inferometer_metrics::{
    Arrival, CellAccumulator, CellContext, CellSummary, ClientHealth, Lateness, Metric, QuantilePoint,
    Stamped, Window, events_of, fill,
};
use inferometer_record::{Sample, Status, TokensSource, Verdict};

pub(crate) const MS: u64 = 1_000_000;

/// An attempt with its output events, ms after its start.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) sample: Sample,
    pub(crate) events: Vec<Stamped>,
}

/// A useful answer: request `seq` starting at `start_ms`, three characters at each of `events_ms`, ending with the
/// last of them.
pub(crate) fn answer(seq: u64, start_ms: u64, events_ms: &[u64], tokens: Option<u64>) -> Attempt {
    let last_ms = events_ms.last().copied().unwrap_or(0);
    let sample = Sample {
        request: seq,
        seq,
        prompt_id: format!("p{seq}"),
        attempt: 1,
        attempts: 1,
        is_final: true,
        sched_ns: Some(start_ms * MS),
        start_ns: Some(start_ms * MS),
        sent_ns: Some(start_ms * MS),
        end_ns: Some((start_ms + last_ms) * MS),
        status: Status::Ok,
        http_status: Some(200),
        conn_reused: Some(true),
        input_tokens: tokens.map(|_| 7),
        output_tokens: tokens,
        tokens_source: tokens.map_or(TokensSource::None, |_| TokensSource::Server),
        verdict: Some(Verdict::Valid),
        ..Sample::default()
    };
    let event =
        |ms: &u64| Stamped { at_ns: (start_ms + ms) * MS, chars: 3, answer: true, ..Stamped::default() };
    Attempt { sample, events: events_ms.iter().map(event).collect() }
}

impl Attempt {
    /// Changes the sample before its figures are filled in.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Sample)) -> Self {
        change(&mut self.sample);
        self
    }

    /// Ends it otherwise than ok, so many ms after its start.
    pub(crate) fn failed(self, status: Status, after_ms: u64) -> Self {
        self.with(|sample| {
            sample.status = status;
            sample.verdict = None;
            sample.end_ns = sample.start_ns.map(|start| start + after_ms * MS);
            (sample.input_tokens, sample.output_tokens, sample.tokens_source) =
                (None, None, TokensSource::None);
        })
    }

    /// Sent later than planned.
    pub(crate) fn late(self, ms: u64) -> Self {
        self.with(|sample| sample.sched_ns = sample.start_ns.map(|start| start - ms * MS))
    }
}

/// The cell of these attempts, pushed in the order they ended.
pub(crate) fn sum_up(context: CellContext, attempts: impl IntoIterator<Item = Attempt>) -> CellSummary {
    let mut attempts: Vec<Attempt> = attempts.into_iter().collect();
    attempts.sort_by_key(|attempt| attempt.sample.end_ns);
    let with_events = !context.no_events;
    let mut cell = CellAccumulator::new(context);
    for Attempt { mut sample, events } in attempts {
        fill(&mut sample, &events, &|_, _| 0);
        cell.push(&sample, events_of(&sample, &events).filter(|_| with_events).as_ref());
    }
    let summary = cell.finish();
    check_is_strict_json(&summary);
    summary
}

/// What is written reads back as what it was, and has no word but null, true, false and strings.
pub(crate) fn check_is_strict_json(summary: &CellSummary) {
    let text = serde_json::to_string(summary).unwrap();
    let read: CellSummary = serde_json::from_str(&text).unwrap();
    assert!(read == *summary, "reads back as something else");
    assert!(serde_json::to_string(&read).unwrap() == text, "is written differently the second time");
}

pub(crate) fn closed(slots: u32) -> CellContext {
    CellContext { arrival: Arrival::Closed { slots }, health: healthy(), ..CellContext::default() }
}

pub(crate) fn open(asked_rate: f64) -> CellContext {
    let arrival = Arrival::Open { asked_rate: Some(asked_rate) };
    CellContext { arrival, health: healthy(), ..CellContext::default() }
}

/// A client that was never late.
pub(crate) fn healthy() -> ClientHealth {
    let wakeup_lateness = Lateness { n: 1_000, p50_ms: Some(0.1), p99_ms: Some(0.4), max_ms: Some(3.0) };
    ClientHealth { wakeup_lateness, ..ClientHealth::default() }
}

pub(crate) fn window_ms(from: u64, to: u64) -> Window {
    Window { from_ns: from * MS, to_ns: to * MS }
}

pub(crate) fn metric<'a>(summary: &'a CellSummary, name: &str) -> &'a Metric {
    summary.metrics.get(name).unwrap_or_else(|| panic!("no {name}"))
}

pub(crate) fn value(point: Option<&QuantilePoint>) -> Option<f64> {
    point?.value.map(inferometer_metrics::Num::get)
}

/// [n, min, p50, p90, p99, max] of a figure, absent ones as −1.
pub(crate) fn shape(metric: &Metric) -> [f64; 6] {
    let or = |value: Option<f64>| value.unwrap_or(-1.0);
    let num = |value: Option<inferometer_metrics::Num>| or(value.map(inferometer_metrics::Num::get));
    let [p50, p90, p99] = [&metric.p50, &metric.p90, &metric.p99].map(|point| or(value(point.as_ref())));
    [metric.n as f64, num(metric.min), p50, p90, p99, num(metric.max)]
}
