//! Ollama's native dialect: newline-delimited JSON, counts and times in the last line (W88).

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{Framing, Message, Speech, borrowed};
use crate::loose::Loose;
use crate::pieces::Pieces;
use crate::request::{Ask, Fields, Unsayable};
use crate::step::Step;
use crate::template::Channel;
use crate::wishes::{Choice, Format, Tool, Wishes};

/// Ollama's `/api/chat`.
pub(super) struct Ollama;

impl Speech for Ollama {
    fn name(&self) -> &'static str {
        "ollama"
    }

    fn prefix(&self) -> &'static str {
        "api"
    }

    fn tail(&self) -> &'static [&'static str] {
        &["chat"]
    }

    fn models(&self) -> Option<&'static str> {
        Some("tags")
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, Unsayable> {
        let wishes = ask.wishes()?;
        if !matches!(wishes.choice, Choice::Unsaid | Choice::Auto) {
            return Err(ask.unsayable("tool_choice"));
        }
        let tools: Vec<_> = wishes.tools.iter().map(tool).collect();
        let mut fields = Fields::new(ask);
        // It streams unless told not to.
        fields.put("model", ask.model).put("messages", ask.turns()?).put("stream", ask.stream);
        fields.put_all("tools", &tools);
        fields
            .put_some("format", wishes.format.as_ref().map(format))
            .put_options("options", Options::of(&wishes));
        Ok(fields.into_json())
    }

    fn read(&self, message: Message<'_>, step: &mut Step<'_>) -> Result<(), serde_json::Error> {
        let reply: Reply<'_> = serde_json::from_str(message.text)?;
        step.label(reply.model.text(), "");
        if reply.error.is_some() {
            step.fail(message.text);
            return Ok(());
        }
        if let Some(said) = reply.message {
            if let Some((channel, text)) = said.plain().filter(|_| !reply.done) {
                step.learn(message.text, (channel, 0, text));
            }
            said.tell(step);
        }
        if reply.done {
            let reason = reply.done_reason.text();
            step.finish_turn(0, if reason.is_empty() { "stop" } else { reason });
            tell_end(message.text, step);
            step.done();
        }
        Ok(())
    }
}

/// A line of a stream, or a whole answer: both have the same shape.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Reply<'a> {
    #[serde(borrow)]
    model: Loose<'a>,
    #[serde(borrow)]
    message: Option<Said<'a>>,
    done: bool,
    #[serde(borrow)]
    done_reason: Loose<'a>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Said<'a> {
    #[serde(borrow)]
    content: Loose<'a>,
    #[serde(borrow)]
    thinking: Loose<'a>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Call {
    function: Function,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Function {
    name: String,
    arguments: Value,
}

impl Said<'_> {
    /// The one text that it holds, where that is all.
    fn plain(&self) -> Option<(Channel, &str)> {
        match (borrowed(&self.content), borrowed(&self.thinking)) {
            _ if self.tool_calls.is_some() => None,
            (Some(text), None) if self.thinking.text().is_empty() => Some((Channel::Content, text)),
            (None, Some(text)) if self.content.text().is_empty() => Some((Channel::Reasoning, text)),
            _ => None,
        }
    }

    fn tell(self, step: &mut Step<'_>) {
        step.add(0, Pieces::reasoning(self.thinking.into_text()));
        step.add(0, Pieces::content(self.content.into_text()));
        for Call { function } in self.tool_calls.unwrap_or_default() {
            step.add_call(0, &function.name, &function.arguments.to_string());
        }
    }
}

/// Counts and times stand among the fields of the last line.
fn tell_end(line: &str, step: &mut Step<'_>) {
    let fields: Map<String, Value> = serde_json::from_str(line).unwrap_or_default();
    let part = |ending: &str| {
        let held = fields.iter().filter(|(name, _)| name.ends_with(ending));
        let part: Map<String, Value> = held.map(|(name, value)| (name.clone(), value.clone())).collect();
        (!part.is_empty()).then(|| Value::Object(part).to_string())
    };
    if let Some(counts) = part("_count") {
        step.usage(&counts);
    }
    if let Some(times) = part("_duration") {
        step.timing(&times);
    }
}

fn tool(tool: &Tool<'_>) -> Value {
    json!({"type": "function", "function": tool.said("parameters")})
}

fn format(format: &Format<'_>) -> Value {
    match format {
        Format::Json => json!("json"),
        Format::Schema { schema, .. } => (*schema).clone(),
    }
}

/// How the model is to answer, under Ollama's names.
#[derive(Serialize)]
struct Options<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [&'a str],
}

impl<'a> Options<'a> {
    fn of(wishes: &'a Wishes<'_>) -> Self {
        let Wishes { max_tokens, temperature, top_p, top_k, seed, .. } = *wishes;
        Options { num_predict: max_tokens, temperature, top_p, top_k, seed, stop: &wishes.stop }
    }
}
