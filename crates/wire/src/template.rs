//! The events of a stream are alike but for one text: what was read once need not be read again.
//!
//! An event whose bytes differ from an earlier one's only within one JSON string is that event with another text there,
//! whatever else stands in it: same keys, same order, same values. So two comparisons of bytes take the place of a
//! parse. A stream whose events differ elsewhere (a time in each, say) is read the long way.

use std::borrow::Cow;

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
    pub(crate) text: Cow<'a, str>,
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
        if text.is_empty() {
            return None;
        }
        let text = if text.iter().all(|byte| is_plain(*byte)) {
            Cow::Borrowed(std::str::from_utf8(text).ok()?)
        } else {
            // With its quotes, which stand around what was learnt. One that ends within it makes it unreadable.
            let quoted = event.get(self.before.len() - 1..=self.before.len() + text.len())?;
            Cow::Owned(serde_json::from_slice(quoted).ok()?)
        };
        Some(Found { text, channel: self.channel, index: self.index })
    }

    /// Learns from an event that had to be read: `text`, borrowed from it, is all that it adds.
    pub(crate) fn learn(&mut self, event: &str, channel: Channel, index: u64, text: &str) {
        if self.misses >= MAX_MISSES || event.len() > MAX_LEN {
            return;
        }
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

    /// The channel of the template, where there is one.
    #[cfg(test)]
    pub(crate) fn learnt(&self) -> Option<Channel> {
        (!self.before.is_empty()).then_some(self.channel)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(event: &str, text: &str) -> Template {
        let mut template = Template::default();
        let at = event.find(text).unwrap();
        template.learn(event, Channel::Content, 2, &event[at..at + text.len()]);
        template
    }

    #[test]
    fn finds_what_is_alike() {
        let chat = r#"{"id":"x","choices":[{"index":2,"delta":{"content":"a0"},"finish_reason":null}],"usage":null}"#;
        let template = learnt(chat, "a0");
        let check = |text: &str, right: Option<&str>| {
            let event = chat.replace(r#""a0""#, &format!("\"{text}\""));
            let found = template.find(event.as_bytes()).map(|found| (found.text.into_owned(), found.index));
            assert_eq!(found, right.map(|text| (text.to_owned(), 2)), "{text}");
        };
        check("b", Some("b"));
        check("衣装 — \u{2028}", Some("衣装 — \u{2028}"));
        check("", None);
        check(r#"\n \"\u00e9\ud83d\ude00\" \\"#, Some("\n \"é😀\" \\"));
        check(r"\ud83d", None);
        check(r"\x", None);
        check(r"\", None);
        check("\u{1}", None);
        check(r#"b","role":"x"#, None);
        assert_eq!(template.find(&chat.as_bytes()[1..]), None);
        assert_eq!(template.find(&[&chat.as_bytes()[..48], b"\xff\"}"].concat()), None);
    }

    #[test]
    fn a_text_from_elsewhere_teaches_nothing() {
        let mut template = Template::default();
        template.learn(r#"{"a":"b"}"#, Channel::Content, 0, &String::from("b"));
        assert!(template.before.is_empty());
    }

    #[test]
    fn gives_up_where_nothing_is_alike() {
        let mut template = Template::default();
        for created in 0..20 {
            let event = format!(r#"{{"created":{created},"choices":[{{"delta":{{"content":"=a="}}}}]}}"#);
            assert_eq!(template.find(event.as_bytes()), None);
            let at = event.find("=a=").unwrap();
            template.learn(&event, Channel::Content, 0, &event[at..at + 3]);
        }
        assert_eq!(template.misses, MAX_MISSES);
        assert!(template.before.starts_with(b"{\"created\":8,"));
    }
}
