//! One HTTP/1.1 connection: a request written, the head of its answer read, then the body, a read at a time.
//!
//! Nothing stands between a read and its stamp, and nothing of a read is left behind: each is taken apart at once, in a
//! buffer that all connections of a thread share. So an open stream holds no buffer of its own, and its body's bytes
//! are met where the last read left the cache warm.

mod framing;
mod head;
mod outgoing;
mod pool;

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use http::response;
use tokio::io::{AsyncRead, ReadBuf};

use crate::stamped::Stamps;
use crate::stream::Stream;
use framing::{Framing, Taken};
pub(crate) use outgoing::Outgoing;
pub(crate) use pool::Pool;

/// The longest head of an answer.
const MAX_HEAD: usize = 64 * 1024;
/// The most that one read takes in: what a TLS record holds, and half of what the nearest cache does.
const READ_BYTES: usize = 16 * 1024;

/// The buffer that one thread's connections read into. Whoever reads takes it out and puts it back.
#[derive(Default)]
pub(crate) struct Scratch(Cell<Vec<u8>>);

impl Scratch {
    fn take(&self) -> Vec<u8> {
        let mut buffer = self.0.take();
        buffer.resize(READ_BYTES, 0);
        buffer
    }

    fn put(&self, buffer: Vec<u8>) {
        self.0.set(buffer);
    }
}

/// A connection. It makes progress only where it is polled, in the task of the request that it serves.
pub(crate) struct Connection {
    stream: Stream,
    stamps: Rc<Stamps>,
    scratch: Rc<Scratch>,
    /// Where the body ends that is being read.
    framing: Framing,
    /// The request, until the kernel has all of it.
    outgoing: Option<Outgoing>,
    /// Why it could not be sent. The server may still have answered.
    unsent: Option<io::Error>,
    /// What was read of a head, or behind it.
    ahead: Vec<u8>,
    /// Whether the server takes a further request.
    is_kept: bool,
}

impl Connection {
    pub(crate) fn new(stream: Stream, scratch: &Rc<Scratch>) -> Box<Self> {
        Box::new(Self {
            stamps: Rc::clone(stream.stamps()),
            stream,
            scratch: Rc::clone(scratch),
            framing: Framing::Length(0),
            outgoing: None,
            unsent: None,
            ahead: Vec::new(),
            is_kept: true,
        })
    }

    pub(crate) fn stamps(&self) -> &Rc<Stamps> {
        &self.stamps
    }

    /// Sends `request` and awaits the head of its answer, which the last read has completed. The answer may come before
    /// the request is out. Fails as [`Connection::poll_body`] does.
    pub(crate) async fn round_trip(&mut self, request: Outgoing) -> io::Result<response::Parts> {
        let is_head = request.is_head();
        self.outgoing = Some(request);
        let head = poll_fn(|cx| self.poll_head(cx)).await?;
        self.framing = framing::of(&head, is_head)?;
        self.is_kept = head::is_kept(&head) && self.framing.ends_itself() && self.unsent.is_none();
        Ok(head)
    }

    /// Takes the body's next bytes: what lies there already, else one read. Tells each piece in it to `sink`; ready with
    /// whether more may follow. Fails with `InvalidData` where what came is no HTTP, and else with how the connection
    /// ended.
    pub(crate) fn poll_body(
        &mut self,
        cx: &mut Context<'_>,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Poll<io::Result<bool>> {
        if self.outgoing.is_some() {
            self.poll_send(cx);
        }
        if self.framing.is_over() {
            return Poll::Ready(Ok(false));
        }
        if !self.ahead.is_empty() {
            let ahead = std::mem::take(&mut self.ahead);
            return Poll::Ready(self.deliver(&ahead, sink));
        }
        self.poll_read(cx, |own, bytes| match bytes {
            [] => own.framing.at_eof().map(|()| false),
            bytes => own.deliver(bytes, sink),
        })
    }

    /// Whether the body's end shows without the connection being closed.
    pub(crate) fn ends_itself(&self) -> bool {
        self.framing.ends_itself()
    }

    /// Whether a further request may be sent: both ways are over, and the server said that it goes on.
    pub(crate) fn is_reusable(&self) -> bool {
        self.is_kept && self.framing.is_over() && self.outgoing.is_none() && self.ahead.is_empty()
    }

    /// Whether a connection that was idle still stands, as far as this machine knows. One that speaks unasked is of no
    /// use either.
    fn is_quiet(&mut self, cx: &mut Context<'_>) -> bool {
        self.poll_read(cx, |_, _| Ok(())).is_pending()
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<response::Parts>> {
        loop {
            self.poll_send(cx);
            let before = self.ahead.len();
            let bytes = ready!(self.poll_read(cx, |own, bytes| {
                own.ahead.extend_from_slice(bytes);
                Ok(bytes.len())
            }));
            match bytes {
                Ok(0) => return Poll::Ready(Err(self.unsent.take().unwrap_or_else(closed_early))),
                Err(cause) => return Poll::Ready(Err(self.unsent.take().unwrap_or(cause))),
                Ok(_) => {}
            }
            if let Some((head, length)) = head::parse(&self.ahead, before)? {
                self.ahead.drain(..length);
                return Poll::Ready(Ok(head));
            }
            if self.ahead.len() > MAX_HEAD {
                return Poll::Ready(Err(unreadable("its head is above 64 KiB")));
            }
        }
    }

    /// One read, and what `take` makes of its bytes; of none at the connection's end.
    fn poll_read<T>(
        &mut self,
        cx: &mut Context<'_>,
        take: impl FnOnce(&mut Self, &[u8]) -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        let mut scratch = self.scratch.take();
        let mut buffer = ReadBuf::new(&mut scratch);
        let polled = Pin::new(&mut self.stream).poll_read(cx, &mut buffer);
        let taken = polled.map(|read| read.and_then(|()| take(self, buffer.filled())));
        self.scratch.put(scratch);
        taken
    }

    /// Tells the pieces of the body in `bytes`; whether more may follow.
    fn deliver(&mut self, mut bytes: &[u8], sink: &mut dyn FnMut(&[u8])) -> io::Result<bool> {
        loop {
            match self.framing.take(&mut bytes)? {
                Taken::Data(data) => sink(data),
                Taken::All => return Ok(true),
                Taken::End => {
                    // Nobody asked for what stands behind the end.
                    self.is_kept &= bytes.is_empty();
                    return Ok(false);
                }
            }
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) {
        let Some(outgoing) = &mut self.outgoing else { return };
        match outgoing.poll_leave(&mut self.stream, cx) {
            Poll::Pending => return,
            Poll::Ready(Ok(())) => outgoing.trace().set_sent(self.stamps.last_write()),
            Poll::Ready(Err(cause)) => {
                self.unsent = Some(cause);
                self.is_kept = false;
            }
        }
        self.outgoing = None;
    }
}

/// What came is no HTTP.
fn unreadable(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// The connection's end, where more was announced.
fn closed_early() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the connection was closed")
}
