//! What a prompt asks for beyond its text, read out of chat's words for the dialects that have their own.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::request::{Ask, Message, Prompt, Unsayable};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    System,
    User,
    Assistant,
}

/// One turn of a conversation; as JSON, the message that most dialects have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Turn<'a> {
    pub(crate) role: Role,
    #[serde(rename = "content")]
    pub(crate) text: Cow<'a, str>,
}

/// A function that the model may call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tool<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: Option<&'a str>,
    /// The JSON schema of its arguments.
    pub(crate) parameters: Option<&'a Value>,
}

impl Tool<'_> {
    /// What every dialect says of a tool; the schema of its arguments stands under the dialect's own name.
    pub(crate) fn said(&self, schema: &str) -> Map<String, Value> {
        let mut said = Map::from_iter([("name".to_owned(), json!(self.name))]);
        if let Some(description) = self.description {
            said.insert("description".to_owned(), json!(description));
        }
        let none = || json!({"type": "object", "properties": {}});
        said.insert(schema.to_owned(), self.parameters.cloned().unwrap_or_else(none));
        said
    }
}

/// Whether a tool must be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Choice<'a> {
    /// Nothing is said of it.
    #[default]
    Unsaid,
    Auto,
    None,
    Required,
    /// This one.
    Named(&'a str),
}

/// The form that the answer must have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Format<'a> {
    /// Any JSON object.
    Json,
    /// What this JSON schema allows.
    Schema { name: &'a str, schema: &'a Value, strict: bool },
}

/// What is wished for, each thing in one form.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wishes<'a> {
    pub(crate) tools: Vec<Tool<'a>>,
    pub(crate) choice: Choice<'a>,
    pub(crate) format: Option<Format<'a>>,
    pub(crate) stop: Vec<&'a str>,
    pub(crate) temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    pub(crate) top_k: Option<u64>,
    pub(crate) seed: Option<i64>,
    pub(crate) max_tokens: Option<u64>,
}

impl<'a> Ask<'a> {
    /// The turns of the prompt. Parts that are not text, and tool calls of the past, are not sayable yet in dialects that
    /// have their own words for them.
    pub(crate) fn turns(&self) -> Result<Vec<Turn<'a>>, Unsayable> {
        match self.prompt {
            Prompt::Text(text) => Ok(vec![Turn { role: Role::User, text: Cow::Borrowed(text) }]),
            Prompt::Messages(messages) => {
                let turn = |message: &'a Message| {
                    let role = self.role(&message.role)?;
                    Ok(Turn { role, text: Cow::Borrowed(message.content.as_str()) })
                };
                messages.iter().map(turn).collect()
            }
            Prompt::Raw(raw) => {
                let messages: Vec<Value> =
                    serde_json::from_str(raw.get()).map_err(|_| self.unsayable("messages"))?;
                messages.iter().map(|message| self.raw_turn(message)).collect()
            }
        }
    }

    fn role(&self, role: &str) -> Result<Role, Unsayable> {
        match role {
            "system" | "developer" => Ok(Role::System),
            "user" => Ok(Role::User),
            "assistant" => Ok(Role::Assistant),
            other => Err(self.unsayable(format!("a message of role {other}"))),
        }
    }

    fn raw_turn(&self, message: &Value) -> Result<Turn<'a>, Unsayable> {
        let role = self.role(message.get("role").and_then(Value::as_str).unwrap_or_default())?;
        if message.get("tool_calls").is_some_and(|calls| !calls.is_null()) {
            return Err(self.unsayable("tool_calls of an earlier message"));
        }
        let text = match message.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => {
                let texts = parts.iter().map(|part| part.get("text").and_then(Value::as_str));
                texts.collect::<Option<String>>().ok_or_else(|| self.unsayable("content that is not text"))?
            }
            _ => return Err(self.unsayable("a message without content")),
        };
        Ok(Turn { role, text: Cow::Owned(text) })
    }

    /// The system's turns in one text, and the others.
    pub(crate) fn system_and_turns(&self) -> Result<(Option<String>, Vec<Turn<'a>>), Unsayable> {
        let (system, turns): (Vec<_>, Vec<_>) =
            self.turns()?.into_iter().partition(|turn| turn.role == Role::System);
        let texts: Vec<_> = system.iter().map(|turn| turn.text.as_ref()).collect();
        Ok((Some(texts.join("\n\n")).filter(|text| !text.is_empty()), turns))
    }

    /// What the parameters wish for; an error at the first whose meaning is not known here. Our own temperature and
    /// token limit stand where no parameter replaces them.
    pub(crate) fn wishes(&self) -> Result<Wishes<'a>, Unsayable> {
        let mut wishes = Wishes {
            temperature: self.temperature,
            max_tokens: self.max_tokens.map(u64::from),
            ..Wishes::default()
        };
        for (name, value) in self.parameters.into_iter().flatten().filter(|(_, value)| !value.is_null()) {
            wishes.take(name, value).ok_or_else(|| self.unsayable(name.as_str()))?;
        }
        Ok(wishes)
    }
}

