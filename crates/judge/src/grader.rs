//! Checks, compiled once and run on every answer.

use inferometer_wire::{Answer, Outcome, ToolCall};
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use crate::case::judged;
use crate::evidence::{Head, Tail, bounded};
use crate::json::{self, Json};
use crate::language::{LANGUAGES, Language};
use crate::schema::Schema;
use crate::{Check, CheckError, number};

/// Largest program that an expression may compile to, in bytes.
const REGEX_BYTES_MAX: usize = 1 << 20;

/// How deep `all` and `any` may nest.
const DEPTH_MAX: usize = 16;

/// Most reasons of one grade.
const REASONS_MAX: usize = 8;

/// A check made ready to run: expressions and schemas are compiled once.
#[derive(Clone, Debug)]
pub struct Grader {
    check: Check,
    ready: Ready,
}

/// What a grader found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grade {
    /// Whether the answer passed; `None` where the check could not run on it.
    pub passed: Option<bool>,
    /// What failed, in words; a few at most, each short. Holds text of the answer.
    pub reasons: Vec<String>,
}

/// What is graded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    pub(crate) text: &'a str,
    pub(crate) tools: &'a [ToolCall],
}

#[derive(Clone, Debug)]
enum Ready {
    Equals(String),
    Contains(String),
    Regex(Regex),
    Number { value: f64, within: f64 },
    Schema(Schema),
    Tool { name: String, arguments: Map<String, Value> },
    NotEmpty,
    Language(Language),
    MaxLength(u64),
    All(Vec<Ready>),
    Any(Vec<Ready>),
}

impl Grader {
    /// Makes `check` ready; a check that no answer could be put to is an error.
    pub fn new(check: Check) -> Result<Self, CheckError> {
        let ready = Ready::new(&check, 0).map_err(CheckError)?;
        Ok(Self { check, ready })
    }

    /// The check.
    pub fn check(&self) -> &Check {
        &self.check
    }

    /// Grades `answer`; one that did not come whole is not graded. Where there are several choices, the first that
    /// says anything.
    pub fn grade(&self, answer: &Answer) -> Grade {
        if answer.outcome != Outcome::Complete {
            return Grade::default();
        }
        let said = judged(answer);
        self.grade_said(Said { text: said.visible().trim(), tools: &said.tools })
    }

    pub(crate) fn grade_said(&self, said: Said<'_>) -> Grade {
        let mut reasons = Vec::new();
        let passed = self.ready.passes(said, &mut reasons);
        if passed == Some(true) {
            reasons.clear();
        }
        reasons.truncate(REASONS_MAX);
        Grade { passed, reasons }
    }

    /// Whether the check asks for a certain answer, not only for any answer: cut short, it would be worth nothing.
    pub(crate) fn is_task(&self) -> bool {
        self.ready
            .any_leaf(|leaf| !matches!(leaf, Ready::NotEmpty | Ready::Language(_) | Ready::MaxLength(_)))
    }

    /// Whether the check looks for a certain text, which reasoning might hold in the answer's stead.
    pub(crate) fn is_of_text(&self) -> bool {
        self.is_task() && !self.ready.any_leaf(|leaf| matches!(leaf, Ready::Tool { .. }))
    }

    /// Whether no answer passes that is not JSON.
    pub(crate) fn wants_json(&self) -> bool {
        self.ready.demanded(&|leaf| matches!(leaf, Ready::Schema(_)).then_some(())).is_some()
    }

    /// The language that an answer must have to pass.
    pub(crate) fn language(&self) -> Option<Language> {
        self.ready.demanded(&|leaf| match leaf {
            Ready::Language(language) => Some(*language),
            _ => None,
        })
    }
}

