//! Runtimes, pipes and raw servers for the tests.

use std::cell::Cell;
use std::future::Future;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, Method};
use inferometer_clock::Clock;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{LocalSet, spawn_local};

use crate::{Client, Connect, Error, Exchange, Frame, Options, Request, Sockets, Target, Trace};

/// Runs `test` on one thread where `spawn_local` works; in virtual time that jumps from timer to timer.
pub(super) fn in_virtual_time<T>(test: impl AsyncFnOnce(Clock) -> T) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(LocalSet::new().run_until(async { test(Clock::virtual_time()).await }))
}

/// As [`in_virtual_time`], in real time. Hangs are cut by the caller's own reads.
pub(super) fn in_real_time<T>(test: impl AsyncFnOnce(Clock) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(LocalSet::new().run_until(async { test(Clock::monotonic()).await }))
}

/// A client of `http://server` that reuses its connections, over whatever `connect` makes.
pub(super) fn client_over<C: Connect>(clock: &Clock, connect: C) -> Client<C> {
    Client::new(clock, connect, Target::new("http://server", &Options::default()).unwrap()).unwrap()
}

/// Connects by handing the far end of a pipe to a server that it spawns. Counts the connections.
pub(super) struct Pipes<S> {
    pub(super) serve: S,
    pub(super) opened: Rc<Cell<usize>>,
}

impl<S, F> Pipes<S>
where
    S: Fn(DuplexStream, usize) -> F,
    F: Future<Output = ()> + 'static,
{
    /// `serve` gets the far end and the connection's number, from 0.
    pub(super) fn new(serve: S) -> Self {
        Self { serve, opened: Rc::default() }
    }
}

impl<S, F> Connect for Pipes<S>
where
    S: Fn(DuplexStream, usize) -> F,
    F: Future<Output = ()> + 'static,
{
    type Io = DuplexStream;

    async fn connect(&self, _host: &str, _port: u16, _trace: &Trace) -> Result<DuplexStream, Error> {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let number = self.opened.replace(self.opened.get() + 1);
        spawn_local((self.serve)(far, number));
        Ok(near)
    }
}

/// A raw server on a socket: `serve` gets each connection with its number.
pub(super) async fn listen<F>(serve: impl Fn(TcpStream, usize) -> F + 'static) -> SocketAddr
where
    F: Future<Output = ()> + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    spawn_local(async move {
        for number in 0.. {
            let (socket, _) = listener.accept().await.unwrap();
            socket.set_nodelay(true).unwrap();
            spawn_local(serve(socket, number));
        }
    });
    address
}

/// A client over sockets.
pub(super) fn socket_client(clock: &Clock, url: &str, options: &Options) -> Client {
    Client::new(clock, Sockets::new(clock), Target::new(url, options).unwrap()).unwrap()
}

/// A POST with a small body.
pub(super) fn post() -> Request {
    Request {
        method: Method::POST,
        path: PathAndQuery::from_static("/v1/chat/completions?x=1"),
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{\"stream\":true}"),
    }
}

/// Reads one request (head, and a body of its content-length) and returns it; `None` once the client has closed.
pub(super) async fn read_request(io: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(io.read_u8().await.ok()?);
    }
    let head = String::from_utf8(request.clone()).unwrap();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().unwrap());
    let start = request.len();
    request.resize(start + length, 0);
    io.read_exact(&mut request[start..]).await.ok()?;
    Some(String::from_utf8(request).unwrap())
}

/// Writes `bytes` at once.
pub(super) async fn say(io: &mut (impl AsyncWrite + Unpin), bytes: impl AsRef<[u8]>) {
    // A client that has gone is what some tests are about.
    let _ = io.write_all(bytes.as_ref()).await;
    let _ = io.flush().await;
}

/// One chunk of a chunked body.
pub(super) fn chunk(data: &str) -> String {
    format!("{:x}\r\n{data}\r\n", data.len())
}

/// A head that announces a chunked event stream.
pub(super) const CHUNKED: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// Reads to the end; the frames, and the error that ended them, if one did.
pub(super) async fn drain(exchange: &mut Exchange) -> (Vec<Frame>, Option<Error>) {
    let mut frames = Vec::new();
    while let Some(frame) = exchange.next().await {
        match frame {
            Ok(frame) => frames.push(frame),
            Err(error) => return (frames, Some(error)),
        }
    }
    (frames, None)
}

/// The bytes of `frames`, joined.
pub(super) fn text(frames: &[Frame]) -> String {
    frames.iter().map(|frame| String::from_utf8_lossy(&frame.data).into_owned()).collect()
}

/// Sends one request and reads its answer to the end.
pub(super) async fn ask<C: Connect>(client: &Client<C>) -> (Trace, Result<String, Error>) {
    let trace = Trace::new();
    let answer = async {
        let mut exchange = client.send(post(), &trace).await?;
        let (frames, error) = drain(&mut exchange).await;
        error.map_or_else(|| Ok(text(&frames)), Err)
    };
    let answer = answer.await;
    (trace, answer)
}

/// Milliseconds.
pub(super) const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// An authority made for one test, and a server's side of TLS with a certificate of it.
pub(super) struct Authority {
    /// Its certificate, PEM.
    pub(super) pem: String,
    /// A server whose certificate is for the names given.
    pub(super) server: Arc<rustls::ServerConfig>,
}

impl Authority {
    /// Signs a certificate for `names`; the server offers `alpn`.
    pub(super) fn signing(names: &[&str], alpn: &[&[u8]]) -> Self {
        let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority =
            rcgen::CertifiedIssuer::self_signed(params, rcgen::KeyPair::generate().unwrap()).unwrap();
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let key = rcgen::KeyPair::generate().unwrap();
        let leaf = rcgen::CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut server = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], key.into())
            .unwrap();
        server.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        Self { pem: authority.pem(), server: Arc::new(server) }
    }

    /// Its certificate in a file.
    pub(super) fn file(&self) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &self.pem).unwrap();
        file
    }
}
