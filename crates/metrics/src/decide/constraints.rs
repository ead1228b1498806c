//! What must hold, held against what was measured.

use crate::kept::Kept;
use crate::names::name;
use crate::{Gate, GateOutcome, GateResult, Profile, ProfileKind};

use super::field::Field;

/// Prompts with a median below this are not long: they say nothing of the time that reading a long one takes.
const LONG_PROMPT_TOKENS: f64 = 2_000.0;

/// Each constraint of `profile` on one target, in order.
pub(super) fn hold(profile: &Profile, field: &Field<'_>, cell: Kept<'_>) -> Vec<GateOutcome> {
    profile.constraints().iter().map(|gate| outcome(profile.kind, field, cell, gate)).collect()
}

fn outcome(kind: ProfileKind, field: &Field<'_>, cell: Kept<'_>, gate: &Gate) -> GateOutcome {
    match gate.metric() {
        name::BURST_TTFT | name::BURST_ERROR_RATE => in_a_burst(field, cell, gate),
        name::TTFT if kind == ProfileKind::Rag => with_long_prompts(cell, gate),
        _ => cell.gate(gate),
    }
}

/// Bursts are a load of their own: that of the same target, on the same workload where there is one.
fn in_a_burst(field: &Field<'_>, cell: Kept<'_>, gate: &Gate) -> GateOutcome {
    let bursts =
        || field.all.iter().filter(|c| c.summary.target == cell.summary.target && c.summary.bursts.is_some());
    let same = bursts().find(|burst| burst.summary.workload == cell.summary.workload);
    match same.or_else(|| bursts().next()) {
        Some(burst) => burst.gate(gate),
        None => not_measured(gate, "no burst was made"),
    }
}

fn with_long_prompts(cell: Kept<'_>, gate: &Gate) -> GateOutcome {
    let input = cell.summary.metrics.get(name::INPUT).and_then(|input| input.p50.as_ref()?.value);
    match input {
        Some(tokens) if tokens.get() >= LONG_PROMPT_TOKENS => cell.gate(gate),
        Some(tokens) => {
            let why = format!(
                "the prompts have {:.0} tokens at the median, long ones {LONG_PROMPT_TOKENS:.0} or more",
                tokens.get()
            );
            GateOutcome { value: cell.gate(gate).value, ..not_measured(gate, &why) }
        }
        None => not_measured(gate, "how long the prompts are is not known"),
    }
}

fn not_measured(gate: &Gate, why: &str) -> GateOutcome {
    GateOutcome::unmeasured(gate.to_string(), why)
}

/// Whether what was seen, proven or not, breaks the constraint.
pub(super) fn looks_broken(outcome: &GateOutcome) -> bool {
    let gate: Option<Gate> = outcome.gate.parse().ok();
    let breaks =
        gate.zip(outcome.value).is_some_and(|(gate, value)| gate.op().holds(value.get(), gate.limit()));
    outcome.result != GateResult::Met && breaks && !outcome.is_unmeasured
}
