//! Sending: a connection found or made, the request, the head of the answer.

use std::fmt;
use std::io;
use std::rc::Rc;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, HOST, PROXY_AUTHORIZATION};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, Version, response};
use inferometer_clock::Clock;

use crate::exchange::Source;
use crate::http1::Outgoing;
use crate::open::open;
use crate::payload::Payload;
use crate::proxy::Route;
use crate::stamped::Stamps;
use crate::{Connect, Connections, Error, Exchange, HttpVersion, Kind, Sockets, Target, Trace, http1, http2};

/// What is sent. `host`, `content-length` and (unless given) `accept-encoding: identity` are added to the headers.
#[derive(Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub path: PathAndQuery,
    /// Headers; those that carry credentials are marked sensitive when they are sent.
    pub headers: HeaderMap,
    /// The body, whole.
    pub body: Bytes,
}

/// Without what may be secret: no value of a header, no query, no body.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, path, headers, body } = self;
        let names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        write!(f, "Request({method} {}, headers {names:?}, body of {} bytes)", path.path(), body.len())
    }
}

/// One shard's way to one target. Cheap to clone; clones share the idle connections. There is no cap on connections:
/// a request that finds none idle opens one.
pub struct Client<C: Connect = Sockets> {
    inner: Rc<Inner<C>>,
}

impl<C: Connect> Clone for Client<C> {
    fn clone(&self) -> Self {
        Self { inner: Rc::clone(&self.inner) }
    }
}

struct Inner<C> {
    clock: Clock,
    connect: C,
    target: Target,
    scheme: Scheme,
    authority: Authority,
    host: HeaderValue,
    idle: Rc<http1::Pool>,
    scratch: Rc<http1::Scratch>,
    shared: http2::Slots,
}

impl<C: Connect> Client<C> {
    /// A client without a connection. Fails with [`Kind::Setup`] where the target's host cannot stand in a header.
    pub fn new(clock: &Clock, connect: C, target: Target) -> Result<Self, Error> {
        let named = target.origin().authority();
        let bad = |_| Error::new(Kind::Setup, format!("`{named}` is not a host"));
        let authority: Authority = named.parse().map_err(bad)?;
        let host = HeaderValue::from_str(authority.as_str())
            .map_err(|_| Error::new(Kind::Setup, format!("`{named}` is not a host")))?;
        let scheme = if target.origin().is_https() { Scheme::HTTPS } else { Scheme::HTTP };
        Ok(Self {
            inner: Rc::new(Inner {
                clock: clock.clone(),
                connect,
                target,
                scheme,
                authority,
                host,
                idle: Rc::default(),
                scratch: Rc::default(),
                shared: http2::Slots::default(),
            }),
        })
    }

    /// The target.
    pub fn target(&self) -> &Target {
        &self.inner.target
    }

    /// Sends `request` and awaits the head of the answer. `trace` is filled on the way, its start at this call unless it
    /// has begun. To give up, drop the future: the connection is closed, and `trace` still tells how far it came.
    ///
    /// A kept connection that turns out to be closed before it gave a byte of the answer is replaced once by a new one,
    /// counted in the trace (W73). HTTP/2 needs `tokio::task::spawn_local` to work where this is called.
    pub async fn send(&self, request: Request, trace: &Trace) -> Result<Exchange, Error> {
        self.send_on(request, trace, self.inner.target.connections()).await
    }

    /// As [`Client::send`], with what becomes of this request's connection said for it alone.
    pub async fn send_on(
        &self,
        request: Request,
        trace: &Trace,
        connections: Connections,
    ) -> Result<Exchange, Error> {
        trace.begin(self.inner.clock.now());
        match self.inner.target.version() {
            HttpVersion::Http1 => self.inner.send_http1(&request, trace, connections).await,
            // Apart, as is the way to a connection below: what an attempt is made of is moved and kept with every one.
            HttpVersion::Http2 => Box::pin(self.inner.send_http2(&request, trace, connections)).await,
        }
    }

    /// Gives up every idle connection: the next request opens one. Streams that are open go on.
    pub fn forget_idle(&self) {
        self.inner.idle.clear();
        self.inner.shared.clear();
    }

    /// Opens one more idle connection, so that a request finds it. On HTTP/2 it is nothing where a connection has room.
    pub async fn open_ahead(&self) -> Result<(), Error> {
        match self.inner.target.version() {
            HttpVersion::Http1 => {
                let connection = self.inner.open_http1(&Trace::new()).await?;
                self.inner.idle.put(connection);
                Ok(())
            }
            HttpVersion::Http2 => {
                let lease = self.inner.lease_http2(Connections::Reuse);
                self.inner.open_http2(&lease, &Trace::new()).await.map(drop)
            }
        }
    }
}

impl<C: Connect> Inner<C> {
    async fn send_http1(
        &self,
        request: &Request,
        trace: &Trace,
        connections: Connections,
    ) -> Result<Exchange, Error> {
        let pool = (connections == Connections::Reuse).then_some(&self.idle);
        if let Some(pool) = pool
            && let Some(mut connection) = pool.take(|| trace.add_stale()).await
        {
            trace.set_reused(true);
            let before = connection.stamps().delivered();
            let answer = connection.round_trip(self.outgoing(request, trace)?).await;
            if answer.is_ok() || connection.stamps().delivered() > before {
                return self.exchange_http1(connection, answer, trace, Some(pool));
            }
            trace.add_stale();
        }
        let mut connection = Box::pin(self.open_http1(trace)).await?;
        let answer = connection.round_trip(self.outgoing(request, trace)?).await;
        self.exchange_http1(connection, answer, trace, pool)
    }

