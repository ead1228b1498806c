//! Lists of models, as providers publish them, and what their words say of whether a model can be had.

use std::fmt;

use serde_json::{Map, Value};

use crate::error;

/// Whether a model can be asked for at a provider without a deployment of one's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Availability {
    /// It answered.
    Callable,
    /// Known there, but only on a deployment that is paid for by time.
    DedicatedOnly,
    /// Known there, but not open to this key.
    Gated,
    /// No longer served.
    Retired,
    /// Nothing says.
    Unknown,
}

impl Availability {
    /// The name in tables and records.
    pub const fn name(self) -> &'static str {
        match self {
            Availability::Callable => "callable",
            Availability::DedicatedOnly => "dedicated_only",
            Availability::Gated => "gated",
            Availability::Retired => "retired",
            Availability::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Availability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One model of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name to ask for.
    pub id: String,
    /// Tokens of context, where the list says.
    pub context: Option<u64>,
    /// What the list says of its availability; [`Availability::Unknown`] where it says nothing.
    pub availability: Availability,
    /// The list's own words for that: `key: value`.
    pub evidence: Option<String>,
}

/// Reads a list of models: OpenAI's `data`, Gemini's and Ollama's `models`, or a bare array (Together). `None` where it is
/// no such list.
pub fn listing(body: &[u8]) -> Option<Vec<Listed>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let list = match &value {
        Value::Array(list) => list,
        Value::Object(fields) => ["data", "models"].iter().find_map(|key| fields.get(*key)?.as_array())?,
        _ => return None,
    };
    Some(list.iter().filter_map(Value::as_object).filter_map(listed).collect())
}

fn listed(entry: &Map<String, Value>) -> Option<Listed> {
    let text = |key: &&str| entry.get(*key).and_then(Value::as_str);
    // Ollama's `name` is what it is asked by, and Gemini's has a prefix which is no part of the model's name.
    let id = ["id", "model", "name"].iter().find_map(text)?;
    let id = error::label(id.strip_prefix("models/").unwrap_or(id)).to_owned();
    let context = CONTEXT_KEYS.iter().find_map(|key| entry.get(*key)?.as_u64());
    let said = entry.iter().find_map(|(key, value)| {
        let availability = said_by(key, value)?;
        Some((availability, error::shorten(&format!("{key}: {value}"))))
    });
    let (availability, evidence) = said.unwrap_or((Availability::Unknown, None));
    Some(Listed { id, context, availability, evidence })
}

/// Keys under which lists state the context's length.
const CONTEXT_KEYS: [&str; 6] = [
    "context_length",
    "context_window",
    "max_model_len",
    "max_context_length",
    "inputTokenLimit",
    "max_input_tokens",
];

/// What one field of a list's entry says, if it says anything.
fn said_by(key: &str, value: &Value) -> Option<Availability> {
    let word = value.as_str().unwrap_or_default().to_ascii_lowercase();
    let is = |says: bool| value.as_bool() == Some(says);
    match key.to_ascii_lowercase().as_str() {
        "deprecated" | "archived" | "retired" | "is_deprecated" if is(true) => Some(Availability::Retired),
        "active" if is(false) => Some(Availability::Retired),
        "status" | "lifecycle" | "lifecycle_status" | "state"
            if RETIRED.iter().any(|part| word.contains(part)) =>
        {
            Some(Availability::Retired)
        }
        "serverless" | "supports_serverless" | "supportsserverless" if is(false) => {
            Some(Availability::DedicatedOnly)
        }
        "dedicated" | "is_dedicated" | "dedicated_only" if is(true) => Some(Availability::DedicatedOnly),
        "deployment" | "deployment_type" | "inference_type" if word.contains("dedicated") => {
            Some(Availability::DedicatedOnly)
        }
        "gated" if is(true) || !matches!(word.as_str(), "" | "false" | "no" | "none") => {
            Some(Availability::Gated)
        }
        "access" | "visibility" if word.contains("gated") || word.contains("private") => {
            Some(Availability::Gated)
        }
        _ => None,
    }
}

