//! Several runs as one.

use inferometer_metrics::{
    Arrival, CellContext, CellSummary, ClientHealth, Lateness, Study, Summary, TargetInfo, Window, events_of,
    fill, pooled, summarize,
};
use inferometer_record::{Manifest, Pool, RecordError, Recorded, Recording, State, Stream};

use crate::cell::{MS, answer};

/// A run that nobody wrote to a disk.
#[derive(Debug)]
struct Held {
    manifest: Manifest,
    records: Vec<Recorded>,
}

impl Recording for Held {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn stream(&self) -> Result<Stream<'_>, RecordError> {
        Ok(Box::new(self.records.iter().cloned().map(Ok)))
    }
}

/// A run of target `t`: ten requests in its window of 10 s, one a second, their first token after `ttft_ms`.
fn run(id: &str, ttft_ms: u64, model: &str, slots: Option<u32>) -> Box<dyn Recording> {
    let attempts = (0..10).map(|n| answer(n, n * 1_000, &[ttft_ms, ttft_ms + 100], Some(5)));
    let records = attempts.map(|mut attempt| {
        "t".clone_into(&mut attempt.sample.target);
        id.clone_into(&mut attempt.sample.run_id);
        fill(&mut attempt.sample, &attempt.events, &|_, _| 0);
        let events = events_of(&attempt.sample, &attempt.events);
        (attempt.sample, events)
    });
    let health = ClientHealth {
        wakeup_lateness: Lateness { n: 100, p50_ms: Some(0.0), p99_ms: Some(0.1), max_ms: Some(0.2) },
        planned_starts: Some(10),
        ..ClientHealth::default()
    };
    let context = slots.map(|slots| CellContext {
        target: "t".to_owned(),
        arrival: Arrival::Closed { slots },
        window: Some(Window { from_ns: 0, to_ns: 10_000 * MS }),
        health,
        ..CellContext::default()
    });
    let target = TargetInfo { name: "t".to_owned(), model: model.to_owned(), ..TargetInfo::default() };
    let study = Study { targets: vec![target], ..Study::default() };
    let manifest = Manifest {
        run_id: id.to_owned(),
        state: State::Complete,
        cells: context.iter().map(|context| serde_json::to_value(context).unwrap()).collect(),
        study: serde_json::to_value(study).unwrap(),
        ..Manifest::default()
    };
    Box::new(Held { manifest, records: records.collect() })
}

fn summary(runs: Vec<Box<dyn Recording>>) -> Summary {
    let mut pool = Pool::new(runs).unwrap();
    pooled(&mut pool).unwrap();
    let samples = pool.stream().unwrap().map(Result::unwrap);
    summarize(pool.manifest(), samples).unwrap()
}

fn only(summary: &Summary) -> &CellSummary {
    let [cell] = summary.cells.as_slice() else { panic!("{} cells", summary.cells.len()) };
    cell
}

#[test]
fn a_cell_of_two_runs_has_the_samples_of_both_and_the_time_of_each() {
    let one = summary(vec![run("a", 200, "m", Some(1))]);
    let two = summary(vec![run("a", 200, "m", Some(1)), run("b", 300, "m", Some(1))]);
    let (one, two) = (only(&one), only(&two));
    assert_eq!((one.counts.issued, two.counts.issued, two.counts.useful), (10, 20, 20));
    let rate = |cell: &CellSummary| {
        serde_json::to_value(&cell.throughput).unwrap()["request_throughput"]["value"].as_f64().unwrap()
    };
    assert_eq!(rate(one), rate(two), "what lies between two runs is nobody's time");
    let ttft = &two.metrics["time_to_first_token"];
    assert_eq!(ttft.n, 20);
    assert_eq!(serde_json::to_value(ttft).unwrap()["mean"], 250.0);
    assert_eq!(two.client.valid, one.client.valid);
    assert_eq!(two.time_windows, 2, "each run is a time window");
}

#[test]
fn what_differs_stands_side_by_side() {
    let check = |other: Box<dyn Recording>, expected: &[(&str, u64)]| {
        let summary = summary(vec![run("a", 200, "m", Some(1)), other]);
        let cells: Vec<_> =
            summary.cells.iter().map(|cell| (cell.target.as_str(), cell.counts.issued)).collect();
        assert_eq!(cells, expected);
    };
    check(run("b", 200, "m", Some(1)), &[("t", 20)]);
    check(run("b", 200, "other", Some(1)), &[("t", 10), ("t (run 2)", 10)]);
    check(run("b", 200, "m", Some(4)), &[("t", 10), ("t (run 2)", 10)]);
}

#[test]
fn a_run_that_could_not_say_has_its_samples() {
    let summary = summary(vec![run("a", 200, "m", None), run("b", 300, "m", None)]);
    assert_eq!(only(&summary).counts.issued, 20);
}
