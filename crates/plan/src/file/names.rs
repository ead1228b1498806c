//! Names: none stands twice, and whatever is named exists.

use super::table::{Table, Value, nearest};
use super::wrong::Wrong;
use crate::{Error, Target, Workload};

/// Refuses a name among `tables` that another before it has. `names` are the resolved ones, in the same order.
pub(super) fn unique<'n>(
    what: &str,
    tables: &[Table<'_>],
    names: impl Iterator<Item = &'n str>,
) -> Result<(), Error> {
    let mut seen = Vec::new();
    for (name, table) in names.zip(tables) {
        if seen.contains(&name) {
            return Err(
                table.error("name", format!("a {what} '{name}' stands before: give this one another name"))
            );
        }
        seen.push(name);
    }
    Ok(())
}

/// Refuses what a load's filters name that is not there; where targets or workloads are wrong, nobody knows.
pub(super) fn filters(
    root: &Table<'_>,
    targets: Option<&[Target]>,
    workloads: Option<&[Workload]>,
    wrong: &mut Wrong,
) {
    for table in root.tables("load") {
        if !wrong.is_sound(&table) {
            continue;
        }
        for value in table.get("targets").iter().flat_map(Value::items) {
            let known = targets.map(|targets| targets.iter().map(|target| target.name.as_str()));
            known.and_then(|known| wrong.keep(exists("target", &value, known)));
        }
        for value in table.get("workloads").iter().flat_map(Value::items) {
            let known = workloads.map(|workloads| workloads.iter().map(|workload| workload.name.as_str()));
            known.and_then(|known| wrong.keep(exists("workload", &value, known)));
        }
    }
}

/// Refuses a `value` that is none of the `known` names.
pub(super) fn exists<'n>(
    what: &str,
    value: &Value<'_>,
    known: impl Iterator<Item = &'n str> + Clone,
) -> Result<(), Error> {
    let given = value.text();
    if known.clone().any(|name| name == given) {
        return Ok(());
    }
    let names = known.clone().collect::<Vec<_>>().join(", ");
    Err(value.error(match nearest(&given, known) {
        Some(meant) => format!("there is no {what} '{given}': did you mean '{meant}'?"),
        None => format!("there is no {what} '{given}': there is {names}"),
    }))
}
