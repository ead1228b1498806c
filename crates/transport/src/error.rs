//! What went wrong below HTTP's meaning, by kind.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use rustix::io::Errno;

/// Which part failed. [`Kind::code`] is its stable name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The address, a certificate file or a proxy setting cannot be used: nothing was sent.
    Setup,
    /// The host's name has no address, or the resolver failed.
    Dns,
    /// Nothing listens on the port.
    Refused,
    /// The connection could not be made for another reason.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The proxy refused, or did not speak as one.
    Proxy,
    /// The connection was reset or closed before the head of the answer was complete.
    Closed,
    /// The body broke off: reset, closed, or shorter than announced.
    Body,
    /// What came is not readable HTTP.
    Protocol,
    /// This machine ran out of file descriptors or ports.
    ClientLimit,
}

impl Kind {
    /// The stable name: `setup`, `dns`, `connect_refused`, `connect`, `tls`, `proxy`, `closed`, `body`, `protocol`,
    /// `client_limit`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Dns => "dns",
            Self::Refused => "connect_refused",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Proxy => "proxy",
            Self::Closed => "closed",
            Self::Body => "body",
            Self::Protocol => "protocol",
            Self::ClientLimit => "client_limit",
        }
    }
}

type Cause = Box<dyn StdError + Send + Sync>;

/// A failure of transport. Its text is whole (host, port, cause, remedy) and holds no credential; the chain behind it
/// is for a debugger.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    message: String,
    cause: Option<Cause>,
}

impl Error {
    /// An error of `kind` that says `message`. Connectors outside this crate make theirs with it.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), cause: None }
    }

    /// Adds what caused it.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Cause>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Which part failed.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// A connection to `peer` that could not be made.
    pub(crate) fn connect(peer: &str, cause: io::Error) -> Self {
        let kind = match lack(&cause) {
            Some(_) => Kind::ClientLimit,
            None if cause.kind() == io::ErrorKind::ConnectionRefused => Kind::Refused,
            None => Kind::Connect,
        };
        let message = match (kind, lack(&cause)) {
            (_, Some(remedy)) => format!("cannot connect to {peer}: {cause}; {remedy}"),
            (Kind::Refused, _) => format!("{peer} refused the connection: does a server listen there?"),
            _ => format!("cannot connect to {peer}: {cause}"),
        };
        Self::new(kind, message).caused_by(cause)
    }

    /// A request to `peer` that got no head in answer.
    pub(crate) fn head(peer: &str, cause: hyper::Error) -> Self {
        let (kind, what) = if cause.is_parse() || cause.is_user() {
            (Kind::Protocol, "does not answer with HTTP that can be read")
        } else if closed(&cause) {
            (Kind::Closed, "closed the connection before it answered")
        } else {
            (Kind::Protocol, "broke the protocol before it answered")
        };
        Self::new(kind, format!("{peer} {what}: {}", chain(&cause))).caused_by(cause)
    }

    /// As [`Error::head`], on HTTP/1.1: what cannot be read is invalid data, and all else the connection's end.
    pub(crate) fn head1(peer: &str, cause: io::Error) -> Self {
        let (kind, what) = if cause.kind() == io::ErrorKind::InvalidData {
            (Kind::Protocol, "does not answer with HTTP that can be read")
        } else {
            (Kind::Closed, "closed the connection before it answered")
        };
        Self::new(kind, format!("{peer} {what}: {}", chain(&cause))).caused_by(cause)
    }

    /// An answer of `peer` whose body broke off.
    pub(crate) fn body(peer: &str, cause: impl Into<Cause>) -> Self {
        let cause = cause.into();
        let unreadable = find::<io::Error>(&*cause)
            .is_some_and(|io| matches!(io.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput));
        let (kind, what) = if unreadable {
            (Kind::Protocol, "sent a body that cannot be read")
        } else {
            (Kind::Body, "broke its answer off in the body")
        };
        Self::new(kind, format!("{peer} {what}: {}", chain(&*cause))).caused_by(cause)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

/// What this machine lacks for a connection, and the remedy.
pub(crate) fn lack(error: &io::Error) -> Option<&'static str> {
    match Errno::from_io_error(error)? {
        Errno::MFILE => Some("this process has no file descriptor left: raise `ulimit -n` or lower the load"),
        Errno::NFILE => Some("this machine has no file descriptor left"),
        Errno::ADDRNOTAVAIL => Some("no local port is left: reuse connections or lower the load"),
        _ => None,
    }
}

/// Whether the peer (or the network) ended the connection, as opposed to speaking badly.
pub(crate) fn closed(error: &hyper::Error) -> bool {
    let ended = |io: &io::Error| {
        use io::ErrorKind::{
            BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, TimedOut, UnexpectedEof,
        };
        matches!(
            io.kind(),
            BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | TimedOut | UnexpectedEof
        )
    };
    error.is_incomplete_message()
        || error.is_canceled()
        || error.is_closed()
        || find::<io::Error>(error).is_some_and(ended)
        || find::<h2::Error>(error).is_some_and(|h2| h2.is_remote() || h2.get_io().is_some_and(ended))
}

/// The first error of type `E` in the chain.
pub(crate) fn find<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// Every text of the chain, outermost first, none said twice.
pub(crate) fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}
