//! `[[workload]]`.

use std::path::{Path, PathBuf};

use inferometer_judge::{Check, Grader};

use super::Reader;
use super::names::unique;
use super::table::Table;
use super::wrong::Wrong;
use crate::spec::{WorkloadSpec, check_temperature};
use crate::{Error, Workload};

impl<E: Fn(&str) -> Option<String>> Reader<'_, E> {
    /// Every workload; without one, the built-in prompts.
    pub(super) fn workloads(
        &self,
        root: &Table<'_>,
        protocol: Option<&Table<'_>>,
        wrong: &mut Wrong,
    ) -> Option<Vec<Workload>> {
        let temperature = wrong.keep(temperature(protocol)).flatten().unwrap_or_default();
        let tables = root.tables("workload");
        if tables.is_empty() {
            let spec = WorkloadSpec { temperature, ..WorkloadSpec::default() };
            let built_in = wrong.keep(spec.resolve().map_err(|fault| root.fault(fault)))?;
            return Some(vec![built_in]);
        }
        let workloads = wrong.read_all(&tables, |table| self.workload(table, temperature))?;
        let names = workloads.iter().map(|workload| workload.name.as_str());
        wrong.keep(unique("workload", &tables, names))?;
        Some(workloads)
    }

    fn workload(&self, table: &Table<'_>, default_temperature: f64) -> Result<Workload, Error> {
        if table.get("max_tokens").is_some() && table.get("osl").is_some() {
            return Err(table.error("osl", "max_tokens and osl do not go together: both are the token limit"));
        }
        let length = |key| match table.parse::<u32>(key) {
            Ok(Some(0)) => Err(table.error(key, format!("{key}: at least 1"))),
            read => read,
        };
        let spec = WorkloadSpec {
            name: table.text("name"),
            kind: match table.text("kind").as_deref() {
                None | Some("builtin") => None,
                Some(_) => table.parse("kind")?,
            },
            dataset: table.text("dataset").map(|file| self.beside(&file)),
            isl: length("isl")?,
            isl_stddev: table.parse("isl_stddev")?,
            osl: length("max_tokens")?.or(length("osl")?),
            osl_stddev: table.parse("osl_stddev")?,
            temperature: temperature(Some(table))?.unwrap_or(default_temperature),
            check: check(table)?,
            degraded_is_useful: table.flag("degraded_is_useful"),
        };
        for (stddev, of) in [("isl_stddev", spec.isl), ("osl_stddev", spec.osl)] {
            if table.get(stddev).is_some() && of.is_none() {
                return Err(
                    table.error(stddev, format!("{stddev} is the deviation of a length that is not given"))
                );
            }
        }
        spec.resolve().map_err(|fault| table.fault(fault))
    }

    /// A file that the plan names: where it is not absolute, beside the plan.
    pub(super) fn beside(&self, file: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(file)
    }
}

fn temperature(table: Option<&Table<'_>>) -> Result<Option<f64>, Error> {
    let Some(table) = table else { return Ok(None) };
    let temperature = table.parse("temperature")?;
    temperature.map_or(Ok(()), check_temperature).map_err(|fault| table.fault(fault))?;
    Ok(temperature)
}

/// What makes an answer right; one that cannot run is an error here and not at its first answer.
fn check(table: &Table<'_>) -> Result<Option<Check>, Error> {
    let Some(value) = table.get("check") else { return Ok(None) };
    let refuse =
        |reason: &dyn ToString| value.error(format!("this check cannot run: {}", reason.to_string()));
    let check: Check = serde_json::from_value(value.json()).map_err(|error| refuse(&error))?;
    Grader::new(check.clone()).map_err(|error| refuse(&error))?;
    Ok(Some(check))
}
