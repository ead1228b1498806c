//! Gates as counts, and goodput.

use inferometer_metrics::{CellContext, GateResult, Num};
use inferometer_record::Status;

use crate::cell::{Attempt, answer, closed, sum_up, window_ms};

/// `slow` of `n` requests take 900 ms to their first token, `failed` fail, `cut` are cut after 100 ms, the rest take 100.
fn requests(n: u64, slow: u64, failed: u64, cut: u64) -> Vec<Attempt> {
    let of = |i: u64| match i {
        i if i < slow => answer(i, i * 1_000, &[900, 910], Some(2)),
        i if i < slow + failed => answer(i, i * 1_000, &[], None).failed(Status::HttpError, 5),
        i if i < slow + failed + cut => answer(i, i * 1_000, &[], None).failed(Status::Cancelled, 100),
        i => answer(i, i * 1_000, &[100, 110], Some(2)),
    };
    (0..n).map(of).collect()
}

fn check(gate: &str, attempts: Vec<Attempt>, result: GateResult, bad: Option<u64>, needed_n: Option<u64>) {
    let objectives = "ttft:500".parse().unwrap();
    let context = CellContext { gates: vec![gate.parse().unwrap()], objectives, ..closed(1) };
    let cell = sum_up(context, attempts);
    let outcome = &cell.gates[0];
    assert_eq!((outcome.result, outcome.bad), (result, bad), "{gate}: {outcome:?}");
    if needed_n.is_some() {
        assert_eq!(outcome.needed_n, needed_n, "{gate}: {outcome:?}");
    }
}

#[test]
fn a_quantile_is_tested_as_a_count() {
    use GateResult::{Met, Missed, Unproven};
    check("ttft_p95>500ms", requests(58, 0, 0, 0), Unproven, Some(0), Some(59));
    check("ttft_p95>500ms", requests(59, 0, 0, 0), Met, Some(0), Some(59));
    check("ttft_p95>500ms", requests(92, 1, 0, 0), Unproven, Some(1), Some(93));
    check("ttft_p95>500ms", requests(93, 1, 0, 0), Met, Some(1), Some(93));
    check("ttft_p95>500ms", requests(124, 1, 1, 0), Met, Some(2), Some(124));
    check("ttft_p95>500ms", requests(59, 0, 0, 1), Unproven, Some(0), Some(93));
    check("ttft_p95>500ms", requests(59, 10, 0, 0), Missed, Some(10), None);
    check("ttft_p95>500ms", requests(59, 0, 10, 0), Missed, Some(10), None);
    check("ttft_p99>500ms", requests(298, 0, 0, 0), Unproven, Some(0), Some(299));
    check("e2el_p50>500ms", requests(59, 0, 0, 0), Met, Some(0), None);
    check("speed_p05<50", requests(59, 0, 0, 0), Met, Some(0), Some(59));
    check("speed_p05<50", requests(59, 0, 10, 0), Missed, Some(10), None);
    check("ttft_p95>500ms", Vec::new(), Unproven, Some(0), Some(59));
}

#[test]
fn shares_and_numbers() {
    use GateResult::{Met, Missed, Unproven};
    check("error_rate>5%", requests(59, 0, 0, 1), Unproven, Some(0), Some(59));
    check("error_rate>5%", requests(60, 0, 0, 1), Met, Some(0), Some(59));
    check("error_rate>5%", requests(60, 0, 12, 0), Missed, Some(12), None);
    check("goodput<95%", requests(59, 0, 0, 0), Met, Some(0), Some(59));
    check("goodput<95%", requests(59, 5, 5, 0), Missed, Some(10), None);
    check("throughput<1", requests(59, 0, 0, 0), Met, None, None);
    check("throughput<500", requests(59, 0, 0, 0), Missed, None, None);
    check("throughput<1", requests(10, 0, 0, 0), Unproven, None, None);
    check("cost_per_useful>$1", requests(59, 0, 0, 0), Unproven, None, None);
}

#[test]
fn goodput_counts_each_request_once() {
    let context = CellContext {
        objectives: "ttft:500 tpot:50".parse().unwrap(),
        window: Some(window_ms(0, 20_000)),
        ..closed(1)
    };
    let mut attempts = requests(12, 2, 3, 1);
    attempts.push(answer(20, 15_000, &[100], Some(1))); // one token: its tpot cannot be evaluated
    attempts.push(answer(21, 16_000, &[900], Some(1))); // but this one has missed already
    attempts.push(answer(22, 17_000, &[900], None).failed(Status::Cancelled, 950)); // cut after it had missed
    let goodput = sum_up(context, attempts).goodput.unwrap();
    assert_eq!((goodput.met, goodput.missed, goodput.unknown, goodput.excluded), (6, 7, 1, 1));
    assert_eq!(
        goodput.attainment,
        Num::new(6.0 / 14.0).zip(Num::new(0.5)).map(|(lower, upper)| [lower, upper])
    );
    assert_eq!(goodput.per_second, Num::new(0.3));
    let nothing =
        sum_up(CellContext { objectives: "ttft:1".parse().unwrap(), ..closed(1) }, []).goodput.unwrap();
    assert_eq!((nothing.attainment, nothing.per_second), (None, None));
}

#[test]
fn limits_are_counted_exactly() {
    let context = CellContext { ttft_limits_ms: vec![200.0, 1_000.0], ..closed(1) };
    let cell = sum_up(context, requests(50, 5, 10, 0));
    let ttft = &cell.metrics["time_to_first_token"];
    let over = |of: &inferometer_metrics::Metric| -> Vec<(u64, u64)> {
        of.over.iter().map(|over| (over.share.count, over.share.n)).collect()
    };
    assert_eq!(over(ttft), [(5, 40), (0, 40)]);
    assert_eq!(over(ttft.all_attempts.as_ref().unwrap()), [(15, 50), (10, 50)]);
    assert_eq!(ttft.tail, Num::new(200.0).map(inferometer_metrics::TailFigure::ShareOver));
}
