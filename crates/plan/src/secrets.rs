//! Keys, and keeping them out of everything that is written.

use std::borrow::Cow;
use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// What stands in a secret's place.
const REDACTED: &str = "[redacted]";

/// A secret shorter than this would blank ordinary words.
const MIN_LEN: usize = 4;

/// A text cut at its end may hold the beginning of a key: from so many bytes on it is taken for one.
const MIN_PREFIX: usize = 6;

/// Every secret of a run. Prints as a count.
#[derive(Clone, Default)]
pub struct Secrets(Vec<SecretString>);

impl Secrets {
    /// Keeps `secret` out of every text from now on. Something too short to be a key is not taken.
    pub fn add(&mut self, secret: &str) {
        let secret = secret.trim();
        if secret.len() < MIN_LEN || self.0.iter().any(|known| known.expose_secret() == secret) {
            return;
        }
        self.0.push(SecretString::from(secret));
        // Longest first, so that a key that contains another is taken whole.
        self.0.sort_by_key(|known| std::cmp::Reverse(known.expose_secret().len()));
    }

    /// A command line without any secret in it, nor any header's value or key that was typed in it.
    pub fn redact_all(&self, argv: &[String]) -> Vec<String> {
        let mut hidden = false;
        let redact = |arg: &String| {
            let clean = if hidden { REDACTED.to_string() } else { self.redact(arg).into_owned() };
            hidden = matches!(arg.as_str(), "-H" | "--header" | "--api-key");
            match clean.split_once('=') {
                Some((flag @ ("--header" | "--api-key"), _)) => format!("{flag}={REDACTED}"),
                _ => clean,
            }
        };
        argv.iter().map(redact).collect()
    }

    /// `text` without any secret in it, nor with the beginning of one at its end.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut clean = Cow::Borrowed(text);
        for secret in &self.0 {
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
        write!(f, "Secrets({})", self.0.len())
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
        let typed = ["run", "-H", "X-Me: tiny", "--api-key", "k1", "--header=a: b", "--api-key=k", "-m", "x"];
        let argv = Secrets::default().redact_all(&typed.map(String::from));
        let right = [
            "run",
            "-H",
            REDACTED,
            "--api-key",
            REDACTED,
            "--header=[redacted]",
            "--api-key=[redacted]",
            "-m",
            "x",
        ];
        assert_eq!(argv, right);
    }
}