const RETIRED: [&str; 6] = ["retired", "sunset", "decommission", "end_of_life", "end of life", "no longer"];
const DEDICATED: [&str; 5] =
    ["dedicated", "non-serverless", "not serverless", "on-demand throughput", "create a deployment"];
const GATED: [&str; 6] =
    ["gated", "access to this model", "request access", "not authorized", "not have access", "agree to"];

/// What a refusal of one small request says of the model: `code` and `message` are the server's.
pub fn refusal(status: u16, code: Option<&str>, message: Option<&str>) -> Availability {
    let words = format!("{} {}", code.unwrap_or_default(), message.unwrap_or_default()).to_ascii_lowercase();
    let says = |list: &[&str]| list.iter().any(|part| words.contains(part));
    match status {
        401 | 429 | 500.. => Availability::Unknown,
        _ if says(&DEDICATED) => Availability::DedicatedOnly,
        _ if says(&RETIRED) || words.contains("deprecated") => Availability::Retired,
        _ if status == 410 => Availability::Retired,
        _ if says(&GATED) => Availability::Gated,
        403 => Availability::Gated,
        _ => Availability::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row<'a> = (&'a str, Option<u64>, Availability, Option<&'a str>);

    #[test]
    fn lists_of_every_shape() {
        use Availability::{DedicatedOnly, Gated, Retired, Unknown};
        let check = |body: &str, right: Option<&[Row<'_>]>| {
            let list = listing(body.as_bytes());
            let seen = list.as_ref().map(|list| {
                let row =
                    |one: &Listed| (one.id.clone(), one.context, one.availability, one.evidence.clone());
                list.iter().map(row).collect::<Vec<_>>()
            });
            let owned = |&(id, context, availability, words): &Row<'_>| {
                (id.to_owned(), context, availability, words.map(str::to_owned))
            };
            assert_eq!(seen, right.map(|right| right.iter().map(owned).collect()), "{body}");
        };
        check(
            r#"{"object":"list","data":[{"id":"a","context_window":8192,"active":true}]}"#,
            Some(&[("a", Some(8192), Unknown, None)]),
        );
        check(
            r#"{"data":[{"id":"a","active":false}]}"#,
            Some(&[("a", None, Retired, Some("active: false"))]),
        );
        check(
            r#"{"models":[{"name":"models/g","inputTokenLimit":9}]}"#,
            Some(&[("g", Some(9), Unknown, None)]),
        );
        check(r#"{"models":[{"name":"q:1b","model":"q:1b"}]}"#, Some(&[("q:1b", None, Unknown, None)]));
        check(
            r#"[{"id":"a","serverless":false},{"id":"b","gated":"manual"},{"id":"c","status":"Decommissioned"}]"#,
            Some(&[
                ("a", None, DedicatedOnly, Some("serverless: false")),
                ("b", None, Gated, Some("gated: \"manual\"")),
                ("c", None, Retired, Some("status: \"Decommissioned\"")),
            ]),
        );
        check(r#"{"data":[{"no":"id"},7]}"#, Some(&[]));
        check(r#"{"error":"x"}"#, None);
        check("<html>", None);
    }

    #[test]
    fn refusals_in_the_providers_own_words() {
        let check = |status, message: &str, right| {
            assert_eq!(refusal(status, None, Some(message)), right, "{status} {message}");
        };
        check(
            400,
            "Unable to access non-serverless model x. Create a dedicated endpoint",
            Availability::DedicatedOnly,
        );
        check(
            400,
            "Invocation of model ID x with on-demand throughput isn't supported",
            Availability::DedicatedOnly,
        );
        check(400, "The model `x` has been decommissioned and is no longer supported", Availability::Retired);
        check(410, "gone", Availability::Retired);
        check(403, "You do not have access to this model", Availability::Gated);
        check(404, "model not found", Availability::Unknown);
        check(401, "invalid key: request access", Availability::Unknown);
        check(429, "slow down", Availability::Unknown);
        check(503, "this model is deprecated", Availability::Unknown);
    }

    #[test]
    fn any_bytes_are_a_list_or_none() {
        bolero::check!().with_iterations(2000).for_each(|body: &[u8]| {
            let _ = listing(body);
        });
    }
}
