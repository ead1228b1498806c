//! Where to ask.

use std::path::PathBuf;

use http::{HeaderName, HeaderValue, Uri, header};
use inferometer_price::Price;
use inferometer_wire::request::TokenField;
use inferometer_wire::{Auth, Dialect};
use serde_json::{Map, Value};

use super::Fault;
use crate::secrets::{SECRET_VALUE_LEN, is_variable_name, names_a_key};
use crate::{Connection, Declared, Secrets, Target};

/// Where the key comes from.
pub(crate) enum Key {
    /// An environment variable of this name.
    Variable(String),
    /// The command line.
    Typed(String),
}

/// One target as it was asked for.
pub(crate) struct TargetSpec {
    pub(crate) name: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) dialect: Dialect,
    pub(crate) key: Option<Key>,
    /// As [`header`] reads them.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) price: Option<Price>,
    pub(crate) extra: Map<String, Value>,
    pub(crate) token_field: TokenField,
    pub(crate) include_usage: bool,
    pub(crate) stream: bool,
    pub(crate) connection: Connection,
    pub(crate) http2: bool,
    pub(crate) cacert: Option<PathBuf>,
    pub(crate) insecure: bool,
    pub(crate) concurrency_limit: Option<u32>,
    pub(crate) declared: Declared,
    pub(crate) think_tags: bool,
}

impl TargetSpec {
    /// A target of which nothing else is said.
    pub(crate) fn new(url: String, model: String) -> Self {
        Self {
            name: None,
            provider: None,
            url,
            model,
            dialect: Dialect::default(),
            key: None,
            headers: Vec::new(),
            price: None,
            extra: Map::new(),
            token_field: TokenField::default(),
            include_usage: true,
            stream: true,
            connection: Connection::Reuse,
            http2: false,
            cacert: None,
            insecure: false,
            concurrency_limit: None,
            declared: Declared::default(),
            think_tags: false,
        }
    }

    /// The target; `env` reads a variable. Whatever of it is a secret is kept among `secrets`.
    pub(crate) fn resolve(
        self,
        env: &impl Fn(&str) -> Option<String>,
        secrets: &mut Secrets,
    ) -> Result<Target, Fault> {
        let (url, shown_url) = address(&self, secrets)?;
        let host = url.parse::<Uri>().ok().and_then(|uri| uri.authority().map(ToString::to_string));
        // A host may come out of a variable, and is then not to be shown.
        let host = secrets.redact(&host.unwrap_or_default()).into_owned();
        let mut headers = self.headers;
        let key_source = self.key.as_ref().map(Key::source);
        if let Some(key) = &self.key {
            let (name, value) = key.header(self.dialect.auth(), env, secrets)?;
            if headers.iter().any(|(given, _)| *given == name) {
                let reason = "a key is sent in a header of its own, which is among the headers too";
                return Err(Fault::Conflict { first: key.field(), second: "headers", reason });
            }
            headers.push((name, value));
        }
        for (name, value) in self.dialect.headers() {
            let name = HeaderName::from_static(name);
            if !headers.iter().any(|(given, _)| *given == name) {
                headers.push((name, HeaderValue::from_static(value)));
            }
        }
        secrets.add_keys_of(&Value::Object(self.extra.clone()));
        Ok(Target {
            name: self.name.unwrap_or_else(|| format!("{}@{host}", self.model)),
            shown_url: secrets.redact(&shown_url).into_owned(),
            url,
            model: self.model,
            dialect: self.dialect,
            key_source,
            headers,
            price: self.price,
            extra: self.extra,
            token_field: self.token_field,
            include_usage: self.include_usage,
            stream: self.stream,
            connection: self.connection,
            http2: self.http2,
            cacert: self.cacert,
            insecure: self.insecure,
            provider: self.provider.unwrap_or(host),
            concurrency_limit: self.concurrency_limit,
            declared: self.declared,
            think_tags: self.think_tags,
        })
    }
}