impl Ready {
    fn new(check: &Check, depth: usize) -> Result<Self, String> {
        Ok(match check {
            Check::Equals(text) => Ready::Equals(text.trim().to_owned()),
            Check::Contains(text) if text.is_empty() => {
                return Err("'contains' names no text: every answer contains the empty one".to_owned());
            }
            Check::Contains(text) => Ready::Contains(text.clone()),
            Check::Regex(pattern) => Ready::Regex(expression(pattern)?),
            Check::Number { value, within } => {
                if !value.is_finite() || !(0.0..f64::INFINITY).contains(within) {
                    return Err(format!(
                        "number {value} within {within} is none: give a finite value, and 0 or more as 'within'"
                    ));
                }
                Ready::Number { value: *value, within: *within }
            }
            Check::JsonSchema(schema) => Ready::Schema(Schema::new(schema)?),
            Check::ToolCall { name, .. } if name.trim().is_empty() => {
                return Err("'tool_call' names no tool: give its name".to_owned());
            }
            Check::ToolCall { name, arguments } => {
                Ready::Tool { name: name.clone(), arguments: arguments.clone() }
            }
            Check::NotEmpty => Ready::NotEmpty,
            Check::Language(code) => Ready::Language(language(code)?),
            Check::MaxLength(characters) => Ready::MaxLength(*characters),
            Check::All(checks) => Ready::All(several("all", checks, depth)?),
            Check::Any(checks) => Ready::Any(several("any", checks, depth)?),
        })
    }

    /// Whether `said` passes; adds the reason where it does not.
    fn passes(&self, said: Said<'_>, reasons: &mut Vec<String>) -> Option<bool> {
        let text = said.text;
        let (passed, why) = match self {
            Ready::All(checks) => return all(checks, said, reasons),
            Ready::Any(checks) => return any(checks, said, reasons),
            Ready::Schema(schema) => return accepted(schema, text, reasons),
            Ready::Tool { name, arguments } => return Some(called(name, arguments, said.tools, reasons)),
            Ready::Language(language) => {
                let why = bounded(format_args!("not '{}': {}", language.code, Head(text)));
                (language.is_of(text)?, why)
            }
            Ready::Equals(right) => {
                (text.trim() == right, bounded(format_args!("not {}: {}", Head(right), Head(text))))
            }
            Ready::Contains(part) => {
                let found = memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some();
                (found, bounded(format_args!("lacks {}: {}", Head(part), Tail(text))))
            }
            Ready::Regex(regex) => (
                regex.is_match(text),
                bounded(format_args!("does not match {}: {}", Head(regex.as_str()), Tail(text))),
            ),
            Ready::Number { value, within } => {
                let found = number::last(text);
                let near = found.is_some_and(|found| (found - value).abs() <= *within);
                let why = match found {
                    Some(found) => bounded(format_args!("{found} is not within {within} of {value}")),
                    None => bounded(format_args!("no number: {}", Tail(text))),
                };
                (near, why)
            }
            Ready::NotEmpty => (!text.trim().is_empty(), "blank".to_owned()),
            Ready::MaxLength(most) => {
                let length = text.trim().chars().count() as u64;
                (length <= *most, format!("{length} characters, {most} allowed"))
            }
        };
        if !passed {
            reasons.push(why);
        }
        Some(passed)
    }

    /// Whether any check that is not made of others is such.
    fn any_leaf(&self, is_such: fn(&Ready) -> bool) -> bool {
        match self {
            Ready::All(checks) | Ready::Any(checks) => checks.iter().any(|check| check.any_leaf(is_such)),
            leaf => is_such(leaf),
        }
    }

    /// What a check demands that every answer must pass.
    fn demanded<T>(&self, found: &impl Fn(&Ready) -> Option<T>) -> Option<T> {
        match self {
            Ready::All(checks) => checks.iter().find_map(|check| check.demanded(found)),
            Ready::Any(checks) if checks.len() > 1 => None,
            Ready::Any(checks) => checks.first().and_then(|check| check.demanded(found)),
            leaf => found(leaf),
        }
    }
}

fn several(name: &str, checks: &[Check], depth: usize) -> Result<Vec<Ready>, String> {
    if checks.is_empty() {
        return Err(format!("'{name}' lists no check: give at least one"));
    }
    if depth == DEPTH_MAX {
        return Err(format!("'all' and 'any' nest deeper than {DEPTH_MAX}: write the checks flatter"));
    }
    checks.iter().map(|check| Ready::new(check, depth + 1)).collect()
}

