//! Keys that are read again while a run goes on: of a file, or of a command.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue, header};
use inferometer_clock::Wall;
use inferometer_wire::Auth;

use crate::Secrets;
use crate::key::{self, Held};

/// A key is read again so long before it expires, or a tenth of its life where that is less.
const AHEAD_MAX: Duration = Duration::from_secs(60);

/// Where a key comes from that can be read again.
#[derive(Clone)]
pub(crate) enum Source {
    /// A file.
    File(PathBuf),
    /// What a command prints.
    Command(String),
}

impl Source {
    /// The field that says so.
    pub(crate) const fn field(&self) -> &'static str {
        match self {
            Self::File(_) => "key_file",
            Self::Command(_) => "key_cmd",
        }
    }

    pub(crate) fn read(&self) -> Result<Held, String> {
        match self {
            Self::File(path) => key::from_file(path),
            Self::Command(command) => key::from_command(command),
        }
    }
}

/// How a target's key can be had anew. Prints without its command, which may hold a key.
#[derive(Clone)]
pub struct Renewal {
    pub(crate) source: Source,
    pub(crate) auth: Auth,
    /// Of the key that stands among the target's headers.
    pub(crate) life: Life,
    /// That key, as its header carries it.
    pub(crate) first: HeaderValue,
}

/// From when on a key holds, and until when, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// When it was read.
    pub read: Wall,
    /// When it expires.
    pub expires: Option<Wall>,
}

impl Life {
    /// When it is to be read again, if its end is known.
    pub fn renewal(self) -> Option<Wall> {
        let expires = self.expires?.unix_nanos();
        let tenth = expires.saturating_sub(self.read.unix_nanos()).max(0) / 10;
        Some(Wall::from_unix_nanos(expires.saturating_sub(tenth.min(AHEAD_MAX.as_nanos() as i64))))
    }
}

impl Renewal {
    /// What it is called in the plan: `key_cmd`, `key_file`.
    pub const fn field(&self) -> &'static str {
        self.source.field()
    }

    /// How long the key holds that the target was given first.
    pub const fn life(&self) -> Life {
        self.life
    }

    /// What that header carries first.
    pub const fn first(&self) -> &HeaderValue {
        &self.first
    }

    /// The header that carries the key.
    pub fn header_name(&self) -> HeaderName {
        name(self.auth)
    }

    /// Reads the key again; it is among `secrets` before anyone can send it. Blocks for as long as a command may take
    /// (30 s). The error holds nothing of what was read.
    pub fn read(&self, secrets: &Secrets) -> Result<(HeaderValue, Life), String> {
        let held = self.source.read()?;
        secrets.learn(&held.key);
        Ok((value(self.auth, &held.key)?, held.life()))
    }
}

impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Renewal({})", self.field())
    }
}

/// The header that carries a key.
pub(crate) fn name(auth: Auth) -> HeaderName {
    match auth {
        Auth::Bearer => header::AUTHORIZATION,
        Auth::Header(name) => HeaderName::from_static(name),
    }
}

/// Its value.
pub(crate) fn value(auth: Auth, key: &str) -> Result<HeaderValue, String> {
    let key = key.trim();
    let sent = match auth {
        Auth::Bearer => format!("Bearer {key}"),
        Auth::Header(_) => key.to_owned(),
    };
    let mut value = HeaderValue::from_str(&sent)
        .map_err(|_| "the key holds a character that no header can carry".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_again_before_it_expires() {
        let at = |seconds: i64| Wall::from_unix_nanos(seconds * 1_000_000_000);
        let check = |expires: Option<i64>, right: Option<i64>| {
            let life = Life { read: at(1_000), expires: expires.map(at) };
            assert_eq!(life.renewal(), right.map(at));
        };
        check(None, None);
        check(Some(4_600), Some(4_540));
        check(Some(1_100), Some(1_090));
        check(Some(900), Some(900));
    }

    /// Neither the key nor the command that has it shows.
    #[test]
    fn a_renewal_reads_and_hides() {
        let source = Source::Command("echo '{\"key\": \"sk-s3cr3t-2\", \"expires_in\": 100}'".to_owned());
        let life = Life { read: Wall::now(), expires: None };
        let first = HeaderValue::from_static("Bearer sk-s3cr3t-1");
        let renewal = Renewal { source, auth: Auth::Bearer, life, first };
        let secrets = Secrets::default();
        let shared = secrets.clone();
        let (value, life) = renewal.read(&shared).unwrap();
        assert_eq!(value.to_str().unwrap(), "Bearer sk-s3cr3t-2");
        assert!(value.is_sensitive() && life.renewal() > Some(life.read));
        assert_eq!(secrets.redact("no sk-s3cr3t-2 here"), "no [redacted] here");
        assert_eq!(format!("{renewal:?}"), "Renewal(key_cmd)");
        assert_eq!(renewal.header_name(), header::AUTHORIZATION);
    }
}
