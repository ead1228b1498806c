//! A request on its way out.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, Method, Uri};
use tokio::io::AsyncWrite;

use crate::Trace;

/// A request as bytes, and what of them has not left yet. They may hold a key: it is not printed.
pub(crate) struct Outgoing {
    head: Bytes,
    body: Bytes,
    is_head: bool,
    trace: Trace,
}

impl Outgoing {
    /// `trace` is told when the last byte has left.
    pub(crate) fn new(method: &Method, uri: &Uri, headers: &HeaderMap, body: Bytes, trace: &Trace) -> Self {
        let mut head = Vec::with_capacity(512);
        let mut put = |parts: &[&[u8]]| parts.iter().for_each(|part| head.extend_from_slice(part));
        put(&[method.as_str().as_bytes(), b" ", uri.to_string().as_bytes(), b" HTTP/1.1\r\n"]);
        // The host comes first, for servers that choose by it (RFC 9110, section 7.2). Where the body ends is ours to say.
        let hosts = headers.get_all(HOST).iter().map(|value| (&HOST, value));
        let others =
            headers.iter().filter(|(name, _)| ![HOST, CONTENT_LENGTH, TRANSFER_ENCODING].contains(name));
        for (name, value) in hosts.chain(others) {
            put(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"]);
        }
        if !body.is_empty() || [Method::POST, Method::PUT, Method::PATCH].contains(method) {
            put(&[b"content-length: ", body.len().to_string().as_bytes(), b"\r\n"]);
        }
        put(&[b"\r\n"]);
        Self { head: head.into(), body, is_head: method == Method::HEAD, trace: trace.clone() }
    }

    /// Whether it asks for a head alone.
    pub(crate) fn is_head(&self) -> bool {
        self.is_head
    }

    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Ready once every byte has been accepted, below TLS as well.
    pub(crate) fn poll_leave(
        &mut self,
        stream: &mut (impl AsyncWrite + Unpin),
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while self.head.has_remaining() || self.body.has_remaining() {
            let parts = [IoSlice::new(&self.head), IoSlice::new(&self.body)];
            let first = usize::from(self.head.is_empty());
            let written = ready!(Pin::new(&mut *stream).poll_write_vectored(cx, &parts[first..]))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let of_head = written.min(self.head.len());
            self.head.advance(of_head);
            self.body.advance(written - of_head);
        }
        Pin::new(stream).poll_flush(cx)
    }
}
