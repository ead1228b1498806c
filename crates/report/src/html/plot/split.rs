//! Stacked bars: of what a whole consists, one bar a target.

use serde_json::{Value, json};

use super::tip;

/// A part of a bar.
pub(super) struct Part {
    pub(super) row: String,
    pub(super) name: &'static str,
    /// The variable of its colour.
    pub(super) color: &'static str,
    pub(super) value: f64,
    pub(super) shown: String,
}

/// Height of a bar with its room.
const BAR_PX: usize = 30;

/// The specification of stacked bars; `parts` in the order of the stack.
pub(super) fn spec(rows: &[&str], parts: &[Part], title: &str, label: &str, most: Option<f64>) -> Value {
    let values = parts.iter().enumerate().map(|(order, part)| {
        json!({
            "row": part.row, "part": part.name, "color": format!("var(--{})", part.color), "value": part.value,
            "shown": part.shown, "order": order,
        })
    });
    let values: Vec<Value> = values.collect();
    let scale =
        most.map_or_else(|| json!({"nice": true}), |most| json!({"domain": [0, most], "nice": false}));
    json!({
        "height": rows.len() * BAR_PX,
        "data": {"values": values},
        "mark": {"type": "bar", "height": {"band": 0.66}, "stroke": "var(--page)", "strokeWidth": 0.7},
        "encoding": {
            "y": {"field": "row", "type": "nominal", "scale": {"domain": rows}, "axis": {"title": null}},
            "x": {
                "field": "value", "type": "quantitative", "stack": true, "scale": scale,
                "axis": {"title": title, "tickCount": 4, "labelExpr": label},
            },
            "color": {"field": "color", "type": "nominal", "scale": null},
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": [tip("row", "target"), tip("part", "part"), tip("shown", "of it")],
        },
    })
}
