//! The events of a stream are alike but for one text: what was read once need not be read again.
//!
//! An event whose bytes differ from an earlier one's only within one JSON string is that event with another text there,
//! whatever else stands in it: same keys, same order, same values. So two comparisons of bytes take the place of a
//! parse. A stream whose events differ elsewhere (a time in each, say) is read the long way.

use std::borrow::Cow;

use crate::chunk::{Choice, Chunk};
use crate::dialect::Dialect;
use crate::loose::Loose;

/// Events in a row that were not alike until a stream is no longer tried.
const MAX_MISSES: u8 = 8;
/// The longest event that is kept as a template.
const MAX_LEN: usize = 4_096;

/// The last event that added one plain text and nothing else.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    before: Vec<u8>,
    after: Vec<u8>,
    channel: Channel,
    index: u64,
    misses: u8,
}

/// What the text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Channel {
    #[default]
    Content,
    Reasoning,
}

/// A text that an event added, found without reading it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    pub(crate) text: &'a str,
    pub(crate) channel: Channel,
    /// The choice's index.
    pub(crate) index: u64,
}

impl Template {
    /// The text that `event` adds, if it is the template but for that text.
    pub(crate) fn find<'a>(&self, event: &'a [u8]) -> Option<Found<'a>> {
        if self.before.is_empty() {
            return None;
        }
        let text = event.strip_prefix(self.before.as_slice())?.strip_suffix(self.after.as_slice())?;
        if text.is_empty() || !text.iter().all(|byte| is_plain(*byte)) {
            return None;
        }
        let text = std::str::from_utf8(text).ok()?;
        Some(Found { text, channel: self.channel, index: self.index })
    }

    /// Learns from an event that had to be read: `chunk` is what `event` says.
    pub(crate) fn learn(&mut self, dialect: Dialect, chunk: &Chunk<'_>, event: &str) {
        if self.misses >= MAX_MISSES || event.len() > MAX_LEN {
            return;
        }
        let Some((channel, index, text)) = plain_text(dialect, chunk) else { return };
        // Borrowed from the event: its place in it is the difference of the two addresses.
        let at = (text.as_ptr() as usize).wrapping_sub(event.as_ptr() as usize);
        let (Some(before), Some(after)) = (event.get(..at), event.get(at.saturating_add(text.len())..))
        else {
            return;
        };
        if !self.before.is_empty() {
            self.misses += 1;
        }
        self.before.clear();
        self.before.extend_from_slice(before.as_bytes());
        self.after.clear();
        self.after.extend_from_slice(after.as_bytes());
        (self.channel, self.index) = (channel, index);
    }

    /// An event was alike: what is not alike now and then is no reason to give up.
    pub(crate) fn hit(&mut self) {
        self.misses = 0;
    }
}

/// Stands for itself in a JSON string.
fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

/// The one text that `chunk` adds, where that is all that it does.
fn plain_text<'a>(dialect: Dialect, chunk: &'a Chunk<'_>) -> Option<(Channel, u64, &'a str)> {
    let extras =
        [chunk.usage, chunk.error, chunk.detail, chunk.timings, chunk.x_groq, chunk.nvext, chunk.time_info];
    let choice = chunk.choices.only()?;
    let adds_more = extras.iter().any(Option::is_some)
        || choice.message.is_some()
        || choice.logprobs.is_some()
        || !choice.finish_reason.text().is_empty();
    if adds_more {
        return None;
    }
    let (channel, text) = match dialect {
        Dialect::Chat => delta_text(choice)?,
        Dialect::Completions => (Channel::Content, borrowed(&choice.text)?),
    };
    Some((channel, choice.index.as_u64().unwrap_or(0), text))
}

fn delta_text<'a>(choice: &'a Choice<'_>) -> Option<(Channel, &'a str)> {
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

/// A text of at least one character that stands in the event as it is.
fn borrowed<'a>(value: &'a Loose<'_>) -> Option<&'a str> {
    match value {
        Loose::Text(Cow::Borrowed(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(dialect: Dialect, event: &str) -> Template {
        let mut template = Template::default();
        template.learn(dialect, &serde_json::from_str(event).unwrap(), event);
        template
    }

    #[test]
    fn finds_what_is_alike() {
        let chat =
            r#"{"id":"x","choices":[{"index":2,"delta":{"content":"a"},"finish_reason":null}],"usage":null}"#;
        let template = learnt(Dialect::Chat, chat);
        let check = |text: &str, right: Option<&str>| {
            let event = chat.replace(r#""a""#, &format!("\"{text}\""));
            let found = template.find(event.as_bytes()).map(|found| (found.text, found.index));
            assert_eq!(found, right.map(|text| (text, 2)), "{text}");
        };
        check("b", Some("b"));
        check("衣装 — \u{2028}", Some("衣装 — \u{2028}"));
        check("", None);
        check(r"\n", None);
        check("\u{1}", None);
        check(r#"b","role":"x"#, None);
        assert_eq!(template.find(&chat.as_bytes()[1..]), None);
        assert_eq!(template.find(&[&chat.as_bytes()[..48], b"\xff\"}"].concat()), None);
    }

    #[test]
    fn learns_only_from_events_that_add_one_plain_text() {
        let check = |dialect, event: &str, right: Option<Channel>| {
            let template = learnt(dialect, event);
            let learnt = (!template.before.is_empty()).then_some(template.channel);
            assert_eq!(learnt, right, "{event}");
        };
        let chat = |choice: &str, rest: &str| format!(r#"{{"choices":[{choice}]{rest}}}"#);
        let content = r#"{"index":0,"delta":{"content":"a"}}"#;
        check(Dialect::Chat, &chat(content, ""), Some(Channel::Content));
        check(
            Dialect::Chat,
            &chat(r#"{"delta":{"content":null,"reasoning_content":"a"}}"#, ""),
            Some(Channel::Reasoning),
        );
        check(Dialect::Completions, &chat(r#"{"text":"a"}"#, ""), Some(Channel::Content));
        check(Dialect::Completions, &chat(content, ""), None);
        check(Dialect::Chat, &chat(content, r#","usage":{"completion_tokens":1}"#), None);
        check(Dialect::Chat, &chat(content, r#","timings":{}"#), None);
        check(Dialect::Chat, &chat(&format!("{content},{content}"), ""), None);
        check(Dialect::Chat, &chat(r#"{"delta":{"content":"a"},"finish_reason":"stop"}"#, ""), None);
        check(Dialect::Chat, &chat(r#"{"delta":{"content":"a"},"logprobs":{"content":[]}}"#, ""), None);
        check(Dialect::Chat, &chat(r#"{"delta":{"content":"a\n"}}"#, ""), None);
        check(Dialect::Chat, &chat(r#"{"delta":{"content":"a","reasoning_content":"b"}}"#, ""), None);
        check(Dialect::Chat, &chat(r#"{"delta":{"content":"a","tool_calls":[{"id":"x"}]}}"#, ""), None);
    }

    #[test]
    fn gives_up_where_nothing_is_alike() {
        let mut template = Template::default();
        for created in 0..20 {
            let event = format!(r#"{{"created":{created},"choices":[{{"delta":{{"content":"a"}}}}]}}"#);
            assert_eq!(template.find(event.as_bytes()), None);
            template.learn(Dialect::Chat, &serde_json::from_str(&event).unwrap(), &event);
        }
        assert_eq!(template.misses, MAX_MISSES);
        assert!(template.before.starts_with(b"{\"created\":8,"));
    }
}
