//! From what was typed to what it means.

use std::time::Duration;

use http::{HeaderName, HeaderValue, Uri, header};
use inferometer_metrics::{Condition, Equivalence};
use inferometer_wire::request::TokenField;
use inferometer_workload::{Cache, Lengths, Source};
use serde_json::Value;

use crate::secrets::{SECRET_VALUE_LEN, names_a_key};
use crate::{
    Arrival, ArrivalFlag, Budget, CacheFlag, Connection, ConnectionFlag, Declared, Error, Load, Pattern,
    Plan, Protocol, RunFlags, Secrets, Span, Stop, Target, Timeouts, Workload,
};

/// Headers of every request.
type Headers = Vec<(HeaderName, HeaderValue)>;

/// Requests of a cell where neither a number nor a time is asked for: enough for a p95 to a factor.
const DEFAULT_REQUESTS: u64 = 100;
/// At least so many requests for each slot, so that most of a closed load is not its own ramp and drain.
const DEFAULT_REQUESTS_PER_SLOT: u64 = 4;
/// Time between the first starts of two slots.
const RAMP_PER_SLOT: Duration = Duration::from_millis(5);
/// No default ramp is longer.
const MAX_RAMP: Duration = Duration::from_secs(1);

impl RunFlags {
    /// What the flags mean. `env` reads a variable; `fresh_seed` is used where no seed was given.
    pub fn resolve(&self, env: impl Fn(&str) -> Option<String>, fresh_seed: u64) -> Result<Plan, Error> {
        let mut secrets = Secrets::default();
        proxy::credentials(&env, &mut secrets);
        let target = self.target(&env, &mut secrets)?;
        Ok(Plan {
            name: self.name.clone().unwrap_or_else(|| file_name(&self.model.clone().unwrap_or_default())),
            targets: vec![target],
            workloads: vec![self.workload()?],
            loads: self.loads()?,
            protocol: self.protocol(fresh_seed)?,
            objectives: self.goodput.clone(),
            gates: self.fail_if.iter().filter_map(Condition::cell).cloned().collect(),
            pair_gates: self.fail_if.iter().filter_map(Condition::pair).cloned().collect(),
            profiles: Vec::new(),
            equivalence: Equivalence::default(),
            monthly_requests: None,
            budget: Budget::default(),
            secrets,
        })
    }

    fn target(&self, env: &impl Fn(&str) -> Option<String>, secrets: &mut Secrets) -> Result<Target, Error> {
        let base = self.url.as_deref().ok_or(Error::Missing {
            flag: "--url",
            remedy: "name the endpoint, as in --url http://127.0.0.1:8000/v1",
        })?;
        let model = self.model.clone().ok_or(Error::Missing {
            flag: "--model",
            remedy: "name the model to ask for, as the endpoint calls it",
        })?;
        let (url, shown_url) = address(base, self, secrets)?;
        let host = url.parse::<Uri>().ok().and_then(|uri| uri.authority().map(ToString::to_string));
        let (key_source, headers) = self.headers(env, secrets)?;
        Ok(Target {
            name: format!("{model}@{}", host.clone().unwrap_or_default()),
            url,
            shown_url,
            model,
            dialect: self.dialect,
            key_source,
            headers,
            price: self.price.clone(),
            extra: self.extra(secrets)?,
            token_field: if self.max_completion_tokens {
                TokenField::MaxCompletionTokens
            } else {
                TokenField::MaxTokens
            },
            include_usage: !self.no_stream_options,
            stream: !self.no_stream,
            connection: match self.connection {
                ConnectionFlag::Reuse => Connection::Reuse,
                ConnectionFlag::Fresh => Connection::Fresh,
            },
            http2: self.http2,
            cacert: self.cacert.clone(),
            insecure: self.insecure,
            provider: host.unwrap_or_default(),
            concurrency_limit: None,
            declared: Declared::default(),
            think_tags: false,
        })
    }

