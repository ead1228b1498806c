//! An answer, frame by frame.

use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, Response, StatusCode, Version, response};
use hyper::body::{Body, Incoming};
use inferometer_clock::Mono;

use crate::inflate::Inflate;
use crate::stamped::Stamps;
use crate::{Error, Kind, Target, Trace, http1, http2};

/// A piece of a body, decompressed.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The bytes; never empty.
    pub data: Bytes,
    /// The socket read that delivered the last of them. On HTTP/2 the last read before the frame was taken.
    pub at: Mono,
}

/// An answer whose head is in. Read to its end it gives its connection back; dropped before, it closes it (HTTP/1.1) or
/// resets its stream (HTTP/2).
pub struct Exchange {
    head: response::Parts,
    source: Source,
    inflate: Option<Inflate>,
    /// Compressed bytes of the last frame that are not decoded yet, and that frame's stamp.
    undecoded: (Bytes, Mono),
    ended: bool,
    stamps: Rc<Stamps>,
    target: Target,
    trace: Trace,
}

/// The head's first line; headers may hold cookies.
impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exchange({:?} {})", self.head.version, self.head.status)
    }
}

/// Where the body comes from.
pub(crate) enum Source {
    Http1 {
        connection: Option<Box<http1::Connection>>,
        pool: Option<Rc<http1::Pool>>,
        body: Incoming,
        in_chunks: bool,
        next: Next,
    },
    Http2 {
        body: Incoming,
        _lease: http2::Lease,
    },
}

/// Where the next bytes of an HTTP/1.1 body are to be looked for first.
#[derive(Clone, Copy)]
pub(crate) enum Next {
    /// In the body: hyper may hold a frame.
    Body,
    /// In the socket, which hyper reads when it is driven: it holds none.
    Driver,
    /// In the socket, without hyper: the frame taken last was the last of its read.
    Socket,
}

impl Exchange {
    /// Fails where the body is in an encoding that cannot be decoded.
    pub(crate) fn new(
        head: response::Parts,
        source: Source,
        stamps: &Rc<Stamps>,
        target: &Target,
        trace: &Trace,
    ) -> Result<Self, Error> {
        trace.set_headers(stamps.last_read(), head.version);
        Ok(Self {
            inflate: decoder(&head.headers, target.peer())?,
            head,
            source,
            undecoded: (Bytes::new(), Mono::default()),
            ended: false,
            stamps: Rc::clone(stamps),
            target: target.clone(),
            trace: trace.clone(),
        })
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.head.status
    }

    /// The headers, as they came.
    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The HTTP version.
    pub fn version(&self) -> Version {
        self.head.version
    }

    /// Whether the body came compressed: gaps between its frames may be the encoder's (W71).
    pub fn compressed(&self) -> bool {
        self.inflate.is_some()
    }

    /// Whether stamps are upper bounds: on HTTP/2 other streams' reads may come between a frame and its stamp.
    pub fn stamp_bound(&self) -> bool {
        matches!(self.source, Source::Http2 { .. })
    }

    /// The next frame; `None` once the body has ended as it should. After an error nothing follows. Safe to drop and call
    /// again.
    pub async fn next(&mut self) -> Option<Result<Frame, Error>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As [`Exchange::next`], for hand-written futures.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame, Error>>> {
        loop {
            if !self.undecoded.0.is_empty() {
                match self.decode() {
                    Ok(None) => {}
                    decoded => return Poll::Ready(decoded.transpose()),
                }
                continue;
            }
            if self.ended {
                return Poll::Ready(None);
            }
            match ready!(self.source.poll_data(cx)) {
                Some(Ok(data)) if data.is_empty() => {}
                Some(Ok(data)) => {
                    let at = self.stamps.last_read();
                    self.trace.set_byte(at);
                    // Until the request is out hyper has to be driven for its sake too.
                    self.source.note_frame(&data, self.trace.sent().is_some());
                    if self.inflate.is_none() {
                        return Poll::Ready(Some(Ok(Frame { data, at })));
                    }
                    self.undecoded = (data, at);
                }
                Some(Err(cause)) => return Poll::Ready(Some(Err(self.broken(cause)))),
                None => return Poll::Ready(self.finish(cx)),
            }
        }
    }

    /// Decodes on in the last frame; `None` where nothing came out of it yet.
    fn decode(&mut self) -> Result<Option<Frame>, Error> {
        let (input, at) = (&mut self.undecoded.0, self.undecoded.1);
        let Some(inflate) = &mut self.inflate else { return Ok(None) };
        match inflate.step(input) {
            Ok(data) if data.is_empty() => Ok(None),
            Ok(data) => Ok(Some(Frame { data, at })),
            Err(cause) => {
                self.undecoded.0.clear();
                self.ended = true;
                self.source.close();
                let peer = self.target.peer();
                let message = format!("{peer} sent a body whose compression cannot be read: {cause}");
                Err(Error::new(Kind::Protocol, message).caused_by(cause))
            }
        }
    }

