//! Tables of the plan file, held against their shapes: known keys, values of the right kind, each with its place.

use std::ops::Range;
use std::str::FromStr;

use serde_json::{Map, Value as Json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::shape::{Kind, SHAPES, Shape};
use super::source::Source;
use super::wrong::Wrong;
use crate::Error;
use crate::secrets::names_a_key;
use crate::spec::Fault;

/// A table whose keys and kinds of values are as its shape says.
#[derive(Clone, Debug)]
pub(super) struct Table<'a> {
    source: Source<'a>,
    pub(super) span: Range<usize>,
    fields: &'a DeTable<'a>,
}

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Value<'a> {
    source: Source<'a>,
    span: Range<usize>,
    node: &'a DeValue<'a>,
}

impl<'a> Table<'a> {
    /// `fields`, held against `shape` at every depth; what is wrong goes to `wrong`.
    pub(super) fn check(
        source: Source<'a>,
        shape: &'static Shape,
        fields: &'a DeTable<'a>,
        span: Range<usize>,
        wrong: &mut Wrong,
    ) -> Self {
        let table = Self { source, span, fields };
        let before = wrong.count();
        let mut in_order: Vec<_> = fields.iter().collect();
        in_order.sort_by_key(|(name, _)| name.span().start);
        for (name, node) in in_order {
            let known = shape.keys.iter().find(|key| key.name == name.get_ref().as_ref());
            match known.map(|key| &key.kind).or(shape.further) {
                Some(kind) => {
                    let value = Value { source, span: node.span(), node: node.get_ref() };
                    value.check(name.get_ref(), kind, wrong);
                }
                None => wrong.add(source.error(name.span(), unknown_key(name.get_ref(), shape))),
            }
        }
        if wrong.count() > before {
            wrong.add_table(table.span.clone());
        }
        table
    }

    /// The value of `key`.
    pub(super) fn get(&self, key: &str) -> Option<Value<'a>> {
        self.further().find_map(|(name, value)| (name.text == key).then_some(value))
    }

    /// Every key with its value, in the order of the file.
    pub(super) fn further(&self) -> impl Iterator<Item = (Name<'a>, Value<'a>)> + use<'a> {
        let source = self.source;
        let mut fields: Vec<_> = self.fields.iter().collect();
        fields.sort_by_key(|(name, _)| name.span().start);
        fields.into_iter().map(move |(name, node)| {
            let value = Value { source, span: node.span(), node: node.get_ref() };
            (Name { text: name.get_ref(), span: name.span() }, value)
        })
    }

    /// The text of `key`.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.get(key).map(|value| value.text())
    }

    /// The text of `key`, read as what it means.
    pub(super) fn parse<T: FromStr<Err: ToString>>(&self, key: &str) -> Result<Option<T>, Error> {
        self.get(key).map(|value| value.parse()).transpose()
    }

    /// Whether `key` is set, where it is said.
    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        match self.get(key)?.node {
            DeValue::Boolean(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The table of `key`.
    pub(super) fn table(&self, key: &str) -> Option<Table<'a>> {
        self.get(key)?.as_table()
    }

    /// The tables of `key`, which may be one alone.
    pub(super) fn tables(&self, key: &str) -> Vec<Table<'a>> {
        let Some(value) = self.get(key) else { return Vec::new() };
        match value.as_table() {
            Some(table) => vec![table],
            None => value.items().iter().filter_map(Value::as_table).collect(),
        }
    }

    /// What is wrong with the value of `key`, or with the table where that is absent.
    pub(super) fn error(&self, key: &str, message: impl Into<String>) -> Error {
        match self.get(key) {
            Some(value) if value.may_hold_a_key(key) => value.error_of_secret(message),
            Some(value) => value.error(message),
            None => self.source.error(self.span.clone(), message),
        }
    }

    /// What is wrong with a key itself.
    pub(super) fn error_at(&self, name: &Name<'_>, message: impl Into<String>) -> Error {
        self.source.error(name.span.clone(), message)
    }

    /// What is wrong with the table.
    pub(super) fn error_here(&self, message: impl Into<String>) -> Error {
        self.source.error(self.span.clone(), message)
    }

    /// A fault as this file says it.
    pub(super) fn fault(&self, fault: Fault) -> Error {
        match fault {
            Fault::Missing { field, remedy } => self.error_here(format!("{field} is missing: {remedy}")),
            Fault::Value { field, reason, .. } => self.error(field, format!("{field}: {reason}")),
            Fault::Conflict { first, second, reason } => {
                self.error(second, format!("{first} and {second} do not go together: {reason}"))
            }
        }
    }
}

/// A key with its place.
#[derive(Clone, Debug)]
pub(super) struct Name<'a> {
    pub(super) text: &'a str,
    pub(super) span: Range<usize>,
}

impl<'a> Value<'a> {
    fn new(source: Source<'a>, node: &'a Spanned<DeValue<'a>>) -> Self {
        Self { source, span: node.span(), node: node.get_ref() }
    }