    /// The key's and the user's headers, each value remembered as a secret.
    fn headers(
        &self,
        env: &impl Fn(&str) -> Option<String>,
        secrets: &mut Secrets,
    ) -> Result<(Option<String>, Headers), Error> {
        let mut headers = Vec::new();
        for typed in &self.headers {
            headers.push(parse_header(typed, secrets)?);
        }
        let (source, key) = match (&self.api_key_env, &self.api_key) {
            (Some(variable), _) => {
                let key = env(variable)
                    .filter(|key| !key.trim().is_empty())
                    .ok_or_else(|| unset_variable(variable))?;
                (Some(variable.clone()), Some(key))
            }
            (None, Some(key)) => (Some("--api-key".to_string()), Some(key.clone())),
            (None, None) => (None, None),
        };
        if let Some(key) = key {
            if headers.iter().any(|(name, _)| *name == header::AUTHORIZATION) {
                return Err(Error::Conflict {
                    first: "an API key",
                    second: "--header 'Authorization: …'",
                    reason: "both are the same header",
                });
            }
            secrets.add(&key);
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.trim())).map_err(|_| {
                Error::value(
                    if self.api_key_env.is_some() { "--api-key-env" } else { "--api-key" },
                    "…",
                    "the key holds a character that no header can carry",
                )
            })?;
            value.set_sensitive(true);
            headers.push((header::AUTHORIZATION, value));
        }
        Ok((source, headers))
    }

    /// The user's own parameters, what looks like a key among them remembered as a secret.
    fn extra(&self, secrets: &mut Secrets) -> Result<serde_json::Map<String, Value>, Error> {
        let Some(typed) = &self.extra else { return Ok(serde_json::Map::new()) };
        // What was typed may hold a key, or be one: neither it nor a piece of it is shown.
        let refuse = |why: &dyn ToString| {
            let reason = format!("not a JSON object ({}): write '{{\"top_p\":1}}'", why.to_string());
            Error::value("--extra", "…", reason)
        };
        let parsed: Value = serde_json::from_str(typed).map_err(|error| refuse(&error))?;
        secrets.add_keys_of(&parsed);
        match parsed {
            Value::Object(extra) => Ok(extra),
            _ => Err(refuse(&"no braces around it")),
        }
    }

    fn workload(&self) -> Result<Workload, Error> {
        if !(0.0..=10.0).contains(&self.temperature) {
            return Err(Error::value("--temperature", self.temperature.to_string(), "not between 0 and 10"));
        }
        let output = self.osl.map(|mean| lengths("--osl-stddev", mean, self.osl_stddev)).transpose()?;
        let (name, source) = match (&self.dataset, self.isl) {
            (Some(path), _) => {
                let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
                (stem.unwrap_or_default(), Source::Dataset { path: path.clone(), output })
            }
            (None, Some(mean)) => {
                let input = lengths("--isl-stddev", mean, self.isl_stddev)?;
                let osl = self.osl.map_or(String::new(), |osl| format!("-osl{osl}"));
                (format!("isl{mean}{osl}"), Source::Synthetic { input, output })
            }
            (None, None) => ("builtin".to_string(), Source::Builtin { output }),
        };
        Ok(Workload {
            name,
            source,
            temperature: self.temperature,
            max_tokens: self.osl,
            check: None,
            degraded_is_useful: None,
        })
    }

    fn loads(&self) -> Result<Vec<Load>, Error> {
        let pattern = self.pattern()?;
        match (&self.request_rate, &self.concurrency) {
            (Some(rates), slots) => {
                if slots.as_ref().is_some_and(|slots| slots.0.len() > 1) {
                    return Err(Error::Conflict {
                        first: "--concurrency with a list",
                        second: "--request-rate",
                        reason: "with a rate, concurrency is one cap",
                    });
                }
                let cap = slots.as_ref().and_then(|slots| slots.0.first().copied());
                let stop = self.stop(0)?;
                let open = |&rate: &f64| Load::new(Arrival::Open { rate, pattern, cap }, stop);
                Ok(rates.0.iter().map(open).collect())
            }
            (None, _) if self.arrival.is_some() || self.burstiness.is_some() => Err(Error::Missing {
                flag: "--request-rate",
                remedy: "--arrival and --burstiness space an open load",
            }),
            (None, slots) => {
                let slots = slots.as_ref().map_or_else(|| vec![1], |slots| slots.0.clone());
                slots.into_iter().map(|slots| self.closed(slots)).collect()
            }
        }
    }

    fn closed(&self, slots: u32) -> Result<Load, Error> {
        let ramp = self.ramp.map_or_else(|| (RAMP_PER_SLOT * (slots - 1)).min(MAX_RAMP), |Span(ramp)| ramp);
        Ok(Load::new(Arrival::Closed { slots, ramp }, self.stop(u64::from(slots))?))
    }

    fn pattern(&self) -> Result<Pattern, Error> {
        if let Some(shape) = self.burstiness
            && !(0.001..=1_000.0).contains(&shape)
        {
            return Err(Error::value("--burstiness", shape.to_string(), "not between 0.001 and 1000"));
        }
        Ok(match (self.arrival, self.burstiness) {
            (None | Some(ArrivalFlag::Gamma), Some(burstiness)) => Pattern::Gamma { burstiness },
            (Some(ArrivalFlag::Gamma), None) => Pattern::Gamma { burstiness: 1.0 },
            (Some(_), Some(_)) => {
                return Err(Error::Conflict {
                    first: "--burstiness",
                    second: "--arrival",
                    reason: "only gamma arrivals have a shape",
                });
            }
            (Some(ArrivalFlag::Constant), None) => Pattern::Constant,
            (Some(ArrivalFlag::Poisson) | None, None) => Pattern::Poisson,
        })
    }

    fn stop(&self, slots: u64) -> Result<Stop, Error> {
        if self.requests == Some(0) {
            return Err(Error::value("--requests", "0", "at least 1"));
        }
        let duration = self.duration.map(|Span(duration)| duration);
        if duration.is_some_and(|duration| duration.is_zero()) {
            return Err(Error::value("--duration", "0", "longer than nothing, as in 30s"));
        }
        let requests = match (self.requests, duration) {
            (None, None) => Some(DEFAULT_REQUESTS.max(slots * DEFAULT_REQUESTS_PER_SLOT)),
            (requests, _) => requests,
        };
        Ok(Stop { requests, duration })
    }

    fn protocol(&self, fresh_seed: u64) -> Result<Protocol, Error> {
        let or = |span: Option<Span>, default| span.map_or(default, |Span(span)| span);
        let timeouts = Timeouts {
            connect: or(self.connect_timeout, Duration::from_secs(10)),
            first_token: self.first_token_timeout.map(|Span(span)| span),
            idle: self.idle_timeout.map(|Span(span)| span),
            total: or(self.timeout, Duration::from_secs(300)),
        };
        for (flag, span) in [
            ("--timeout", Some(timeouts.total)),
            ("--connect-timeout", Some(timeouts.connect)),
            ("--first-token-timeout", timeouts.first_token),
            ("--idle-timeout", timeouts.idle),
        ] {
            if span.is_some_and(|span| span.is_zero()) {
                return Err(Error::value(flag, "0", "longer than nothing, as in 60s"));
            }
        }
        Ok(Protocol {
            warmup: self.warmup,
            retries: self.retries,
            seed: self.seed.unwrap_or(fresh_seed),
            cache: match self.cache {
                CacheFlag::AsIs => Cache::AsIs,
                CacheFlag::Bust => Cache::Bust,
            },
            timeouts,
            grace: or(self.grace, Duration::from_secs(30)),
            keep_text: self.keep_text,
            blocks: None,
            precision: None,
        })
    }
}

