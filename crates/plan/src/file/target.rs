//! `[[target]]`.

use inferometer_price::{ParsePriceError, Price};
use inferometer_wire::request::TokenField;
use serde_json::{Map, Value as Json};

use super::Reader;
use super::names::unique;
use super::table::{Table, Value};
use super::wrong::Wrong;
use crate::renewal::Source;
use crate::secrets::{is_variable_name, names_a_key};
use crate::spec::{Key, TargetSpec, header};
use crate::{Connection, Counts, Declared, Error, Reasoning, Target};

/// Where the price of a target comes from that its plan states.
const PRICE_SOURCE: &str = "the plan";

impl<E: Fn(&str) -> Option<String>> Reader<'_, E> {
    /// Every target.
    pub(super) fn targets(&mut self, root: &Table<'_>, wrong: &mut Wrong) -> Option<Vec<Target>> {
        let tables = root.tables("target");
        if tables.is_empty() {
            // What is no list of tables is wrong already.
            if root.get("target").is_none() {
                let remedy = "write a [[target]] with a provider or a url, and a model";
                wrong.add(root.error("target", format!("the plan has no target: {remedy}")));
            }
            return None;
        }
        let targets = wrong.read_all(&tables, |table| self.target(table))?;
        wrong.keep(unique("target", &tables, targets.iter().map(|target| target.name.as_str())))?;
        Some(targets)
    }

    fn target(&mut self, table: &Table<'_>) -> Result<Target, Error> {
        let provider = table.text("provider");
        let url = table.get("url").map(|url| self.expand(&url)).transpose()?;
        let model = table.text("model").filter(|model| !model.trim().is_empty()).ok_or_else(|| {
            table.error("model", "model is missing: name the model to ask for, as the endpoint calls it")
        })?;
        let spec = TargetSpec {
            name: table.text("name"),
            key: self.key(table)?,
            headers: self.headers(table)?,
            price: self.price(table, provider.as_deref().unwrap_or_default(), &model)?,
            extra: extra(table)?,
            reasoning: reasoning(table)?,
            token_field: table
                .flag("max_completion_tokens")
                .map(|is_new| if is_new { TokenField::MaxCompletionTokens } else { TokenField::MaxTokens }),
            include_usage: table.flag("stream_options").unwrap_or(true),
            stream: table.flag("stream"),
            connection: match table.text("connection").as_deref() {
                Some("fresh") => Connection::Fresh,
                _ => Connection::Reuse,
            },
            http2: table.flag("http2").unwrap_or(false),
            cacert: table.text("cacert").map(|file| self.beside(&file)),
            insecure: table.flag("insecure").unwrap_or(false),
            concurrency_limit: concurrency_limit(table)?,
            declared: Declared {
                region: table.text("region"),
                precision: table.text("precision"),
                terms: table.text("terms"),
            },
            think_tags: table.flag("think_tags").unwrap_or(false),
            dialect: table.parse("dialect")?,
            provider,
            ..TargetSpec::new(url, model)
        };
        spec.resolve(&self.env, &mut self.secrets).map_err(|fault| table.fault(fault))
    }

    /// Where the key is said to come from.
    fn key(&self, table: &Table<'_>) -> Result<Option<Key>, Error> {
        let said = ["api_key", "api_key_env", "key_file", "key_cmd"];
        let said: Vec<_> = said.into_iter().filter_map(|name| Some((name, table.get(name)?))).collect();
        if let [(first, _), .., (second, value)] = said.as_slice() {
            let reason =
                format!("{first} and {second} do not go together: both say where the key comes from");
            return Err(value.error_of_secret(reason));
        }
        if let Some(inline) = table.get("api_key") {
            let text = inline.text();
            let variable = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
            return match variable {
                Some(variable) if self.is_set(variable) => Ok(Some(Key::Variable(variable.to_string()))),
                Some(variable) => Err(unset(&inline, variable)),
                None => Err(inline.error_of_secret(
                    "a key does not belong in a file: keep it in a variable and write api_key_env = \"THE_VARIABLE\"",
                )),
            };
        }
        if let Some(file) = table.text("key_file") {
            return Ok(Some(Key::Source(Source::File(self.beside(&file)))));
        }
        if let Some(command) = table.text("key_cmd") {
            return Ok(Some(Key::Source(Source::Command(command))));
        }
        let Some(variable) = table.get("api_key_env") else { return Ok(None) };
        let name = variable.text();
        if self.is_set(&name) { Ok(Some(Key::Variable(name))) } else { Err(unset(&variable, &name)) }
    }

    fn is_set(&self, variable: &str) -> bool {
        (self.env)(variable).is_some_and(|held| !held.trim().is_empty())
    }

    fn headers(&mut self, table: &Table<'_>) -> Result<Vec<(http::HeaderName, http::HeaderValue)>, Error> {
        let Some(headers) = table.table("headers") else { return Ok(Vec::new()) };
        let mut read = Vec::new();
        for (name, value) in headers.further() {
            if names_a_key(name.text) && !value.text().contains("${") {
                return Err(value.error_of_secret(
                    "a key does not belong in a file: keep it in a variable and write ${VAR} in its place",
                ));
            }
            let text = self.expand(&value)?;
            let parsed = header(name.text, &text, &mut self.secrets);
            read.push(parsed.map_err(|fault| match fault {
                crate::spec::Fault::Value { reason, .. } => value.error_of_secret(reason),
                other => headers.fault(other),
            })?);
        }
        Ok(read)
    }

    /// `value` with each `${VAR}` replaced by what the variable holds, which is a secret from now on.
    fn expand(&mut self, value: &Value<'_>) -> Result<String, Error> {
        let text = value.text();
        let mut expanded = String::new();
        let mut rest = text.as_str();
        while let Some((before, behind)) = rest.split_once("${") {
            let (variable, after) = behind.split_once('}').ok_or_else(|| {
                value.error_of_secret("a variable is written as ${VAR}: the closing brace is missing")
            })?;
            let held = (self.env)(variable).filter(|held| !held.trim().is_empty());
            let held = held.ok_or_else(|| unset(value, variable))?;
            self.secrets.add(&held);
            expanded.push_str(before);
            expanded.push_str(held.trim());
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    /// What it costs: as the plan says, else as the price book does.
    fn price(&self, table: &Table<'_>, provider: &str, model: &str) -> Result<Option<Price>, Error> {
        let known = || self.book.and_then(|book| book(provider, model));
        let Some(value) = table.get("price") else { return Ok(known()) };
        if let Some(amounts) = value.as_table() {
            return price_of(&amounts).map(Some);
        }
        if value.text() == "book" {
            let missing = || value.error(format!("the price book does not know '{model}' of '{provider}'"));
            return known().ok_or_else(missing).map(Some);
        }
        let price: Price = value.parse()?;
        Ok(Some(Price { source: PRICE_SOURCE.into(), ..price }))
    }
}

/// A variable that is not set. What is no variable's name may be a key, and is not shown.
fn unset(value: &Value<'_>, variable: &str) -> Error {
    if is_variable_name(variable) && !variable.is_empty() {
        return value.error(format!("the environment variable {variable} is not set, or empty"));
    }
    value.error_of_secret(
        "no environment variable has this name, or it is empty: name the variable, not the key itself",
    )
}

/// Parameters of the body.
fn extra(table: &Table<'_>) -> Result<Map<String, Json>, Error> {
    let Some(value) = table.get("extra") else { return Ok(Map::new()) };
    match value.json() {
        Json::Object(extra) => Ok(extra),
        _ => Err(value.error("extra is no table")),
    }
}

/// A level, or a budget in a table.
fn reasoning(table: &Table<'_>) -> Result<Option<Reasoning>, Error> {
    match table.table("reasoning") {
        Some(budget) => {
            let tokens = budget.parse("budget")?;
            tokens.map(Some).ok_or_else(|| budget.error_here("budget is missing: a number of tokens"))
        }
        None => table.parse("reasoning"),
    }
}

fn concurrency_limit(table: &Table<'_>) -> Result<Option<u32>, Error> {
    let limit: Option<Counts> = table.parse("concurrency_limit")?;
    Ok(limit.and_then(|counts| counts.0.first().copied()))
}

/// The price that a table states.
fn price_of(table: &Table<'_>) -> Result<Price, Error> {
    let amounts = Price::default().named().map(|(name, _)| name);
    let typed: Vec<String> =
        amounts.iter().filter_map(|name| Some(format!("{name}={}", table.text(name)?))).collect();
    let price: Price = typed.join(",").parse().map_err(|error: ParsePriceError| match &error {
        ParsePriceError::Negative { name, .. } | ParsePriceError::NotANumber { name, .. } => {
            table.error(name, error.to_string())
        }
        ParsePriceError::NotAPair(_) => {
            table.error_here("price has no input and no output: both are needed, 0 where free")
        }
        _ => table.error_here(error.to_string()),
    })?;
    let source = table.text("source").unwrap_or_else(|| PRICE_SOURCE.into());
    let source = match table.text("date") {
        Some(date) => format!("{source}, {date}"),
        None => source,
    };
    Ok(Price { source, ..price })
}