    /// The body is over: its connection goes back, and the decoder says whether it is at its end too.
    fn finish(&mut self, cx: &mut Context<'_>) -> Option<Result<Frame, Error>> {
        self.ended = true;
        let framed = self.head.version != Version::HTTP_10 && self.head.version != Version::HTTP_11
            || self.head.headers.contains_key(CONTENT_LENGTH)
            || self.head.headers.contains_key(TRANSFER_ENCODING);
        let last = self.stamps.last_read();
        let at = if framed { last } else { self.stamps.closed().unwrap_or(last) };
        self.trace.set_body_end(at);
        self.source.give_back(cx);
        // A body without a byte (a 204, say) has nothing to decompress.
        self.trace.byte()?;
        match self.inflate.as_mut()?.finish() {
            Ok(data) if data.is_empty() => None,
            Ok(data) => Some(Ok(Frame { data, at })),
            Err(cause) => {
                let message = format!("{} broke its compressed body off", self.target.peer());
                Some(Err(Error::new(Kind::Body, message).caused_by(cause)))
            }
        }
    }

    fn broken(&mut self, cause: hyper::Error) -> Error {
        self.ended = true;
        self.source.close();
        self.trace.set_body_end(self.stamps.closed().unwrap_or(self.stamps.last_read()));
        Error::body(self.target.peer(), cause)
    }
}

/// The decoder that the headers ask for.
fn decoder(headers: &HeaderMap, peer: &str) -> Result<Option<Inflate>, Error> {
    let Some(encoding) = headers.get(CONTENT_ENCODING) else { return Ok(None) };
    let name = String::from_utf8_lossy(encoding.as_bytes()).trim().to_ascii_lowercase();
    if name.is_empty() || name == "identity" {
        return Ok(None);
    }
    Inflate::new(&name).map(Some).ok_or_else(|| {
        let name: String = name.chars().take(40).collect();
        let message = format!("{peer} sent a body in content-encoding `{name}`, which nobody asked for");
        Error::new(Kind::Protocol, message)
    })
}

impl Source {
    pub(crate) fn http1(
        connection: Box<http1::Connection>,
        pool: Option<Rc<http1::Pool>>,
        answer: Response<Incoming>,
    ) -> (response::Parts, Self) {
        let (head, body) = answer.into_parts();
        let in_chunks = head.headers.get(TRANSFER_ENCODING).is_some_and(|last| last == "chunked");
        (head, Self::Http1 { connection: Some(connection), pool, body, in_chunks, next: Next::Body })
    }

    pub(crate) fn http2(lease: http2::Lease, answer: Response<Incoming>) -> (response::Parts, Self) {
        let (head, body) = answer.into_parts();
        (head, Self::Http2 { body, _lease: lease })
    }

    /// The body's next bytes. On HTTP/1.1: what hyper holds already, else what the connection delivers when it is driven
    /// now. While a frame waits hyper does not read on, so that the last read is the frame's.
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Bytes>>> {
        match self {
            Self::Http2 { body, .. } => poll_body(body, cx),
            Self::Http1 { connection, body, next, .. } => {
                // Only driving makes the body ready, and driving happens here: a waker for it would wake this very task
                // once more for every frame.
                let idle = &mut Context::from_waker(Waker::noop());
                let first = mem::replace(next, Next::Driver);
                if matches!(first, Next::Body)
                    && let ready @ Poll::Ready(_) = poll_body(body, idle)
                {
                    *next = Next::Body;
                    return ready;
                }
                if let Some(connection) = connection {
                    // Once a frame: hyper sees to whatever wakes the task then.
                    if matches!(first, Next::Socket) {
                        ready!(connection.poll_readable(cx));
                    }
                    connection.poll_drive(cx);
                }
                poll_body(body, idle)
            }
        }
    }

    /// Notes that `data` was taken last, and whether the request is out.
    fn note_frame(&mut self, data: &[u8], is_sent: bool) {
        let Self::Http1 { connection, body, in_chunks, next, .. } = self else { return };
        let is_spent = |connection: &http1::Connection| connection.is_spent_by(data, *in_chunks);
        let waits = is_sent && !body.is_end_stream() && connection.as_deref().is_some_and(is_spent);
        *next = if waits { Next::Socket } else { Next::Body };
    }

    /// Keeps the connection for a further request where it can take one.
    fn give_back(&mut self, cx: &mut Context<'_>) {
        let Self::Http1 { connection, pool: Some(pool), .. } = self else { return self.close() };
        if let Some(mut connection) = connection.take()
            && connection.poll_ready(cx)
        {
            pool.put(connection);
        }
    }

    fn close(&mut self) {
        if let Self::Http1 { connection, .. } = self {
            *connection = None;
        }
    }
}

/// The next bytes; trailers are passed over.
fn poll_body(body: &mut Incoming, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Bytes>>> {
    loop {
        match ready!(Pin::new(&mut *body).poll_frame(cx)) {
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Poll::Ready(Some(Ok(data)));
                }
            }
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            None => return Poll::Ready(None),
        }
    }
}
