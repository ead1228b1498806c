//! Where to ask.

use std::path::PathBuf;

use http::{HeaderName, HeaderValue};
use inferometer_price::Price;
use inferometer_wire::Dialect;
use inferometer_wire::request::TokenField;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Reasoning, Renewal, Signing, secrets};

/// What happens to a connection when its request has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Connection {
    /// Kept for the next request.
    Reuse,
    /// Closed: each request pays for its own.
    Fresh,
}

/// One place to ask. Serialises without keys: of headers only the names, of the address no credentials.
#[derive(Clone, Debug, Serialize)]
pub struct Target {
    /// Stands in every sample: `model@host`.
    pub name: String,
    /// Final address of the endpoint, as it is asked.
    #[serde(skip)]
    pub url: String,
    /// The same without credentials and query values, for people.
    #[serde(rename = "url")]
    pub shown_url: String,
    /// The model's name there.
    pub model: String,
    /// How the provider speaks.
    #[serde(serialize_with = "as_text")]
    pub dialect: Dialect,
    /// Where the key came from: the variable's name.
    pub key_source: Option<String>,
    /// Headers of every request, the key's among them, marked as sensitive.
    #[serde(serialize_with = "names_only")]
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// How the key can be had anew, where it comes from a file or a command.
    #[serde(skip)]
    pub renewal: Option<Renewal>,
    /// What signs each request, where a key is not simply sent.
    #[serde(skip)]
    pub signing: Option<Signing>,
    /// What it costs.
    #[serde(serialize_with = "as_optional_text")]
    pub price: Option<Price>,
    /// Parameters merged into every request body, last; texts under a key's name are not shown.
    #[serde(serialize_with = "without_keys")]
    pub extra: Map<String, Value>,
    /// How much reasoning was asked for; what it is called there stands among the extra parameters.
    pub reasoning: Option<Reasoning>,
    /// Which field carries the token limit.
    #[serde(skip)]
    pub token_field: TokenField,
    /// Whether usage is asked for in a stream (`stream_options`).
    pub include_usage: bool,
    /// Whether answers are streamed.
    pub stream: bool,
    /// What happens to connections.
    pub connection: Connection,
    /// HTTP/2 instead of HTTP/1.1.
    pub http2: bool,
    /// A further CA, PEM.
    pub cacert: Option<PathBuf>,
    /// Whether certificates go unchecked.
    pub insecure: bool,
    /// Who serves it, as people say it; the host where nothing else is said.
    pub provider: String,
    /// At most so many requests in flight, whatever the load asks for.
    pub concurrency_limit: Option<u32>,
    /// What the provider declares and no measurement shows.
    pub declared: Declared,
    /// Whether reasoning comes inside the content, between think tags, and is taken out of it.
    pub think_tags: bool,
}

/// What a provider declares of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Declared {
    /// Where it is served.
    pub region: Option<String>,
    /// Precision of the weights (`fp8`, `bf16`).
    pub precision: Option<String>,
    /// Terms of use or retention, in words or as a link.
    pub terms: Option<String>,
}

fn as_text<S: serde::Serializer>(value: &impl ToString, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&value.to_string())
}

#[expect(clippy::ref_option, reason = "serde's signature")]
fn as_optional_text<S: serde::Serializer>(value: &Option<Price>, to: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => to.serialize_some(&value.to_string()),
        None => to.serialize_none(),
    }
}

fn without_keys<S: serde::Serializer>(extra: &Map<String, Value>, to: S) -> Result<S::Ok, S::Error> {
    secrets::fields_without_keys(extra.clone()).serialize(to)
}

fn names_only<S: serde::Serializer>(headers: &[(HeaderName, HeaderValue)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(headers.iter().map(|(name, _)| name.as_str()))
}
