//! The embeddings dialect: a text in, vectors of numbers out. Nothing is generated, so that nothing streams.

use serde::Deserialize;

use super::openai;
use super::{Message, Speech};
use crate::chunk::Chunk;
use crate::error;
use crate::request::{Ask, Fields, Unsayable};
use crate::step::Step;
use crate::vectors::{Vector, Vectors};
use crate::wishes::Choice;

/// Bytes of an answer that are shown on each side of the place where it cannot be read.
const SHOWN: usize = 24;

/// OpenAI's `/v1/embeddings`.
pub(super) struct Embeddings;

impl Speech for Embeddings {
    fn name(&self) -> &'static str {
        "embeddings"
    }

    fn tail(&self) -> &'static [&'static str] {
        &["embeddings"]
    }

    fn generates(&self) -> bool {
        false
    }

    /// How the text is to be generated cannot be said. A temperature of 0 asks for no more than what an embedding is
    /// anyway: the same again.
    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, Unsayable> {
        let wishes = ask.wishes()?;
        ask.refuse(&[
            ("stream", ask.stream),
            ("tools", !wishes.tools.is_empty()),
            ("tool_choice", wishes.choice != Choice::Unsaid),
            ("response_format", wishes.format.is_some()),
            ("stop", !wishes.stop.is_empty()),
            ("temperature", wishes.temperature.is_some_and(|temperature| temperature != 0.0)),
            ("top_p", wishes.top_p.is_some()),
            ("top_k", wishes.top_k.is_some()),
            ("seed", wishes.seed.is_some()),
            ("max_tokens", wishes.max_tokens.is_some()),
        ])?;
        // Of a conversation all texts, if they are texts.
        ask.turns()?;
        let mut fields = Fields::new(ask);
        fields.put("model", ask.model).put("input", ask.prompt.text());
        Ok(fields.into_json())
    }

    /// An answer that cannot be read is told by the place: its beginning is numbers, and says nothing.
    fn read(&self, message: Message<'_>, step: &mut Step<'_>) -> Result<(), serde_json::Error> {
        let chunk: Chunk<'_> = match serde_json::from_str(message.text) {
            Ok(chunk) => chunk,
            Err(error) => {
                step.malformed(&at_fault(message.text, &error));
                return Ok(());
            }
        };
        openai::label(&chunk, step);
        openai::counts(&chunk, step);
        if error::is_error(&chunk) {
            step.fail(message.text);
            return Ok(());
        }
        match serde_json::from_str::<Data>(message.text) {
            Ok(Data { data: None }) => {}
            Ok(Data { data: Some(items) }) => match Vectors::of(items.iter().map(|item| item.embedding)) {
                Ok(vectors) => step.vectors(vectors),
                Err(lengths) => step.malformed(&lengths.to_string()),
            },
            Err(error) => step.malformed(&at_fault(message.text, &error)),
        }
        Ok(())
    }
}

/// The vectors of an answer. Each is read where it stands and only measured: none is kept.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Data {
    data: Option<Vec<Item>>,
}

#[derive(Deserialize)]
struct Item {
    embedding: Vector,
}

/// What is wrong, and what stands there.
fn at_fault(text: &str, error: &serde_json::Error) -> String {
    let line: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = (line + error.column()).min(text.len());
    let from = text.floor_char_boundary(at.saturating_sub(SHOWN));
    let to = text.floor_char_boundary(at + SHOWN);
    format!("{error}, near {}", text.get(from..to).unwrap_or_default())
}
