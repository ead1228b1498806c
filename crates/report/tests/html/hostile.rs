//! Whatever a server, a plan or a catalogue says: it is shown, and does nothing.

use inferometer_metrics::Summary;
use serde_json::Value;

use super::fixture::{Made, full};
use super::scan::{page_of, tags, without_scripts};

/// Fields whose texts come from outside, or hold such texts.
const TEXTS: [&str; 26] = [
    "target",
    "workload",
    "load",
    "message",
    "code",
    "reasons",
    "detail",
    "notes",
    "note",
    "warnings",
    "model",
    "provider",
    "region",
    "price",
    "price_source",
    "a",
    "b",
    "reason",
    "would_change",
    "scope",
    "chosen",
    "evidence",
    "confidence",
    "advice",
    "gate",
    "name",
];
const ATTACK: &str =
    "</script></title><img src=x onerror=alert(1)>\"'><svg onload=alert(2)>&lt;b&gt;\u{202e}gnp\u{1b}[31m";

/// JSON in which every text of these fields ends in the attack.
fn attacked(value: Value, is_text: bool) -> Value {
    match value {
        Value::String(text) if is_text => Value::String(text + ATTACK),
        Value::Array(items) => items.into_iter().map(|item| attacked(item, is_text)).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| {
                let is_text = TEXTS.contains(&name.as_str());
                (name, attacked(value, is_text))
            };
            fields.into_iter().map(field).collect()
        }
        other => other,
    }
}

fn attacked_run() -> Made {
    let mut made = full(20);
    let summary = attacked(serde_json::to_value(&made.summary).unwrap(), false);
    made.summary = serde_json::from_value::<Summary>(summary).unwrap();
    made.manifest.study = attacked(made.manifest.study.clone(), false);
    made.manifest.plan = attacked(made.manifest.plan.clone(), false);
    made.manifest.argv.push(ATTACK.to_owned());
    made.manifest.version = ATTACK.to_owned();
    made.manifest.created = ATTACK.to_owned();
    made
}

#[test]
fn nothing_that_was_said_becomes_markup() {
    let page = page_of(&attacked_run());
    assert!(page.contains("alert(1)"), "the attack is on the page");
    let bare = without_scripts(&page);
    for tag in tags(&bare) {
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap_or_default();
        assert!(!["img", "iframe", "object", "embed", "base", "link"].contains(&name), "<{tag}>");
        let is_ours = tag.starts_with("svg viewBox=\"0 0 1000 10\"") || tag.starts_with("svg class=\"bar\"");
        assert!(name != "svg" || tag.starts_with('/') || is_ours, "<{tag}>");
        // Between quotes stand values, outside of them names.
        let names: String = tag.split('"').step_by(2).collect();
        assert!(!names.contains(" on"), "<{tag}>");
    }
    assert!(!page.contains(['\u{202e}', '\u{1b}']), "nothing that a reader would obey");
}

#[test]
fn nothing_that_was_said_ends_a_script() {
    let count = |page: &str| (page.matches("<script").count(), page.matches("</script").count());
    let calm = count(&page_of(&full(20)));
    let attacked = count(&page_of(&attacked_run()));
    assert_eq!(attacked.0, attacked.1);
    // Names that differ only by what is made of them may draw fewer plots, never more scripts.
    assert!(attacked.0 <= calm.0, "{attacked:?} {calm:?}");
}
