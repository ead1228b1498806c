//! Keys, and keeping them out of everything that is written.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

/// What stands in a secret's place.
const REDACTED: &str = "[redacted]";

/// A secret shorter than this would blank ordinary words.
const MIN_LEN: usize = 4;

/// A text cut at its end may hold the beginning of a key: from so many bytes on it is taken for one.
const MIN_PREFIX: usize = 6;

/// A value from this length on is taken for a secret where values mostly are, whatever its name.
pub(crate) const SECRET_VALUE_LEN: usize = 8;

/// What the names of keys have in them: of headers, query parameters and fields of a body.
const KEY_WORDS: [&str; 9] =
    ["key", "token", "secret", "sig", "password", "auth", "code", "cookie", "credential"];

/// Whether `text` is written as variables mostly are; anything else may be a key itself.
pub(crate) fn is_variable_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Whether something of this name is taken for a key.
pub(crate) fn names_a_key(name: &str) -> bool {
    let name = name.to_lowercase();
    KEY_WORDS.iter().any(|word| name.contains(word))
}

/// Every secret of a run. Prints as a count. Clones are the same secrets: what one learns, all keep out.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<Vec<SecretString>>>);

impl Secrets {
    /// Keeps `secret` out of every text from now on. Something too short to be a key is not taken.
    pub fn add(&mut self, secret: &str) {
        self.learn(secret);
    }

    /// The same while a run goes on: to be called before the secret is first sent.
    pub fn learn(&self, secret: &str) {
        let secret = secret.trim();
        // Nothing is left half done under this lock.
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if secret.len() < MIN_LEN || known.iter().any(|known| known.expose_secret() == secret) {
            return;
        }
        known.push(SecretString::from(secret));
        // Longest first, so that a key that contains another is taken whole.
        known.sort_by_key(|known| std::cmp::Reverse(known.expose_secret().len()));
    }

    fn known(&self) -> RwLockReadGuard<'_, Vec<SecretString>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps each text under a key's name in `value`, at any depth, out of every text from now on. Numbers are limits
    /// (`max_tokens`), not keys.
    pub(crate) fn add_keys_of(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if names_a_key(name) => self.add(text),
                        _ if names_a_key(name) => self.add_texts_of(value),
                        _ => self.add_keys_of(value),
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.add_keys_of(value)),
            _ => {}
        }
    }

    /// The short ones among several are words rather than keys: `{"auth": {"type": "none", …}}`.
    fn add_texts_of(&mut self, value: &Value) {
        match value {
            Value::String(text) if text.len() >= SECRET_VALUE_LEN => self.add(text),
            Value::Array(values) => values.iter().for_each(|value| self.add_texts_of(value)),
            Value::Object(fields) => fields.values().for_each(|value| self.add_texts_of(value)),
            _ => {}
        }
    }

    /// A command line without any secret in it, nor any header's value or key that was typed in it.
    pub fn redact_all(&self, argv: &[String]) -> Vec<String> {
        let mut before = "";
        let redact = |arg| {
            let clean = self.redact_argument(before, arg);
            before = arg;
            clean
        };
        argv.iter().map(String::as_str).map(redact).collect()
    }

    /// `arg` as it may be shown behind the argument `before`.
    fn redact_argument(&self, before: &str, arg: &str) -> String {
        match before {
            "-H" | "--header" | "--api-key" | "--key-cmd" => return REDACTED.to_string(),
            "--extra" | "--extra-inputs" => return self.redact_json(arg),
            _ => {}
        }
        match arg.split_once('=') {
            Some((flag @ ("--header" | "--api-key" | "--key-cmd"), _)) => {
                return format!("{flag}={REDACTED}");
            }
            Some((flag @ ("--extra" | "--extra-inputs"), json)) => {
                return format!("{flag}={}", self.redact_json(json));
            }
            _ => {}
        }
        // The value may be written against the short flag.
        match arg.strip_prefix("-H") {
            Some(value) if !value.is_empty() => format!("-H{REDACTED}"),
            _ => self.redact(arg).into_owned(),
        }
    }

    /// JSON as it was typed, where it holds no secret: within it one may stand in escapes, which its text does not show.
    fn redact_json(&self, typed: &str) -> String {
        let Ok(value) = serde_json::from_str::<Value>(typed) else { return self.redact(typed).into_owned() };
        let clean = self.redact_value(without_keys(value.clone()));
        if clean == value { typed.to_string() } else { clean.to_string() }
    }

    /// `value` without any secret in its texts and names, at any depth.
    pub fn redact_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact(&text).into_owned()),
            Value::Array(values) => values.into_iter().map(|value| self.redact_value(value)).collect(),
            Value::Object(fields) => {
                let clean =
                    |(name, value): (String, _)| (self.redact(&name).into_owned(), self.redact_value(value));
                Value::Object(fields.into_iter().map(clean).collect())
            }
            other => other,
        }
    }

    /// `text` without any secret in it, nor with the beginning of one at its end.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut clean = Cow::Borrowed(text);
        for secret in self.known().iter() {
            let secret = secret.expose_secret();
            if clean.contains(secret) {
                clean = Cow::Owned(clean.replace(secret, REDACTED));
            }
            if let Some(kept) = without_prefix_of(&clean, secret) {
                clean = Cow::Owned(format!("{}{REDACTED}", &clean[..kept]));
            }
        }
        clean
    }
}