impl Key {
    /// The field that it comes from.
    fn field(&self) -> &'static str {
        match self {
            Self::Variable(_) => "api_key_env",
            Self::Typed(_) => "api_key",
        }
    }

    /// What a report says of where it comes from.
    fn source(&self) -> String {
        match self {
            Self::Variable(variable) => variable.clone(),
            Self::Typed(_) => "--api-key".to_string(),
        }
    }

    /// The header that carries it, its value remembered as a secret.
    fn header(
        &self,
        auth: Auth,
        env: &impl Fn(&str) -> Option<String>,
        secrets: &mut Secrets,
    ) -> Result<(HeaderName, HeaderValue), Fault> {
        let key = match self {
            Self::Variable(variable) => env(variable)
                .filter(|key| !key.trim().is_empty())
                .ok_or_else(|| unset_variable(self.field(), variable))?,
            Self::Typed(key) => key.clone(),
        };
        secrets.add(&key);
        let (name, sent) = match auth {
            Auth::Bearer => (header::AUTHORIZATION, format!("Bearer {}", key.trim())),
            Auth::Header(name) => (HeaderName::from_static(name), key.trim().to_owned()),
        };
        let mut value = HeaderValue::from_str(&sent).map_err(|_| {
            Fault::value(self.field(), "…", "the key holds a character that no header can carry")
        })?;
        value.set_sensitive(true);
        Ok((name, value))
    }
}

/// What a shell takes for a variable's name is mostly written so; anything else may be the key itself, and is not shown.
fn unset_variable(field: &'static str, variable: &str) -> Fault {
    let (shown, reason) = if is_variable_name(variable) {
        (variable, "this environment variable is not set, or empty")
    } else {
        ("…", "no environment variable has this name, or it is empty: name the variable, not the key itself")
    };
    Fault::value(field, shown, reason)
}

/// One header, its value remembered as a secret where it may be one.
pub(crate) fn header(
    name: &str,
    value: &str,
    secrets: &mut Secrets,
) -> Result<(HeaderName, HeaderValue), Fault> {
    let refuse = |reason: &str| Fault::value("headers", format!("{name}: …"), reason);
    let parsed: HeaderName = name.trim().parse().map_err(|_| refuse("not a header name"))?;
    let value = value.trim();
    let mut sent = HeaderValue::from_str(value)
        .map_err(|_| refuse("the value holds a character that no header can carry"))?;
    sent.set_sensitive(true);
    if names_a_key(parsed.as_str()) || value.len() >= SECRET_VALUE_LEN {
        secrets.add(value);
        if let Some((_, credential)) = value.split_once(' ') {
            secrets.add(credential);
        }
    }
    Ok((parsed, sent))
}

/// The final address, and the address that people may see.
fn address(target: &TargetSpec, secrets: &mut Secrets) -> Result<(String, String), Fault> {
    let base = target.url.as_str();
    let shown = shown_address(base, secrets);
    let refuse =
        |reason: &dyn ToString| Fault::value("url", secrets.redact(&shown).into_owned(), reason.to_string());
    if base
        .split_once("://")
        .is_some_and(|(_, rest)| rest.split('/').next().unwrap_or_default().contains('@'))
    {
        return Err(refuse(
            &"credentials do not belong in the address: use --api-key-env or -H 'Authorization: …'",
        ));
    }
    let url = inferometer_wire::endpoint(base, target.dialect, &target.model, target.stream)
        .map_err(|error| refuse(&error))?;
    let shown_url = shown_address(&url, secrets);
    Ok((url, shown_url))
}

/// `url` without credentials and without the values of query parameters that look like keys.
fn shown_address(url: &str, secrets: &mut Secrets) -> String {
    let (before, query) = url.split_once('?').map_or((url, None), |(before, query)| (before, Some(query)));
    let mut shown = match before.split_once("://") {
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            Some((credentials, rest)) => {
                credentials.split(':').for_each(|part| secrets.add(part));
                format!("{scheme}://[redacted]@{rest}")
            }
            None => before.to_string(),
        },
        None => before.to_string(),
    };
    for (index, pair) in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()).enumerate() {
        shown.push(if index == 0 { '?' } else { '&' });
        match pair.split_once('=') {
            Some((name, value)) if names_a_key(name) => {
                secrets.add(value);
                shown.push_str(name);
                shown.push_str("=[redacted]");
            }
            _ => shown.push_str(pair),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_for_people() {
        let mut secrets = Secrets::default();
        for (url, shown) in [
            ("http://h/v1?api-version=2026", "http://h/v1?api-version=2026"),
            ("http://h/v1?Api-Key=sk-1234&x=1", "http://h/v1?Api-Key=[redacted]&x=1"),
            ("http://me:pa55w0rd@h/v1", "http://[redacted]@h/v1"),
        ] {
            assert_eq!(shown_address(url, &mut secrets), shown);
        }
        assert_eq!(secrets.redact("sk-1234 pa55w0rd"), "[redacted] [redacted]");
    }
}
