//! OpenAI's older completions: `POST /v1/completions`.

use serde_json::Value;

use super::chat::{Body, Chat, STOPPED, Shape, literal};
use super::{Address, Refused, Speak, Writer, text_of};
use crate::ask::Wishes;
use crate::chunk::{Facts, Say, Whole};
use crate::reply::Sheet;

/// The dialect.
#[derive(Debug)]
pub(super) struct Completions;

impl Speak for Completions {
    fn hears(&self, at: Address) -> bool {
        at.path == "/v1/completions"
    }

    fn read(&self, _: Address, body: &[u8]) -> Result<Wishes, Refused> {
        let body: Body = serde_json::from_slice(body)?;
        let prompt = body.prompt.ok_or_else(|| Refused::invalid("`prompt` is missing"))?;
        Ok(body.wishes(prompt))
    }

    fn prompt_text(&self, body: &Value) -> String {
        body.get("prompt").map(text_of).unwrap_or_default()
    }

    fn writer<'a>(&self, facts: Facts<'a>) -> Box<dyn Writer + 'a> {
        Box::new(Events(facts))
    }

    fn whole(&self, whole: &Whole, facts: Facts) -> Vec<u8> {
        SHAPE.whole(whole, &format!(r#""text":"{}{}""#, whole.reasoning, whole.content), facts)
    }

    fn broken(&self) -> Vec<u8> {
        STOPPED.into()
    }

    fn error(&self, status: u16, code: &str, message: &str) -> Sheet {
        Chat.error(status, code, message)
    }

    fn opens(&self) -> bool {
        false
    }

    fn is_stateless(&self) -> bool {
        true
    }
}

const SHAPE: Shape = Shape { id: "cmpl-sim", objects: ("text_completion", "text_completion") };

/// An answer's events.
struct Events<'a>(Facts<'a>);

impl Writer for Events<'_> {
    fn event(&mut self, say: Say) -> Vec<u8> {
        let Say::Chunk(chunk) = say else { return literal(say) };
        let reasoning = chunk.reasoning.as_ref().map(|(_, text)| text.as_str());
        let text = chunk.content.as_deref().or(reasoning).unwrap_or_default();
        SHAPE.event(chunk, &format!(r#"{{"index":0,"text":"{text}""#), self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;

    #[test]
    fn events_and_answers_are_these_bytes() {
        let facts = Facts::of("\"m\"");
        let text = Chunk { content: Some(" a".into()), finish: Some("stop".into()), ..Chunk::default() };
        let event = String::from_utf8(Completions.writer(facts).event(Say::Chunk(&text))).unwrap();
        assert_eq!(
            event,
            "data: {\"id\":\"cmpl-sim\",\"object\":\"text_completion\",\"created\":1796051544,\"model\":\"m\",\
             \"choices\":[{\"index\":0,\"text\":\" a\",\"finish_reason\":\"stop\"}]}\n\n"
        );
        let whole = Whole { content: " a".into(), reasoning: " r".into(), ..Whole::default() };
        let body: Value = serde_json::from_slice(&Completions.whole(&whole, facts)).unwrap();
        assert_eq!(body["choices"][0]["text"], " r a");
    }

    #[test]
    fn the_text_of_a_prompt() {
        let check = |body: &str, text: &str| {
            assert_eq!(Completions.prompt_text(&serde_json::from_str(body).unwrap()), text);
        };
        check(r#"{"prompt":"a b"}"#, "a b");
        check(r#"{"prompt":["a","b"]}"#, "ab");
    }
}
