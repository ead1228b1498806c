//! docs/plan.md, docs/plan.schema.json and docs/providers.md are held to the keys that the file really has, and to
//! the table of presets. To write them anew:
//!
//! ```text
//! INFEROMETER_WRITE_PLAN=1 cargo test --package inferometer-plan manual
//! ```

mod providers;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::file::{Kind, SHAPES, Shape};
use crate::{Plan, schema};

const BEGIN: &str = "<!-- keys, written by a test -->\n";
const END: &str = "<!-- end of keys -->\n";

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// The file `name` holds `right`, or is made to.
fn held(name: &str, right: &str) {
    let path = docs(name);
    if std::env::var_os("INFEROMETER_WRITE_PLAN").is_some() {
        std::fs::write(&path, right).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text == right, "{name} is not current: see the head of {}", file!());
}

#[test]
fn the_schema_is_current() {
    held("plan.schema.json", &(serde_json::to_string_pretty(&schema()).unwrap() + "\n"));
}

#[test]
fn every_key_stands_in_the_manual() {
    let text = std::fs::read_to_string(docs("plan.md")).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let tables: String = SHAPES.iter().map(|shape| table(shape)).collect();
    held("plan.md", &format!("{before}{BEGIN}{tables}\n{END}{after}"));
}

fn table(shape: &Shape) -> String {
    let mut text =
        format!("\n### `{}`\n\n{}\n\n| key | holds | means |\n|---|---|---|\n", shape.header, shape.about);
    for key in shape.keys {
        let about = key.about.replace('|', "\\|");
        let _ = writeln!(text, "| `{}` | {} | {about} |", key.name, holds(&key.kind));
    }
    if let Some(kind) = shape.further {
        let _ = writeln!(text, "| any figure | {} | its limit |", holds(kind));
    }
    text
}

/// What a key holds, in short.
fn holds(kind: &Kind) -> String {
    match kind {
        Kind::Text => "text".into(),
        Kind::Open => "text, `${VAR}` in it".into(),
        Kind::Whole => "whole number".into(),
        Kind::Number => "number".into(),
        Kind::Amount => "US dollars".into(),
        Kind::Flag => "true or false".into(),
        Kind::Time => "time".into(),
        Kind::Share => "share".into(),
        Kind::Limit => "limit".into(),
        Kind::Date => "date".into(),
        Kind::OneOf(words) => words().iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Kind::List(kind) => format!("list of {}", holds(kind)),
        Kind::Some(kind) => format!("{}, or a list", holds(kind)),
        Kind::Either(kinds) => kinds.iter().map(holds).collect::<Vec<_>>().join(", or "),
        Kind::Json => "anything".into(),
        Kind::JsonTable => "table of anything".into(),
        Kind::Table(shape) => format!("table (`{}`)", shape.header),
        Kind::Tables(shape) => format!("tables (`{}`)", shape.header),
    }
}

/// Each block of TOML in the manual, and the plan that `init` writes, is a plan, and one by the schema.
#[test]
fn examples_are_plans() {
    let text = std::fs::read_to_string(docs("plan.md")).unwrap();
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let env = |name: &str| match name {
        "AZURE_OPENAI_ENDPOINT" => Some("https://own.openai.azure.com".to_string()),
        _ => Some("sk-of-an-example".to_string()),
    };
    let blocks = text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_string());
    let all: Vec<String> = blocks.chain([crate::starting_plan(env)]).collect();
    assert!(all.len() > 2);
    for text in all {
        if let Err(error) = Plan::from_toml(&text, Path::new("plan.toml"), env, 1, None) {
            panic!("{error}\n{text}");
        }
        let errors: Vec<String> = validator
            .iter_errors(&json(&text))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}\n{text}");
    }
}

/// What the file refuses by its shape alone, the schema refuses too.
#[test]
fn the_schema_knows_keys_and_kinds() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let target = "[[target]]\nurl = \"http://h\"\nmodel = \"m\"\n";
    for (text, is_valid) in [
        ("", true),
        ("price = { input = 1, output = \"2\" }", true),
        ("headers = { X-A = \"${KEY}\" }", true),
        ("region = \"${KEY}\"", false),
        ("modle = \"m\"", false),
        ("stream = \"yes\"", false),
        ("[load]\nconcurrency = [1, 4]\nduration = \"30s\"", true),
        ("[[load]]\nconcurrency = []", false),
        ("[load]\nduration = \"soon\"", false),
        ("[profile.chat]\nttft_p95 = \"1s\"", true),
        ("[profile.caht]", false),
        ("[protocol]\nprecision = \"10%\"\nfail_if = \"error_rate>1%\"", true),
        ("[protocol]\nprecision = 10", false),
    ] {
        assert_eq!(validator.is_valid(&json(&format!("{target}{text}"))), is_valid, "{text}");
    }
    assert!(!validator.is_valid(&json("")));
}

/// A file as JSON; a date is a text there.
fn json(text: &str) -> Value {
    fn plain(value: toml::Value) -> Value {
        match value {
            toml::Value::Datetime(date) => date.to_string().into(),
            toml::Value::Array(values) => values.into_iter().map(plain).collect(),
            toml::Value::Table(fields) => {
                Value::Object(fields.into_iter().map(|(name, value)| (name, plain(value))).collect())
            }
            other => serde_json::to_value(other).unwrap(),
        }
    }
    plain(toml::Value::Table(toml::from_str(text).unwrap()))
}
