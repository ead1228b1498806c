//! JSON Schema, draft 2020-12, with nothing fetched from anywhere.

use std::fmt;
use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::evidence;

/// Largest expression that a `pattern` may compile to, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// A schema, compiled.
#[derive(Clone)]
pub(crate) struct Schema(Arc<Validator>);

impl Schema {
    /// Compiles `schema`; the error says what is wrong, and where in it.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        // Linear in the text, whatever the expression.
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX);
        let built = jsonschema::draft202012::options().with_pattern_options(patterns).build(schema);
        match built {
            Ok(validator) => Ok(Self(Arc::new(validator))),
            Err(error) => {
                let place = error.instance_path().to_string();
                let place = if place.is_empty() { "its root" } else { place.as_str() };
                Err(evidence::bounded(format_args!("no JSON schema, at {place}: {error}")))
            }
        }
    }

    /// The first thing that `value` does wrong.
    pub(crate) fn fault(&self, value: &Value) -> Option<String> {
        let error = self.0.validate(value).err()?;
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { "the root" } else { place.as_str() };
        Some(evidence::bounded(format_args!("at {place}: {error}")))
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Schema")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_that_are_none_say_where() {
        let check = |schema: Value, said: &[&str]| {
            let error = Schema::new(&schema).expect_err("refused");
            assert!(said.iter().all(|part| error.contains(part)), "{schema}: {error}");
        };
        check(json!(3), &["no JSON schema", "its root"]);
        check(json!({"type": "strin"}), &["no JSON schema", "/type", "strin"]);
        check(json!({"properties": {"a": {"minimum": "1"}}}), &["/properties/a/minimum"]);
        check(json!({"$ref": "http://example.com/a.json"}), &["example.com"]);
        check(json!({"$ref": "file:///etc/passwd"}), &["passwd"]);
    }

    #[test]
    fn faults_say_where() {
        let schema = Schema::new(&json!({
            "type": "object",
            "properties": {"age": {"type": "integer"}},
            "required": ["name"],
        }))
        .expect("a schema");
        assert_eq!(schema.fault(&json!({"name": "x", "age": 3})), None);
        let fault = schema.fault(&json!({"name": "x", "age": "3"})).expect("a fault");
        assert!(fault.starts_with("at /age: "), "{fault}");
        let fault = schema.fault(&json!({})).expect("a fault");
        assert!(fault.starts_with("at the root: ") && fault.contains("name"), "{fault}");
    }

    #[test]
    fn a_schema_that_names_itself_ends() {
        let schema = Schema::new(&json!({"$ref": "#"})).expect("a schema");
        assert_eq!(schema.fault(&json!([1])), None);
    }
}
