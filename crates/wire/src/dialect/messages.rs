//! Anthropic's Messages: blocks that begin, grow and end; counts at both ends (W82 to W87).

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Auth, Message, Speech, borrowed};
use crate::error::is_said;
use crate::few::Few;
use crate::loose::Loose;
use crate::pieces::Pieces;
use crate::request::{Ask, Fields, Unsayable};
use crate::step::Step;
use crate::template::Channel;
use crate::wishes::{Choice, Format};

/// Anthropic's Messages API.
pub(super) struct Messages;

impl Speech for Messages {
    fn name(&self) -> &'static str {
        "messages"
    }

    fn tail(&self) -> &'static [&'static str] {
        &["messages"]
    }

    fn auth(&self) -> Auth {
        Auth::Header("x-api-key")
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn finish_reasons(&self) -> &'static [&'static str] {
        &[
            "end_turn",
            "max_tokens",
            "stop_sequence",
            "tool_use",
            "pause_turn",
            "refusal",
            "model_context_window_exceeded",
        ]
    }

    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, Unsayable> {
        let wishes = ask.wishes()?;
        // Every answer has a limit here, and JSON needs a schema.
        ask.require("max_tokens", wishes.max_tokens.is_some())?;
        let is_any_json = wishes.format == Some(Format::Json);
        ask.refuse(&[("seed", wishes.seed.is_some()), ("response_format", is_any_json)])?;
        let (system, turns) = ask.system_and_turns()?;
        let tools: Vec<_> = wishes.tools.iter().map(|tool| tool.said("input_schema")).collect();
        let mut fields = Fields::new(ask);
        fields.put("model", ask.model).put_some("system", system).put("messages", turns);
        fields.put_some("max_tokens", wishes.max_tokens).put("stream", ask.stream);
        fields.put_some("temperature", wishes.temperature);
        fields.put_some("top_p", wishes.top_p).put_some("top_k", wishes.top_k);
        fields.put_all("stop_sequences", &wishes.stop);
        fields.put_all("tools", &tools).put_some("tool_choice", choice(wishes.choice));
        if let Some(config) = wishes.format.and_then(output) {
            fields.put_options("output_config", config);
        }
        Ok(fields.into_json())
    }

    fn read(&self, message: Message<'_>, step: &mut Step<'_>) -> Result<(), serde_json::Error> {
        let event: Said<'_> = serde_json::from_str(message.text)?;
        match message.kind(&event.kind) {
            "message_start" => {
                let begun = event.message.unwrap_or_default();
                step.label(begun.model.text(), begun.id.text());
                tell_usage(begun.usage, step);
            }
            "content_block_start" => {
                let index = event.index.as_u64().unwrap_or(0);
                if let Some(block) = event.content_block {
                    block.begin(index, step);
                }
            }
            "content_block_delta" => {
                let index = event.index.as_u64().unwrap_or(0);
                let Some(delta) = event.delta else { return Ok(()) };
                // Alike in its data is alike in its kind only where the data says it.
                if let Some((channel, text)) = delta.plain().filter(|_| !event.kind.text().is_empty()) {
                    step.learn(message.text, (channel, 0, text));
                }
                delta.add(index, step);
            }
            "message_delta" => {
                step.finish(0, event.delta.as_ref().map_or("", |delta| delta.stop_reason.text()));
                tell_usage(event.usage, step);
            }
            "message_stop" => step.done(),
            "content_block_stop" => {}
            "ping" => step.ping(),
            "error" => step.fail(message.text),
            // Not streamed: the whole message.
            "message" => {
                step.label(event.model.text(), event.id.text());
                for (index, block) in event.content.into_iter().enumerate() {
                    block.whole(index as u64, step);
                }
                if !event.stop_reason.is_absent() {
                    step.finish(0, event.stop_reason.text());
                }
                tell_usage(event.usage, step);
            }
            _ if event.error.is_some_and(is_said) => step.fail(message.text),
            _ => step.ignore(),
        }
        Ok(())
    }
}

