//! JSON inside a page.

use std::fmt;

use serde_json::Value;

/// JSON for a `<script type="application/json">`: no letter in it can end the element or begin another.
#[derive(Clone, Debug)]
pub(super) struct Json(pub(super) Value);

impl askama::filters::HtmlSafe for Json {}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for c in self.0.to_string().chars() {
            // All of these stand only inside strings, where JSON knows them by their code.
            match c {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => write!(f, "\\u{:04x}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_script() {
        let value = serde_json::json!({"</script><!--": "<img onerror=alert(1)>&\u{2028}"});
        let text = Json(value.clone()).to_string();
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
