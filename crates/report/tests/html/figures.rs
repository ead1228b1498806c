//! The figures on the page are those of `summary.json`.

use serde_json::Value;

use super::fixture::{Made, full, single};
use super::scan::{attribute, page_of, tags, without_scripts};

/// Whether an attribute holds what a field of the summary holds; a field that is null or absent is an empty one.
fn is_same(shown: &str, field: Option<&Value>) -> bool {
    match field {
        None | Some(Value::Null) => shown.is_empty(),
        Some(Value::String(text)) => shown == text,
        Some(number) => shown.parse::<f64>().ok() == number.as_f64(),
    }
}

fn check(made: &Made, at_least: usize) {
    let summary = serde_json::to_value(&made.summary).unwrap();
    let page = without_scripts(&page_of(made));
    let mut seen = 0;
    for tag in tags(&page) {
        let Some(at) = attribute(tag, "data-at") else { continue };
        let figure = summary.pointer(&at).unwrap_or_else(|| panic!("{at} is not in the summary"));
        let shown = |name: &str| attribute(tag, name).unwrap();
        let value = if figure.is_object() { figure.get("value") } else { Some(figure) };
        assert!(is_same(&shown("data-value"), value), "{at}: {tag} is not {figure}");
        for (name, field) in [("data-lo", "lo"), ("data-hi", "hi")] {
            assert!(is_same(&shown(name), figure.get(field)), "{at}: {tag} is not {figure}");
        }
        seen += 1;
    }
    assert!(seen >= at_least, "{seen} figures");
}

#[test]
fn every_figure_is_the_summarys() {
    check(&full(60), 500);
    check(&single(), 20);
}