    async fn open_http1(&self, trace: &Trace) -> Result<Box<http1::Connection>, Error> {
        let stream = open(&self.connect, &self.target, &self.clock, trace).await?;
        Ok(http1::Connection::new(stream, &self.scratch))
    }

    fn exchange_http1(
        &self,
        connection: Box<http1::Connection>,
        answer: io::Result<response::Parts>,
        trace: &Trace,
        pool: Option<&Rc<http1::Pool>>,
    ) -> Result<Exchange, Error> {
        let head = answer.map_err(|cause| Error::head1(self.target.peer(), cause))?;
        let stamps = Rc::clone(connection.stamps());
        let source = Source::Http1 { connection: Some(connection), pool: pool.map(Rc::clone) };
        Exchange::new(head, source, &stamps, &self.target, trace)
    }

    async fn send_http2(
        &self,
        request: &Request,
        trace: &Trace,
        connections: Connections,
    ) -> Result<Exchange, Error> {
        let lease = self.lease_http2(connections);
        let was_open = lease.is_open();
        let mut sent = self.try_http2(lease, request, trace).await;
        if was_open && sent.as_ref().is_err_and(|failure| failure.never_begun) {
            trace.add_stale();
            sent = self.try_http2(self.lease_http2(connections), request, trace).await;
        }
        sent.map_err(|failure| failure.error)
    }

    fn lease_http2(&self, connections: Connections) -> http2::Lease {
        match connections {
            Connections::Reuse => self.shared.lease(self.target.streams_per_connection()),
            Connections::Fresh => http2::Lease::alone(),
        }
    }

    /// The connection of `lease`, opened where nobody has.
    async fn open_http2<'a>(
        &self,
        lease: &'a http2::Lease,
        trace: &Trace,
    ) -> Result<&'a http2::Connection, Error> {
        let connection = lease.connection(async {
            let stream = open(&self.connect, &self.target, &self.clock, trace).await?;
            let made = http2::Connection::new(stream, trace.opening()).await;
            made.map_err(|cause| Error::head(self.target.peer(), cause))
        });
        connection.await.inspect_err(|_| self.shared.retire(lease))
    }

    /// One request on the leased connection.
    async fn try_http2(
        &self,
        lease: http2::Lease,
        request: &Request,
        trace: &Trace,
    ) -> Result<Exchange, http2::Failure> {
        // Asked before it is awaited: who waits for another's handshake pays for it too.
        trace.set_reused(lease.is_open());
        let connection = self.open_http2(&lease, trace).await?;
        if !trace.reused() {
            trace.adopt(connection.opening());
        }
        let stamps = Rc::clone(connection.stamps());
        let dressed = self.dress(request, &stamps, trace)?;
        let answered = connection.round_trip(dressed, self.target.peer()).await;
        let answer = answered.inspect_err(|failure| {
            if failure.never_begun {
                self.shared.retire(&lease);
            }
        })?;
        let (head, body) = answer.into_parts();
        let source = Source::Http2 { body, _lease: lease };
        Ok(Exchange::new(head, source, &stamps, &self.target, trace)?)
    }

    /// The request as it goes out on HTTP/1.1.
    fn outgoing(&self, request: &Request, trace: &Trace) -> Result<Outgoing, Error> {
        let mut headers = self.headers(request);
        headers.entry(HOST).or_insert_with(|| self.host.clone());
        let uri = self.uri(&request.path)?;
        Ok(Outgoing::new(&request.method, &uri, &headers, request.body.clone(), trace))
    }

    /// The request as it goes out on HTTP/2.
    fn dress(
        &self,
        request: &Request,
        stamps: &Rc<Stamps>,
        trace: &Trace,
    ) -> Result<http::Request<Payload>, Error> {
        let mut dressed = http::Request::new(Payload::new(request.body.clone(), stamps, trace));
        *dressed.method_mut() = request.method.clone();
        *dressed.uri_mut() = self.uri(&request.path)?;
        *dressed.version_mut() = Version::HTTP_2;
        *dressed.headers_mut() = self.headers(request);
        Ok(dressed)
    }

    /// The headers of both.
    fn headers(&self, request: &Request) -> HeaderMap {
        let mut headers = request.headers.clone();
        for (name, value) in &mut headers {
            if carries_credentials(name) {
                value.set_sensitive(true);
            }
        }
        headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static("identity"));
        if let Route::Forward(proxy) = self.target.route()
            && let Some(authorization) = &proxy.authorization
        {
            headers.insert(PROXY_AUTHORIZATION, authorization.clone());
        }
        headers
    }

    /// A path for the origin itself on HTTP/1.1; the whole URL for a proxy and on HTTP/2.
    fn uri(&self, path: &PathAndQuery) -> Result<Uri, Error> {
        let direct = matches!(self.target.route(), Route::Direct | Route::Tunnel(_));
        let mut parts = http::uri::Parts::default();
        parts.path_and_query = Some(path.clone());
        if !direct || self.target.version() == HttpVersion::Http2 {
            parts.scheme = Some(self.scheme.clone());
            parts.authority = Some(self.authority.clone());
        }
        Uri::from_parts(parts)
            .map_err(|cause| Error::new(Kind::Setup, format!("`{path}` is not a path")).caused_by(cause))
    }
}

/// Whether a header's value is a secret, by its name: `authorization`, `x-api-key`, `cookie` and their kin.
fn carries_credentials(name: &HeaderName) -> bool {
    ["auth", "key", "token", "secret", "cookie"].iter().any(|mark| name.as_str().contains(mark))
}
