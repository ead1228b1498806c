//! Where to ask: the origin, the way to it, and the trust put in it.

use std::fmt;
use std::sync::Arc;

use http::Uri;
use http::uri::Authority;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use crate::proxy::Route;
use crate::{Connections, Error, HttpVersion, Kind, Options, tls};

/// Scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    https: bool,
    host: String,
    port: u16,
}

impl Origin {
    /// Reads the origin of an absolute http or https URL; path and query are not looked at.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let bad = |why: &str| Error::new(Kind::Setup, format!("`{}` {why}", without_userinfo(url)));
        let uri: Uri =
            url.parse().map_err(|_| bad("is not a URL; one looks like https://api.example.com/v1"))?;
        let https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(bad("needs a scheme: http:// or https://")),
        };
        let authority = uri.authority().ok_or_else(|| bad("names no host"))?;
        if authority.as_str().contains('@') {
            return Err(bad("must not hold credentials: name a key with --api-key-env or a header"));
        }
        let (host, port) =
            split_authority(authority).ok_or_else(|| bad("names no host, or no port after `:`"))?;
        Ok(Self { https, host, port: port.unwrap_or(if https { 443 } else { 80 }) })
    }

    /// Host name or address literal, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, named or the scheme's.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether TLS is spoken.
    pub fn is_https(&self) -> bool {
        self.https
    }

    /// `host:port`, the port always named.
    pub fn host_port(&self) -> String {
        host_port(&self.host, self.port)
    }

    /// What a `host` header says: the port only where it is not the scheme's.
    pub fn authority(&self) -> String {
        let named = self.host_port();
        let default = if self.https { ":443" } else { ":80" };
        named.strip_suffix(default).map_or(named.clone(), str::to_owned)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.https { "https" } else { "http" }, self.host_port())
    }
}

/// Host and port, without user and password. `None` where the host is empty or the port none. An address literal of
/// IPv6 stands in brackets, which neither a resolver nor a certificate knows.
pub(crate) fn split_authority(authority: &Authority) -> Option<(String, Option<u16>)> {
    let named = authority.as_str().rsplit_once('@').map_or(authority.as_str(), |(_, named)| named);
    let port = match named.strip_prefix(authority.host())? {
        "" => None,
        port => Some(port.strip_prefix(':')?.parse().ok()?),
    };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
    (!host.is_empty()).then_some((host, port))
}

/// `host:port`, with brackets round an address of IPv6.
pub(crate) fn host_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// A URL as it may be shown.
pub(crate) fn without_userinfo(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let rest = rest[..authority_end].rfind('@').map_or(rest, |at| &rest[at + 1..]);
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

/// A target prepared once: certificates read, proxy chosen. Cheap to clone, shared between threads.
#[derive(Clone)]
pub struct Target(Arc<Prepared>);

/// The origin; what was prepared for it would fill a page.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({})", self.0.origin)
    }
}

struct Prepared {
    origin: Origin,
    peer: String,
    route: Route,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    insecure: bool,
    version: HttpVersion,
    connections: Connections,
    streams_per_connection: usize,
}

impl Target {
    /// Prepares the target that `url` names. Fails with [`Kind::Setup`] on a URL, a certificate file or a proxy setting
    /// that cannot be used.
    pub fn new(url: &str, options: &Options) -> Result<Self, Error> {
        let origin = Origin::parse(url)?;
        let route = Route::choose(&origin, &options.environment)?;
        if let (Route::Forward(proxy), HttpVersion::Http2) = (&route, options.version) {
            let message =
                format!("HTTP/2 without TLS cannot pass the proxy {proxy}: except {origin} in NO_PROXY");
            return Err(Error::new(Kind::Setup, message));
        }
        // Built for http as well where a file was named: a wrong file is then told at once.
        let tls = if origin.is_https() || options.cacert.is_some() {
            let config = tls::config(options)?;
            let name = ServerName::try_from(origin.host().to_owned()).map_err(|_| {
                Error::new(Kind::Setup, format!("`{}` cannot be the name in a certificate", origin.host()))
            })?;
            origin.is_https().then(|| (Arc::new(config), name))
        } else {
            None
        };
        Ok(Self(Arc::new(Prepared {
            peer: origin.host_port(),
            insecure: options.insecure && origin.is_https(),
            origin,
            route,
            tls,
            version: options.version,
            connections: options.connections,
            streams_per_connection: options.streams_per_connection.max(1),
        })))
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// The proxy in between as `host:port`, if there is one: it is part of what is measured.
    pub fn proxy(&self) -> Option<String> {
        self.0.route.proxy().map(ToString::to_string)
    }

    /// Whether certificates are not verified.
    pub fn is_insecure(&self) -> bool {
        self.0.insecure
    }

    /// The HTTP version that is spoken.
    pub fn version(&self) -> HttpVersion {
        self.0.version
    }

    /// Whether connections are kept.
    pub fn connections(&self) -> Connections {
        self.0.connections
    }

    /// `host:port`, for error texts.
    pub(crate) fn peer(&self) -> &str {
        &self.0.peer
    }

    pub(crate) fn route(&self) -> &Route {
        &self.0.route
    }

    pub(crate) fn tls(&self) -> Option<&(Arc<ClientConfig>, ServerName<'static>)> {
        self.0.tls.as_ref()
    }

    pub(crate) fn streams_per_connection(&self) -> usize {
        self.0.streams_per_connection
    }
}
