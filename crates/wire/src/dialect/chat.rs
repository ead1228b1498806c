//! The chat dialect: new output stands in `delta`, of a whole answer in `message`.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::openai::Reader;
use super::{Message, Speech, borrowed};
use crate::chunk::{Choice, Delta, FunctionDelta, ToolDelta};
use crate::few::Few;
use crate::loose::Loose;
use crate::pieces::{Pieces, Reasoning};
use crate::request::{Ask, Fields, Prompt, Unsayable};
use crate::step::Step;
use crate::template::Channel;

const READER: Reader = Reader { pieces, plain };

/// OpenAI's chat completions.
pub(super) struct Chat;

impl Speech for Chat {
    fn name(&self) -> &'static str {
        "chat"
    }

    fn tail(&self) -> &'static [&'static str] {
        &["chat", "completions"]
    }

    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, Unsayable> {
        let mut fields = Fields::new(ask);
        fields.put("model", ask.model);
        match ask.prompt {
            Prompt::Text(text) => fields.put("messages", [Said { role: "user", content: text }]),
            Prompt::Messages(messages) => fields.put("messages", messages),
            Prompt::Raw(messages) => fields.put("messages", messages),
        };
        fields.put_sampling().put_parameters();
        Ok(fields.into_json())
    }

    fn read(&self, message: Message<'_>, step: &mut Step<'_>) -> Result<(), serde_json::Error> {
        READER.read(message.text, step)
    }
}

#[derive(Serialize)]
struct Said<'a> {
    role: &'a str,
    content: &'a str,
}

/// What the choice adds. `message` counts where nothing was said before it (a whole answer, or one given as a single
/// event); at the end of a stream it repeats what was said (W19).
fn pieces<'a>(choice: &mut Choice<'a>, nothing_said: bool) -> Pieces<'a> {
    let message = choice.message.take().filter(|_| nothing_said);
    choice.delta.take().or(message.map(|whole| *whole)).map(from_delta).unwrap_or_default()
}

/// The one text of a delta that holds nothing else.
fn plain<'a>(choice: &'a Choice<'_>) -> Option<(Channel, &'a str)> {
    let delta = choice.delta.as_ref()?;
    let others = [&delta.reasoning, &delta.reasoning_details, &delta.refusal, &delta.audio];
    let adds_more = others.into_iter().any(|value| !value.is_absent())
        || !delta.tool_calls.is_empty()
        || delta.function_call.is_some();
    if adds_more {
        return None;
    }
    match (borrowed(&delta.content), borrowed(&delta.reasoning_content)) {
        (Some(content), None) if delta.reasoning_content.text().is_empty() => {
            Some((Channel::Content, content))
        }
        (None, Some(reasoning)) if delta.content.text().is_empty() => Some((Channel::Reasoning, reasoning)),
        _ => None,
    }
}

fn from_delta(delta: Delta<'_>) -> Pieces<'_> {
    let (content, thinking) = content(delta.content);
    let mut reasoning = reasoning(delta.reasoning_content);
    for further in [delta.reasoning, delta.reasoning_details] {
        if !further.is_absent() {
            reasoning.merge(self::reasoning(further));
        }
    }
    reasoning.merge(thinking);
    let (audio, has_audio) = audio(delta.audio);
    let tools = match delta.function_call {
        Some(function) if delta.tool_calls.is_empty() => legacy_call(*function),
        _ => delta.tool_calls,
    };
    Pieces { content, reasoning, refusal: delta.refusal.into_text(), tools, audio, has_audio }
}

fn legacy_call(function: FunctionDelta<'_>) -> Few<Box<ToolDelta<'_>>> {
    Few::from(Box::new(ToolDelta { function: Some(function), ..ToolDelta::default() }))
}

/// Content is text, or typed parts of which some are reasoning (W08).
fn content(value: Loose<'_>) -> (Cow<'_, str>, Reasoning<'_>) {
    let Loose::Other(tree) = &value else { return (value.into_text(), Reasoning::default()) };
    let mut content = String::new();
    let mut thinking = Reasoning::default();
    for part in tree.as_array().into_iter().flatten() {
        match part.get("type").and_then(Value::as_str) {
            Some("thinking" | "reasoning") => gather(part, thinking.text.to_mut()),
            _ => gather(part, &mut content),
        }
    }
    (Cow::Owned(content), thinking)
}

/// Reasoning is text, an object or an array that holds text, or something unreadable (W04 to W06).
fn reasoning(value: Loose<'_>) -> Reasoning<'_> {
    let tree = match value {
        Loose::Other(tree) => tree,
        Loose::Count(_) => return Reasoning { unknown_shape: true, ..Reasoning::default() },
        text => return Reasoning { text: text.into_text(), ..Reasoning::default() },
    };
    let mut text = String::new();
    gather(&tree, &mut text);
    let opaque = text.is_empty() && holds_opaque(&tree);
    let unknown_shape = text.is_empty() && !opaque && !is_hollow(&tree);
    if unknown_shape {
        gather_any(&tree, &mut text);
    }
    Reasoning { text: Cow::Owned(text), opaque, unknown_shape }
}

/// Keys under which typed parts hold their text, each looked for in turn.
const TEXT_KEYS: [&str; 6] = ["text", "content", "thinking", "summary", "reasoning", "reasoning_content"];

/// Appends the text of a part and of the parts in it. The JSON reader's own limit bounds the depth.
fn gather(part: &Value, into: &mut String) {
    match part {
        Value::String(text) => into.push_str(text),
        Value::Array(parts) => parts.iter().for_each(|inner| gather(inner, into)),
        Value::Object(fields) => {
            let texts = TEXT_KEYS.iter().filter_map(|key| fields.get(*key));
            if let Some(inner) = texts.into_iter().find(|inner| !is_hollow(inner)) {
                gather(inner, into);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Appends every text of a part whose shape nobody knows, but for what names it or cannot be read (W05).
fn gather_any(part: &Value, into: &mut String) {
    match part {
        Value::String(text) => into.push_str(text),
        Value::Array(parts) => parts.iter().for_each(|inner| gather_any(inner, into)),
        Value::Object(fields) => {
            let holds = |key: &str| !is_label(key) && !OPAQUE_KEYS.contains(&key);
            fields.iter().filter(|(key, _)| holds(key)).for_each(|(_, inner)| gather_any(inner, into));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Keys under which parts hold what only the server can read.
const OPAQUE_KEYS: [&str; 3] = ["data", "signature", "encrypted_content"];

fn holds_opaque(tree: &Value) -> bool {
    let has = |key| tree.get(key).and_then(Value::as_str).is_some_and(|text: &str| !text.is_empty());
    match tree {
        Value::Array(parts) => parts.iter().any(holds_opaque),
        _ => OPAQUE_KEYS.into_iter().any(has),
    }
}

/// Nothing in it: null, empty text, an empty list or object.
fn is_hollow(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(parts) => parts.iter().all(is_hollow),
        Value::Object(fields) => fields.iter().all(|(key, inner)| is_label(key) || is_hollow(inner)),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Keys that say what a part is, not what it holds.
fn is_label(key: &str) -> bool {
    matches!(key, "type" | "id" | "index" | "format")
}

/// Audio: its transcript, and whether data came.
fn audio(value: Loose<'_>) -> (Cow<'_, str>, bool) {
    let Loose::Other(fields) = value else { return (Cow::Borrowed(""), false) };
    let text = |key| fields.get(key).and_then(Value::as_str).unwrap_or_default();
    (Cow::Owned(text("transcript").to_owned()), !text("data").is_empty())
}
