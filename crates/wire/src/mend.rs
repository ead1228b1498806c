//! JSON that strict readers refuse although its meaning is plain: half surrogates and keys given twice.

use serde_json::Value;

/// The text with half surrogates (`\ud83d` alone) replaced and of keys given twice the last kept;
/// absent where it is no JSON even then. Never on the path of well-formed events.
pub(crate) fn mend(text: &str) -> Option<Mended> {
    let (whole, had_half_surrogates) = replace_half_surrogates(text);
    let value: Value = serde_json::from_str(&whole).ok()?;
    Some(Mended { json: value.to_string(), had_half_surrogates })
}

/// JSON that was mended.
pub(crate) struct Mended {
    pub(crate) json: String,
    pub(crate) had_half_surrogates: bool,
}

/// Goes over the escapes; a pair of surrogates stays, half of one becomes U+FFFD.
fn replace_half_surrogates(text: &str) -> (String, bool) {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    let mut replaced = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let (keep, length) = match surrogate(escape) {
            None => (true, escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end)),
            Some(Half::High) if surrogate(&escape[6..]) == Some(Half::Low) => (true, 12),
            Some(_) => (false, 6),
        };
        whole.push_str(if keep { &escape[..length] } else { "\\ufffd" });
        replaced |= !keep;
        rest = &escape[length..];
    }
    whole.push_str(rest);
    (whole, replaced)
}

#[derive(PartialEq)]
enum Half {
    High,
    Low,
}

/// The kind of surrogate that a six-byte escape at the start of `text` stands for.
fn surrogate(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..=0xDBFF => Some(Half::High),
        0xDC00..=0xDFFF => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mends_or_refuses() {
        for (text, expected) in [
            (r#"{"a":"\ud83d"}"#, Some("{\"a\":\"\u{fffd}\"}")),
            (r#"{"a":"\ude00x"}"#, Some("{\"a\":\"\u{fffd}x\"}")),
            (r#"{"a":"\ud83d\ude00"}"#, Some(r#"{"a":"😀"}"#)),
            (r#"{"a":"\\ud83d"}"#, Some(r#"{"a":"\\ud83d"}"#)),
            (r#"{"a":1,"a":2}"#, Some(r#"{"a":2}"#)),
            (r#"{"a":"#, None),
            ("\\", None),
        ] {
            assert_eq!(mend(text).map(|mended| mended.json).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn any_text_is_taken() {
        bolero::check!().with_iterations(2000).for_each(|bytes: &[u8]| {
            mend(&String::from_utf8_lossy(bytes));
        });
    }
}