/// `value` with nothing in the place of each text under a key's name, however short it is.
pub(crate) fn without_keys(value: Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(fields_without_keys(fields)),
        Value::Array(values) => values.into_iter().map(without_keys).collect(),
        other => other,
    }
}

/// The same of an object's fields.
pub(crate) fn fields_without_keys(fields: Map<String, Value>) -> Map<String, Value> {
    let clean = |(name, value): (String, Value)| {
        let value = if names_a_key(&name) { without_texts(value) } else { without_keys(value) };
        (name, value)
    };
    fields.into_iter().map(clean).collect()
}

fn without_texts(value: Value) -> Value {
    match value {
        Value::String(_) => Value::String(REDACTED.to_string()),
        Value::Array(values) => values.into_iter().map(without_texts).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, without_texts(value))).collect())
        }
        other => other,
    }
}

/// Where `text` would end without the beginning of `secret` at its end, if there is one.
fn without_prefix_of(text: &str, secret: &str) -> Option<usize> {
    let longest = secret.len().saturating_sub(1).min(text.len());
    (MIN_PREFIX..=longest).rev().find_map(|len| {
        let prefix = secret.get(..len)?;
        text.ends_with(prefix).then(|| text.len() - len)
    })
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.known().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redacts() {
        let mut secrets = Secrets::default();
        for secret in ["sk-abcdef123456", "sk-abcdef123456-long", "no", ""] {
            secrets.add(secret);
        }
        let check = |text: &str, right: &str| assert_eq!(secrets.redact(text), right);
        check("nothing here, no", "nothing here, no");
        check("bad key sk-abcdef123456!", "bad key [redacted]!");
        check("bad key sk-abcdef123456-long!", "bad key [redacted]!");
        check("cut at the key's middle: sk-abcdef1", "cut at the key's middle: [redacted]");
        check("sk-abcdef123456 twice sk-abcdef123456", "[redacted] twice [redacted]");
        assert_eq!(format!("{secrets:?}"), "Secrets(2)");
    }

    #[test]
    fn redacts_command_lines() {
        let mut secrets = Secrets::default();
        secrets.add("sk-abcdef123456");
        let check = |typed: &[&str], right: &[&str]| {
            let typed: Vec<String> = typed.iter().map(ToString::to_string).collect();
            assert_eq!(secrets.redact_all(&typed), right);
        };
        check(&["run", "-H", "X-Me: tiny", "-m", "x"], &["run", "-H", REDACTED, "-m", "x"]);
        check(&["-HX-Me: tiny", "-H=X-Me:tiny"], &["-H[redacted]", "-H[redacted]"]);
        check(&["--header", "a: b", "--header=a: b"], &["--header", REDACTED, "--header=[redacted]"]);
        check(&["--api-key", "k1", "--api-key=k"], &["--api-key", REDACTED, "--api-key=[redacted]"]);
        check(&["--key-cmd", "echo k1"], &["--key-cmd", REDACTED]);
        check(&["--key-cmd=echo k1"], &["--key-cmd=[redacted]"]);
        check(&["--extra", "{\"top_p\": 1}"], &["--extra", "{\"top_p\": 1}"]);
        check(&["--extra", "{\"key\": \"k\"}"], &["--extra", "{\"key\":\"[redacted]\"}"]);
        check(&["--extra={\"a\":\"sk-abcdef12345\\u0036\"}"], &["--extra={\"a\":\"[redacted]\"}"]);
        check(&["--extra", "no JSON: sk-abcdef123456"], &["--extra", "no JSON: [redacted]"]);
    }

    #[test]
    fn keys_within_json_are_secrets() {
        let typed = serde_json::json!({
            "max_tokens": 5, "user": "joe", "apiKey": "k1-long",
            "sources": [{"authentication": {"type": "none", "values": ["k2-longer", 7]}, "name": "docs"}],
        });
        let mut secrets = Secrets::default();
        secrets.add_keys_of(&typed);
        assert_eq!(secrets.redact("k1-long k2-longer none joe"), "[redacted] [redacted] none joe");
        let right = serde_json::json!({
            "max_tokens": 5, "user": "joe", "apiKey": REDACTED,
            "sources": [{"authentication": {"type": REDACTED, "values": [REDACTED, 7]}, "name": "docs"}],
        });
        assert_eq!(without_keys(typed), right);
        let elsewhere = serde_json::json!([{"k1-long": ["no k1-long", 1]}]);
        assert_eq!(
            secrets.redact_value(elsewhere),
            serde_json::json!([{"[redacted]": ["no [redacted]", 1]}])
        );
    }
}