impl<'a> Wishes<'a> {
    fn take(&mut self, name: &str, value: &'a Value) -> Option<()> {
        match name {
            "tools" => self.tools = value.as_array()?.iter().map(tool).collect::<Option<_>>()?,
            "tool_choice" => self.choice = choice(value)?,
            "response_format" => self.format = format(value)?,
            "stop" => self.stop = stop(value)?,
            "temperature" => self.temperature = Some(value.as_f64()?),
            "top_p" => self.top_p = Some(value.as_f64()?),
            "top_k" => self.top_k = Some(value.as_u64()?),
            "seed" => self.seed = Some(value.as_i64()?),
            "max_tokens" | "max_completion_tokens" => self.max_tokens = Some(value.as_u64()?),
            // One answer is what there is.
            "n" if value.as_u64() == Some(1) => {}
            _ => return None,
        }
        Some(())
    }
}

fn tool(tool: &Value) -> Option<Tool<'_>> {
    let function = tool.get("function")?;
    Some(Tool {
        name: function.get("name")?.as_str()?,
        description: function.get("description").and_then(Value::as_str),
        parameters: function.get("parameters"),
    })
}

fn choice(choice: &Value) -> Option<Choice<'_>> {
    match choice {
        Value::String(word) => match word.as_str() {
            "auto" => Some(Choice::Auto),
            "none" => Some(Choice::None),
            "required" => Some(Choice::Required),
            _ => None,
        },
        _ => choice.get("function")?.get("name")?.as_str().map(Choice::Named),
    }
}

#[expect(clippy::option_option, reason = "not understood, or understood as no format")]
fn format(format: &Value) -> Option<Option<Format<'_>>> {
    match format.get("type")?.as_str()? {
        "text" => Some(None),
        "json_object" => Some(Some(Format::Json)),
        "json_schema" => {
            let inner: &Map<String, Value> = format.get("json_schema")?.as_object()?;
            Some(Some(Format::Schema {
                name: inner.get("name").and_then(Value::as_str).unwrap_or("answer"),
                schema: inner.get("schema")?,
                strict: inner.get("strict").and_then(Value::as_bool).unwrap_or(false),
            }))
        }
        _ => None,
    }
}

fn stop(stop: &Value) -> Option<Vec<&str>> {
    match stop {
        Value::String(text) => Some(vec![text]),
        Value::Array(texts) => texts.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::RawValue;

    use super::*;
    use crate::dialect::Dialect;
    use crate::request::TokenField;

    fn ask<'a>(prompt: &'a Prompt, parameters: &'a Value) -> Ask<'a> {
        Ask {
            dialect: Dialect::default(),
            model: "m",
            prompt,
            stream: true,
            max_tokens: Some(8),
            token_field: TokenField::MaxTokens,
            temperature: Some(0.0),
            include_usage: true,
            parameters: parameters.as_object(),
            extra: None,
        }
    }

    #[test]
    fn parameters_are_understood_or_named() {
        let prompt = Prompt::Text("hi".to_owned());
        let check = |parameters: Value, right: Result<Wishes<'_>, &str>| {
            let ask = ask(&prompt, &parameters);
            let wishes = ask.wishes();
            assert_eq!(
                wishes.as_ref().map_err(|error| error.what.as_str()),
                right.as_ref().map_err(|what| *what)
            );
        };
        let plain = || Wishes { temperature: Some(0.0), max_tokens: Some(8), ..Wishes::default() };
        let schema = json!({"type": "object"});
        check(json!({}), Ok(plain()));
        check(
            json!({"seed": 7, "stop": "x", "n": 1, "user": null}),
            Ok(Wishes { seed: Some(7), stop: vec!["x"], ..plain() }),
        );
        check(
            json!({"temperature": 1, "max_tokens": 9}),
            Ok(Wishes { temperature: Some(1.0), max_tokens: Some(9), ..plain() }),
        );
        check(
            json!({"tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}], "tool_choice": "required"}),
            Ok(Wishes {
                tools: vec![Tool { name: "f", description: None, parameters: Some(&schema) }],
                choice: Choice::Required,
                ..plain()
            }),
        );
        check(
            json!({"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": schema, "strict": true}}}),
            Ok(Wishes {
                format: Some(Format::Schema { name: "a", schema: &schema, strict: true }),
                ..plain()
            }),
        );
        check(json!({"logit_bias": {}}), Err("logit_bias"));
        check(json!({"n": 2}), Err("n"));
        check(json!({"tools": [{"type": "web_search"}]}), Err("tools"));
    }

    #[test]
    fn turns_of_every_prompt() {
        let nothing = json!({});
        let raw = |json: Value| Prompt::Raw(RawValue::from_string(json.to_string()).unwrap());
        let check = |prompt: &Prompt, right: Result<Vec<(Role, &str)>, &str>| {
            let turns = ask(prompt, &nothing).turns();
            let seen = turns
                .as_ref()
                .map(|turns| turns.iter().map(|turn| (turn.role, turn.text.as_ref())).collect());
            assert_eq!(seen.map_err(|error| error.what.as_str()), right);
        };
        check(&Prompt::Text("hi".into()), Ok(vec![(Role::User, "hi")]));
        check(
            &raw(json!([
                {"role": "developer", "content": "brief"},
                {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                {"role": "assistant", "content": "c"}
            ])),
            Ok(vec![(Role::System, "brief"), (Role::User, "ab"), (Role::Assistant, "c")]),
        );
        check(&raw(json!([{"role": "tool", "content": "x"}])), Err("a message of role tool"));
        check(
            &raw(json!([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}])),
            Err("content that is not text"),
        );
    }
}
