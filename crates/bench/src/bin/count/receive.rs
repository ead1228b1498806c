//! Streams over in-memory pipes on one thread, through the client's own receiving path: every read delivers one event,
//! so that each event costs a wake-up, as those of a server do that sends token by token.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, Method};
use inferometer_clock::Clock;
use inferometer_load::{Control, receive};
use inferometer_transport::{Client, Connect, Error, Options, Request, Target, Trace};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::task::{JoinHandle, spawn_local, yield_now};

/// Streams side by side.
const STREAMS: usize = 64;
/// Events of each.
pub(crate) const EVENTS: usize = 500;

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// A shard's thread with its streams, before the first request.
pub(crate) struct Shard {
    runtime: LocalRuntime,
    clock: Clock,
    client: Client<Pipes>,
    far: Ends,
    /// What the server writes, one read each.
    writes: Vec<Bytes>,
}

impl Shard {
    pub(crate) fn new(events: &[String]) -> Result<Self, Box<dyn std::error::Error>> {
        // The real clock is read from the vDSO, which valgrind does not let a program find.
        let (clock, far) = (Clock::virtual_time(), Ends::default());
        let target = Target::new("http://server", &Options::default())?;
        let chunks = events.iter().map(|event| format!("{:x}\r\n{event}\r\n", event.len()));
        let writes = std::iter::once(HEAD.to_owned()).chain(chunks).chain(["0\r\n\r\n".to_owned()]);
        Ok(Self {
            runtime: Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?,
            client: Client::new(&clock, Pipes(Rc::clone(&far)), target)?,
            clock,
            far,
            writes: writes.map(Bytes::from).collect(),
        })
    }

    /// Output events received.
    pub(crate) fn run(self) -> u64 {
        let Self { runtime, clock, client, far, writes } = self;
        let control = Control::default();
        runtime.block_on(async {
            let ask = || {
                let (clock, client, control) = (clock.clone(), client.clone(), control.clone());
                spawn_local(async move { receive(&clock, &client, request(), &control).await })
            };
            let streams: Vec<JoinHandle<usize>> = (0..STREAMS).map(|_| ask()).collect();
            while far.borrow().len() < STREAMS {
                yield_now().await;
            }
            for write in writes {
                far.borrow().iter().for_each(|end| end.borrow_mut().write(write.clone()));
                while far.borrow().iter().any(|end| !end.borrow().written.is_empty()) {
                    yield_now().await;
                }
            }
            let mut received = 0;
            for stream in streams {
                received += stream.await.unwrap_or_default() as u64;
            }
            received
        })
    }
}

fn request() -> Request {
    Request {
        method: Method::POST,
        path: PathAndQuery::from_static("/v1/chat/completions"),
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{\"stream\":true}"),
    }
}

/// The server's ends.
type Ends = Rc<RefCell<Vec<Rc<RefCell<End>>>>>;

/// What lies in a pipe, and who waits for it.
#[derive(Default)]
struct End {
    written: VecDeque<Bytes>,
    reader: Option<Waker>,
}

impl End {
    fn write(&mut self, bytes: Bytes) {
        self.written.push_back(bytes);
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    fn wait(&mut self, cx: &Context<'_>) {
        if !self.reader.as_ref().is_some_and(|reader| reader.will_wake(cx.waker())) {
            self.reader = Some(cx.waker().clone());
        }
    }
}

/// Opens pipes whose far ends it keeps.
struct Pipes(Ends);

impl Connect for Pipes {
    type Io = Near;

    async fn connect(&self, _host: &str, _port: u16, _trace: &Trace) -> Result<Near, Error> {
        let end = Rc::default();
        self.0.borrow_mut().push(Rc::clone(&end));
        Ok(Near(end))
    }
}

/// The client's end. What is written to it is nobody's concern.
struct Near(Rc<RefCell<End>>);

impl AsyncRead for Near {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut end = self.0.borrow_mut();
        let Some(bytes) = end.written.pop_front() else {
            end.wait(cx);
            return Poll::Pending;
        };
        if bytes.len() > buf.remaining() {
            return Poll::Ready(Err(io::ErrorKind::StorageFull.into()));
        }
        buf.put_slice(&bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Near {
    fn poll_write(self: Pin<&mut Self>, _cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
