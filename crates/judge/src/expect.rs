//! What was asked for, as far as the checks need it.

use serde_json::{Map, Value};

use crate::Grader;

/// What was asked for. [`Default`] is a chat of which nothing is known: checks that need to know more stay silent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expect<'a> {
    /// The most tokens that were asked for.
    pub max_tokens: Option<u32>,
    /// The text of the prompt; empty where it is not known.
    pub prompt: &'a str,
    /// The model's name as it was asked for; empty where it is not known.
    pub model: &'a str,
    /// Further fields of the request body: tools, a response format, stop strings, a switch for reasoning.
    pub parameters: Parameters<'a>,
    /// Whether reasoning in think tags inside the content is agreed on, and taken out by whoever reads the answer.
    pub think_tags: bool,
    /// Tokens of all that was said, by a tokenizer of ours.
    pub counted_output: Option<u64>,
    /// What makes the answer right.
    pub grader: Option<&'a Grader>,
}

impl Expect<'_> {
    /// Whether the answer is to do a task, so that one cut at the limit is worth nothing.
    pub(crate) fn is_task(&self) -> bool {
        self.grader.is_some_and(Grader::is_task)
    }

    /// Whether the answer must be JSON.
    pub(crate) fn wants_json(&self) -> bool {
        self.parameters.wants_json() || self.grader.is_some_and(Grader::wants_json)
    }
}

/// Fields of a request body besides prompt and limit: the prompt's own, and the target's, which win.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parameters<'a> {
    /// What the prompt brings along.
    pub prompt: Option<&'a Map<String, Value>>,
    /// What the target always sends.
    pub target: Option<&'a Map<String, Value>>,
}

/// A tool that was offered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool<'a> {
    pub(crate) name: &'a str,
    /// The schema of its arguments.
    pub(crate) schema: Option<&'a Value>,
}

impl<'a> Parameters<'a> {
    fn get(&self, name: &str) -> Option<&'a Value> {
        let value = self.target.and_then(|fields| fields.get(name));
        value.or_else(|| self.prompt?.get(name)).filter(|value| !value.is_null())
    }

    /// The tools that were offered, under today's name of the field and the old one.
    pub(crate) fn tools(&self) -> impl Iterator<Item = Tool<'a>> + use<'a> {
        let lists = [self.get("tools"), self.get("functions")];
        lists.into_iter().flatten().filter_map(Value::as_array).flatten().filter_map(|tool| {
            let function = tool.get("function").unwrap_or(tool);
            Some(Tool { name: function.get("name")?.as_str()?, schema: function.get("parameters") })
        })
    }

    /// Whether the model was not free to answer without a tool: then `stop` is a right finish reason.
    pub(crate) fn is_tool_forced(&self) -> bool {
        self.get("tool_choice").is_some_and(|choice| choice.is_object() || choice == "required")
    }

    pub(crate) fn wants_json(&self) -> bool {
        let format = self.get("response_format").and_then(|format| format.get("type"));
        format.is_some_and(|kind| kind == "json_object" || kind == "json_schema") || self.schema().is_some()
    }

    /// The schema that the server was asked to keep to: OpenAI's form, and vLLM's.
    pub(crate) fn schema(&self) -> Option<&'a Value> {
        let standard =
            self.get("response_format").and_then(|format| format.get("json_schema")?.get("schema"));
        standard.or_else(|| self.get("guided_json"))
    }

    /// The stop strings.
    pub(crate) fn stops(&self) -> Vec<&'a str> {
        match self.get("stop") {
            Some(Value::String(stop)) => vec![stop],
            Some(Value::Array(stops)) => stops.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether reasoning was switched off, in any of the spellings that providers have.
    pub(crate) fn is_reasoning_off(&self) -> bool {
        let at = |path: &[&str]| {
            let (first, rest) = path.split_first()?;
            rest.iter().try_fold(self.get(first)?, |value, name| value.get(name))
        };
        let is = |path: &[&str], off: &Value| at(path) == Some(off);
        let [none, disabled, no] = [Value::from("none"), Value::from("disabled"), Value::from(false)];
        is(&["reasoning_effort"], &none)
            || is(&["reasoning", "effort"], &none)
            || is(&["reasoning", "enabled"], &no)
            || is(&["thinking", "type"], &disabled)
            || is(&["enable_thinking"], &no)
            || is(&["chat_template_kwargs", "enable_thinking"], &no)
            || is(&["chat_template_kwargs", "thinking"], &no)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_target_wins() {
        let prompt = json!({"stop": "a", "tools": [{"function": {"name": "f"}}], "tool_choice": "required"});
        let target = json!({"stop": ["b", "c"], "tool_choice": null});
        let parameters = Parameters { prompt: prompt.as_object(), target: target.as_object() };
        assert_eq!(parameters.stops(), ["b", "c"]);
        assert_eq!(parameters.tools().map(|tool| tool.name).collect::<Vec<_>>(), ["f"]);
        assert!(!parameters.is_tool_forced(), "null takes a field away");
    }

    #[test]
    fn reasoning_is_off_in_many_spellings() {
        let check = |parameters: Value, off: bool| {
            let parameters = Parameters { prompt: parameters.as_object(), target: None };
            assert_eq!(parameters.is_reasoning_off(), off, "{parameters:?}");
        };
        check(json!({"reasoning_effort": "none"}), true);
        check(json!({"reasoning_effort": "low"}), false);
        check(json!({"thinking": {"type": "disabled"}}), true);
        check(json!({"thinking": true}), false);
        check(json!({"chat_template_kwargs": {"enable_thinking": false}}), true);
        check(json!({"reasoning": {"enabled": false}}), true);
        check(json!({}), false);
    }

    #[test]
    fn json_is_wanted_in_three_ways() {
        let check = |parameters: Value, wanted: bool, has_schema: bool| {
            let parameters = Parameters { prompt: parameters.as_object(), target: None };
            let seen = (parameters.wants_json(), parameters.schema().is_some());
            assert_eq!(seen, (wanted, has_schema), "{parameters:?}");
        };
        check(json!({"response_format": {"type": "json_object"}}), true, false);
        check(json!({"response_format": {"type": "text"}}), false, false);
        check(json!({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}), true, true);
        check(json!({"guided_json": {"type": "object"}}), true, true);
    }
}
