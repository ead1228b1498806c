//! The wrapper round the socket that stamps: below TLS, below decompression.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use inferometer_clock::{Clock, Mono};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{Pipe, Trace};

/// The stamps of one connection.
pub(crate) struct Stamps {
    last_read: Cell<Mono>,
    closed: Cell<Option<Mono>>,
    last_write: Cell<Mono>,
    written: Cell<u64>,
    delivered: Cell<u64>,
    /// Requests whose last byte hyper has taken, and the bytes that had been written before.
    leaving: RefCell<Vec<(Trace, u64)>>,
}

impl Stamps {
    pub(crate) fn new() -> Rc<Self> {
        Rc::new(Self {
            last_read: Cell::new(Mono::default()),
            closed: Cell::new(None),
            last_write: Cell::new(Mono::default()),
            written: Cell::new(0),
            delivered: Cell::new(0),
            leaving: RefCell::new(Vec::new()),
        })
    }

    /// The last read that delivered bytes.
    pub(crate) fn last_read(&self) -> Mono {
        self.last_read.get()
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

    /// The last write that the kernel took.
    pub(crate) fn last_write(&self) -> Mono {
        self.last_write.get()
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
    /// One virtual call a read keeps TLS and hyper from being compiled anew for every kind of pipe.
    pipe: Box<dyn Pipe>,
    clock: Clock,
    stamps: Rc<Stamps>,
}

impl StampedIo {
    pub(crate) fn new(pipe: impl Pipe, clock: &Clock, stamps: &Rc<Stamps>) -> Self {
        Self { pipe: Box::new(pipe), clock: clock.clone(), stamps: Rc::clone(stamps) }
    }
}

impl AsyncRead for StampedIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut *self.pipe).poll_read(cx, buf);
        if polled.is_pending() {
            return polled;
        }
        let at = self.clock.now();
        if buf.filled().len() > before {
            self.stamps.last_read.set(at);
        } else {
            self.stamps.closed.set(Some(at));
        }
        polled
    }
}

impl AsyncWrite for StampedIo {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut *self.pipe).poll_write(cx, buf);
        if let Poll::Ready(Ok(bytes)) = polled {
            self.stamps.record_write(&self.clock, bytes);
        }
        polled
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut *self.pipe).poll_write_vectored(cx, bufs);
        if let Poll::Ready(Ok(bytes)) = polled {
            self.stamps.record_write(&self.clock, bytes);
        }
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.pipe.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut *self.pipe).poll_flush(cx);
        if let Poll::Ready(Ok(())) = polled {
            self.stamps.record_flush();
        }
        polled
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.pipe).poll_shutdown(cx)
    }
}