    /// The text of a scalar as it can be read; of several, with commas between them.
    pub(super) fn text(&self) -> String {
        match self.node {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if number.radix() != 10 => {
                let whole = u64::from_str_radix(number.as_str(), number.radix());
                whole.map_or_else(|_| number.to_string(), |whole| whole.to_string())
            }
            DeValue::Integer(number) => number.as_str().to_string(),
            DeValue::Float(number) => number.as_str().to_string(),
            DeValue::Boolean(flag) => flag.to_string(),
            DeValue::Datetime(date) => date.to_string(),
            DeValue::Array(_) => self.items().iter().map(Value::text).collect::<Vec<_>>().join(","),
            DeValue::Table(_) => String::new(),
        }
    }

    /// The text, read as what it means.
    pub(super) fn parse<T: FromStr<Err: ToString>>(&self) -> Result<T, Error> {
        self.text().parse().map_err(|error: T::Err| self.error(error.to_string()))
    }

    /// The members of a list; a value alone is a list of one.
    pub(super) fn items(&self) -> Vec<Value<'a>> {
        match self.node {
            DeValue::Array(items) => items.iter().map(|item| Self::new(self.source, item)).collect(),
            _ => vec![self.clone()],
        }
    }

    /// The table that it is.
    pub(super) fn as_table(&self) -> Option<Table<'a>> {
        let DeValue::Table(fields) = self.node else { return None };
        Some(Table { source: self.source, span: self.span.clone(), fields })
    }

    /// The value as JSON has it.
    pub(super) fn json(&self) -> Json {
        match self.node {
            DeValue::Boolean(flag) => Json::Bool(*flag),
            // A number that JSON cannot hold stays a text.
            DeValue::Integer(_) | DeValue::Float(_) => {
                let text = self.text();
                let text = text.trim_start_matches('+');
                serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.into()))
            }
            DeValue::String(_) | DeValue::Datetime(_) => Json::String(self.text()),
            DeValue::Array(_) => self.items().iter().map(Value::json).collect(),
            DeValue::Table(fields) => {
                let pair = |name: &str, node| (name.to_string(), Self::new(self.source, node).json());
                let pairs = fields.iter().map(|(name, node)| pair(name.get_ref(), node));
                Json::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }

    /// What is wrong with it.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        self.source.error(self.span.clone(), message)
    }

    /// What is wrong with it where it may be, or hold, a key.
    pub(super) fn error_of_secret(&self, message: impl Into<String>) -> Error {
        self.source.error_of_secret(self.span.clone(), message)
    }

    /// Whether the value under this name is not to be shown. A variable's name is; so is an address that is one alone.
    fn may_hold_a_key(&self, name: &str) -> bool {
        match name {
            "api_key_env" => false,
            "url" => self.text().contains(['@', '?']),
            "headers" | "extra" => true,
            name => names_a_key(name),
        }
    }

    /// Whether it is what `kind` says, at every depth, and without a variable where none may stand.
    fn check(&self, name: &str, kind: &'static Kind, wrong: &mut Wrong) {
        match kind {
            Kind::Either(kinds) if kind.takes(self.node) => {
                kinds.iter().filter(|kind| kind.takes(self.node)).take(1).for_each(|kind| {
                    self.check(name, kind, wrong);
                });
            }
            Kind::Table(shape) | Kind::Tables(shape) if kind.takes(self.node) && !self.is_empty_list() => {
                for table in self.items().iter().filter_map(Value::as_table) {
                    Table::check(self.source, shape, table.fields, table.span, wrong);
                }
            }
            _ => {
                wrong.keep(self.check_alone(name, kind));
            }
        }
    }

    fn is_empty_list(&self) -> bool {
        matches!(self.node, DeValue::Array(items) if items.is_empty())
    }

    /// The same for what holds no table whose keys are known.
    fn check_alone(&self, name: &str, kind: &'static Kind) -> Result<(), Error> {
        if !kind.takes(self.node) {
            let said = format!("{name} is {}: give {}", a(self.node.type_str()), kind.expected());
            let is_secret = matches!(kind, Kind::Open) || self.may_hold_a_key(name);
            return Err(if is_secret { self.error_of_secret(said) } else { self.error(said) });
        }
        if self.is_empty_list() && !matches!(kind, Kind::Json) {
            return Err(self.error(format!("{name} is an empty list: give at least one, or leave it out")));
        }
        match kind {
            Kind::OneOf(words) => self.check_word(name, &words()),
            Kind::Open => Ok(()),
            _ => self.check_no_variable(name),
        }
    }

    fn check_word(&self, name: &str, words: &[&'static str]) -> Result<(), Error> {
        let given = self.text();
        if words.contains(&given.as_str()) {
            return Ok(());
        }
        let known = words.join(", ");
        Err(self.error(match nearest(&given, words.iter().copied()) {
            Some(word) => format!("{name} cannot be '{given}': did you mean '{word}'? One of {known}"),
            None => format!("{name} cannot be '{given}': give one of {known}"),
        }))
    }

    fn check_no_variable(&self, name: &str) -> Result<(), Error> {
        match self.node {
            DeValue::String(text) if text.contains("${") => {
                let said = format!(
                    "{name} cannot hold a variable: ${{VAR}} stands only in url, headers and api_key"
                );
                Err(if names_a_key(name) { self.error_of_secret(said) } else { self.error(said) })
            }
            DeValue::Array(_) => self.items().iter().try_for_each(|item| item.check_no_variable(name)),
            DeValue::Table(fields) => fields
                .iter()
                .try_for_each(|(name, node)| Self::new(self.source, node).check_no_variable(name.get_ref())),
            _ => Ok(()),
        }
    }
}

