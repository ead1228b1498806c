//! The plots' specifications, as they stand on the page.

use serde_json::Value;

use super::fixture::{full, pair};
use super::scan::page_of;

/// Values of inline data that a snapshot shows: the rest is more of the same.
const VALUES_SHOWN: usize = 3;

/// The specifications of a page, each under its plot's id.
fn specs(page: &str) -> Vec<(String, Value)> {
    let figures = page.split("<figure class=\"chart\" id=\"").skip(1);
    let spec = |figure: &str| {
        let (id, rest) = figure.split_once('"').unwrap();
        let rest = rest.split_once("</figure>").unwrap().0;
        let json = |part: &str| serde_json::from_str(part.split_once("</script>").unwrap().0).unwrap();
        rest.split("class=\"spec\">").skip(1).map(|part| (id.to_owned(), json(part))).collect::<Vec<_>>()
    };
    figures.flat_map(spec).collect()
}

fn shortened(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| {
                let value = match (name.as_str(), value) {
                    ("values", Value::Array(items)) => items.into_iter().take(VALUES_SHOWN).collect(),
                    (_, value) => shortened(value),
                };
                (name, value)
            })
            .collect(),
        Value::Array(items) => items.into_iter().map(shortened).collect(),
        other => other,
    }
}

#[test]
fn specifications_are_as_they_were() {
    let mut seen = Vec::new();
    for (id, spec) in specs(&page_of(&pair())) {
        if !seen.contains(&id) {
            insta::assert_snapshot!(id.clone(), serde_json::to_string_pretty(&shortened(spec)).unwrap());
            seen.push(id);
        }
    }
    assert_eq!(seen, ["ttft-0", "course-0", "tail-0", "pareto-0", "money-0", "outcome-0"]);
}

#[test]
fn every_sample_is_a_dot() {
    let page = page_of(&full(50));
    let (_, samples) = page.split_once("id=\"samples\">").unwrap();
    let samples: Value = serde_json::from_str(samples.split_once("</script>").unwrap().0).unwrap();
    let cells = samples.as_object().unwrap();
    assert_eq!(cells.len(), 16);
    let drawn = cells.values().map(|cell| cell["request"].as_array().unwrap().len());
    assert_eq!(drawn.sum::<usize>(), 12 * 50 + 4 * 60);
    assert!(page.contains("Every sample is drawn."));
}

#[test]
fn a_sweep_of_loads_is_drawn_against_requests_in_flight() {
    let page = page_of(&full(20));
    let load: Vec<Value> =
        specs(&page).into_iter().filter(|(id, _)| id == "load-0").map(|(_, spec)| spec).collect();
    assert_eq!(load.len(), 3);
    let steps = load[0]["encoding"]["x"]["axis"]["values"].clone();
    assert_eq!(steps, serde_json::json!([1, 4, 16]));
}
