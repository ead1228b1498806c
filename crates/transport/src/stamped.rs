//! The wrapper round the socket that stamps: below TLS, below decompression.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use inferometer_clock::{Clock, Mono};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{Pipe, Trace};

/// The socket, shared between hyper and who waits for it. One virtual call a read keeps hyper from being compiled anew
/// for every kind of pipe.
pub(crate) type Socket = Rc<RefCell<dyn Pipe>>;

/// How many reads a poll may make. See [`Stamps::one_read_a_poll`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gate {
    Off,
    Open,
    Spent,
}

/// How the last read ended: its last two bytes, and where in memory they end.
#[derive(Clone, Copy, Default)]
struct Tail {
    end: usize,
    bytes: [u8; 2],
}

/// The stamps of one connection.
pub(crate) struct Stamps {
    last_read: Cell<Mono>,
    tail: Cell<Tail>,
    closed: Cell<Option<Mono>>,
    last_write: Cell<Mono>,
    written: Cell<u64>,
    delivered: Cell<u64>,
    gate: Cell<Gate>,
    /// Requests whose last byte hyper has taken, and the bytes that had been written before.
    leaving: RefCell<Vec<(Trace, u64)>>,
}

impl Stamps {
    pub(crate) fn new() -> Rc<Self> {
        Rc::new(Self {
            last_read: Cell::new(Mono::default()),
            tail: Cell::default(),
            closed: Cell::new(None),
            last_write: Cell::new(Mono::default()),
            written: Cell::new(0),
            delivered: Cell::new(0),
            gate: Cell::new(Gate::Off),
            leaving: RefCell::new(Vec::new()),
        })
    }

    /// The last read that delivered bytes.
    pub(crate) fn last_read(&self) -> Mono {
        self.last_read.get()
    }

    /// Whether the last read held nothing behind `data`, or (`in_chunks`) only the line end of its chunk. `data` is what
    /// hyper last made of it: a piece of the very memory that was read into. Only without TLS, which reads for itself.
    pub(crate) fn is_used_up_by(&self, data: &[u8], in_chunks: bool) -> bool {
        let Tail { end, bytes } = self.tail.get();
        match end.wrapping_sub(data.as_ptr_range().end.addr()) {
            0 => true,
            1 => in_chunks && bytes[1] == b'\r',
            2 => in_chunks && bytes == *b"\r\n",
            _ => false,
        }
    }

    fn record_read(&self, at: Mono, bytes: &[u8]) {
        self.last_read.set(at);
        let last =
            bytes.last_chunk().copied().unwrap_or_else(|| [0, bytes.first().copied().unwrap_or_default()]);
        self.tail.set(Tail { end: bytes.as_ptr_range().end.addr(), bytes: last });
        if self.gate.get() == Gate::Open {
            self.gate.set(Gate::Spent);
        }
    }

    /// The read that found the connection closed or broken.
    pub(crate) fn closed(&self) -> Option<Mono> {
        self.closed.get()
    }

    /// Bytes handed up to HTTP so far, after TLS: a close alert is not an answer.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered.get()
    }

    pub(crate) fn add_delivered(&self, bytes: usize) {
        self.delivered.set(self.delivered.get() + bytes as u64);
    }

    /// Lets the coming poll make one read. Until the head is in, hyper would read on into the body within the same
    /// poll, and the head would get the stamp of a later read.
    pub(crate) fn one_read_a_poll(&self) {
        self.gate.set(Gate::Open);
    }

    /// Lifts the limit of [`Stamps::one_read_a_poll`].
    pub(crate) fn any_reads(&self) {
        self.gate.set(Gate::Off);
    }

    /// The last byte of `trace`'s request has left for the socket: the next completed flush stamps it as sent.
    pub(crate) fn leaving(&self, trace: &Trace) {
        self.leaving.borrow_mut().push((trace.clone(), self.written.get()));
    }

    fn record_write(&self, clock: &Clock, bytes: usize) {
        self.last_write.set(clock.now());
        self.written.set(self.written.get() + bytes as u64);
    }

    /// Everything buffered above has been accepted by the kernel.
    fn record_flush(&self) {
        let mut leaving = self.leaving.borrow_mut();
        if leaving.is_empty() {
            return;
        }
        let (written, at) = (self.written.get(), self.last_write.get());
        leaving.retain(|(trace, before)| {
            let still_here = written == *before;
            if !still_here {
                trace.set_sent(at);
            }
            still_here
        });
    }
}

/// A socket whose reads and writes are stamped.
pub(crate) struct StampedIo {
    pipe: Socket,
    clock: Clock,
    stamps: Rc<Stamps>,
}

impl StampedIo {
    pub(crate) fn new(pipe: impl Pipe, clock: &Clock, stamps: &Rc<Stamps>) -> Self {
        Self { pipe: Rc::new(RefCell::new(pipe)), clock: clock.clone(), stamps: Rc::clone(stamps) }
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.pipe
    }
}

impl AsyncRead for StampedIo {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.stamps.gate.get() == Gate::Spent {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buf.filled().len();
        let polled = Pin::new(&mut *self.pipe.borrow_mut()).poll_read(cx, buf);
        if polled.is_pending() {
            return polled;
        }
        let at = self.clock.now();
        if buf.filled().len() > before {
            self.stamps.record_read(at, &buf.filled()[before..]);
        } else {
            self.stamps.closed.set(Some(at));
        }
        polled
    }
}

impl AsyncWrite for StampedIo {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut *self.pipe.borrow_mut()).poll_write(cx, buf);
        if let Poll::Ready(Ok(bytes)) = polled {
            self.stamps.record_write(&self.clock, bytes);
        }
        polled
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut *self.pipe.borrow_mut()).poll_write_vectored(cx, bufs);
        if let Poll::Ready(Ok(bytes)) = polled {
            self.stamps.record_write(&self.clock, bytes);
        }
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.pipe.borrow().is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut *self.pipe.borrow_mut()).poll_flush(cx);
        if let Poll::Ready(Ok(())) = polled {
            self.stamps.record_flush();
        }
        polled
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.pipe.borrow_mut()).poll_shutdown(cx)
    }
}
