//! Messages as a dataset holds them: kept byte for byte, with a place for a nonce.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::Fault;

/// A JSON list of messages that is sent as it is, and the place in it where a text can be put in front.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    json: Box<RawValue>,
    front: Front,
}

/// Where the first message's content begins.
#[derive(Clone, Copy, Debug)]
enum Front {
    /// Behind the quote of a string, at this offset.
    Text(usize),
    /// Behind the bracket of a list of parts, at this offset.
    Parts(usize),
}

/// The fields of a message that are looked at.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
}

impl Messages {
    /// Takes a list of messages. Each needs a role, and content (a string or parts) or tool calls; the first needs
    /// content.
    pub(crate) fn read(json: &RawValue) -> Result<Self, Fault> {
        let messages: Vec<Message<'_>> = serde_json::from_str(json.get()).map_err(|e| not_messages(&e))?;
        // Raw values are only skimmed: half of a surrogate pair, or nesting that nobody reads, shows here.
        let _: Vec<Value> = serde_json::from_str(json.get()).map_err(|e| not_messages(&e))?;
        for (index, message) in messages.iter().enumerate() {
            let why = match (&message.role, message.content.map(RawValue::get), message.tool_calls) {
                (None, ..) => "has no role",
                (Some(role), ..) if role.is_empty() => "has an empty role",
                (_, Some(content), _) if content.starts_with(['"', '[']) => continue,
                (_, None, Some(_)) if index > 0 => continue,
                _ => "has no content that is a string or a list of parts",
            };
            return Err(Fault::BadMessage { nth: index + 1, why });
        }
        let content =
            messages.first().and_then(|first| first.content).ok_or(Fault::EmptyPrompt("messages"))?;
        // The content borrows from the list, so that the difference of their addresses is its offset.
        let offset = content.get().as_ptr().addr().saturating_sub(json.get().as_ptr().addr()) + 1;
        let front = match content.get().trim_start_matches('[').trim_start() {
            _ if content.get().starts_with('"') => Front::Text(offset),
            "]" => return Err(Fault::BadMessage { nth: 1, why: "has an empty list as content" }),
            _ => Front::Parts(offset),
        };
        Ok(Self { json: json.to_owned(), front })
    }

    /// The list as it came.
    pub(crate) fn json(&self) -> &str {
        self.json.get()
    }

    /// The list with `prefix` in front of the first message's text, or as a text part before its other parts.
    pub(crate) fn with_prefix(&self, prefix: &str) -> Box<RawValue> {
        if prefix.is_empty() {
            return self.json.clone();
        }
        let quoted = Value::from(prefix).to_string();
        let (at, spliced) = match self.front {
            Front::Text(at) => (at, Cow::Borrowed(&quoted[1..quoted.len() - 1])),
            Front::Parts(at) => (at, Cow::Owned(format!(r#"{{"type":"text","text":{quoted}}},"#))),
        };
        let (head, tail) = self.json.get().split_at(at);
        #[expect(
            clippy::expect_used,
            reason = "escaped text inside a JSON string, or one part more in a list that is not empty: still JSON"
        )]
        RawValue::from_string([head, &spliced, tail].concat()).expect("spliced messages are JSON")
    }
}

fn not_messages(error: &serde_json::Error) -> Fault {
    let said = error.to_string();
    let why = said.rsplit_once(" at line ").map_or(said.as_str(), |(why, _)| why);
    Fault::NotMessages(why.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn messages(json: &str) -> Messages {
        let raw: Box<RawValue> = serde_json::from_str(json).expect("JSON");
        Messages::read(&raw).unwrap_or_else(|fault| panic!("{json}: {fault}"))
    }

    #[test]
    fn a_prefix_stands_in_front_of_the_first_text() {
        let check = |json: &str, expected: &str| {
            assert_eq!(messages(json).with_prefix("a \"b\"\n").get(), expected);
            assert_eq!(messages(json).with_prefix("").get(), json);
        };
        check(
            r#"[ {"content" : "Hi", "role":"user", "n":1.50}, {"role":"user","content":"x"}]"#,
            r#"[ {"content" : "a \"b\"\nHi", "role":"user", "n":1.50}, {"role":"user","content":"x"}]"#,
        );
        check(
            r#"[{"role":"user","content":[ {"type":"image_url"}]}]"#,
            r#"[{"role":"user","content":[{"type":"text","text":"a \"b\"\n"}, {"type":"image_url"}]}]"#,
        );
        check(r#"[{"role":"s","content":""}]"#, r#"[{"role":"s","content":"a \"b\"\n"}]"#);
    }

    #[test]
    fn json_that_no_server_reads_is_refused() {
        let deep = format!(r#"[{{"role":"user","content":"x","n":{}{}}}]"#, "[".repeat(200), "]".repeat(200));
        for json in [r#"[{"role":"user","content":"\ud800"}]"#, &deep] {
            let raw: Box<RawValue> = serde_json::from_str(json).expect("JSON, as far as a skim tells");
            assert!(matches!(Messages::read(&raw), Err(Fault::NotMessages(_))), "{json}");
        }
    }

    #[test]
    fn tool_calls_need_no_content_but_the_first_message_does() {
        let call = r#"{"role":"assistant","content":null,"tool_calls":[]}"#;
        messages(&format!(r#"[{{"role":"user","content":"x"}},{call}]"#));
        for json in [
            format!("[{call}]"),
            r#"[{"role":"user","content":[ ]}]"#.into(),
            r#"[{"role":"","content":"x"}]"#.into(),
        ] {
            let raw: Box<RawValue> = serde_json::from_str(&json).expect("JSON");
            let fault = Messages::read(&raw).expect_err(&json);
            assert!(matches!(fault, Fault::BadMessage { nth: 1, .. }), "{json}: {fault}");
        }
    }

    proptest! {
        #[test]
        fn any_text_and_prefix_join(content in "(?s).{0,40}", prefix in "(?s).{0,20}", parts: bool) {
            let part = json!([{"type": "text", "text": content}]);
            let list = json!([{"role": "user", "content": if parts { part } else { json!(content) }}]).to_string();
            let joined: Value = serde_json::from_str(messages(&list).with_prefix(&prefix).get()).expect("JSON");
            let seen = &joined[0]["content"];
            let text = seen.as_str().map_or_else(
                || seen.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect::<String>(),
                str::to_owned,
            );
            prop_assert_eq!(text, format!("{prefix}{content}"));
        }
    }
}
