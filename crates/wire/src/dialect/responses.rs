//! OpenAI's Responses: items that begin, grow and are told again at their end (W77 to W81).

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Message, Speech};
use crate::error::is_said;
use crate::few::Few;
use crate::loose::Loose;
use crate::pieces::Pieces;
use crate::request::{Ask, Fields, Unsayable};
use crate::step::Step;
use crate::wishes::{Choice, Format, Role, Tool, Turn};

/// OpenAI's Responses API.
pub(super) struct Responses;

impl Speech for Responses {
    fn name(&self) -> &'static str {
        "responses"
    }

    fn tail(&self) -> &'static [&'static str] {
        &["responses"]
    }

    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, Unsayable> {
        let wishes = ask.wishes()?;
        let unsayable = [
            ("seed", wishes.seed.is_some()),
            ("stop", !wishes.stop.is_empty()),
            ("top_k", wishes.top_k.is_some()),
        ];
        if let Some((name, _)) = unsayable.iter().find(|(_, is_wished)| *is_wished) {
            return Err(ask.unsayable(*name));
        }
        let (system, turns) = ask.system_and_turns()?;
        let input: Vec<_> = turns.iter().map(turn).collect();
        let tools: Vec<_> = wishes.tools.iter().map(tool).collect();
        let mut fields = Fields::new(ask);
        fields.put("model", ask.model).put_some("instructions", system).put("input", input);
        // Nothing is to be kept by the server: each request says all that it is about.
        fields.put("stream", ask.stream).put("store", false);
        fields.put_some("max_output_tokens", wishes.max_tokens).put_some("temperature", wishes.temperature);
        fields.put_some("top_p", wishes.top_p).put_some("text", wishes.format.as_ref().map(format));
        fields
            .put_some("tools", (!tools.is_empty()).then_some(tools))
            .put_some("tool_choice", choice(wishes.choice));
        Ok(fields.into_json())
    }

    fn read(&self, message: Message<'_>, step: &mut Step<'_>) -> Result<(), serde_json::Error> {
        let event: Said<'_> = serde_json::from_str(message.text)?;
        let kind = event.kind.text();
        match kind.strip_prefix("response.").unwrap_or(kind) {
            "output_item.added" => {
                event.item.into_iter().for_each(|item| item.begin(event.output_index.as_u64(), step))
            }
            "completed" | "incomplete" | "failed" | "cancelled" | "done" => {
                event.response.into_iter().for_each(|response| response.end(message.text, step));
                step.done();
            }
            "created" | "in_progress" | "queued" => {
                event
                    .response
                    .iter()
                    .for_each(|response| step.label(response.model.text(), response.id.text()));
            }
            "error" => step.fail(message.text),
            "ping" | "keepalive" => step.ping(),
            delta if delta.ends_with(".delta") => event.add(step),
            // They tell again what came in pieces (W79).
            done if done.ends_with(".done") => {}
            "content_part.added" | "reasoning_summary_part.added" => {}
            _ if event.object.text() == "response" => {
                let response: Response<'_> = serde_json::from_str(message.text)?;
                response.whole(message.text, step);
            }
            _ if event.error.is_some_and(is_said) => step.fail(message.text),
            _ => step.ignore(),
        }
        Ok(())
    }
}

