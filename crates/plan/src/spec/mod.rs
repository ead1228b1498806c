//! What flags and the plan file both fill in: one meaning, one set of defaults, whoever asks.
//!
//! A spec is plain data with everything optional that has a default; `resolve` gives it its meaning. What is wrong
//! with it is a [`Fault`] on a field. Fields have the flags' names with underscores, which are the file's keys: the
//! command line makes of a fault a flag with its value, the file a line with a caret.

mod load;
mod protocol;
mod target;
mod workload;

pub(crate) use load::{BurstSpec, ColdStartSpec, DEFAULT_REQUESTS, LoadSpec, PRODUCTION_REQUESTS};
pub(crate) use protocol::{Interleave, ProtocolSpec};
pub(crate) use target::{Key, TargetSpec, header};
pub(crate) use workload::{WorkloadSpec, check_temperature};

use crate::Error;

/// What is wrong with a spec.
#[derive(Debug)]
pub(crate) enum Fault {
    /// A field that is needed is not there.
    Missing {
        /// The field.
        field: &'static str,
        /// What to give.
        remedy: &'static str,
    },
    /// A field's value does not mean anything.
    Value {
        /// The field.
        field: &'static str,
        /// What was given, without secrets.
        value: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// Two fields that do not go together.
    Conflict {
        /// One field.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// Why not.
        reason: &'static str,
    },
}

impl Fault {
    /// A value of `field` that does not mean anything.
    pub(crate) fn value(field: &'static str, value: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Value { field, value: value.into(), reason: reason.into() }
    }
}

/// As the command line says it: a field is the flag of its name.
impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Missing { field, remedy } => Self::Missing { flag: flag(field), remedy: remedy.into() },
            Fault::Value { field, value, reason } => Self::Value { flag: flag(field), value, reason },
            Fault::Conflict { first, second, reason } => {
                Self::Conflict { first: flag(first), second: flag(second), reason }
            }
        }
    }
}

/// The flag of a field.
fn flag(field: &str) -> String {
    match field {
        "headers" => "--header".into(),
        field => format!("--{}", field.replace('_', "-")),
    }
}
