//! What to ask.

use std::path::PathBuf;

use inferometer_judge::Check;
use inferometer_workload::{Lengths, Shipped, Source};

use super::Fault;
use crate::Workload;

/// One workload as it was asked for. With neither kind, dataset nor length, the built-in prompts.
#[derive(Default)]
pub(crate) struct WorkloadSpec {
    pub(crate) name: Option<String>,
    pub(crate) kind: Option<Shipped>,
    pub(crate) dataset: Option<PathBuf>,
    pub(crate) isl: Option<u32>,
    pub(crate) isl_stddev: Option<f64>,
    pub(crate) osl: Option<u32>,
    pub(crate) osl_stddev: Option<f64>,
    pub(crate) temperature: f64,
    pub(crate) check: Option<Check>,
    pub(crate) degraded_is_useful: Option<bool>,
}

impl WorkloadSpec {
    /// The workload.
    pub(crate) fn resolve(self) -> Result<Workload, Fault> {
        check_temperature(self.temperature)?;
        let input = self.isl.map(|mean| lengths("isl_stddev", mean, self.isl_stddev)).transpose()?;
        let output = self.osl.map(|mean| lengths("osl_stddev", mean, self.osl_stddev)).transpose()?;
        let (name, source) = match (self.kind, self.dataset, input) {
            (Some(_), Some(_), _) => {
                let reason = "a kind brings its own prompts";
                return Err(Fault::Conflict { first: "kind", second: "dataset", reason });
            }
            (Some(kind), None, Some(_)) if !kind.takes_input() => {
                let reason = "the prompts of this kind have their own lengths";
                return Err(Fault::Conflict { first: "kind", second: "isl", reason });
            }
            (Some(kind), None, input) => (kind.name().to_string(), Source::Shipped { kind, input, output }),
            (None, Some(_), Some(_)) => {
                let reason = "a dataset's prompts have their own lengths";
                return Err(Fault::Conflict { first: "dataset", second: "isl", reason });
            }
            (None, Some(path), None) => {
                let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
                (stem.unwrap_or_default(), Source::Dataset { path, output })
            }
            (None, None, Some(input)) => {
                let osl = self.osl.map_or(String::new(), |osl| format!("-osl{osl}"));
                (format!("isl{}{osl}", input.mean), Source::Synthetic { input, output })
            }
            (None, None, None) => ("builtin".to_string(), Source::Builtin { output }),
        };
        Ok(Workload {
            name: self.name.unwrap_or(name),
            source,
            temperature: self.temperature,
            max_tokens: self.osl.or(self.kind.map(Shipped::default_max_tokens)),
            check: self.check,
            degraded_is_useful: self.degraded_is_useful,
        })
    }
}

/// What no model takes is refused.
pub(crate) fn check_temperature(temperature: f64) -> Result<(), Fault> {
    if (0.0..=10.0).contains(&temperature) {
        return Ok(());
    }
    Err(Fault::value("temperature", temperature.to_string(), "not between 0 and 10"))
}

fn lengths(field: &'static str, mean: u32, stddev: Option<f64>) -> Result<Lengths, Fault> {
    let stddev = stddev.unwrap_or(0.0);
    if !(0.0..=f64::from(u32::MAX)).contains(&stddev) {
        return Err(Fault::value(field, stddev.to_string(), "not a deviation in tokens from 0"));
    }
    Ok(Lengths { mean, stddev })
}
