//! Proxies out of the environment: which one stands in between, and the tunnel through it.

use std::fmt;
use std::net::IpAddr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderValue, Uri};
use percent_encoding::percent_decode_str;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::target::{host_port, split_authority, without_userinfo};
use crate::{Environment, Error, Kind, Origin};

/// An HTTP proxy.
#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Basic credentials out of the proxy's URL, marked sensitive.
    pub(crate) authorization: Option<HeaderValue>,
}

/// `host:port`, never the credentials.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&host_port(&self.host, self.port))
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

/// The way to an origin.
#[derive(Clone, Debug)]
pub(crate) enum Route {
    /// Straight to it.
    Direct,
    /// Requests name the whole URL to the proxy, which fetches it.
    Forward(Proxy),
    /// The proxy is asked for a tunnel, and sees only TLS.
    Tunnel(Proxy),
}

impl Route {
    /// Chooses by curl's rules: the scheme's variable before ALL_PROXY, lower case before upper, NO_PROXY excepts.
    pub(crate) fn choose(origin: &Origin, environment: &Environment) -> Result<Self, Error> {
        let name = if origin.is_https() { "HTTPS_PROXY" } else { "HTTP_PROXY" };
        let chosen = environment
            .proxy(name)
            .map(|url| (name, url))
            .or_else(|| environment.proxy("ALL_PROXY").map(|url| ("ALL_PROXY", url)));
        let Some((name, url)) = chosen else { return Ok(Self::Direct) };
        if environment.proxy("NO_PROXY").is_some_and(|list| excepted(list, origin)) {
            return Ok(Self::Direct);
        }
        let proxy = Proxy::parse(name, url)?;
        Ok(if origin.is_https() { Self::Tunnel(proxy) } else { Self::Forward(proxy) })
    }

    pub(crate) fn proxy(&self) -> Option<&Proxy> {
        match self {
            Self::Direct => None,
            Self::Forward(proxy) | Self::Tunnel(proxy) => Some(proxy),
        }
    }
}

impl Proxy {
    fn parse(name: &str, url: &str) -> Result<Self, Error> {
        let bad = |why: &str| Error::new(Kind::Setup, format!("{name}=`{}` {why}", without_userinfo(url)));
        let uri: Uri = if url.contains("://") { url.parse() } else { format!("http://{url}").parse() }
            .map_err(|_| bad("is not a URL; one looks like http://proxy.example.com:3128"))?;
        if uri.scheme_str() != Some("http") {
            return Err(bad("cannot be used: only proxies that are spoken to in http:// are"));
        }
        let authority = uri.authority().ok_or_else(|| bad("names no host"))?;
        let credentials = authority.as_str().rsplit_once('@').map(|(credentials, _)| credentials);
        let (host, port) =
            split_authority(authority).ok_or_else(|| bad("names no host, or no port after `:`"))?;
        Ok(Self { host, port: port.unwrap_or(80), authorization: credentials.and_then(basic) })
    }
}

