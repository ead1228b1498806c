//! `[profile.NAME]` and `[compare]`.

use inferometer_metrics::{Equivalence, Gate, Profile, ProfileKind, lower_is_better};

use super::names::exists;
use super::table::{Name, Table, Value};
use super::wrong::Wrong;
use crate::value::Share;
use crate::{Error, Load, Workload};

/// The profiles that there are.
pub(super) fn kinds(root: &Table<'_>) -> Vec<ProfileKind> {
    let Some(table) = root.table("profile") else { return Vec::new() };
    ProfileKind::ALL.into_iter().filter(|kind| table.get(kind.name()).is_some()).collect()
}

/// What decisions are asked for.
pub(super) fn profiles(
    root: &Table<'_>,
    workloads: Option<&[Workload]>,
    loads: Option<&[Load]>,
    wrong: &mut Wrong,
) -> Option<Vec<Profile>> {
    let Some(table) = root.table("profile") else { return Some(Vec::new()) };
    let tables = kinds(root).into_iter().filter_map(|kind| Some((kind, table.table(kind.name())?)));
    let read: Vec<Option<Profile>> =
        tables.map(|(kind, table)| wrong.read(&table, || profile(kind, &table, workloads, loads))).collect();
    read.into_iter().collect()
}

fn profile(
    kind: ProfileKind,
    table: &Table<'_>,
    workloads: Option<&[Workload]>,
    loads: Option<&[Load]>,
) -> Result<Profile, Error> {
    if let (Some(workload), Some(workloads)) = (table.get("workload"), workloads) {
        exists("workload", &workload, workloads.iter().map(|workload| workload.name.as_str()))?;
    }
    if let (Some(load), Some(loads)) = (table.get("load"), loads) {
        exists("load", &load, loads.iter().map(|load| load.name.as_str()))?;
    }
    let is_limit = |name: &Name<'_>| !["workload", "load"].contains(&name.text);
    let limits = table.further().filter(|(name, _)| is_limit(name));
    Ok(Profile {
        kind,
        workload: table.text("workload"),
        load: table.text("load"),
        limits: limits.map(|(name, value)| limit(table, &name, &value)).collect::<Result<_, _>>()?,
    })
}

/// The condition that breaks a limit: above it, or below it where much is good.
fn limit(table: &Table<'_>, name: &Name<'_>, value: &Value<'_>) -> Result<Gate, Error> {
    let figure = name.text;
    let typed = value.text();
    let parse = |op: &str| format!("{figure}{op}{typed}").parse::<Gate>();
    let gate = parse(">").map_err(|error| match error {
        inferometer_metrics::GateError::Limit { .. } => value.error(error.to_string()),
        other => table.error_at(name, other.to_string()),
    })?;
    if !lower_is_better(gate.metric()) {
        return parse("<").map_err(|error| value.error(error.to_string()));
    }
    Ok(gate)
}

/// When two targets count as equal; `table` is `[compare]`.
pub(super) fn equivalence(table: Option<&Table<'_>>) -> Result<Equivalence, Error> {
    let default = Equivalence::default();
    let Some(value) = table.and_then(|table| table.get("equivalence")) else {
        return Ok(default);
    };
    let Some(table) = value.as_table() else {
        return Ok(Equivalence { ratio: value.parse::<Share>()?.0, ..default });
    };
    let ratio = table.parse::<Share>("ratio")?.map_or(default.ratio, |ratio| ratio.0);
    let share = table.parse::<Share>("share")?.map_or(default.share, |share| share.0);
    Ok(Equivalence { ratio, share })
}

/// Requests a month; `table` is `[compare]`.
pub(super) fn monthly_requests(table: Option<&Table<'_>>) -> Result<Option<u64>, Error> {
    table.map_or(Ok(None), |table| table.parse("monthly_requests"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The profiles' own limits and ours point the same way.
    #[test]
    fn much_is_good_where_the_defaults_say_so() {
        for gate in ProfileKind::ALL.into_iter().flat_map(Profile::defaults) {
            assert_eq!(!lower_is_better(gate.metric()), !gate.op().is_upper(), "{gate}");
        }
    }
}