impl Kind {
    /// Whether a value is of this kind, as far as its type says.
    fn takes(&self, node: &DeValue<'_>) -> bool {
        use DeValue::{Array, Boolean, Datetime, Float, Integer, String, Table};
        match self {
            Kind::Text | Kind::Open | Kind::OneOf(_) => matches!(node, String(_)),
            Kind::Whole => matches!(node, Integer(number) if !number.as_str().starts_with('-')),
            Kind::Number => matches!(node, Integer(_) | Float(_)),
            Kind::Flag => matches!(node, Boolean(_)),
            Kind::Amount | Kind::Time | Kind::Share | Kind::Limit => {
                matches!(node, String(_) | Integer(_) | Float(_))
            }
            Kind::Date => matches!(node, String(_) | Datetime(_)),
            Kind::List(kind) => {
                matches!(node, Array(items) if items.iter().all(|item| kind.takes(item.get_ref())))
            }
            Kind::Some(kind) => kind.takes(node) || Kind::List(kind).takes(node),
            Kind::Either(kinds) => kinds.iter().any(|kind| kind.takes(node)),
            Kind::Json => true,
            Kind::JsonTable | Kind::Table(_) => matches!(node, Table(_)),
            Kind::Tables(_) => {
                matches!(node, Array(items) if items.iter().all(|item| item.get_ref().is_table()))
            }
        }
    }

    /// What is given for it, in words.
    pub(super) fn expected(&self) -> std::string::String {
        let text = match self {
            Kind::Text | Kind::Open => "text in quotes",
            Kind::OneOf(words) => return format!("one of {}", words().join(", ")),
            Kind::Whole => "a whole number from 0, as in 100",
            Kind::Number => "a number, as in 2 or 0.5",
            Kind::Amount => "an amount in US dollars, as in 3 or 0.25",
            Kind::Flag => "true or false",
            Kind::Time => "a time, as in \"500ms\" or \"30s\"",
            Kind::Share => "a share, as in \"10%\" or 0.1",
            Kind::Limit => "a limit, as in \"500ms\", \"1%\" or 50",
            Kind::Date => "a date, as in 2026-11-30",
            Kind::List(kind) => return format!("a list in brackets, each {}", kind.expected()),
            Kind::Some(kind) => return format!("{}, or a list of such", kind.expected()),
            Kind::Either(kinds) => {
                return kinds.iter().map(Kind::expected).collect::<Vec<_>>().join(", or ");
            }
            Kind::Json => "any value",
            Kind::JsonTable => "a table, as in { top_p = 1 }",
            Kind::Table(shape) if shape.keys.is_empty() => "a table, as in { X-Name = \"value\" }",
            Kind::Table(shape) => return format!("a table: {}", shape.keys_in_words()),
            Kind::Tables(shape) => return format!("tables, each under {}", shape.header),
        };
        text.to_string()
    }
}

impl Shape {
    fn keys_in_words(&self) -> String {
        self.keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
    }
}

/// What is said of a key that `shape` does not know: what was meant, where it belongs, or what there is.
fn unknown_key(given: &str, shape: &Shape) -> String {
    let said = format!("there is no key `{given}` in {}", shape.header);
    if let Some(meant) = nearest(given, shape.keys.iter().map(|key| key.name)) {
        return format!("{said}: did you mean `{meant}`?");
    }
    let home = SHAPES.iter().find(|other| other.keys.iter().any(|key| key.name == given));
    match home {
        Some(home) => format!("{said}: it belongs in {}", home.header),
        None => format!("{said}: its keys are {}", shape.keys_in_words()),
    }
}

/// Letters that a name may be off to be suggested.
const TYPOS_MAX: usize = 3;
/// Letters of a wrong name that are looked at: no known one is longer.
const NAME_CHARS_MAX: usize = 64;

/// The known name that was probably meant.
pub(crate) fn nearest<'n>(given: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let given: String = given.chars().take(NAME_CHARS_MAX).collect();
    let (typos, name) = known.map(|name| (strsim::damerau_levenshtein(&given, name), name)).min()?;
    // Half of a short name is no typing error.
    (typos <= TYPOS_MAX && typos * 2 < name.chars().count().max(3)).then_some(name)
}

/// A type's name with its article.
fn a(kind: &str) -> String {
    match kind {
        "string" => "text".into(),
        "integer" => "a whole number".into(),
        "float" => "a number".into(),
        "boolean" => "true or false".into(),
        "array" => "a list".into(),
        "table" => "a table".into(),
        other => format!("a {other}"),
    }
}
