//! Where to ask.

use std::path::PathBuf;

use http::{HeaderName, HeaderValue, Uri};
use inferometer_price::Price;
use inferometer_wire::request::TokenField;
use inferometer_wire::{Auth, Dialect};
use serde_json::{Map, Value};

use super::Fault;
use crate::aws;
use crate::file::nearest;
use crate::presets::{Preset, Reasoning, Unspelled, preset, presets, spelled};
use crate::renewal::{self, Source};
use crate::secrets::{SECRET_VALUE_LEN, is_variable_name, names_a_key};
use crate::{Connection, Declared, Renewal, Secrets, Signing, Target};

/// Where the key comes from.
#[derive(Clone)]
pub(crate) enum Key {
    /// An environment variable of this name.
    Variable(String),
    /// A file, or a command, which can be read again.
    Source(Source),
    /// The command line.
    Typed(String),
}

/// One target as it was asked for.
pub(crate) struct TargetSpec {
    pub(crate) name: Option<String>,
    pub(crate) provider: Option<String>,
    /// The provider's where absent.
    pub(crate) url: Option<String>,
    pub(crate) model: String,
    /// The provider's where absent, else chat.
    pub(crate) dialect: Option<Dialect>,
    /// In the provider's variable where absent, unless there is an address or a header of one's own.
    pub(crate) key: Option<Key>,
    /// As [`header`] reads them.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) price: Option<Price>,
    pub(crate) extra: Map<String, Value>,
    pub(crate) reasoning: Option<Reasoning>,
    /// The provider's where absent, else the older one.
    pub(crate) token_field: Option<TokenField>,
    pub(crate) include_usage: bool,
    /// As the dialect has it where absent.
    pub(crate) stream: Option<bool>,
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
    pub(crate) fn new(url: Option<String>, model: String) -> Self {
        Self {
            name: None,
            provider: None,
            url,
            model,
            dialect: None,
            key: None,
            headers: Vec::new(),
            price: None,
            extra: Map::new(),
            reasoning: None,
            token_field: None,
            include_usage: true,
            stream: None,
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
        let preset = self.provider.as_deref().and_then(preset);
        let dialect = self.dialect.or(preset.map(|preset| preset.dialect)).unwrap_or_default();
        let key = self.key(preset, dialect, env)?;
        // Of a dialect that has no streams, one that was asked for is refused with the rest that it cannot say.
        let stream = self.stream.unwrap_or_else(|| dialect.generates());
        let base = self.base(preset, dialect, env)?;
        let (url, shown_url) = address(&base, (dialect, &self.model, stream), secrets)?;
        let extra = self.extra(preset, dialect)?;
        let declared = self.declared(preset);
        let host = url.parse::<Uri>().ok().and_then(|uri| uri.authority().map(ToString::to_string));
        // A host may come out of a variable, and is then not to be shown.
        let host = secrets.redact(&host.unwrap_or_default()).into_owned();
        let signing = match &key {
            None if dialect == Dialect::Bedrock => self.signing(&url, env, secrets)?,
            _ => None,
        };
        let mut headers = self.headers;
        let key_source = key.as_ref().map(Key::source).or(signing.as_ref().map(|(_, source)| source.clone()));
        let mut renewal = None;
        if let Some(key) = &key {
            let (name, value, again) = key.header(dialect.auth(), env, secrets)?;
            renewal = again;
            if headers.iter().any(|(given, _)| *given == name) {
                let reason = "a key is sent in a header of its own, which is among the headers too";
                return Err(Fault::Conflict { first: key.field(), second: "headers", reason });
            }
            headers.push((name, value));
        }
        for (name, value) in dialect.headers() {
            let name = HeaderName::from_static(name);
            if !headers.iter().any(|(given, _)| *given == name) {
                headers.push((name, HeaderValue::from_static(value)));
            }
        }
        secrets.add_keys_of(&Value::Object(extra.clone()));
        Ok(Target {
            name: self.name.unwrap_or_else(|| format!("{}@{host}", self.model)),
            shown_url: secrets.redact(&shown_url).into_owned(),
            url,
            model: self.model,
            dialect,
            key_source,
            headers,
            renewal,
            signing: signing.map(|(signing, _)| signing),
            price: self.price,
            extra,
            reasoning: self.reasoning,
            token_field: self
                .token_field
                .or(preset.and_then(|preset| preset.token_field))
                .unwrap_or_default(),
            include_usage: self.include_usage,
            stream,
            connection: self.connection,
            http2: self.http2,
            cacert: self.cacert,
            insecure: self.insecure,
            provider: self.provider.unwrap_or(host),
            concurrency_limit: self.concurrency_limit,
            declared,
            think_tags: self.think_tags,
        })
    }

    /// What is declared of it; of terms what the table of providers knows, where it is asked at the provider's own address.
    fn declared(&self, preset: Option<&Preset>) -> Declared {
        let mut declared = self.declared.clone();
        if let (None, None, Some(preset)) = (&declared.terms, &self.url, preset) {
            declared.terms = preset.links();
        }
        declared
    }

    /// The base URL: its own, else the provider's.
    fn base(
        &self,
        preset: Option<&Preset>,
        dialect: Dialect,
        env: &impl Fn(&str) -> Option<String>,
    ) -> Result<String, Fault> {
        if let Some(url) = &self.url {
            return Ok(url.clone());
        }
        let Some(name) = &self.provider else {
            let remedy = "give the endpoint's url, or a provider that Inferometer knows";
            return Err(Fault::Missing { field: "url", remedy });
        };
        let Some(preset) = preset else { return Err(unknown_provider(name)) };
        Preset::filled(preset.door(dialect), aws::with_region(env)).map_err(|variable| {
            Fault::value(
                "provider",
                name,
                format!("set {variable}, by which it is addressed, or give the url"),
            )
        })
    }

    /// Where the key comes from: what is said, else the provider's own variable.
    fn key(
        &self,
        preset: Option<&Preset>,
        dialect: Dialect,
        env: &impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Key>, Fault> {
        if let Some(key) = &self.key {
            return Ok(Some(key.clone()));
        }
        if dialect == Dialect::Bedrock {
            // Of one's own address nothing is known: there, only what keeps its secret is sent unasked.
            let is_set = self.url.as_deref().is_none_or(aws::is_amazon_s)
                && env(aws::BEARER).is_some_and(|held| !held.trim().is_empty());
            return Ok((is_set && !self.has_own_key()).then(|| Key::Variable(aws::BEARER.to_owned())));
        }
        // A preset at an address of one's own says nothing of a key, and a header may carry it.
        let has_own = self.url.is_some() || self.has_own_key();
        let Some(preset) = preset.filter(|preset| !has_own && !preset.is_local()) else { return Ok(None) };
        let remedy = match (&preset.key_env, &preset.key_cmd) {
            (Some(variable), _) if env(variable).is_some_and(|held| !held.trim().is_empty()) => {
                return Ok(Some(Key::Variable(variable.clone())));
            }
            (Some(variable), _) => format!("set {variable}, or name another variable with api_key_env"),
            (None, Some(command)) => {
                format!("give key_cmd = \"{command}\", or name its variable with api_key_env")
            }
            (None, None) => "name its variable with api_key_env".to_owned(),
        };
        Err(Fault::value("provider", &preset.name, format!("the key is missing: {remedy}")))
    }

    /// Whether a header of its own may carry a key.
    fn has_own_key(&self) -> bool {
        self.headers.iter().any(|(name, _)| names_a_key(name.as_str()))
    }

    /// What signs its requests at Amazon, and where that comes from.
    fn signing(
        &self,
        url: &str,
        env: &impl Fn(&str) -> Option<String>,
        secrets: &mut Secrets,
    ) -> Result<Option<(Signing, String)>, Fault> {
        if self.has_own_key() {
            return Ok(None);
        }
        match aws::signing(url, env, secrets)? {
            None if aws::is_amazon_s(url) => Err(aws::missing()),
            signing => Ok(signing),
        }
    }

    /// The parameters of the body, with what `reasoning` is called there.
    fn extra(&self, preset: Option<&Preset>, dialect: Dialect) -> Result<Map<String, Value>, Fault> {
        let mut extra = self.extra.clone();
        let Some(level) = self.reasoning else { return Ok(extra) };
        let refuse = |reason: String| Fault::value("reasoning", level.to_string(), reason);
        let words = spelled(level, preset, dialect, &self.model).map_err(|unspelled| {
            let who = preset.map_or_else(|| format!("the dialect {dialect}"), |preset| preset.name.clone());
            let model = &self.model;
            let has = match unspelled {
                Unspelled::Unknown => format!("nothing is known of what {who} calls it for {model}"),
                Unspelled::Has(known) => {
                    format!("{who} has no words for it for {model}, only for {}", known.join(", "))
                }
            };
            refuse(format!("{has}; write what it wants in extra, as in {{\"reasoning_effort\": \"low\"}}"))
        })?;
        match merge(&mut extra, words) {
            Ok(()) => Ok(extra),
            Err(field) => Err(refuse(format!("extra says {field} otherwise: leave one of the two out"))),
        }
    }
}

/// Puts `words` into `extra`, at every depth; the name of the first field that holds something else.
fn merge(extra: &mut Map<String, Value>, words: Map<String, Value>) -> Result<(), String> {
    for (name, value) in words {
        match (extra.get_mut(&name), value) {
            (Some(Value::Object(own)), Value::Object(value)) => {
                merge(own, value).map_err(|field| format!("{name}.{field}"))?;
            }
            (Some(own), value) if *own != value => return Err(name),
            (_, value) => {
                extra.insert(name, value);
            }
        }
    }
    Ok(())
}

fn unknown_provider(name: &str) -> Fault {
    let known = || presets().iter().map(|preset| preset.name.as_str());
    let meant = match nearest(name, known()) {
        Some(meant) => format!("did you mean '{meant}'?"),
        None => format!("it knows {}", known().collect::<Vec<_>>().join(", ")),
    };
    let reason = format!("Inferometer knows no provider '{name}', and there is no url: {meant}");
    Fault::value("provider", name, reason)
}

impl Key {
    /// The field that it comes from.
    fn field(&self) -> &'static str {
        match self {
            Self::Variable(_) => "api_key_env",
            Self::Source(source) => source.field(),
            Self::Typed(_) => "api_key",
        }
    }

    /// What a report says of where it comes from.
    fn source(&self) -> String {
        match self {
            Self::Variable(variable) => variable.clone(),
            Self::Source(Source::File(path)) => path.display().to_string(),
            // The command itself may hold a key.
            Self::Source(Source::Command(_)) => "key_cmd".to_string(),
            Self::Typed(_) => "--api-key".to_string(),
        }
    }

    /// The header that carries it, its value remembered as a secret, and how it can be had anew.
    fn header(
        &self,
        auth: Auth,
        env: &impl Fn(&str) -> Option<String>,
        secrets: &mut Secrets,
    ) -> Result<(HeaderName, HeaderValue, Option<Renewal>), Fault> {
        let mut renewal = None;
        let key = match self {
            Self::Variable(variable) => env(variable)
                .filter(|key| !key.trim().is_empty())
                .ok_or_else(|| unset_variable(self.field(), variable))?,
            Self::Source(source) => {
                let shown = match source {
                    Source::File(path) => path.display().to_string(),
                    Source::Command(_) => "…".to_owned(),
                };
                let held = source.read().map_err(|reason| Fault::value(self.field(), shown, reason))?;
                let (source, life) = (source.clone(), held.life());
                renewal = Some((source, life));
                held.key
            }
            Self::Typed(key) => key.clone(),
        };
        secrets.add(&key);
        let value = renewal::value(auth, &key).map_err(|reason| Fault::value(self.field(), "…", reason))?;
        let first = value.clone();
        let renewal = renewal.map(|(source, life)| Renewal { source, auth, life, first });
        Ok((renewal::name(auth), value, renewal))
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
fn address(
    base: &str,
    (dialect, model, stream): (Dialect, &str, bool),
    secrets: &mut Secrets,
) -> Result<(String, String), Fault> {
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
    let url = inferometer_wire::endpoint(base, dialect, model, stream).map_err(|error| refuse(&error))?;
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
