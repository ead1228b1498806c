//! `[protocol]`.

use inferometer_metrics::{Condition, Gate, GateError, Objectives};
use inferometer_workload::Cache;

use super::load::time;
use super::table::{Table, Value};
use crate::spec::{Interleave, ProtocolSpec};
use crate::value::Share;
use crate::{Error, Precision, Protocol, Target};

/// What precision is about where the plan does not say it.
const PRECISION_FIGURE: &str = "ttft_p50";

/// How the cells of so many targets are measured.
pub(super) fn protocol(
    table: Option<&Table<'_>>,
    targets: usize,
    fresh_seed: u64,
) -> Result<Protocol, Error> {
    let Some(table) = table else {
        return Ok(ProtocolSpec::default().resolve(targets, fresh_seed)?);
    };
    let spec = ProtocolSpec {
        warmup: table.parse("warmup")?,
        retries: table.parse("retries")?,
        seed: table.parse("seed")?,
        cache: table.text("cache").as_deref().map(cache),
        timeout: time(table, "timeout")?,
        connect_timeout: time(table, "connect_timeout")?,
        first_token_timeout: time(table, "first_token_timeout")?,
        idle_timeout: time(table, "idle_timeout")?,
        grace: time(table, "grace")?,
        keep_text: table.flag("keep_text").unwrap_or(false),
        interleave: table.text("interleave").as_deref().and_then(Interleave::named),
        order_seed: table.parse("order_seed")?,
        slice: time(table, "slice")?,
        max_lag: table.parse("max_lag")?,
        patience: time(table, "patience")?,
        precision: precision(table)?,
    };
    spec.resolve(targets, fresh_seed).map_err(|fault| table.fault(fault))
}

/// Requests of each cell, where the plan says it.
pub(super) fn trials(table: Option<&Table<'_>>) -> Result<Option<u64>, Error> {
    let Some(table) = table else { return Ok(None) };
    match table.parse("trials")? {
        Some(0) => Err(table.error("trials", "trials: at least 1; 25 is the least that says anything")),
        trials => Ok(trials),
    }
}

/// What a request must meet to count as good.
pub(super) fn objectives(table: Option<&Table<'_>>) -> Result<Option<Objectives>, Error> {
    table.map_or(Ok(None), |table| table.parse("goodput"))
}

/// What fails the run; a condition on two targets names targets that there are, as far as these are known.
pub(super) fn conditions(
    table: Option<&Table<'_>>,
    targets: Option<&[Target]>,
) -> Result<Vec<Condition>, Error> {
    let names: Option<Vec<&str>> =
        targets.map(|targets| targets.iter().map(|target| target.name.as_str()).collect());
    let value = table.and_then(|table| table.get("fail_if"));
    let read = |typed: Value<'_>| {
        let condition: Condition = typed.parse()?;
        let known = condition.pair().zip(names.as_ref()).map_or(Ok(()), |(gate, names)| gate.check(names));
        known.map_err(|error| typed.error(error.to_string()))?;
        Ok(condition)
    };
    value.iter().flat_map(Value::items).map(read).collect()
}

fn cache(name: &str) -> Cache {
    match name {
        "as-is" => Cache::AsIs,
        "warm" => Cache::Warm,
        _ => Cache::Bust,
    }
}

fn precision(table: &Table<'_>) -> Result<Option<Precision>, Error> {
    let Some(value) = table.get("precision") else { return Ok(None) };
    let Some(inner) = value.as_table() else {
        let goal = value.parse::<Share>()?.0;
        return Ok(Some(Precision { figure: PRECISION_FIGURE.into(), goal }));
    };
    let goal = inner.parse::<Share>("goal")?;
    let goal = goal.ok_or_else(|| {
        inner.error_here("goal is missing: say how near is near enough, as in goal = \"10%\"")
    })?;
    let figure = inner.text("figure").unwrap_or_else(|| PRECISION_FIGURE.into());
    // A gate knows the names; only a time may be held against milliseconds.
    let not_a_time = || inner.error("figure", "precision is of a time with a quantile, as in ttft_p50");
    let gate = format!("{figure}>1ms").parse::<Gate>().map_err(|error| match error {
        GateError::Limit { .. } => not_a_time(),
        other => inner.error("figure", other.to_string()),
    })?;
    if gate.quantile().is_none() {
        return Err(not_a_time());
    }
    Ok(Some(Precision { figure, goal: goal.0 }))
}
