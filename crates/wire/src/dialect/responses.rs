//! OpenAI's Responses: items that begin, grow and are told again at their end (W77 to W81).

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Message, Speech, borrowed};
use crate::error::is_said;
use crate::few::Few;
use crate::loose::Loose;
use crate::pieces::Pieces;
use crate::request::{Ask, Fields, Unsayable};
use crate::step::Step;
use crate::template::Channel;
use crate::wishes::{Choice, Format, Tool};

/// OpenAI's Responses API.
pub(super) struct Responses;

impl Speech for Responses {
    fn name(&self) -> &'static str {
        "responses"
    }

    fn tail(&self) -> &'static [&'static str] {
        &["responses"]
    }

    fn finish_reasons(&self) -> &'static [&'static str] {
        &["stop", "tool_calls", "max_output_tokens", "content_filter"]
    }

    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, Unsayable> {
        let wishes = ask.wishes()?;
        ask.refuse(&[
            ("seed", wishes.seed.is_some()),
            ("stop", !wishes.stop.is_empty()),
            ("top_k", wishes.top_k.is_some()),
        ])?;
        let (system, turns) = ask.system_and_turns()?;
        let tools: Vec<_> = wishes.tools.iter().map(tool).collect();
        let mut fields = Fields::new(ask);
        fields.put("model", ask.model).put_some("instructions", system).put("input", turns);
        // Nothing is to be kept by the server: each request says all that it is about.
        fields.put("stream", ask.stream).put("store", false);
        fields.put_some("max_output_tokens", wishes.max_tokens).put_some("temperature", wishes.temperature);
        fields.put_some("top_p", wishes.top_p).put_some("text", wishes.format.as_ref().map(format));
        fields.put_all("tools", &tools).put_some("tool_choice", choice(wishes.choice));
        Ok(fields.into_json())
    }

    fn read(&self, message: Message<'_>, step: &mut Step<'_>) -> Result<(), serde_json::Error> {
        let event: Said<'_> = serde_json::from_str(message.text)?;
        let kind = message.kind(&event.kind);
        match kind.rsplit_once('.').unwrap_or(("", kind)) {
            ("response", end @ ("completed" | "incomplete" | "failed" | "cancelled" | "done")) => {
                if let Some(times) = event.timings {
                    step.timing(times.get());
                }
                event.response.unwrap_or_default().end(end, step);
                step.done();
            }
            ("response", "created" | "in_progress" | "queued") => {
                let begun = event.response.unwrap_or_default();
                step.label(begun.model.text(), begun.id.text());
            }
            ("response.output_item", "added") => {
                let index = event.output_index.as_u64().unwrap_or(0);
                event.item.unwrap_or_default().begin(index, step);
            }
            (of, "delta") => {
                // Alike in its data is alike in its kind only where the data says it.
                if let Some((channel, text)) = event.plain() {
                    step.learn(message.text, (channel, 0, text));
                }
                event.add(of, step);
            }
            // They tell again what came in pieces (W79).
            (_, "done") | ("response.content_part" | "response.reasoning_summary_part", "added") => {}
            ("", "error") => step.fail(message.text),
            ("", "ping" | "keepalive") => step.ping(),
            _ if event.object.text() == "response" => {
                let response: Response<'_> = serde_json::from_str(message.text)?;
                response.end("", step);
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
    /// llama.cpp's own times.
    #[serde(borrow)]
    timings: Option<&'a RawValue>,
}

impl Said<'_> {
    /// The one text that an event of a kind which adds nothing else holds.
    fn plain(&self) -> Option<(Channel, &str)> {
        let channel = match self.kind.text() {
            "response.output_text.delta" => Channel::Content,
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => Channel::Reasoning,
            _ => return None,
        };
        Some((channel, borrowed(&self.delta)?))
    }

    /// Output is what comes in a delta `of` something; of something unknown too, as far as it is text (W77).
    fn add(&self, of: &str, step: &mut Step<'_>) {
        let index = self.output_index.as_u64().unwrap_or(0);
        let text = self.delta.text();
        let pieces = match of {
            "response.output_text" => Pieces::content(text),
            _ if text.is_empty() => Pieces::default(),
            _ if of.contains("reasoning") => Pieces::reasoning(text),
            _ if of.contains("refusal") => Pieces::refusal(text),
            _ if of.contains("arguments") => Pieces::call(index, "", "", text),
            _ if of.contains("transcript") => Pieces::audio(text),
            _ if of.contains("audio") => Pieces::audio_data(),
            _ => {
                step.ignore();
                Pieces::content(text)
            }
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
    /// How it ended (W78) and what was counted (W80). `told` is its status where it states none itself. What it says is
    /// new only where nothing came in pieces: of a response that was not streamed, or came as one event (W19).
    fn end(self, told: &str, step: &mut Step<'_>) {
        step.label(self.model.text(), self.id.text());
        if let Some(usage) = self.usage {
            step.usage(usage.get());
        }
        if step.is_silent(0) {
            for (item, index) in self.output.into_iter().zip(0..) {
                item.whole(index, step);
            }
        }
        let failure = self.error.filter(|error| is_said(error));
        match (self.status.text(), failure) {
            (_, Some(error)) => step.fail(error.get()),
            ("", None) => finish(told, self.incomplete_details, step),
            (status, None) => finish(status, self.incomplete_details, step),
        }
    }
}

fn finish(status: &str, details: Option<Incomplete<'_>>, step: &mut Step<'_>) {
    match status {
        "" => {}
        "completed" | "done" => {
            let reason = if step.has_calls(0) { "tool_calls" } else { "stop" };
            step.finish(0, reason);
        }
        "incomplete" => {
            let details = details.unwrap_or_default();
            let reason = details.reason.text();
            step.finish(0, if reason.is_empty() { "incomplete" } else { reason });
        }
        _ => {
            let message = format!("the response ended as {status}");
            step.fail(&json!({"code": status, "message": message}).to_string());
        }
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
    fn begin(self, index: u64, step: &mut Step<'_>) {
        if self.kind.text() == "function_call" {
            step.add(0, Pieces::call(index, self.call_id.text(), self.name.text(), ""));
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

fn tool(tool: &Tool<'_>) -> Value {
    let mut said = tool.said("parameters");
    said.insert("type".to_owned(), json!("function"));
    // Strict by default, which not every schema can be.
    said.insert("strict".to_owned(), json!(false));
    Value::Object(said)
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
