//! The completions dialect: a prompt in, new text in `text` (W17).

use super::openai::Reader;
use super::{Message, Speech, borrowed};
use crate::pieces::Pieces;
use crate::request::{Ask, Fields, Unsayable};
use crate::step::Step;
use crate::template::Channel;

const READER: Reader = Reader {
    pieces: |choice, _| Pieces::content(std::mem::take(&mut choice.text).into_text()),
    plain: |choice| Some((Channel::Content, borrowed(&choice.text)?)),
};

/// Parameters that the endpoint has no field for.
const CHAT_ONLY: [&str; 2] = ["tools", "tool_choice"];

/// OpenAI's older text completions.
pub(super) struct Completions;

impl Speech for Completions {
    fn name(&self) -> &'static str {
        "completions"
    }

    fn tail(&self) -> &'static [&'static str] {
        &["completions"]
    }

    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, Unsayable> {
        let parameters = ask.parameters.into_iter().flatten();
        if let Some((name, _)) = parameters.into_iter().find(|(name, _)| CHAT_ONLY.contains(&name.as_str())) {
            return Err(ask.unsayable(name.as_str()));
        }
        let mut fields = Fields::new(ask);
        fields.put("model", ask.model).put("prompt", ask.prompt.text()).put_sampling().put_parameters();
        Ok(fields.into_json())
    }

    fn read(&self, message: Message<'_>, step: &mut Step<'_>) -> Result<(), serde_json::Error> {
        READER.read(message.text, step)
    }
}
