//! Making a byte stream to a host and a port.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use inferometer_clock::Clock;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;

use crate::target::host_port;
use crate::{Error, Kind, Trace, error, eyeballs};

/// A byte stream, as a connector makes it.
pub trait Pipe: AsyncRead + AsyncWrite + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Unpin + 'static> Pipe for T {}

/// Makes byte streams. [`Sockets`] in earnest; tests give in-memory pipes, under which virtual time can run. Proxy
/// tunnels, TLS and HTTP are laid over what it returns.
pub trait Connect {
    /// The byte stream.
    type Io: Pipe;

    /// Opens a stream to `host` (a name or an address literal without brackets) and `port`. A connector that looks the
    /// name up stamps the end of that in `trace`.
    fn connect(&self, host: &str, port: u16, trace: &Trace) -> impl Future<Output = Result<Self::Io, Error>>;
}

/// Looks up the addresses of a name.
pub trait Resolve {
    /// Every address of `host` in the order of preference, both families.
    fn resolve(&self, host: &str, port: u16) -> impl Future<Output = io::Result<Vec<SocketAddr>>>;
}

/// Dials one address.
pub trait Dial {
    /// The byte stream.
    type Io: Pipe;

    /// Connects to `address`.
    fn dial(&self, address: SocketAddr) -> impl Future<Output = io::Result<Self::Io>>;
}

/// The platform's resolver (`getaddrinfo` on a thread of the runtime's blocking pool).
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }
}

/// TCP without Nagle's delay.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tcp;

impl Dial for Tcp {
    type Io = TcpStream;

    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        Ok(socket)
    }
}

/// Sockets: a resolver, and a dialer raced over the addresses.
pub struct Sockets<R = SystemResolver, D = Tcp> {
    clock: Clock,
    resolver: R,
    dialer: D,
    lookup: RefCell<Option<Lookup>>,
}

/// A lookup under way. Connections that are opened at the same time share it: the platform's resolver takes a thread for
/// each, and hundreds at once would disturb what is measured. Nothing is kept once it has ended.
struct Lookup {
    host: String,
    port: u16,
    found: Rc<OnceCell<io::Result<Vec<SocketAddr>>>>,
}

impl Sockets {
    /// The platform's resolver and TCP.
    pub fn new(clock: &Clock) -> Self {
        Self::with(clock, SystemResolver, Tcp)
    }
}

impl<R: Resolve, D: Dial> Sockets<R, D> {
    /// A resolver and a dialer of one's own.
    pub fn with(clock: &Clock, resolver: R, dialer: D) -> Self {
        Self { clock: clock.clone(), resolver, dialer, lookup: RefCell::default() }
    }

    /// Looks `host` up, or waits for the lookup of it that is under way.
    async fn look_up(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let found = match &*self.lookup.borrow() {
            Some(lookup) if lookup.host == host && lookup.port == port => Rc::clone(&lookup.found),
            _ => Rc::default(),
        };
        *self.lookup.borrow_mut() = Some(Lookup { host: host.to_owned(), port, found: Rc::clone(&found) });
        let addresses = found.get_or_init(|| self.resolver.resolve(host, port)).await;
        self.lookup.borrow_mut().take_if(|lookup| Rc::ptr_eq(&lookup.found, &found));
        match addresses {
            Ok(addresses) => Ok(addresses.clone()),
            Err(cause) => Err(cause.raw_os_error().map_or_else(
                || io::Error::new(cause.kind(), cause.to_string()),
                io::Error::from_raw_os_error,
            )),
        }
    }

    async fn addresses(&self, host: &str, port: u16, trace: &Trace) -> Result<Vec<SocketAddr>, Error> {
        if let Ok(literal) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(literal, port)]);
        }
        let found = self.look_up(host, port).await;
        trace.set_dns(self.clock.now());
        match found {
            Ok(addresses) if addresses.is_empty() => {
                Err(Error::new(Kind::Dns, format!("`{host}` has no address")))
            }
            Ok(addresses) => Ok(eyeballs::interleave(addresses)),
            Err(cause) => {
                let kind = if error::lack(&cause).is_some() { Kind::ClientLimit } else { Kind::Dns };
                Err(Error::new(kind, format!("cannot look up `{host}`: {cause}")).caused_by(cause))
            }
        }
    }
}

impl<R: Resolve, D: Dial> Connect for Sockets<R, D> {
    type Io = D::Io;

    async fn connect(&self, host: &str, port: u16, trace: &Trace) -> Result<D::Io, Error> {
        let addresses = self.addresses(host, port, trace).await?;
        let raced = eyeballs::race(&self.dialer, &self.clock, addresses).await;
        raced.map_err(|cause| Error::connect(&host_port(host, port), cause))
    }
}
