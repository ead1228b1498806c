//! Gemini's native dialect: candidates with parts, counts running on every event, thoughts beside the output (W90).

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{ANY, Auth, Message, Speech, segment};
use crate::error::is_said;
use crate::loose::Loose;
use crate::pieces::Pieces;
use crate::request::{Ask, Fields, Unsayable};
use crate::step::Step;
use crate::wishes::{Choice, Format, Role, Turn, Wishes};

/// Gemini's `generateContent` and `streamGenerateContent`.
pub(super) struct Gemini;

impl Speech for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn prefix(&self) -> &'static str {
        "v1beta"
    }

    fn tail(&self) -> &'static [&'static str] {
        &["models", ANY]
    }

    fn path(&self, model: &str, stream: bool) -> String {
        let model = segment(model.strip_prefix("models/").unwrap_or(model));
        format!("models/{model}:{}", if stream { "streamGenerateContent" } else { "generateContent" })
    }

    /// Without it a stream is one JSON array, in pieces.
    fn query(&self, stream: bool) -> Option<(&'static str, &'static str)> {
        stream.then_some(("alt", "sse"))
    }

    fn auth(&self) -> Auth {
        Auth::Header("x-goog-api-key")
    }

    fn finish_reasons(&self) -> &'static [&'static str] {
        &[
            "STOP",
            "MAX_TOKENS",
            "SAFETY",
            "RECITATION",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "MODEL_ARMOR",
            "LANGUAGE",
            "MALFORMED_FUNCTION_CALL",
            "UNEXPECTED_TOOL_CALL",
            "TOO_MANY_TOOL_CALLS",
            "OTHER",
            "blocked",
        ]
    }

    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, Unsayable> {
        let wishes = ask.wishes()?;
        let (system, turns) = ask.system_and_turns()?;
        let contents: Vec<_> = turns.iter().map(content).collect();
        let tools: Vec<_> = wishes.tools.iter().map(|tool| tool.said("parametersJsonSchema")).collect();
        let mut fields = Fields::new(ask);
        fields.put_some("systemInstruction", system.map(|text| json!({"parts": [{"text": text}]})));
        fields.put("contents", contents);
        fields.put_some("tools", (!tools.is_empty()).then(|| json!([{"functionDeclarations": tools}])));
        fields.put_some("toolConfig", calling(wishes.choice));
        fields.put_options("generationConfig", Config::of(&wishes));
        Ok(fields.into_json())
    }

    fn read(&self, message: Message<'_>, step: &mut Step<'_>) -> Result<(), serde_json::Error> {
        let reply: Reply<'_> = serde_json::from_str(message.text)?;
        step.label(reply.model_version.text(), reply.response_id.text());
        if reply.error.is_some_and(is_said) {
            step.fail(message.text);
            return Ok(());
        }
        if let Some(usage) = reply.usage_metadata {
            step.usage(usage.get());
        }
        let blocked = reply.prompt_feedback.as_ref().map_or("", |feedback| feedback.block_reason.text());
        if !blocked.is_empty() {
            step.finish(0, "blocked");
        }
        for candidate in reply.candidates.unwrap_or_default() {
            let index = candidate.index.as_u64().unwrap_or(0);
            let parts = candidate.content.and_then(|content| content.parts).unwrap_or_default();
            for part in parts {
                part.tell(index, step);
            }
            step.finish_turn(index, candidate.finish_reason.text());
        }
        Ok(())
    }
}

/// An event, or a whole answer: both have the same shape.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Reply<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow)]
    usage_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    model_version: Loose<'a>,
    #[serde(borrow)]
    response_id: Loose<'a>,
    #[serde(borrow)]
    prompt_feedback: Option<Feedback<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Feedback<'a> {
    #[serde(borrow)]
    block_reason: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    index: Loose<'a>,
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow)]
    finish_reason: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<Part<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Loose<'a>,
    thought: Option<bool>,
    #[serde(borrow)]
    thought_signature: Loose<'a>,
    function_call: Option<Call>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Call {
    name: String,
    args: Option<Value>,
}

impl Part<'_> {
    fn tell(self, choice: u64, step: &mut Step<'_>) {
        let text = self.text.into_text();
        let is_thought = self.thought == Some(true);
        if !self.thought_signature.text().is_empty() {
            step.add(choice, Pieces::opaque());
        }
        step.add(choice, if is_thought { Pieces::reasoning(text) } else { Pieces::content(text) });
        if let Some(Call { name, args }) = self.function_call {
            step.add_call(choice, &name, &args.map_or_else(|| "{}".to_owned(), |args| args.to_string()));
        }
    }
}

fn content(turn: &Turn<'_>) -> Value {
    let role = if turn.role == Role::Assistant { "model" } else { "user" };
    json!({"role": role, "parts": [{"text": turn.text}]})
}

fn calling(choice: Choice<'_>) -> Option<Value> {
    let config = match choice {
        Choice::Unsaid => return None,
        Choice::Auto => json!({"mode": "AUTO"}),
        Choice::None => json!({"mode": "NONE"}),
        Choice::Required => json!({"mode": "ANY"}),
        Choice::Named(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    };
    Some(json!({"functionCallingConfig": config}))
}

/// How the model is to answer, under Gemini's names.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_sequences: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Value>,
}

impl<'a> Config<'a> {
    fn of(wishes: &'a Wishes<'_>) -> Self {
        let Wishes { max_tokens, temperature, top_p, top_k, seed, format, .. } = *wishes;
        Config {
            max_output_tokens: max_tokens,
            temperature,
            top_p,
            top_k,
            seed,
            stop_sequences: &wishes.stop,
            response_mime_type: format.map(|_| "application/json"),
            response_json_schema: match format {
                Some(Format::Schema { schema, .. }) => Some(schema),
                Some(Format::Json) | None => None,
            },
        }
    }
}
