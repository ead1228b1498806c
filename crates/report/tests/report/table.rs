//! What a person sees at 80 and at 120 columns.

use crate::fixture::{Run, dead, failing, gate, healthy, not_valid};
use inferometer_metrics::{Cost, GateResult};
use inferometer_record::State;
use inferometer_report::Format;
use serde_json::json;

fn check(name: &str, run: &Run) {
    for width in [80, 120] {
        insta::assert_snapshot!(format!("{name}_{width}"), run.render(Format::Table, width, false));
    }
}

#[test]
fn healthy_cell() {
    check("healthy", &Run::new(vec![healthy(4, 100, 412.0)]));
}

#[test]
fn sweep_of_three() {
    let mut cells = vec![healthy(1, 50, 101.0), healthy(4, 100, 187.0), healthy(16, 400, 1412.0)];
    cells[2].client = not_valid().client;
    check("sweep", &Run::new(cells));
}

#[test]
fn failures_with_causes() {
    check("failures", &Run::new(vec![failing()]));
}

#[test]
fn nothing_succeeded() {
    check("dead", &Run::new(vec![dead()]));
}

#[test]
fn incomplete() {
    let mut run = Run::new(vec![healthy(4, 25, 12_345.0)]);
    run.summary.state = State::Running;
    run.summary.warnings = vec!["samples.jsonl ended in the middle of a line, which was left out".to_owned()];
    check("incomplete", &run);
}

#[test]
fn client_too_slow() {
    check("not_valid", &Run::new(vec![not_valid()]));
}

#[test]
fn no_price_and_no_verification() {
    let mut run = Run::new(vec![healthy(4, 100, 412.0)]);
    run.summary.cells[0].cost = Cost { unknown: 100, ..Cost::default() };
    run.manifest.plan["targets"][0]["price"] = json!(null);
    run.manifest.plan["targets"][0]["insecure"] = json!(true);
    run.summary.state = State::Interrupted;
    run.summary.interrupted = true;
    check("no_price", &run);
}

#[test]
fn gates() {
    let mut run = Run::new(vec![healthy(4, 100, 412.0)]);
    run.summary.cells[0].gates = vec![
        gate("ttft_p95>1s", GateResult::Met, 100, Some(59), "0 of 100 over the limit"),
        gate("ttft_p99>1s", GateResult::Unproven, 100, Some(299), "0 of 100 over the limit"),
        gate("ttft_p50>300ms", GateResult::Missed, 100, None, "97 of 100 over the limit"),
    ];
    check("gates", &run);
}

#[test]
fn many_cells_show_only_what_is_wrong() {
    let mut cells: Vec<_> = [1, 2, 4, 8].map(|slots| healthy(slots, 100, 100.0)).into();
    cells.push(failing());
    check("many", &Run::new(cells));
}

#[test]
fn color_is_sparse() {
    insta::assert_snapshot!(
        "color",
        Run::new(vec![dead()]).render(Format::Table, 80, true).replace('\u{1b}', "ESC")
    );
}

#[test]
fn markdown_pastes_into_an_issue() {
    insta::assert_snapshot!(
        "markdown",
        Run::new(vec![healthy(1, 50, 101.0), failing()]).render(Format::Md, 80, true)
    );
}

/// From samples, by way of the figures as they are really made.
#[test]
fn figures_of_real_samples() {
    let sample = |i: u64| inferometer_record::Sample {
        request: i,
        seq: i,
        attempts: 1,
        attempt: 1,
        is_final: true,
        start_ns: Some(i * 1_000_000_000),
        first_ns: Some(i * 1_000_000_000 + i * 10_000_000),
        sent_ns: Some(i * 1_000_000_000),
        last_ns: Some(i * 1_000_000_000 + 500_000_000),
        end_ns: Some(i * 1_000_000_000 + 501_000_000),
        ttft_ms: Some(i as f64 * 10.0),
        request_latency_ms: Some(500.0),
        status: inferometer_record::Status::Ok,
        ..inferometer_record::Sample::default()
    };
    let manifest = inferometer_record::Manifest::default();
    let summary = inferometer_metrics::summarize(&manifest, (1..=10).map(|i| (sample(i), None))).unwrap();
    let shown = Run { summary, manifest }.render(Format::Table, 120, false);
    for part in
        ["incomplete: ", "50.0 ms", "100 ms  [≥ 80.0] max of 10", "10 issued · 10 ok", "unknown: no price"]
    {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }
}
