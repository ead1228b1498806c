//! `[load]`, or several as `[[load]]`.

use std::time::Duration;

use super::table::{Table, Value};
use super::wrong::Wrong;
use crate::spec::{BurstSpec, ColdStartSpec, LoadSpec};
use crate::{ArrivalFlag, Counts, Error, Load, Span};

/// Every load; without a table, one request at a time. `trials` is how many requests each has where nothing bounds it.
pub(super) fn loads(root: &Table<'_>, trials: u64, wrong: &mut Wrong) -> Option<Vec<Load>> {
    let tables = root.tables("load");
    if tables.is_empty() {
        return wrong.keep(LoadSpec::default().resolve(trials).map_err(|fault| root.fault(fault)));
    }
    let read = |table: &Table<'_>| spec(table)?.resolve(trials).map_err(|fault| table.fault(fault));
    let of_tables = wrong.read_all(&tables, read)?;
    let mut loads: Vec<Load> = Vec::new();
    for (table, of_table) in tables.iter().zip(of_tables) {
        for load in of_table {
            if loads.iter().any(|known| known.name == load.name) {
                let said = format!("a load '{}' stands before: give this one another name", load.name);
                wrong.add(table.error("name", said));
                return None;
            }
            loads.push(load);
        }
    }
    Some(loads)
}

fn spec(table: &Table<'_>) -> Result<LoadSpec, Error> {
    Ok(LoadSpec {
        name: table.text("name"),
        concurrency: table.parse("concurrency")?,
        request_rate: table.parse("request_rate")?,
        arrival: table.text("arrival").as_deref().and_then(arrival),
        burstiness: table.parse("burstiness")?,
        requests: table.parse("requests")?,
        duration: time(table, "duration")?,
        ramp: time(table, "ramp")?,
        coldstart: table.table("coldstart").as_ref().map(coldstart).transpose()?,
        burst: table.table("burst").as_ref().map(burst).transpose()?,
        respect_rate_limits: table.flag("respect_rate_limits").unwrap_or(false),
        targets: names(table, "targets"),
        workloads: names(table, "workloads"),
    })
}

fn coldstart(table: &Table<'_>) -> Result<ColdStartSpec, Error> {
    let gap = time(table, "gap")?.ok_or_else(|| {
        table.error_here("gap is missing: say how long the target is left alone, as in gap = \"4s\"")
    })?;
    if gap.is_zero() {
        return Err(table.error("gap", "gap: longer than nothing, as in \"4s\""));
    }
    Ok(ColdStartSpec { gap, episodes: episodes(table)? })
}

fn burst(table: &Table<'_>) -> Result<BurstSpec, Error> {
    let size: Option<Counts> = table.parse("size")?;
    let size = size
        .and_then(|counts| counts.0.first().copied())
        .ok_or_else(|| table.error_here("size is missing: say how many requests at once, as in size = 20"))?;
    Ok(BurstSpec { size, rest: time(table, "rest")?, episodes: episodes(table)? })
}

fn episodes(table: &Table<'_>) -> Result<Option<u64>, Error> {
    match table.parse("episodes")? {
        Some(0) => Err(table.error("episodes", "episodes: at least 1")),
        episodes => Ok(episodes),
    }
}

/// The time of `key`.
pub(super) fn time(table: &Table<'_>, key: &str) -> Result<Option<Duration>, Error> {
    Ok(table.parse::<Span>(key)?.map(|span| span.0))
}

fn names(table: &Table<'_>, key: &str) -> Option<Vec<String>> {
    table.get(key).map(|value| value.items().iter().map(Value::text).collect())
}

fn arrival(name: &str) -> Option<ArrivalFlag> {
    clap::ValueEnum::from_str(name, false).ok()
}
