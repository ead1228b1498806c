//! A connection's bytes as HTTP sees them: plain, or through TLS.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use crate::stamped::{StampedIo, Stamps};

/// A stamped socket, with TLS over it or not.
pub(crate) struct Stream {
    layer: Layer,
    stamps: Rc<Stamps>,
}

enum Layer {
    Plain(StampedIo),
    Tls(Box<TlsStream<StampedIo>>),
}

/// Calls one method of whichever layer there is.
macro_rules! layer {
    ($stream:expr, $io:ident => $call:expr) => {
        match &mut $stream.layer {
            Layer::Plain($io) => $call,
            Layer::Tls($io) => $call,
        }
    };
}

impl Stream {
    pub(crate) fn plain(io: StampedIo, stamps: Rc<Stamps>) -> Self {
        Self { layer: Layer::Plain(io), stamps }
    }

    pub(crate) fn tls(io: TlsStream<StampedIo>, stamps: Rc<Stamps>) -> Self {
        Self { layer: Layer::Tls(Box::new(io)), stamps }
    }

    pub(crate) fn stamps(&self) -> &Rc<Stamps> {
        &self.stamps
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = layer!(self, io => Pin::new(io).poll_read(cx, buf));
        self.stamps.add_delivered(buf.filled().len() - before);
        polled
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        layer!(self, io => Pin::new(io).poll_write(cx, buf))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        layer!(self, io => Pin::new(io).poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        match &self.layer {
            Layer::Plain(io) => io.is_write_vectored(),
            Layer::Tls(io) => io.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        layer!(self, io => Pin::new(io).poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        layer!(self, io => Pin::new(io).poll_shutdown(cx))
    }
}
