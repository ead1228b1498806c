//! What chat, completions and embeddings share: the envelope of their messages.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::chunk::{Choice, Chunk};
use crate::error;
use crate::logprobs::{Logprobs, Spelling};
use crate::pieces::Pieces;
use crate::step::Step;
use crate::template::Channel;

/// How the two differ.
pub(super) struct Reader {
    /// What a choice adds; the flag says whether nothing was said in it before.
    pub(super) pieces: for<'a> fn(&mut Choice<'a>, bool) -> Pieces<'a>,
    /// The one text that a choice adds, where that is all that it does.
    pub(super) plain: for<'c> fn(&'c Choice<'_>) -> Option<(Channel, &'c str)>,
}

impl Reader {
    pub(super) fn read(&self, text: &str, step: &mut Step<'_>) -> Result<(), serde_json::Error> {
        let chunk: Chunk<'_> = serde_json::from_str(text)?;
        if let Some(plain) = self.plain_text(&chunk) {
            step.learn(text, plain);
        }
        label(&chunk, step);
        counts(&chunk, step);
        if error::is_error(&chunk) {
            step.fail(text);
        } else if chunk.choices.is_empty() && chunk.kind.text() == "ping" {
            step.ping();
        } else {
            chunk.choices.into_iter().for_each(|choice| self.choice(choice, step));
        }
        Ok(())
    }

    fn choice(&self, mut choice: Choice<'_>, step: &mut Step<'_>) {
        let logprobs = choice.logprobs.map(Logprobs::read);
        let index = choice.index.as_u64().unwrap_or(0);
        let is_silent = step.is_silent(index);
        let is_repeated = choice.message.is_some() && !is_silent;
        let pieces = (self.pieces)(&mut choice, is_silent);
        if let Some(logprobs) = logprobs {
            let is_of_content = !is_repeated && !pieces.is_beside_content();
            let spelling = if is_of_content { logprobs.spelling } else { Spelling::Absent };
            step.logprobs(index, Logprobs { spelling, ..logprobs });
        }
        step.add(index, pieces);
        step.finish(index, choice.finish_reason.text());
    }

    /// The one text that `chunk` adds, where that is all that it does.
    fn plain_text<'c>(&self, chunk: &'c Chunk<'_>) -> Option<(Channel, u64, &'c str)> {
        let extras = [
            chunk.usage,
            chunk.error,
            chunk.detail,
            chunk.timings,
            chunk.x_groq,
            chunk.nvext,
            chunk.time_info,
        ];
        let choice = chunk.choices.only()?;
        let adds_more = extras.iter().any(Option::is_some)
            || choice.message.is_some()
            || choice.logprobs.is_some()
            || !choice.finish_reason.text().is_empty();
        if adds_more {
            return None;
        }
        let (channel, text) = (self.plain)(choice)?;
        Some((channel, choice.index.as_u64().unwrap_or(0), text))
    }
}

/// Tells model, id and the server's own times.
pub(super) fn label(chunk: &Chunk<'_>, step: &mut Step<'_>) {
    step.label(chunk.model.text(), chunk.id.text());
    if let Some(times) = chunk.timings.or(chunk.x_groq).or(chunk.nvext).or(chunk.time_info) {
        step.timing(times.get());
    }
}

/// Tells the usage, wherever it stands.
pub(super) fn counts(chunk: &Chunk<'_>, step: &mut Step<'_>) {
    #[derive(Deserialize)]
    struct Extension<'a> {
        #[serde(borrow)]
        usage: Option<&'a RawValue>,
    }
    let extension = chunk.x_groq.and_then(|raw| serde_json::from_str::<Extension<'_>>(raw.get()).ok());
    if let Some(usage) = extension.and_then(|extension| extension.usage) {
        step.usage_extension(usage);
    }
    if let Some(usage) = chunk.usage {
        step.usage(usage.get());
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dialect, Message};
    use super::*;
    use crate::assembly::Assembly;

    #[test]
    fn only_events_that_add_one_plain_text_are_learnt_from() {
        let check = |dialect: Dialect, event: &str, right: Option<Channel>| {
            let mut answer = Assembly::default();
            let message = Message { name: b"", text: event };
            dialect.speech().read(message, &mut Step::new(&mut answer)).unwrap();
            assert_eq!(answer.template.learnt(), right, "{event}");
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
}