/// One event.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Said<'a> {
    #[serde(borrow, rename = "type")]
    kind: Loose<'a>,
    #[serde(borrow)]
    object: Loose<'a>,
    #[serde(borrow)]
    output_index: Loose<'a>,
    #[serde(borrow)]
    delta: Loose<'a>,
    #[serde(borrow)]
    item: Option<Item<'a>>,
    #[serde(borrow)]
    response: Option<Response<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Said<'_> {
    /// Output is what comes in a delta; one of an unknown kind too, as far as it is text (W77).
    fn add(self, step: &mut Step<'_>) {
        let kind = self.kind.text();
        let index = self.output_index.as_u64().unwrap_or(0);
        let text = self.delta.text();
        let pieces = match kind {
            _ if kind.contains("reasoning") => Pieces::reasoning(text),
            _ if kind.contains("refusal") => Pieces::refusal(text),
            _ if kind.contains("arguments") => Pieces::call(index, "", "", text),
            _ if kind.contains("audio.transcript") || kind.contains("audio_transcript") => {
                Pieces::audio(text)
            }
            _ if kind.contains("audio") => Pieces::audio_data(),
            _ => Pieces::content(text),
        };
        step.add(0, pieces);
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response<'a> {
    #[serde(borrow)]
    id: Loose<'a>,
    #[serde(borrow)]
    model: Loose<'a>,
    #[serde(borrow)]
    status: Loose<'a>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    incomplete_details: Option<Incomplete<'a>>,
    #[serde(borrow)]
    output: Few<Item<'a>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Incomplete<'a> {
    #[serde(borrow)]
    reason: Loose<'a>,
}

impl Response<'_> {
    /// How it ended (W78), and what was counted (W80).
    fn end(&self, text: &str, step: &mut Step<'_>) {
        step.label(self.model.text(), self.id.text());
        if let Some(usage) = self.usage.filter(|usage| usage.get() != "null") {
            step.usage(usage.get());
        }
        match self.status.text() {
            "failed" | "cancelled" => match self.error.filter(|error| is_said(error)) {
                Some(error) => step.fail(error.get()),
                None => step.fail(&json!({"error": {"code": self.status.text()}}).to_string()),
            },
            "incomplete" => {
                let reason = self.incomplete_details.as_ref().map_or("", |details| details.reason.text());
                step.finish(0, if reason.is_empty() { "incomplete" } else { reason });
            }
            "" if self.error.is_some_and(is_said) => step.fail(text),
            _ => {
                let reason = if step.has_calls(0) { "tool_calls" } else { "stop" };
                step.finish(0, reason);
            }
        }
    }

    /// A response that was not streamed.
    fn whole(mut self, text: &str, step: &mut Step<'_>) {
        for (index, item) in std::mem::take(&mut self.output).into_iter().enumerate() {
            item.whole(index as u64, step);
        }
        self.end(text, step);
    }
}

/// One item of the output: a message, reasoning, a call.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Loose<'a>,
    #[serde(borrow)]
    call_id: Loose<'a>,
    #[serde(borrow)]
    name: Loose<'a>,
    #[serde(borrow)]
    arguments: Loose<'a>,
    #[serde(borrow)]
    content: Few<Part<'a>>,
    #[serde(borrow)]
    summary: Few<Part<'a>>,
    #[serde(borrow)]
    encrypted_content: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow)]
    text: Loose<'a>,
    #[serde(borrow)]
    refusal: Loose<'a>,
}

impl Item<'_> {
    /// A beginning is structure, but for the name of a function.
    fn begin(self, index: Option<u64>, step: &mut Step<'_>) {
        if self.kind.text() == "function_call" {
            step.add(0, Pieces::call(index.unwrap_or(0), self.call_id.text(), self.name.text(), ""));
        }
    }

    fn whole(self, index: u64, step: &mut Step<'_>) {
        let is_reasoning = self.kind.text() == "reasoning";
        if !self.encrypted_content.text().is_empty() {
            step.add(0, Pieces::opaque());
        }
        if self.kind.text() == "function_call" {
            let (id, name) = (self.call_id.text(), self.name.text());
            step.add(0, Pieces::call(index, id, name, self.arguments.text()));
        }
        for part in self.summary.into_iter().chain(self.content) {
            let text = part.text.into_text();
            step.add(0, if is_reasoning { Pieces::reasoning(text) } else { Pieces::content(text) });
            step.add(0, Pieces::refusal(part.refusal.into_text()));
        }
    }
}

fn turn(turn: &Turn<'_>) -> Value {
    let role = if turn.role == Role::Assistant { "assistant" } else { "user" };
    json!({"role": role, "content": turn.text})
}

fn tool(tool: &Tool<'_>) -> Value {
    let Tool { name, description, parameters } = *tool;
    json!({"type": "function", "name": name, "description": description, "parameters": parameters, "strict": false})
}

fn choice(choice: Choice<'_>) -> Option<Value> {
    match choice {
        Choice::Unsaid => None,
        Choice::Auto => Some(json!("auto")),
        Choice::None => Some(json!("none")),
        Choice::Required => Some(json!("required")),
        Choice::Named(name) => Some(json!({"type": "function", "name": name})),
    }
}

fn format(format: &Format<'_>) -> Value {
    match format {
        Format::Json => json!({"format": {"type": "json_object"}}),
        Format::Schema { name, schema, strict } => {
            json!({"format": {"type": "json_schema", "name": name, "schema": schema, "strict": strict}})
        }
    }
}
