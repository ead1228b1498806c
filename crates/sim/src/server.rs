//! The server: its listener, its thread, and the pages beside the answers.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use inferometer_clock::{Clock, Timers};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use crate::book::Book;
use crate::config::Config;
use crate::connection::Client;
use crate::dialect::{Address, Dialect};
use crate::http::Head;
use crate::reply::Sheet;
use crate::stream::Stream;
use crate::tls;
use crate::truth::{Log, Truth};

/// Connections that the kernel holds until they are accepted: a burst must not lose its first packets.
const BACKLOG: i32 = 8_192;

/// The most connections open at once; more are closed as they come.
const MAX_CONNECTIONS: u64 = 20_000;

/// Rest between two looks at whether answers are over.
const SETTLE_REST: Duration = Duration::from_millis(2);

/// Rest after a failed accept, which means that the process has no file descriptor left.
const ACCEPT_REST: Duration = Duration::from_millis(10);

/// Starts simulated providers.
#[derive(Debug)]
pub struct Server;

/// A simulated provider at work. Stops when it is dropped.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub addr: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) clock: Clock,
    /// What answers are paced by.
    pub(crate) timers: Timers,
    pub(crate) book: Book,
    log: Mutex<Log>,
    /// Requests that showed the key.
    let_in: AtomicU64,
}

impl Server {
    /// Listens as `config` says and serves on a thread of its own.
    ///
    /// Fails where the address cannot be had, the certificate or a recording cannot be read, or the values do not go together.
    pub fn start(config: Config) -> io::Result<Running> {
        config.check().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let acceptor = config.tls.as_ref().map(tls::acceptor).transpose()?;
        raise_file_limit();
        let listener = listen(config.listen)?;
        let addr = listener.local_addr()?;
        let clock = Clock::monotonic();
        let shared = Arc::new(Shared {
            let_in: AtomicU64::new(0),
            timers: Timers::new(&clock),
            book: Book::new(&config)?,
            log: Mutex::new(Log::new(config.models.clone())),
            config,
            clock,
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let (at_work, timers) = (Arc::clone(&shared), shared.timers.clone());
        let thread = std::thread::Builder::new().name("sim".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, acceptor, at_work) => {}
                    _ = timers.run() => {}
                    _ = stopped => {}
                }
            });
        })?;
        Ok(Running { addr, shared, stop: Some(stop), thread: Some(thread) })
    }
}

impl Running {
    /// `http://ADDRESS`, or `https://localhost:PORT` under TLS; without `/v1`.
    pub fn base_url(&self) -> String {
        if self.shared.config.tls.is_some() {
            format!("https://localhost:{}", self.addr.port())
        } else {
            format!("http://{}", self.addr)
        }
    }

    /// What the server has done so far.
    pub fn truth(&self) -> Truth {
        self.shared.log().truth().clone()
    }

    /// What the server has done, once no answer is under way any more, or after `patience`.
    ///
    /// A client has the last byte of its answer a moment before the server has written the record of it.
    pub fn settled(&self, patience: Duration) -> Truth {
        let clock = &self.shared.clock;
        let until = clock.now() + patience;
        while self.shared.log().truth().counters.in_flight > 0 && clock.now() < until {
            inferometer_clock::block_until(clock.now() + SETTLE_REST);
        }
        self.truth()
    }

    /// Forgets what it has done, and counts from the start again.
    pub fn reset(&self) {
        self.shared.reset();
    }

    /// Serves until the thread ends, which it does only when the process does.
    pub fn join(mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been printed there.
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // A thread that has ended needs no telling.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reset(&self) {
        self.log().reset();
        self.book.reset();
    }

