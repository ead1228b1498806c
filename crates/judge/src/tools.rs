//! Can the tool calls be executed?

use inferometer_wire::ToolCall;
use serde_json::Value;
use serde_json::error::Category;

use crate::Case;
use crate::evidence::{Head, Tail};
use crate::schema::Schema;
use crate::verdict::Finding;

/// What the arguments of a call are.
enum Arguments {
    /// None at all, which some servers send for a tool that takes none.
    Nothing,
    Json(Value),
    /// JSON that ends before its end.
    Cut,
    /// Several JSON values one behind the other.
    Merged,
    Broken(serde_json::Error),
}

fn arguments(call: &ToolCall) -> Arguments {
    let text = call.arguments.trim();
    if text.is_empty() {
        return Arguments::Nothing;
    }
    match serde_json::from_str(text) {
        Ok(value) => Arguments::Json(value),
        Err(error) if error.classify() == Category::Eof => Arguments::Cut,
        Err(error) => {
            let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
            let is_merged = values.next().is_some_and(|first| first.is_ok())
                && values.next().is_some_and(|second| second.is_ok());
            if is_merged { Arguments::Merged } else { Arguments::Broken(error) }
        }
    }
}

/// v.stream.cut_tool, v.tool.args_json, v.tool.dup_or_merged: arguments that cannot be read.
pub(crate) fn unreadable(case: &Case<'_>) -> Option<Finding> {
    case.said.tools.iter().find_map(|call| {
        let (name, tail) = (Head(&call.name), Tail(&call.arguments));
        Some(match arguments(call) {
            Arguments::Nothing | Arguments::Json(_) => return None,
            Arguments::Cut => {
                Finding::invalid("tool_arguments_cut").because(format_args!("{name} ends with {tail}"))
            }
            Arguments::Merged => {
                Finding::invalid("tool_calls_merged").because(format_args!("{name} ends with {tail}"))
            }
            Arguments::Broken(error) => {
                Finding::invalid("tool_arguments_invalid").because(format_args!("{name}: {error}"))
            }
        })
    })
}

/// v.tool.args_json, its trap: no arguments are taken for `{}`, and it is said.
pub(crate) fn no_arguments(case: &Case<'_>) -> Option<Finding> {
    let call = case.said.tools.iter().find(|call| call.arguments.trim().is_empty())?;
    Some(Finding::note("tool_arguments_empty").because(format_args!("{}", Head(&call.name))))
}

/// v.tool.unknown_name: a tool that was not offered.
pub(crate) fn unknown(case: &Case<'_>) -> Option<Finding> {
    let offered: Vec<&str> = case.expect.parameters.tools().map(|tool| tool.name).collect();
    if offered.is_empty() {
        return None;
    }
    let call = case.said.tools.iter().find(|call| !offered.contains(&call.name.as_str()))?;
    Some(Finding::invalid("tool_unknown").because(format_args!("{}", Head(&call.name))))
}

/// v.tool.args_schema: arguments that the tool's own schema does not accept.
pub(crate) fn schema(case: &Case<'_>) -> Option<Finding> {
    case.expect.parameters.tools().find_map(|tool| {
        let mut calls = case.said.tools.iter().filter(|call| call.name == tool.name).peekable();
        calls.peek()?;
        // A schema that is none is the prompt's fault, which is found before the run.
        let schema = Schema::new(tool.schema?).ok()?;
        let fault = calls.find_map(|call| match arguments(call) {
            Arguments::Json(value) => schema.fault(&value),
            Arguments::Nothing => schema.fault(&Value::Object(serde_json::Map::new())),
            Arguments::Cut | Arguments::Merged | Arguments::Broken(_) => None,
        })?;
        Some(Finding::invalid("tool_arguments_schema").because(format_args!("{}: {fault}", Head(tool.name))))
    })
}

/// v.tool.missing_id: the result of a call without an id of its own cannot be sent back.
pub(crate) fn missing_id(case: &Case<'_>) -> Option<Finding> {
    // The old field `functions` knows no ids, and neither do answers to nobody's offer.
    if case.expect.parameters.tools().next().is_none()
        || case.answer.finish_reason.as_deref() == Some("function_call")
    {
        return None;
    }
    let mut seen = std::collections::HashSet::new();
    let call = case.said.tools.iter().find(|call| call.id.is_empty() || !seen.insert(&call.id))?;
    let (name, id) = (Head(&call.name), Head(&call.id));
    Some(Finding::degraded("tool_id_missing").because(format_args!("{name} has id {id}")))
}

/// v.tool.dup_or_merged: the same call twice.
pub(crate) fn doubled(case: &Case<'_>) -> Option<Finding> {
    let mut seen = std::collections::HashSet::new();
    let call = case.said.tools.iter().find(|call| !seen.insert((&call.name, call.arguments.trim())))?;
    Some(Finding::degraded("tool_call_doubled").because(format_args!("{}", Head(&call.name))))
}