/// `Basic …` for `user:password`, each percent-encoded.
fn basic(credentials: &str) -> Option<HeaderValue> {
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let mut plain: Vec<u8> = percent_decode_str(user).collect();
    plain.push(b':');
    plain.extend(percent_decode_str(password));
    let mut value = HeaderValue::from_str(&format!("Basic {}", BASE64_STANDARD.encode(plain))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Whether NO_PROXY's `list` excepts the origin: `*`, a host or a suffix of its labels (with or without a leading dot),
/// an address, a block `10.0.0.0/8`, each with an optional `:port`.
fn excepted(list: &str, origin: &Origin) -> bool {
    list.split([',', ' ', '\t'])
        .map(str::trim)
        .filter(|rule| !rule.is_empty())
        .any(|rule| matches(rule, origin))
}

fn matches(rule: &str, origin: &Origin) -> bool {
    if rule == "*" {
        return true;
    }
    let (rule, port) = split_port(rule);
    if port.is_some_and(|port| port != origin.port()) {
        return false;
    }
    let host = origin.host().to_ascii_lowercase();
    if let Ok(address) = host.parse::<IpAddr>() {
        return rule.parse() == Ok(address) || in_block(rule, address);
    }
    let suffix = rule.trim_start_matches("*.").trim_start_matches('.').to_ascii_lowercase();
    host == suffix
        || host.strip_suffix(&suffix).is_some_and(|labels| labels.ends_with('.') && !suffix.is_empty())
}

/// A rule without its port. An address of IPv6 has a port only behind brackets.
fn split_port(rule: &str) -> (&str, Option<u16>) {
    if rule.parse::<IpAddr>().is_ok() {
        return (rule, None);
    }
    let (name, port) = match rule.rsplit_once(':') {
        Some((name, port)) => match port.parse() {
            Ok(port) => (name, Some(port)),
            Err(_) => (rule, None),
        },
        None => (rule, None),
    };
    (name.trim_start_matches('[').trim_end_matches(']'), port)
}

/// Whether `address` lies in the CIDR block `block`.
fn in_block(block: &str, address: IpAddr) -> bool {
    let Some((base, bits)) = block.split_once('/') else { return false };
    let (Ok(base), Ok(bits)) = (base.parse::<IpAddr>(), bits.parse::<u32>()) else { return false };
    let differing = match (base, address) {
        (IpAddr::V4(base), IpAddr::V4(address)) if bits <= 32 => {
            (u32::from(base) ^ u32::from(address)).leading_zeros()
        }
        (IpAddr::V6(base), IpAddr::V6(address)) if bits <= 128 => {
            (u128::from(base) ^ u128::from(address)).leading_zeros()
        }
        _ => return false,
    };
    differing >= bits
}

/// The longest head of a proxy's answer that is read.
const MAX_TUNNEL_HEAD: usize = 16 * 1024;

/// Asks `proxy` for a tunnel to `peer`; after it, `pipe` is the origin's.
pub(crate) async fn tunnel<P>(pipe: &mut P, proxy: &Proxy, peer: &str) -> Result<(), Error>
where
    P: AsyncRead + AsyncWrite + Unpin,
{
    let broken = |cause: std::io::Error| {
        Error::new(Kind::Proxy, format!("proxy {proxy} broke off before the tunnel to {peer} stood: {cause}"))
            .caused_by(cause)
    };
    let mut ask = format!("CONNECT {peer} HTTP/1.1\r\nhost: {peer}\r\n").into_bytes();
    if let Some(authorization) = &proxy.authorization {
        ask.extend_from_slice(b"proxy-authorization: ");
        ask.extend_from_slice(authorization.as_bytes());
        ask.extend_from_slice(b"\r\n");
    }
    ask.extend_from_slice(b"\r\n");
    pipe.write_all(&ask).await.map_err(broken)?;
    pipe.flush().await.map_err(broken)?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        // Byte by byte, so that not one byte of the tunnel is taken with the head. Once a connection.
        let byte = pipe.read_u8().await.map_err(broken)?;
        head.push(byte);
        if head.len() > MAX_TUNNEL_HEAD {
            return Err(Error::new(
                Kind::Proxy,
                format!("proxy {proxy} answers with a head that does not end"),
            ));
        }
    }
    accepted(&head)
        .map_err(|why| Error::new(Kind::Proxy, format!("proxy {proxy} opens no tunnel to {peer}: {why}")))
}

/// Whether the status line grants the tunnel, else what it says.
fn accepted(head: &[u8]) -> Result<(), String> {
    let head = String::from_utf8_lossy(head);
    let line = head.lines().next().unwrap_or_default();
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)).unwrap_or_default();
    match status.parse::<u16>() {
        Ok(200..=299) => Ok(()),
        Ok(407) => Err("it wants a user and a password in its URL (status 407)".to_owned()),
        Ok(_) => Err(format!("it answers `{}`", line.trim().chars().take(200).collect::<String>())),
        Err(_) => Err("it does not speak HTTP".to_owned()),
    }
}
