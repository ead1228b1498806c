//! Amazon Bedrock's Converse: one form for the models of many makers, streamed as binary messages (W89).

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{ANY, Framing, Message, Speech, segment};
use crate::few::Few;
use crate::loose::Loose;
use crate::pieces::Pieces;
use crate::request::{Ask, Fields, Unsayable};
use crate::step::Step;
use crate::wishes::{Choice, Format, Tool, Turn, Wishes};

/// Bedrock's `Converse` and `ConverseStream`.
pub(super) struct Bedrock;

impl Speech for Bedrock {
    fn name(&self) -> &'static str {
        "bedrock"
    }

    fn prefix(&self) -> &'static str {
        ""
    }

    /// The last says whether it streams.
    fn tail(&self) -> &'static [&'static str] {
        &["model", ANY, ANY]
    }

    fn path(&self, model: &str, stream: bool) -> String {
        format!("model/{}/{}", segment(model), if stream { "converse-stream" } else { "converse" })
    }

    /// They are listed at another host.
    fn models(&self) -> Option<&'static str> {
        None
    }

    fn finish_reasons(&self) -> &'static [&'static str] {
        &[
            "end_turn",
            "tool_use",
            "max_tokens",
            "stop_sequence",
            "guardrail_intervened",
            "content_filtered",
            "malformed_model_output",
            "malformed_tool_use",
            "model_context_window_exceeded",
        ]
    }

    fn framing(&self) -> Framing {
        Framing::Binary
    }

    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, Unsayable> {
        let wishes = ask.wishes()?;
        ask.refuse(&[
            ("seed", wishes.seed.is_some()),
            // Each maker's models have a name of their own for it.
            ("top_k", wishes.top_k.is_some()),
            ("tool_choice", wishes.choice == Choice::None),
            ("response_format", wishes.format == Some(Format::Json)),
        ])?;
        let (system, turns) = ask.system_and_turns()?;
        let messages: Vec<_> = turns.iter().map(message).collect();
        let mut fields = Fields::new(ask);
        fields.put("messages", messages).put_some("system", system.map(|text| json!([{"text": text}])));
        fields.put_options("inferenceConfig", Inference::of(&wishes));
        fields.put_some("toolConfig", tools(&wishes));
        if let Some(config) = wishes.format.and_then(output) {
            fields.put_options("outputConfig", config);
        }
        Ok(fields.into_json())
    }

    fn read(&self, message: Message<'_>, step: &mut Step<'_>) -> Result<(), serde_json::Error> {
        let said: Said<'_> = serde_json::from_str(message.text)?;
        let index = said.content_block_index.as_u64().unwrap_or(0);
        match message.name {
            b"messageStart" | b"contentBlockStop" => {}
            b"contentBlockStart" => match said.start {
                Some(start) => start.tell(index, step),
                None => step.ignore(),
            },
            b"contentBlockDelta" => match said.delta {
                Some(delta) => delta.tell(index, step),
                None => step.ignore(),
            },
            b"messageStop" => step.finish(0, said.stop_reason.text()),
            b"metadata" => tell_end(&said, step),
            // Not streamed: the whole answer, which has no name (`message` is none either).
            b"" | b"message" => {
                let blocks = said.output.as_ref().map(|output| output.get()).map(content).transpose()?;
                for (index, block) in blocks.unwrap_or_default().into_iter().enumerate() {
                    block.tell(index as u64, step);
                }
                if !said.stop_reason.is_absent() {
                    step.finish(0, said.stop_reason.text());
                }
                tell_end(&said, step);
            }
            _ => step.ignore(),
        }
        Ok(())
    }
}

/// One event, or the whole answer.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Said<'a> {
    #[serde(borrow)]
    content_block_index: Loose<'a>,
    #[serde(borrow)]
    start: Option<Block<'a>>,
    #[serde(borrow)]
    delta: Option<Block<'a>>,
    #[serde(borrow)]
    stop_reason: Loose<'a>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    metrics: Option<&'a RawValue>,
}

/// The blocks of a whole answer.
fn content(output: &str) -> Result<Few<Block<'_>>, serde_json::Error> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Output<'a> {
        #[serde(borrow)]
        message: Option<Content<'a>>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Content<'a> {
        #[serde(borrow)]
        content: Few<Block<'a>>,
    }
    let output: Output<'_> = serde_json::from_str(output)?;
    Ok(output.message.unwrap_or_default().content)
}

