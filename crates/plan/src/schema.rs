//! The JSON schema of the plan file, for editors: made from the same list of keys that the file is held against.

use serde_json::{Map, Value, json};

use crate::file::{Kind, PLAN, Shape, providers};

/// The schema (2020-12) of the plan file.
pub fn schema() -> Value {
    let mut schema = object(&PLAN);
    if let Value::Object(fields) = &mut schema {
        fields.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        fields.insert("title".into(), "Inferometer plan".into());
        fields.insert("required".into(), json!(["target"]));
    }
    schema
}

fn object(shape: &'static Shape) -> Value {
    let properties: Map<String, Value> = shape
        .keys
        .iter()
        .map(|key| {
            let mut schema = of(&key.kind);
            if let Value::Object(fields) = &mut schema {
                fields.insert("description".into(), key.about.into());
                if key.name == "provider" {
                    fields.insert("examples".into(), json!(providers()));
                }
            }
            (key.name.to_string(), schema)
        })
        .collect();
    let further = shape.further.map_or(Value::Bool(false), of);
    json!({
        "type": "object",
        "description": shape.about,
        "properties": properties,
        "additionalProperties": further,
    })
}

fn of(kind: &'static Kind) -> Value {
    let no_variable = json!({"type": "string", "not": {"pattern": "\\$\\{"}});
    match kind {
        Kind::Text => no_variable,
        Kind::Open => json!({"type": "string"}),
        Kind::Date => json!({"type": "string", "format": "date"}),
        Kind::Whole => json!({"type": "integer", "minimum": 0}),
        Kind::Number => json!({"type": "number"}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Amount => json!({"type": ["number", "string"], "minimum": 0}),
        Kind::Time => json!({
            "type": ["string", "number"],
            "pattern": "^\\s*[0-9.]+\\s*(us|µs|ms|s|sec|m|min|h)?\\s*$",
            "minimum": 0,
        }),
        Kind::Share => json!({
            "type": ["string", "number"],
            "pattern": "^\\s*[0-9.]+\\s*%?\\s*$",
            "exclusiveMinimum": 0,
            "maximum": 1,
        }),
        Kind::Limit => json!({"type": ["string", "number"]}),
        Kind::OneOf(words) => json!({"enum": words()}),
        Kind::List(kind) => json!({"type": "array", "items": of(kind), "minItems": 1}),
        Kind::Some(kind) => {
            json!({"anyOf": [of(kind), {"type": "array", "items": of(kind), "minItems": 1}]})
        }
        Kind::Either(kinds) => json!({"anyOf": kinds.iter().map(of).collect::<Vec<_>>()}),
        Kind::Json => json!({}),
        Kind::JsonTable => json!({"type": "object"}),
        Kind::Table(shape) => object(shape),
        Kind::Tables(shape) => json!({"type": "array", "items": object(shape), "minItems": 1}),
    }
}