fn expression(pattern: &str) -> Result<Regex, String> {
    let built =
        RegexBuilder::new(pattern).size_limit(REGEX_BYTES_MAX).dfa_size_limit(REGEX_BYTES_MAX).build();
    built.map_err(|error| {
        let why = match error {
            regex::Error::CompiledTooBig(_) => "it is too large once compiled".to_owned(),
            // The last line of several; the others draw the expression.
            error => error.to_string().lines().last().unwrap_or_default().replace("error: ", ""),
        };
        bounded(format_args!("{} is no regular expression: {why}", Head(pattern)))
    })
}

fn language(code: &str) -> Result<Language, String> {
    let known = || LANGUAGES.map(|language| language.code).join(", ");
    Language::parse(code).ok_or_else(|| {
        bounded(format_args!("no answer can be told to be {}: it can for {}", Head(code), known()))
    })
}

fn all(checks: &[Ready], said: Said<'_>, reasons: &mut Vec<String>) -> Option<bool> {
    let passed: Vec<_> = checks.iter().map(|check| check.passes(said, reasons)).collect();
    if passed.contains(&Some(false)) {
        return Some(false);
    }
    (!passed.contains(&None)).then_some(true)
}

fn any(checks: &[Ready], said: Said<'_>, reasons: &mut Vec<String>) -> Option<bool> {
    let mut tried = Vec::new();
    let passed: Vec<_> = checks.iter().map(|check| check.passes(said, &mut tried)).collect();
    if passed.contains(&Some(true)) {
        return Some(true);
    }
    reasons.append(&mut tried);
    (!passed.contains(&None)).then_some(false)
}

fn accepted(schema: &Schema, text: &str, reasons: &mut Vec<String>) -> Option<bool> {
    let fault = match json::find(text) {
        Json::Bare(value) | Json::Wrapped(value) => schema.fault(&value),
        Json::Cut => Some(bounded(format_args!("JSON that is cut: {}", Tail(text)))),
        Json::Broken(error) => Some(bounded(format_args!("no JSON ({error}): {}", Head(text)))),
        Json::TooLarge => return None,
    };
    let passed = fault.is_none();
    reasons.extend(fault);
    Some(passed)
}

fn called(name: &str, arguments: &Map<String, Value>, tools: &[ToolCall], reasons: &mut Vec<String>) -> bool {
    let mut named = tools.iter().filter(|call| call.name == name).peekable();
    if named.peek().is_none() {
        let others: Vec<&str> = tools.iter().take(3).map(|call| call.name.as_str()).collect();
        let others = if others.is_empty() { "nothing".to_owned() } else { others.join(", ") };
        reasons.push(bounded(format_args!("does not call {name}, calls {others}")));
        return false;
    }
    let mut fault = None;
    for call in named {
        match wrong_argument(arguments, &call.arguments) {
            None => return true,
            wrong => fault = fault.or(wrong),
        }
    }
    reasons.push(bounded(format_args!("calls {name}, but {}", fault.unwrap_or_default())));
    false
}

/// What is wrong with the arguments of a call.
fn wrong_argument(right: &Map<String, Value>, arguments: &str) -> Option<String> {
    let text = if arguments.trim().is_empty() { "{}" } else { arguments };
    let Json::Bare(Value::Object(given)) = json::find(text) else {
        return Some(bounded(format_args!("its arguments are no JSON object: {}", Head(arguments))));
    };
    right.iter().find_map(|(name, right)| match given.get(name) {
        None => Some(bounded(format_args!("'{name}' is missing"))),
        Some(value) if is_same(value, right) => None,
        Some(value) => Some(bounded(format_args!("'{name}' is {value}, not {right}"))),
    })
}

/// Equal as JSON says it: 1 is 1.0.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| is_same(a, b)))
        }
        (a, b) => a == b,
    }
}
