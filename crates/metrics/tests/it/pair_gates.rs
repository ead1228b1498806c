//! Gates that hold one target against another, or against a baseline run.

use inferometer_metrics::{CellSummary, GateResult, PairGate, Study, Summary, hold_against};

use crate::cell::{answer, closed, sum_up};

/// A cell of `n` answers whose first token came after `ttft_ms` and up to a tenth more.
fn cell(target: &str, workload: &str, ttft_ms: u64, n: u64) -> CellSummary {
    let answers = (0..n)
        .map(|i| answer(i, i * 10_000, &[ttft_ms + i * 37 % n * ttft_ms / n / 10, ttft_ms * 2], Some(2)));
    let mut cell = sum_up(closed(1), answers);
    (cell.target, cell.workload, cell.load) = (target.to_owned(), workload.to_owned(), "c1".to_owned());
    cell
}

fn summary(cells: Vec<CellSummary>) -> Summary {
    Summary { cells, ..Summary::default() }
}

fn check(gate: &str, baseline: Option<&Summary>, results: &[(GateResult, &str)]) {
    let mut run = summary(vec![
        cell("fast", "chat", 100, 200),
        cell("slow", "chat", 150, 200),
        cell("fast", "rag", 100, 8),
        cell("slow", "rag", 150, 8),
    ]);
    let pair_gates: Vec<PairGate> = vec![gate.parse().unwrap()];
    hold_against(&mut run, &Study { pair_gates, ..Study::default() }, baseline);
    let found: Vec<_> = run.gates.iter().map(|outcome| (outcome.result, outcome.detail.as_str())).collect();
    let is_right = found.len() == results.len()
        && found.iter().zip(results).all(|(found, right)| found.0 == right.0 && found.1.contains(right.1));
    assert!(is_right, "{gate}: {found:?}");
}

#[test]
fn one_outcome_for_each_cell_of_the_first() {
    use GateResult::{Met, Missed, Unproven};
    check("fast.ttft_p95 > 1.1 * slow.ttft_p95", None, &[(Met, "chat, c1: "), (Unproven, "rag, c1: ")]);
    check("chat/slow.ttft_p50 > 1.1 * fast.ttft_p50", None, &[(Missed, "of slow")]);
    check("chat/slow.ttft_p50 > 1.45 * fast.ttft_p50", None, &[(Missed, "1.45 × second")]);
    check("chat/slow.ttft_p50 > 1.6 * fast.ttft_p50", None, &[(Met, "ttft_p50")]);
    check("chat/fast.error_rate > slow.error_rate", None, &[(Unproven, "error_rate 0 of fast")]);
    check("chat/fast.ttft_p50 > rag/slow.ttft_p50", None, &[(Met, "chat, c1")]);
    check(
        "rag/fast.cost_per_useful > slow.cost_per_useful",
        None,
        &[(Unproven, "not measured on both sides")],
    );
    check("other.ttft_p50 > slow.ttft_p50", None, &[(Unproven, "no workload and load")]);
}

#[test]
fn the_same_target_in_a_baseline_run() {
    let baseline = summary(vec![cell("fast", "chat", 60, 200)]);
    let gate = "fast.ttft_p95 > 1.1 * baseline.ttft_p95";
    check(gate, None, &[(GateResult::Unproven, "no baseline run was given")]);
    check(gate, Some(&baseline), &[(GateResult::Missed, "of baseline")]);
}
