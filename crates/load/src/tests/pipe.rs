//! A provider at the far end of in-memory pipes, under virtual time: no socket, no waiting.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use inferometer_clock::{Clock, Mono};
use inferometer_transport::{Connect, Error, Trace};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

/// Bytes that a pipe holds.
const PIPE: usize = 64 * 1024;

/// What the server does with its `n`th request (from 0), on the pipe that it came through.
pub(super) type Script = dyn Fn(u64, Pipe) -> Pin<Box<dyn Future<Output = Pipe>>>;

/// Hands out pipes to a scripted server.
#[derive(Clone)]
pub(super) struct Provider {
    clock: Clock,
    script: Rc<Script>,
    pub(super) seen: Rc<Seen>,
    /// A connection takes so long.
    pub(super) connect: Duration,
}

/// What the server saw.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) arrivals: RefCell<Vec<Mono>>,
    /// The body of each.
    pub(super) bodies: RefCell<Vec<String>>,
    /// The connection that each came on, numbered from 0.
    pub(super) connections: RefCell<Vec<u32>>,
    opened: Cell<u32>,
    in_flight: Cell<u32>,
    pub(super) peak: Cell<u32>,
}

/// The server's end of one connection.
pub(super) struct Pipe {
    pub(super) clock: Clock,
    io: DuplexStream,
}

impl Provider {
    pub(super) fn new<F>(clock: &Clock, script: impl Fn(u64, Pipe) -> F + 'static) -> Self
    where
        F: Future<Output = Pipe> + 'static,
    {
        let script = Rc::new(move |n, pipe| Box::pin(script(n, pipe)) as Pin<Box<dyn Future<Output = Pipe>>>);
        Self { clock: clock.clone(), script, seen: Rc::default(), connect: Duration::ZERO }
    }

    async fn serve(self, mut pipe: Pipe) {
        let connection = self.seen.opened.replace(self.seen.opened.get() + 1);
        while let Some(body) = pipe.read_request().await {
            self.seen.bodies.borrow_mut().push(body);
            self.seen.connections.borrow_mut().push(connection);
            let n = {
                let mut arrivals = self.seen.arrivals.borrow_mut();
                arrivals.push(self.clock.now());
                arrivals.len() as u64 - 1
            };
            self.seen.in_flight.set(self.seen.in_flight.get() + 1);
            self.seen.peak.set(self.seen.peak.get().max(self.seen.in_flight.get()));
            pipe = (self.script)(n, pipe).await;
            self.seen.in_flight.set(self.seen.in_flight.get() - 1);
        }
    }
}

impl Connect for Provider {
    type Io = DuplexStream;

    async fn connect(&self, _host: &str, _port: u16, _trace: &Trace) -> Result<DuplexStream, Error> {
        self.clock.sleep(self.connect).await;
        let (near, far) = duplex(PIPE);
        tokio::task::spawn_local(self.clone().serve(Pipe { clock: self.clock.clone(), io: far }));
        Ok(near)
    }
}

impl Pipe {
    /// Reads one request whole, for its body; `None` where the client has gone.
    async fn read_request(&mut self) -> Option<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match self.io.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return None,
            }
        }
        let head = String::from_utf8_lossy(&head).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
        let mut body = vec![0; length.trim().parse().unwrap()];
        self.io.read_exact(&mut body).await.ok()?;
        String::from_utf8(body).ok()
    }

    pub(super) async fn wait(&self, ms: u64) {
        self.clock.sleep(Duration::from_millis(ms)).await;
    }

    /// Writes; a client that has gone is no error of the server.
    pub(super) async fn write(&mut self, text: &str) {
        let _ = self.io.write_all(text.as_bytes()).await;
    }

    /// The head of a stream.
    pub(super) async fn head(&mut self) {
        self.write(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        )
        .await;
    }

    /// One event.
    pub(super) async fn event(&mut self, data: &str) {
        self.write(&format!("{:x}\r\ndata: {data}\n\n\r\n", data.len() + 8)).await;
    }

    /// One piece of output.
    pub(super) async fn token(&mut self) {
        self.event(r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}"#).await;
    }

    /// Finish reason, usage, `[DONE]`, end of the body.
    pub(super) async fn done(&mut self, tokens: u64) {
        self.event(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#).await;
        self.event(&format!(
            r#"{{"choices":[],"usage":{{"prompt_tokens":7,"completion_tokens":{tokens}}}}}"#
        ))
        .await;
        self.event("[DONE]").await;
        self.write("0\r\n\r\n").await;
    }

    /// A whole answer of one token after `ms`.
    pub(super) async fn answer_after(mut self, ms: u64) -> Self {
        self.wait(ms).await;
        self.head().await;
        self.token().await;
        self.done(1).await;
        self
    }

    /// The same with `headers`, each ended by CRLF.
    pub(super) async fn answer_with(mut self, headers: &str, ms: u64) -> Self {
        self.wait(ms).await;
        self.write(&format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{headers}transfer-encoding: chunked\r\n\r\n"
        ))
        .await;
        self.token().await;
        self.done(1).await;
        self
    }

    /// An HTTP error with `headers`, each ended by CRLF.
    pub(super) async fn refuse(mut self, status: u16, headers: &str) -> Self {
        self.write(&format!("HTTP/1.1 {status} No\r\ncontent-length: 0\r\n{headers}\r\n")).await;
        self
    }

    /// A refusal in words.
    pub(super) async fn refuse_with(mut self, status: u16, words: &str) -> Self {
        let body = format!(r#"{{"error":{{"message":"{words}"}}}}"#);
        let length = body.len();
        self.write(&format!(
            "HTTP/1.1 {status} No\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
        .await;
        self
    }
}
