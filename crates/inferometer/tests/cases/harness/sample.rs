//! A line of `samples.jsonl`, by the names that are its contract.

use std::collections::BTreeSet;

use serde_json::Value;

/// One attempt.
#[derive(Clone, Debug)]
pub(crate) struct Sample(pub(crate) Value);

impl Sample {
    /// The field; a name that is not there is a mistake of the test or a broken contract.
    #[track_caller]
    pub(crate) fn field(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or_else(|| panic!("no field {name} in {}", self.0))
    }

    /// A number, `None` where it is null.
    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.field(name).as_f64()
    }

    /// A count, `None` where it is null.
    #[track_caller]
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        self.field(name).as_u64()
    }

    /// A text, empty where it is null.
    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> &str {
        self.field(name).as_str().unwrap_or_default()
    }

    pub(crate) fn status(&self) -> &str {
        self.text("status")
    }

    pub(crate) fn is_final(&self) -> bool {
        self.field("final").as_bool().unwrap()
    }

    pub(crate) fn flags(&self) -> BTreeSet<&str> {
        self.field("flags").as_array().unwrap().iter().map(|flag| flag.as_str().unwrap()).collect()
    }

    pub(crate) fn has_flag(&self, name: &str) -> bool {
        self.flags().contains(name)
    }
}
