//! `[profile.NAME]` and `[compare]`.

use inferometer_metrics::{Equivalence, Gate, Profile, ProfileKind, lower_is_better};

use super::names::exists;
use super::table::{Name, Table, Value};
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
    workloads: &[Workload],
    loads: &[Load],
) -> Result<Vec<Profile>, Error> {
    let Some(table) = root.table("profile") else { return Ok(Vec::new()) };
    let mut profiles = Vec::new();
    for kind in kinds(root) {
        let Some(table) = table.table(kind.name()) else { continue };
        if let Some(workload) = table.get("workload") {
            exists("workload", &workload, workloads.iter().map(|workload| workload.name.as_str()))?;
        }
        if let Some(load) = table.get("load") {
            exists("load", &load, loads.iter().map(|load| load.name.as_str()))?;
        }
        let is_limit = |name: &Name<'_>| !["workload", "load"].contains(&name.text);
        let limits = table.further().filter(|(name, _)| is_limit(name));
        profiles.push(Profile {
            kind,
            workload: table.text("workload"),
            load: table.text("load"),
            limits: limits.map(|(name, value)| limit(&table, &name, &value)).collect::<Result<_, _>>()?,
        });
    }
    Ok(profiles)
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

/// When two targets count as equal.
pub(super) fn equivalence(root: &Table<'_>) -> Result<Equivalence, Error> {
    let default = Equivalence::default();
    let Some(value) = root.table("compare").and_then(|table| table.get("equivalence")) else {
        return Ok(default);
    };
    let Some(table) = value.as_table() else {
        return Ok(Equivalence { ratio: value.parse::<Share>()?.0, ..default });
    };
    let ratio = table.parse::<Share>("ratio")?.map_or(default.ratio, |ratio| ratio.0);
    let share = table.parse::<Share>("share")?.map_or(default.share, |share| share.0);
    Ok(Equivalence { ratio, share })
}

/// Requests a month.
pub(super) fn monthly_requests(root: &Table<'_>) -> Result<Option<u64>, Error> {
    root.table("compare").map_or(Ok(None), |table| table.parse("monthly_requests"))
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