/// What a shell takes for a variable's name is mostly written so; anything else may be the key itself, and is not shown.
fn unset_variable(variable: &str) -> Error {
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let (shown, reason) = if variable.chars().all(is_name) {
        (variable, "this environment variable is not set, or empty")
    } else {
        ("…", "no environment variable has this name, or it is empty: name the variable, not the key itself")
    };
    Error::value("--api-key-env", shown, reason)
}

fn lengths(flag: &'static str, mean: u32, stddev: Option<f64>) -> Result<Lengths, Error> {
    let stddev = stddev.unwrap_or(0.0);
    if !(0.0..=f64::from(u32::MAX)).contains(&stddev) {
        return Err(Error::value(flag, stddev.to_string(), "not a deviation in tokens from 0"));
    }
    Ok(Lengths { mean, stddev })
}

/// The final address, and the address that people may see.
fn address(base: &str, flags: &RunFlags, secrets: &mut Secrets) -> Result<(String, String), Error> {
    let shown = shown_address(base, secrets);
    let refuse = |reason: &dyn ToString| Error::value("--url", shown.clone(), reason.to_string());
    if base
        .split_once("://")
        .is_some_and(|(_, rest)| rest.split('/').next().unwrap_or_default().contains('@'))
    {
        return Err(refuse(
            &"credentials do not belong in the address: use --api-key-env or -H 'Authorization: …'",
        ));
    }
    let url = inferometer_wire::endpoint(base, flags.dialect).map_err(|error| refuse(&error))?;
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

fn parse_header(typed: &str, secrets: &mut Secrets) -> Result<(HeaderName, HeaderValue), Error> {
    let refuse = |reason: &str| {
        // Without a colon what was typed may be a key alone.
        let shown = typed.split_once(':').map_or("…".to_string(), |(name, _)| format!("{name}: …"));
        Error::value("--header", shown, reason)
    };
    let (name, value) = typed.split_once(':').ok_or_else(|| refuse("write it as 'Name: value'"))?;
    let name: HeaderName = name.trim().parse().map_err(|_| refuse("not a header name"))?;
    let value = value.trim();
    let mut parsed = HeaderValue::from_str(value)
        .map_err(|_| refuse("the value holds a character that no header can carry"))?;
    parsed.set_sensitive(true);
    if names_a_key(name.as_str()) || value.len() >= SECRET_VALUE_LEN {
        secrets.add(value);
        if let Some((_, credential)) = value.split_once(' ') {
            secrets.add(credential);
        }
    }
    Ok((name, parsed))
}

/// `model` as a part of a folder's name.
fn file_name(model: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '-' };
    model.chars().take(60).map(safe).collect::<String>().trim_matches(['.', '-']).to_string()
}

mod proxy;
#[cfg(test)]
mod tests;
