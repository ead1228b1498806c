//! How to reach a target.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The version of HTTP that is spoken, pinned for the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpVersion {
    /// HTTP/1.1: one stream a connection, exact stamps.
    #[default]
    Http1,
    /// HTTP/2, by ALPN over TLS and by prior knowledge without: many streams a connection, stamps are bounds.
    Http2,
}

/// What happens to a connection once its answer has been read to the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connections {
    /// It is kept, and the last one kept is the first one used again.
    #[default]
    Reuse,
    /// It is closed: each request pays DNS, TCP and TLS, and TLS resumes no session.
    Fresh,
}

/// Streams that share one HTTP/2 connection unless told otherwise: few, since they share its socket's stamps.
const STREAMS_PER_CONNECTION: usize = 16;

/// How to reach a target.
#[derive(Clone, Debug)]
pub struct Options {
    /// The HTTP version.
    pub version: HttpVersion,
    /// Whether connections are kept.
    pub connections: Connections,
    /// A PEM file whose certificates are trusted in addition to the platform's.
    pub cacert: Option<PathBuf>,
    /// Accept any certificate for any name. A report must say so.
    pub insecure: bool,
    /// Most streams at once on one HTTP/2 connection; a further one opens another connection.
    pub streams_per_connection: usize,
    /// Proxies and certificate files that the environment names.
    pub environment: Environment,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            version: HttpVersion::default(),
            connections: Connections::default(),
            cacert: None,
            insecure: false,
            streams_per_connection: STREAMS_PER_CONNECTION,
            environment: Environment::default(),
        }
    }
}

/// The environment variables that transport heeds, as values: tests pass their own.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The variables heeded. Proxies are also read in lower case, which wins.
    pub const NAMES: [&str; 6] =
        ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"];

    /// Those of this process.
    pub fn of_process() -> Self {
        Self::NAMES
            .into_iter()
            .flat_map(|name| [name.to_owned(), name.to_ascii_lowercase()])
            .filter_map(|name| std::env::var(&name).ok().map(|value| (name, value)))
            .collect()
    }

    /// The value of `name`, in lower case first; an empty one does not count.
    pub(crate) fn proxy(&self, name: &str) -> Option<&str> {
        self.get(&name.to_ascii_lowercase()).or_else(|| self.get(name))
    }

    /// The value of `name` as it is written; an empty one does not count.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(variables: T) -> Self {
        Self(variables.into_iter().collect())
    }
}

/// Names only: a proxy's URL may hold a password.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