    /// Where a request goes, behind each prefix that it may be behind.
    fn addresses<'h>(&self, head: &'h Head) -> impl Iterator<Item = Address<'h>> {
        Address::behind(&self.config.prefixes, head.path(), head.query())
    }

    /// The dialect of a question to a model, whatever its method, and where it goes; none for everything else.
    pub(crate) fn dialect<'h>(&self, head: &'h Head) -> Option<(Dialect, Address<'h>)> {
        self.addresses(head).find_map(Dialect::heard)
    }

    /// Whether a request in `dialect` shows the key that the configuration asks for; each that does uses it up.
    pub(crate) fn lets_in(&self, head: &Head, dialect: Dialect) -> bool {
        let Some(key) = &self.config.require_key else { return true };
        let Some(each) = self.config.key_requests else { return dialect.shows(head, key) };
        let shows = |before: u64| dialect.shows(head, &format!("{key}-{}", before / each.max(1) + 1));
        let count = |before: u64| shows(before).then(|| before.saturating_add(1));
        self.let_in.fetch_update(Relaxed, Relaxed, count).is_ok()
    }

    /// The answer to a request without the right key. A key that changes is repeated in it, as some servers do.
    pub(crate) fn no_key(&self, head: &Head, dialect: Dialect) -> Sheet {
        let shown = head.bearer().or_else(|| head.header("x-api-key")).or_else(|| head.header("api-key"));
        let shown = shown.filter(|_| self.config.key_requests.is_some());
        let shown = shown.map_or_else(String::new, |shown| format!(": {shown}"));
        dialect.error(401, "invalid_api_key", &format!("Incorrect API key provided{shown}"))
    }

    /// The answer to a request that is no question to a model.
    pub(crate) fn page(&self, head: &Head) -> Sheet {
        match (head.method.as_str(), head.path()) {
            ("GET", "/health") => Sheet::json(200, r#"{"status":"ok"}"#),
            ("GET", "/truth") => match serde_json::to_vec(self.log().truth()) {
                Ok(truth) => Sheet::json(200, truth),
                Err(error) => Dialect::CHAT.error(500, "internal", &error.to_string()),
            },
            ("DELETE", "/truth") => {
                self.reset();
                Sheet::json(200, "{}")
            }
            ("GET", _) if self.addresses(head).any(|at| at.path == "/v1/models") => self.models(head),
            (_, path) => {
                let known = self.dialect(head).map(|(dialect, _)| dialect);
                let status = if known.is_some() { 405 } else { 404 };
                let message = format!("no {} {path} here", head.method);
                known.unwrap_or(Dialect::CHAT).error(status, "not_found", &message)
            }
        }
    }

    fn models(&self, head: &Head) -> Sheet {
        if !Dialect::all().any(|dialect| self.lets_in(head, dialect)) {
            return self.no_key(head, Dialect::CHAT);
        }
        let model = |name| serde_json::json!({"id": name, "object": "model", "owned_by": "sim"});
        let data: Vec<_> = self.book.names().into_iter().map(model).collect();
        Sheet::json(200, serde_json::json!({"object": "list", "data": data}).to_string())
    }
}

fn listen(addr: SocketAddr) -> io::Result<StdListener> {
    let socket = socket2::Socket::new(socket2::Domain::for_address(addr), socket2::Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&addr.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

async fn accept(listener: StdListener, acceptor: Option<TlsAcceptor>, shared: Arc<Shared>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    loop {
        let Ok((tcp, _)) = listener.accept().await else {
            shared.clock.sleep(ACCEPT_REST).await;
            continue;
        };
        let number = {
            let mut log = shared.log();
            let counters = log.counters();
            if counters.open_connections >= MAX_CONNECTIONS {
                counters.refused_connections += 1;
                continue;
            }
            counters.connections += 1;
            counters.open_connections += 1;
            counters.connections
        };
        tokio::spawn(serve(Arc::clone(&shared), tcp, acceptor.clone(), number));
    }
}

async fn serve(shared: Arc<Shared>, tcp: TcpStream, acceptor: Option<TlsAcceptor>, number: u64) {
    // Without it small writes wait for the client's acknowledgement.
    let _ = tcp.set_nodelay(true);
    let stream = match acceptor {
        None => Some(Stream::plain(&shared.clock, tcp)),
        Some(acceptor) => acceptor.accept(tcp).await.ok().map(|tls| Stream::tls(&shared.clock, tls)),
    };
    if let Some(stream) = stream {
        let shared = Arc::clone(&shared);
        Client { shared, stream, number, buffer: Vec::new(), requests: 0 }.serve().await;
    }
    let mut log = shared.log();
    let counters = log.counters();
    counters.open_connections = counters.open_connections.saturating_sub(1);
}

/// Lets this process open as many files as it may. Where it fails, accepting fails later and rests.
#[cfg(unix)]
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

#[cfg(not(unix))]
fn raise_file_limit() {}