/// One event, or the whole message.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Said<'a> {
    #[serde(borrow, rename = "type")]
    kind: Loose<'a>,
    #[serde(borrow)]
    index: Loose<'a>,
    #[serde(borrow)]
    message: Option<Begun<'a>>,
    #[serde(borrow)]
    content_block: Option<Block<'a>>,
    #[serde(borrow)]
    delta: Option<Block<'a>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Loose<'a>,
    #[serde(borrow)]
    model: Loose<'a>,
    #[serde(borrow)]
    stop_reason: Loose<'a>,
    #[serde(borrow)]
    content: Few<Block<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Begun<'a> {
    #[serde(borrow)]
    id: Loose<'a>,
    #[serde(borrow)]
    model: Loose<'a>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

/// A block, or what is added to one: both say of what kind they are.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Loose<'a>,
    #[serde(borrow)]
    id: Loose<'a>,
    #[serde(borrow)]
    name: Loose<'a>,
    #[serde(borrow)]
    text: Loose<'a>,
    #[serde(borrow)]
    thinking: Loose<'a>,
    #[serde(borrow)]
    partial_json: Loose<'a>,
    input: Option<Value>,
    #[serde(borrow)]
    stop_reason: Loose<'a>,
}

impl Block<'_> {
    /// The one text that a delta adds.
    fn plain(&self) -> Option<(Channel, &str)> {
        match self.kind.text() {
            "text_delta" => Some((Channel::Content, borrowed(&self.text)?)),
            "thinking_delta" => Some((Channel::Reasoning, borrowed(&self.thinking)?)),
            _ => None,
        }
    }

    /// A block's beginning: structure, but for the name of a tool (W83). Its text, where it has any, is output.
    fn begin(self, index: u64, step: &mut Step<'_>) {
        match self.kind.text() {
            "text" => step.add(0, Pieces::content(self.text.into_text())),
            "thinking" => step.add(0, Pieces::reasoning(self.thinking.into_text())),
            "redacted_thinking" => step.add(0, Pieces::opaque()),
            "tool_use" => step.add(0, Pieces::call(index, self.id.text(), self.name.text(), "")),
            _ => step.ignore(),
        }
    }

    fn add(self, index: u64, step: &mut Step<'_>) {
        match self.kind.text() {
            "text_delta" => step.add(0, Pieces::content(self.text.into_text())),
            "thinking_delta" => step.add(0, Pieces::reasoning(self.thinking.into_text())),
            "input_json_delta" => step.add(0, Pieces::call(index, "", "", self.partial_json.text())),
            "signature_delta" => step.add(0, Pieces::opaque()),
            _ => step.ignore(),
        }
    }

    /// A block that came whole: with its input, where it is a tool's.
    fn whole(mut self, index: u64, step: &mut Step<'_>) {
        let input = self.input.take().filter(|_| self.kind.text() == "tool_use");
        self.begin(index, step);
        if let Some(input) = input {
            step.add(0, Pieces::call(index, "", "", &input.to_string()));
        }
    }
}

fn tell_usage(usage: Option<&RawValue>, step: &mut Step<'_>) {
    if let Some(usage) = usage {
        step.usage(usage.get());
    }
}

fn choice(choice: Choice<'_>) -> Option<Value> {
    match choice {
        Choice::Unsaid => None,
        Choice::Auto => Some(json!({"type": "auto"})),
        Choice::None => Some(json!({"type": "none"})),
        Choice::Required => Some(json!({"type": "any"})),
        Choice::Named(name) => Some(json!({"type": "tool", "name": name})),
    }
}

/// A schema that the answer must follow.
fn output(format: Format<'_>) -> Option<Value> {
    match format {
        Format::Json => None,
        Format::Schema { schema, .. } => Some(json!({"format": {"type": "json_schema", "schema": schema}})),
    }
}