/// A block, its beginning, or what is added to it: of what kind it is, its one field says.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Block<'a> {
    #[serde(borrow)]
    text: Loose<'a>,
    #[serde(borrow)]
    tool_use: Option<Call<'a>>,
    #[serde(borrow)]
    reasoning_content: Option<Thought<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Call<'a> {
    #[serde(borrow)]
    tool_use_id: Loose<'a>,
    #[serde(borrow)]
    name: Loose<'a>,
    /// Text in pieces; JSON where it comes whole.
    #[serde(borrow)]
    input: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Thought<'a> {
    #[serde(borrow)]
    text: Loose<'a>,
    #[serde(borrow)]
    signature: Loose<'a>,
    #[serde(borrow)]
    redacted_content: Loose<'a>,
    #[serde(borrow)]
    reasoning_text: Option<Box<Thought<'a>>>,
}

impl Block<'_> {
    fn tell(self, index: u64, step: &mut Step<'_>) {
        let is_known = !self.text.is_absent() || self.tool_use.is_some() || self.reasoning_content.is_some();
        step.add(0, Pieces::content(self.text.into_text()));
        if let Some(Call { tool_use_id, name, input }) = self.tool_use {
            step.add(0, Pieces::call(index, tool_use_id.text(), name.text(), &input.into_text_or_json()));
        }
        if let Some(reasoning) = self.reasoning_content {
            reasoning.tell(step);
        }
        if !is_known {
            step.ignore();
        }
    }
}

impl Thought<'_> {
    fn tell(self, step: &mut Step<'_>) {
        if !self.signature.text().is_empty() || !self.redacted_content.text().is_empty() {
            step.add(0, Pieces::opaque());
        }
        step.add(0, Pieces::reasoning(self.text.into_text()));
        // Whole, its text and signature stand a level deeper, where nothing else does.
        if let Some(Thought { text, signature, .. }) = self.reasoning_text.map(|inner| *inner) {
            if !signature.text().is_empty() {
                step.add(0, Pieces::opaque());
            }
            step.add(0, Pieces::reasoning(text.into_text()));
        }
    }
}

/// Counts and times, which may come apart. Once there are counts after the finish reason, nothing of interest follows.
fn tell_end(said: &Said<'_>, step: &mut Step<'_>) {
    if let Some(metrics) = said.metrics {
        step.timing(metrics.get());
    }
    if let Some(usage) = said.usage {
        step.usage(usage.get());
        if step.is_finished(0) {
            step.done();
        }
    }
}

fn message(turn: &Turn<'_>) -> Value {
    json!({"role": turn.role, "content": [{"text": turn.text}]})
}

fn tools(wishes: &Wishes<'_>) -> Option<Value> {
    if wishes.tools.is_empty() {
        return None;
    }
    let mut config = Map::new();
    let spec = |tool: &Tool<'_>| {
        let mut said = tool.said("inputSchema");
        if let Some(schema) = said.get_mut("inputSchema").map(Value::take) {
            said.insert("inputSchema".to_owned(), json!({"json": schema}));
        }
        json!({"toolSpec": said})
    };
    config.insert("tools".to_owned(), wishes.tools.iter().map(spec).collect());
    let choice = match wishes.choice {
        Choice::Unsaid | Choice::None => None,
        Choice::Auto => Some(json!({"auto": {}})),
        Choice::Required => Some(json!({"any": {}})),
        Choice::Named(name) => Some(json!({"tool": {"name": name}})),
    };
    config.extend(choice.map(|choice| ("toolChoice".to_owned(), choice)));
    Some(Value::Object(config))
}

/// A schema that the answer must follow, which is a text here.
fn output(format: Format<'_>) -> Option<Value> {
    let Format::Schema { name, schema, .. } = format else { return None };
    let schema = json!({"jsonSchema": {"name": name, "schema": schema.to_string()}});
    Some(json!({"textFormat": {"type": "json_schema", "structure": schema}}))
}

/// How the model is to answer, under Converse's names.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inference<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_sequences: &'a [&'a str],
}

impl<'a> Inference<'a> {
    fn of(wishes: &'a Wishes<'_>) -> Self {
        let Wishes { max_tokens, temperature, top_p, .. } = *wishes;
        Inference { max_tokens, temperature, top_p, stop_sequences: &wishes.stop }
    }
}
