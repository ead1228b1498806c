//! How every plot looks: type, lines and colours, all from the style sheet's variables.

use serde_json::{Value, json};

/// The style sheet's own: a drawing measures its words, so that it must know it by name.
const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/// The configuration that every specification is compiled with.
pub(in crate::html) fn theme() -> Value {
    let axis = json!({
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "gridColor": "var(--grid)",
        "labelColor": "var(--faint)",
        "titleColor": "var(--faint)",
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "titlePadding": 6,
        "tickSize": 4,
        "labelOverlap": "greedy",
        "labelSeparation": 6,
    });
    json!({
        "background": null,
        "padding": 2,
        "font": FONT,
        "view": {"stroke": null},
        "axis": axis,
        "axisY": {"domain": false, "ticks": false, "labelPadding": 6, "labelLimit": 130},
        "text": {"font": FONT, "fontSize": 11, "fill": "var(--ink)"},
        "aria": false,
    })
}
