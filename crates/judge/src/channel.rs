//! Does each thing come on its own channel: reasoning as reasoning, calls as calls, and no control tokens in the text?

use inferometer_wire::{Finish, Flag};

use crate::Case;
use crate::evidence::{Head, Tail};
use crate::text::{ends_finished, is_quoted};
use crate::verdict::Finding;

/// Tags that models put around their reasoning.
const THINK_TAGS: [&str; 12] = [
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "<thought>",
    "</thought>",
    "<reasoning>",
    "</reasoning>",
    "[THINK]",
    "[/THINK]",
    "◁think▷",
    "◁/think▷",
];

/// Control tokens of models that have no common pattern.
const CONTROL_TOKENS: [&str; 7] =
    ["[INST]", "[/INST]", "</s>", "<start_of_turn>", "<end_of_turn>", "[gMASK]", "<eos>"];

/// Longest name between `<|` and `|>`, in bytes.
const NAME_BYTES_MAX: usize = 48;

/// Most places of one text that are looked at closely; a text with more has other faults.
const PLACES_MAX: usize = 10_000;

/// How tool calls begin in the text of models whose server did not take them out.
const CALL_MARKS: [&str; 6] = [
    "<tool_call>",
    "<function=",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "<function_call>",
    "<｜tool▁calls▁begin｜>",
];

/// v.reasoning.misfiled: reasoning was switched off, and what came as reasoning is the whole answer.
pub(crate) fn misfiled(case: &Case<'_>) -> Option<Finding> {
    let is_off = case.expect.parameters.is_reasoning_off();
    let reasoning = case.said.reasoning.trim();
    (is_off && case.is_answerless() && !reasoning.is_empty()).then(|| {
        Finding::invalid("reasoning_misfiled")
            .because(format_args!("switched off, and yet {}", Head(reasoning)))
    })
}

/// v.reasoning.unfinished: the model is said to have stopped, but in the midst of its reasoning.
pub(crate) fn unfinished(case: &Case<'_>) -> Option<Finding> {
    let stopped = case.answer.finish == Some(Finish::Stop);
    if !stopped || !case.is_answerless() {
        return None;
    }
    let is_open = case.answer.flags.contains(Flag::ThinkTags) && !case.said.content.contains("</think>");
    let reasoning = case.said.reasoning.trim();
    let breaks_off = !reasoning.is_empty() && !ends_finished(reasoning);
    let text = if is_open { &case.said.content } else { reasoning };
    (is_open || breaks_off)
        .then(|| Finding::invalid("reasoning_unfinished").because(format_args!("ends with {}", Tail(text))))
}

/// v.leak.think_tag: reasoning between tags, or what is left of them, where nobody agreed on tags. A prompt that
/// speaks of the tags may be answered with them.
pub(crate) fn think_tag(case: &Case<'_>) -> Option<Finding> {
    if case.visible.trim().is_empty() {
        return None;
    }
    let has_block = case.visible.len() < case.said.content.len() && !case.expect.think_tags;
    if has_block && !case.expect.prompt.contains("<think>") {
        return Some(
            Finding::degraded("think_tag_leaked").because(format_args!("{}", Head(&case.said.content))),
        );
    }
    let tag = first_of(&THINK_TAGS, case.visible, case.expect.prompt)?;
    Some(Finding::degraded("think_tag_leaked").because(format_args!("{tag}")))
}

/// v.leak.special: a control token in the text or in the name of a tool, which the prompt does not hold.
pub(crate) fn special(case: &Case<'_>) -> Option<Finding> {
    let mut names = case.said.tools.iter().map(|call| call.name.as_str());
    if let Some(token) = names.find_map(|name| control_token(name, case.expect.prompt)) {
        let token = Head(token);
        return Some(
            Finding::invalid("special_token_leaked").because(format_args!("{token} in a tool's name")),
        );
    }
    let token = control_token(case.visible, case.expect.prompt)?;
    Some(Finding::degraded("special_token_leaked").because(format_args!("{}", Head(token))))
}

fn control_token<'a>(text: &'a str, prompt: &str) -> Option<&'a str> {
    let bracketed = memchr::memchr_iter(b'<', text.as_bytes()).take(PLACES_MAX).find_map(|at| {
        let token = bracketed(text.get(at..)?)?;
        (!is_quoted(text, at) && !prompt.contains(token)).then_some(token)
    });
    bracketed.or_else(|| {
        let token = first_of(&CONTROL_TOKENS, text, prompt)?;
        // `</s>` closes struck-out text where `<s>` opens it.
        (token != "</s>" || !text.contains("<s>")).then_some(token)
    })
}

/// `<|name|>` or `<｜name｜>` at the beginning of `text`.
fn bracketed(text: &str) -> Option<&str> {
    let (bar, inside) = [('|', text.strip_prefix("<|")), ('｜', text.strip_prefix("<｜"))]
        .into_iter()
        .find_map(|(bar, inside)| Some((bar, inside?)))?;
    let window = inside.get(..inside.floor_char_boundary(NAME_BYTES_MAX))?;
    let name = window.get(..window.find(bar)?)?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-▁".contains(c));
    let end = text.len() - inside.len() + name.len() + bar.len_utf8();
    (is_name && text.get(end..)?.starts_with('>')).then(|| text.get(..=end))?
}

/// The first of `marks` that stands unquoted in `text` and not at all in `prompt`.
fn first_of<'m>(marks: &[&'m str], text: &str, prompt: &str) -> Option<&'m str> {
    marks.iter().copied().find(|mark| {
        let mut places = memchr::memmem::find_iter(text.as_bytes(), mark.as_bytes()).take(PLACES_MAX);
        places.any(|at| !is_quoted(text, at)) && !prompt.contains(mark)
    })
}

/// v.leak.tool_text: a tool call as text, where tools were offered. A prompt that asks for JSON may be answered so.
pub(crate) fn tool_text(case: &Case<'_>) -> Option<Finding> {
    let tools: Vec<_> = case.expect.parameters.tools().collect();
    if tools.is_empty() {
        return None;
    }
    let found = first_of(&CALL_MARKS, case.visible, case.expect.prompt).map(str::len).or_else(|| {
        let is_call = !case.expect.wants_json() && case.said.tools.is_empty() && {
            let value = crate::json::find(case.visible).value()?;
            let name = value.get("name").and_then(serde_json::Value::as_str);
            let arguments = value.get("arguments").or_else(|| value.get("parameters"));
            arguments.is_some() && tools.iter().any(|tool| Some(tool.name) == name)
        };
        is_call.then_some(0)
    });
    found.map(|_| Finding::invalid("tool_text_leaked").because(format_args!("{}", Head(case.visible))))
}
